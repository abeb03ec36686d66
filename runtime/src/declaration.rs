//! What a program can be told: the arguments that it declares, and the options that every program has.
//!
//! A program declares arguments with `(arguments ...)`; the compiler writes the declaration as a text:
//!
//! ~~~text
//! about RECORD name FIELD kind FIELD default FIELD about FIELD detail RECORD name ...
//! ~~~
//!
//! where the kind is a letter of [`Kind::of`] and a default begins with `=`; without one the argument is required. The
//! detail of a number is its limits, such as `>=1 <10`; that of a choice is what can be chosen, with [`BETWEEN`]
//! between; that of an array is a letter for what to do where a number is missing, `e`, `d` or `n`, and the names of
//! the columns that are wanted, if not all are.
//!
//! An option whose name the program has given to an argument of its own is not there.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::number;
use super::table::{BETWEEN, Missing, Table};
use ::core::fmt::{self, Write};
use ::core::iter::Skip;
use ::core::slice::Iter;
use ::core::str::Split;

/// Stands between arguments.
pub const RECORD: char = '\u{1e}';
/// Stands between the parts of one.
pub const FIELD: char = '\u{1f}';

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any number.
    Real,
    /// A whole number.
    Integer,
    /// A truth value.
    Boolean,
    /// A file with a vector, or its numbers.
    Vector,
    /// A file with a matrix, or its numbers.
    Matrix,
    /// One of several words.
    Choice,
    /// The name of a file, which is not read here; of options only.
    File,
    /// A length of time; of options only.
    Time,
}

impl Kind {
    /// The kind that a letter of the declaration stands for.
    pub fn of(letter: &str) -> Kind {
        match letter {
            "r" => Kind::Real,
            "i" => Kind::Integer,
            "b" => Kind::Boolean,
            "v" => Kind::Vector,
            "c" => Kind::Choice,
            _ => Kind::Matrix,
        }
    }
    /// Stands for the value in the help.
    pub(super) fn value(self) -> &'static str {
        match self {
            Kind::Real => "NUMBER",
            Kind::Integer => "INTEGER",
            Kind::Boolean => "",
            Kind::Vector | Kind::Matrix | Kind::File => "FILE",
            Kind::Choice => "WORD",
            Kind::Time => "TIME",
        }
    }
    fn expected(self) -> &'static str {
        match self {
            Kind::Real => "a number",
            Kind::Integer => "a whole number",
            Kind::Boolean => "`true` or `false`",
            Kind::Vector => "a file with a vector, or numbers such as 1,2,3",
            Kind::Matrix => "a file with a matrix, or numbers such as 1,2;3,4",
            Kind::Choice => "one of",
            Kind::File => "the name of a file",
            Kind::Time => "a time such as 30s, 10m or 2h",
        }
    }
}

/// What an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Arguments from a file.
    Config,
    /// Where progress goes.
    Log,
    /// How long searches may take.
    TimeLimit,
    /// Whether results must be finite.
    Finite,
    /// Where searches keep their state.
    Checkpoint,
    /// How often.
    CheckpointEvery,
    /// Where searches begin from.
    Resume,
    /// Where the page about the run goes.
    Report,
}

/// One argument of a declaration, or an option.
#[derive(Clone, Copy)]
pub struct Declared<'d> {
    pub(super) name: &'d str,
    pub(super) kind: Kind,
    pub(super) default: Option<&'d str>,
    pub(super) about: &'d str,
    pub(super) detail: &'d str,
    /// If it is an option of every program.
    pub(super) purpose: Option<Purpose>,
}

impl<'d> Declared<'d> {
    const fn option(name: &'d str, kind: Kind, default: &'d str, about: &'d str, purpose: Purpose) -> Declared<'d> {
        Declared { name, kind, default: Some(default), about, detail: "", purpose: Some(purpose) }
    }
    /// The words that can be chosen.
    pub(super) fn choices(self) -> impl Iterator<Item = &'d str> {
        self.detail.split(BETWEEN)
    }
    /// The limits of a number: how it compares to them.
    pub(super) fn limits(self) -> impl Iterator<Item = (&'d str, f64)> {
        self.detail.split_ascii_whitespace().filter_map(|limit| {
            let number = limit.trim_start_matches(['<', '>', '=']);
            let (relation, _) = limit.split_at(limit.len() - number.len());
            Some((relation, number::parse(number)?))
        })
    }
    /// What to read of a table.
    pub(super) fn table(self) -> Table<'d> {
        let (letter, columns) = self.detail.split_at(self.detail.len().min(1));
        let missing = match letter {
            "d" => Missing::Dropped,
            "n" => Missing::NotANumber,
            _ => Missing::Refused,
        };
        Table { columns, missing }
    }
    /// What is expected of a value.
    pub(super) fn expected(self) -> Expected<'d> {
        Expected(self)
    }
}

/// What is expected of a value, in words.
pub(super) struct Expected<'d>(Declared<'d>);

impl fmt::Display for Expected<'_> {
    #[inline(never)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.kind.expected())?;
        match self.0.kind {
            Kind::Choice => {
                for (position, choice) in self.0.choices().enumerate() {
                    write!(f, "{} `{choice}`", if position == 0 { "" } else { "," })?;
                }
            }
            Kind::Real | Kind::Integer => write_limits(f, self.0)?,
            _ => {}
        }
        Ok(())
    }
}

