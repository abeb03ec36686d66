//! What comparing the evaluator with the compiled program found, and how it travels between processes.
//!
//! ```text
//! verdict KIND feature,feature... LENGTH
//! LENGTH bytes of text for people
//! ```

use std::fmt;
use std::io::{self, BufRead, Write};
use std::str::FromStr;

/// The outcome for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What was found.
    pub kind: Kind,
    /// Properties of the program and of its run, for counting.
    pub features: Vec<String>,
    /// Both outcomes, for people.
    pub text: String,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// What can be found; shrinking keeps to one kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[doc = $doc])* $name,)* }

        impl FromStr for Kind {
            type Err = ();
            fn from_str(text: &str) -> Result<Kind, ()> {
                match text {
                    $(stringify!($name) => Ok(Kind::$name),)*
                    _ => Err(()),
                }
            }
        }
    };
}

kinds! {
    /// No difference.
    Agree,
    /// The front end refuses the program, which the generator should not have made.
    IllFormed,
    /// The evaluator needs too much time or memory for the program to say anything.
    Endless,
    /// The height of a tower of `*j` is not known at compile time.
    Tower,
    /// Other output, or numbers that differ.
    Output,
    /// Output that differs in the sign of a zero only.
    ZeroSign,
    /// One of them fails and the other does not.
    ExitCode,
    /// Both fail, with different errors or at different places.
    Place,
    /// Both fail with the same error at the same place, and say different things about it.
    Message,
    /// A box is used after it was freed, freed twice or never, says the evaluator of optimised code.
    Owners,
    /// Boxes are left when the program has ended.
    Leak,
    /// A derivative is not what finite differences or its laws say.
    Derivative,
    /// A program fails that is made so that it cannot.
    Fails,
    /// The program needs the evaluator at run time.
    Fallback,
    /// A stage of the compiler panicked or refused what another one made.
    Mistake,
    /// The executable crashed, or did not end.
    Killed,
    /// The compiler crashed.
    Crash,
    /// The compiler did not end.
    Hang,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Kind {
    /// True if this is a mistake of some part of vlad.
    pub fn is_failure(self) -> bool {
        !matches!(self, Kind::Agree | Kind::IllFormed | Kind::Endless | Kind::Tower)
    }
}

impl Verdict {
    /// A verdict without features.
    pub fn new(kind: Kind, text: impl Into<String>) -> Verdict {
        Verdict { kind, features: Vec::new(), text: text.into() }
    }
    /// Sends it.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        debug_assert!(self.features.iter().all(|feature| !feature.contains(char::is_whitespace)));
        // A comma at the front: the list is never an empty word.
        writeln!(to, "verdict {} ,{} {}", self.kind, self.features.join(","), self.text.len())?;
        to.write_all(self.text.as_bytes())?;
        to.flush()
    }
    /// Receives the rest of a verdict whose first line has been read.
    pub fn read(line: &str, from: &mut dyn BufRead) -> Option<Verdict> {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next()?.parse().ok()?;
        let features = words.next()?.split(',').filter(|word| !word.is_empty()).map(str::to_string).collect();
        let mut bytes = vec![0; words.next()?.parse().ok()?];
        from.read_exact(&mut bytes).ok()?;
        Some(Verdict { kind, features, text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}
