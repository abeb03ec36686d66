//! The C compiler that is called: a program in C and the embedded run time → executable.

use crate::base::Diagnostic;
use crate::codegen::c::Source;
use crate::codegen::{Error, Machine, link};
use std::path::Path;
use std::process::Command;

/// What is always demanded: numbers are those of IEEE 754, nobody looks at `errno` or at the flags of the processor,
/// memory may hold numbers of one type and later those of another one, and what the prelude offers need not be used.
const OPTIONS: &[&str] =
    &["-std=c11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing", "-w"];

/// How much is optimised unless the user says it.
const LEVEL: &str = "-O2";

/// Options that let a compiler change numbers, or what their beginnings are.
const CHANGE_NUMBERS: &[&str] = &[
    "-Ofast",
    "-ffast-math",
    "-funsafe-math-optimizations",
    "-fassociative-math",
    "-freciprocal-math",
    "-ffinite-math-only",
    "-fno-signed-zeros",
    "-fsingle-precision-constant",
    "-mfpmath=387",
    "-fp-model",
    "-ffp-contract=fast",
    "-ffp-contract=on",
];

/// A C compiler with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    words: Vec<String>,
}

impl Compiler {
    /// The one that the words name; without them, `$CC`, or `cc`.
    ///
    /// # Errors
    ///
    /// When an option would change numbers.
    pub fn named(words: Option<&str>) -> Result<Compiler, Box<Diagnostic>> {
        let words = match words {
            Some(words) => words.split_whitespace().map(str::to_string).collect(),
            None => link::named_driver().unwrap_or_else(|| vec!["cc".to_string()]),
        };
        let error = |message: String| Diagnostic::error_without_place("V0813", message);
        if words.is_empty() {
            let message = error("`--cc` names no C compiler".to_string());
            return Err(Box::new(message.help("write `--cc cc`, or leave it out for `$CC` or `cc`")));
        }
        let changes = |word: &&String| CHANGE_NUMBERS.iter().any(|option| word.starts_with(option));
        if let Some(option) = words.iter().skip(1).find(changes) {
            let message = error(format!("the option `{option}` of the C compiler changes numbers"));
            let help = "leave it out; `--fast-math` is what allows sums and products in any order";
            return Err(Box::new(message.help(help)));
        }
        Ok(Compiler { words })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        if !self.words.iter().skip(1).any(|word| word.starts_with("-O")) {
            command.arg(LEVEL);
        }
        command.args(&self.words[1..]).args(OPTIONS);
        command
    }

    /// Compiles a program and links it with the run time into the executable `output`.
    ///
    /// # Errors
    ///
    /// When there is no C compiler, or it fails, or the output cannot be written.
    pub fn executable(&self, source: &Source, output: &Path) -> Result<(), Error> {
        let program = ("program.c", source.text.as_bytes());
        let (math, kernels) = (source.has_math, source.has_kernels);
        let with = link::With { math, kernels, description: false, machine: Machine::Host };
        link::executable_with(self.command(), program, with, output).map_err(|error| match error {
            Error::Linker { command, output } => Error::Compiler { command, output },
            Error::NoLinker { cause, .. } => Error::NoCompiler { command: self.words.join(" "), cause },
            error => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Compiler;

    #[test]
    fn options_that_change_numbers_are_refused() {
        for words in ["gcc -Ofast", "clang -O3 -ffast-math", "cc -ffp-contract=fast", " "] {
            assert!(Compiler::named(Some(words)).is_err(), "{words}");
        }
        for words in ["gcc -O3 -march=native", "clang", "zig cc"] {
            assert!(Compiler::named(Some(words)).is_ok(), "{words}");
        }
    }
}