/// The limits of a number in words, each after a comma.
pub(super) fn write_limits(f: &mut dyn Write, argument: Declared<'_>) -> fmt::Result {
    for (relation, limit) in argument.limits() {
        let words = match relation {
            ">=" => "at least",
            "<=" => "at most",
            ">" => "more than",
            _ => "less than",
        };
        write!(f, ", {words} {}", number::format(limit).as_str())?;
    }
    Ok(())
}

/// The options of every program. Results must be finite where somebody else than the author is to rely on them: in
/// programs with arguments.
static OPTIONS: [Declared<'static>; 8] = [
    Declared::option(
        "config",
        Kind::File,
        "",
        "arguments from a file, as lines `name = value`, or as JSON",
        Purpose::Config,
    ),
    Declared::option("log", Kind::File, "", "progress goes to this file, too", Purpose::Log),
    Declared::option("time-limit", Kind::Time, "", "searches stop after so long: 30s, 10m, 2h", Purpose::TimeLimit),
    Declared::option("checkpoint", Kind::File, "", "searches keep their state in this file", Purpose::Checkpoint),
    Declared::option("checkpoint-every", Kind::Time, "60s", "how often they do", Purpose::CheckpointEvery),
    Declared::option("resume", Kind::File, "", "searches go on from the state in this file", Purpose::Resume),
    Declared::option("report", Kind::File, "", "a page about the run, in HTML, goes to this file", Purpose::Report),
    Declared::option("finite", Kind::Boolean, "", "a result that is not finite is an error", Purpose::Finite),
];

/// The arguments of a program, which has none if its declaration is empty.
pub(super) fn arguments(declaration: &str) -> impl Iterator<Item = Declared<'_>> {
    Arguments(declaration.split(RECORD).skip(1))
}

struct Arguments<'d>(Skip<Split<'d, char>>);

impl<'d> Iterator for Arguments<'d> {
    type Item = Declared<'d>;
    /// (Not inlined, as that of options: code that runs once is better small.)
    #[inline(never)]
    fn next(&mut self) -> Option<Declared<'d>> {
        let mut fields = self.0.next()?.split(FIELD);
        let mut next = || fields.next().unwrap_or("");
        let (name, kind, default, about, detail) = (next(), next(), next(), next(), next());
        let default = default.strip_prefix('=');
        Some(Declared { name, kind: Kind::of(kind), default, about, detail, purpose: None })
    }
}

/// The options of a program.
pub(super) fn options(declaration: &str) -> impl Iterator<Item = Declared<'_>> {
    Options { declaration, options: OPTIONS.iter() }
}

struct Options<'d> {
    declaration: &'d str,
    options: Iter<'static, Declared<'static>>,
}

impl<'d> Iterator for Options<'d> {
    type Item = Declared<'d>;
    #[inline(never)]
    fn next(&mut self) -> Option<Declared<'d>> {
        let declaration = self.declaration;
        let is_free = |option: &&Declared<'_>| arguments(declaration).all(|argument| argument.name != option.name);
        let option = self.options.by_ref().find(is_free)?;
        Some(match option.purpose {
            Some(Purpose::Finite) => {
                Declared { default: Some(if declaration.is_empty() { "false" } else { "true" }), ..*option }
            }
            _ => *option,
        })
    }
}

/// All that a program can be told.
pub(super) fn declared(declaration: &str) -> impl Iterator<Item = Declared<'_>> {
    arguments(declaration).chain(options(declaration))
}

/// The one at a position.
#[inline(never)]
pub(super) fn nth(declaration: &str, position: usize) -> Option<Declared<'_>> {
    declared(declaration).nth(position)
}

/// Names longer than this are not compared.
const LONGEST: usize = 40;

/// The name that is spelled most like `name`, if any is close.
pub(super) fn nearest<'d>(declaration: &'d str, name: &[u8]) -> Option<&'d str> {
    let limit = ((name.len() + 1) / 3).min(3);
    let near = |argument: Declared<'d>| Some((distance(name, argument.name.as_bytes(), limit)?, argument.name));
    declared(declaration).filter_map(near).min().map(|(_, name)| name)
}

/// The number of letters to insert, delete or replace to get from one name to the other, if it is at most `limit`.
fn distance(from: &[u8], to: &[u8], limit: usize) -> Option<usize> {
    if to.len() > LONGEST || from.len().abs_diff(to.len()) > limit {
        return None;
    }
    // A row of the table of distances between beginnings of the two names.
    let mut row = [0; LONGEST + 1];
    row.iter_mut().enumerate().for_each(|(j, place)| *place = j);
    for (i, byte) in from.iter().enumerate() {
        let mut diagonal = ::core::mem::replace(&mut row[0], i + 1);
        for (j, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(byte != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Some(row[to.len()]).filter(|distance| *distance <= limit && *distance < to.len())
}

/// A text of limited length.
pub struct Text {
    bytes: [u8; 1024],
    length: usize,
}

impl Text {
    /// Nothing.
    pub const fn new() -> Text {
        Text { bytes: [0; 1024], length: 0 }
    }
    /// What was written.
    pub fn as_str(&self) -> &str {
        ::core::str::from_utf8(self.bytes.get(..self.length).unwrap_or(b"")).unwrap_or("")
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::new()
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let Some(place) = self.bytes.get_mut(self.length..self.length + bytes.len()) else { return Ok(()) };
            place.copy_from_slice(bytes);
            self.length += bytes.len();
        }
        Ok(())
    }
}
