//! Arguments of programs that are evaluated, as compiled programs have them.

use super::watch;
use crate::core::arguments::{self, Config, Host, Outcome, Setting, Unreadable};
use crate::core::declaration::Purpose;
use crate::core::input;
use crate::core::reader::{self, Item};
use crate::core::table::Table;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;

/// The numbers that a program reads in front of its input, given its declaration of arguments, its name and the words
/// of the command line; or else the exit code.
pub fn numbers(declaration: &str, name: &OsStr, words: &[OsString]) -> Result<Vec<f64>, u8> {
    let mut process = Process {
        name,
        words,
        numbers: Vec::new(),
        config: None,
        out: Stream(io::stdout()),
        error: Stream(io::stderr()),
    };
    match arguments::prepare(declaration, &mut process) {
        Outcome::Ready => Ok(process.numbers),
        Outcome::Helped => Err(crate::cli::SUCCESS),
        Outcome::Wrong => Err(crate::cli::USAGE),
    }
}

struct Process<'a> {
    name: &'a OsStr,
    words: &'a [OsString],
    numbers: Vec<f64>,
    config: Option<Config>,
    out: Stream<io::Stdout>,
    error: Stream<io::Stderr>,
}

/// A stream for formatted text. There is nowhere to say that it cannot be written.
struct Stream<W>(W);

impl<W: Write> fmt::Write for Stream<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

impl Host for Process<'_> {
    fn word(&self, index: usize) -> Option<&[u8]> {
        self.words.get(index).map(|word| word.as_bytes())
    }
    fn program(&self) -> &[u8] {
        self.name.as_bytes()
    }
    fn push(&mut self, number: f64) {
        watch::argument(number);
        self.numbers.push(number);
    }
    fn file(&mut self, path: &[u8], item: Item, table: &Table<'_>) -> Result<(), Unreadable> {
        let mut name = arguments::Text::new();
        let _ = reader::write_bytes(&mut name, path);
        let path = OsStr::from_bytes(path);
        let mut stream: Box<dyn BufRead> = if path == "-" {
            Box::new(io::stdin().lock())
        } else {
            match File::open(path) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(error) => {
                    eprintln!("error: cannot read `{}`: {}", name.as_str(), reason(&error));
                    return Err(Unreadable);
                }
            }
        };
        let complain = |wrong: &dyn fmt::Display| eprintln!("error: `{}`: {}", name.as_str(), reason(wrong));
        input::read_file(&mut *stream, item, table, |number| self.push(number), complain)
    }
    fn load(&mut self, path: &[u8]) -> Result<(), Unreadable> {
        let text = std::fs::read(OsStr::from_bytes(path));
        let text = text.map_err(|error| watch::complain("read", path, &reason(&error)))?;
        // There is one such file, and it is looked at until the process ends.
        let config = Config { path: Box::leak(path.into()), text: Box::leak(text.into_boxed_slice()) };
        self.config = Some(config);
        Ok(())
    }
    fn config(&self) -> Option<Config> {
        self.config
    }
    fn set(&mut self, purpose: Purpose, setting: Setting<'_>) -> Result<(), Unreadable> {
        watch::set(purpose, setting)
    }
    fn begin_report(&mut self, about: &str) -> bool {
        watch::reported(|report| report.begin(self.program(), about)).is_some()
    }
    fn note(&mut self, name: &str, value: &[u8], source: &[u8]) {
        watch::reported(|report| report.argument(name, value, source));
    }
    fn out(&mut self) -> &mut dyn fmt::Write {
        &mut self.out
    }
    fn error(&mut self) -> &mut dyn fmt::Write {
        &mut self.error
    }
}

/// What the C library says, without the number that is added here.
pub fn reason(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}
