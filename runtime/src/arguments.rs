//! Arguments of programs: the same in the evaluator and in compiled programs.
//!
//! A program declares them with `(arguments ...)`; the compiler writes the declaration as a text:
//!
//! ~~~text
//! about RECORD name FIELD kind FIELD default FIELD about FIELD detail RECORD name ...
//! ~~~
//!
//! where the kind is a letter of [`Kind::of`] and a default begins with `=`; without one the argument is required. The
//! detail of a number is its limits, such as `>=1 <10`; that of a choice is what can be chosen, with [`BETWEEN`]
//! between; that of an array is a letter for what to do where a number is missing, `e`, `d` or `n`, and the names of
//! the columns that are wanted, if not all are. In
//! front of everything else that the program does, the words of the command line are held against the declaration
//! ([`prepare`]), and the numbers that they stand for are put where the program reads its input from, in the order of
//! the declaration: a number, 1 or 0 for a truth value, the position of what is chosen, the length of a vector and its numbers, the numbers of rows and
//! columns of a matrix and its numbers.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::number;
use super::reader::{Failure, Fault, Input, Item, Reader, write_bytes};
use super::table::{BETWEEN, Missing, Table};
use ::core::fmt::{self, Write};

/// Stands between arguments.
pub const RECORD: char = '\u{1e}';
/// Stands between the parts of one.
pub const FIELD: char = '\u{1f}';

/// Whole numbers beyond are not all doubles.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

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
    fn value(self) -> &'static str {
        match self {
            Kind::Real => "NUMBER",
            Kind::Integer => "INTEGER",
            Kind::Boolean => "",
            Kind::Vector | Kind::Matrix => "FILE",
            Kind::Choice => "WORD",
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
        }
    }
}

/// One argument of a declaration.
#[derive(Clone, Copy)]
pub struct Declared<'d> {
    name: &'d str,
    kind: Kind,
    default: Option<&'d str>,
    about: &'d str,
    detail: &'d str,
}

impl<'d> Declared<'d> {
    /// The words that can be chosen.
    fn choices(self) -> impl Iterator<Item = &'d str> {
        self.detail.split(BETWEEN)
    }
    /// The limits of a number: how it compares to them.
    fn limits(self) -> impl Iterator<Item = (&'d str, f64)> {
        self.detail.split_ascii_whitespace().filter_map(|limit| {
            let number = limit.trim_start_matches(['<', '>', '=']);
            let (relation, _) = limit.split_at(limit.len() - number.len());
            Some((relation, number::parse(number)?))
        })
    }
    /// What to read of a table.
    fn table(self) -> Table<'d> {
        let (letter, columns) = self.detail.split_at(self.detail.len().min(1));
        let missing = match letter {
            "d" => Missing::Dropped,
            "n" => Missing::NotANumber,
            _ => Missing::Refused,
        };
        Table { columns, missing }
    }
    /// What is expected of a value.
    fn expected(self) -> Expected<'d> {
        Expected(self)
    }
}

/// What is expected of a value, in words.
struct Expected<'d>(Declared<'d>);

impl fmt::Display for Expected<'_> {
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
fn write_limits(f: &mut dyn Write, argument: Declared<'_>) -> fmt::Result {
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

fn declared(declaration: &str) -> impl Iterator<Item = Declared<'_>> {
    declaration.split(RECORD).skip(1).map(|record| {
        let mut fields = record.split(FIELD);
        let mut next = || fields.next().unwrap_or("");
        let (name, kind, default, about, detail) = (next(), next(), next(), next(), next());
        Declared { name, kind: Kind::of(kind), default: default.strip_prefix('='), about, detail }
    })
}

/// The system that a program runs on.
pub trait Host {
    /// A word of the command line behind the program's name.
    fn word(&self, index: usize) -> Option<&[u8]>;
    /// The program's name.
    fn program(&self) -> &[u8];
    /// Takes a number for the program to read.
    fn push(&mut self, number: f64);
    /// Reads an array from a file, or from standard input where the path is `-`, and takes its numbers.
    fn file(&mut self, path: &[u8], item: Item, table: &Table<'_>) -> Result<(), Unreadable>;
    /// Writes to standard output.
    fn out(&mut self) -> &mut dyn Write;
    /// Writes to standard error.
    fn error(&mut self) -> &mut dyn Write;
}

/// Why a file does not hold an array. What there is to say is written already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// What comes of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program runs.
    Ready,
    /// The help or the version was asked for and is written: success.
    Helped,
    /// Something was wrong, and what is written: wrong usage.
    Wrong,
}

/// What is wrong with a command line.
#[derive(Clone, Copy)]
enum Mistake<'w> {
    Unknown(&'w [u8]),
    Twice(&'w str),
    NoValue(Declared<'w>),
    TooMany(&'w [u8]),
    Missing(Declared<'w>),
    NotOfKind(Declared<'w>, &'w [u8]),
    Ragged(&'w str, &'w [u8]),
    TooLong(&'w str),
}

/// A word of the command line, understood.
enum Word<'w> {
    /// `--name`, `--name value`, `--name=value`, `--no-name`.
    Named {
        position: usize,
        value: Option<&'w [u8]>,
    },
    /// What stands alone, and how many such words stand before it.
    Alone {
        number: usize,
        value: &'w [u8],
    },
    Help,
    Version,
}

/// Holds the command line against the declaration, and gives the program its numbers.
pub fn prepare(declaration: &str, host: &mut impl Host) -> Outcome {
    if declaration.is_empty() {
        return Outcome::Ready;
    }
    let (mut help, mut version) = (false, false);
    let checked = walk(declaration, host, |word| {
        help |= matches!(word, Word::Help);
        version |= matches!(word, Word::Version);
        Ok(())
    });
    // Who asks for help has not got it right yet.
    if help {
        write_help(declaration, host);
        return Outcome::Helped;
    }
    if version {
        let mut program = Text::new();
        let _ = write_bytes(&mut program, host.program());
        let _ = writeln!(host.out(), "{}, made by vlad {}", program.as_str(), env!("CARGO_PKG_VERSION"));
        return Outcome::Helped;
    }
    let checked = checked.and_then(|()| complete(declaration, host));
    if let Err(mistake) = checked {
        let mut text = Text::new();
        let _ = write_mistake(&mut text, declaration, mistake);
        return wrong(host, &text);
    }
    for position in 0..declared(declaration).count() {
        let Some(argument) = declared(declaration).nth(position) else { break };
        match give(declaration, host, position, argument) {
            Ok(()) => {}
            Err(Refused::Said) => return Outcome::Wrong,
            Err(Refused::File) => {
                let _ = writeln!(host.error(), "  = note: `--{}` needs {}", argument.name, argument.expected());
                advise(host);
                return Outcome::Wrong;
            }
        }
    }
    Outcome::Ready
}

/// Why an argument has no numbers.
enum Refused {
    /// What is wrong was said.
    Said,
    /// What is wrong with the file was said.
    File,
}

fn refuse(host: &mut impl Host, declaration: &str, mistake: Mistake<'_>) -> Refused {
    let mut text = Text::new();
    let _ = write_mistake(&mut text, declaration, mistake);
    wrong(host, &text);
    Refused::Said
}

fn wrong(host: &mut impl Host, text: &Text) -> Outcome {
    let _ = writeln!(host.error(), "error: {}", text.as_str());
    advise(host);
    Outcome::Wrong
}

fn advise(host: &mut impl Host) {
    let mut name = Text::new();
    let _ = write_bytes(&mut name, host.program());
    let _ = writeln!(host.error(), "  = help: `{} --help` lists the arguments", name.as_str());
}

/// The words in order. Fails with the first that is not understood.
fn walk<'h>(
    declaration: &'h str,
    host: &'h impl Host,
    mut visit: impl FnMut(Word<'h>) -> Result<(), Mistake<'h>>,
) -> Result<(), Mistake<'h>> {
    let (mut index, mut alone, mut options) = (0, 0, true);
    let mut mistake = Ok(());
    while let Some(word) = host.word(index) {
        index += 1;
        if options && word == b"--" {
            options = false;
            continue;
        }
        if options && (word == b"--help" || word == b"-h") {
            visit(Word::Help)?;
            continue;
        }
        if options && word == b"--version" {
            visit(Word::Version)?;
            continue;
        }
        let Some(name) = word.strip_prefix(b"--").filter(|_| options) else {
            visit(Word::Alone { number: alone, value: word })?;
            alone += 1;
            continue;
        };
        let (name, value) = match name.iter().position(|byte| *byte == b'=') {
            Some(at) => (&name[..at], Some(&name[at + 1..])),
            None => (name, None),
        };
        let find = |name: &[u8]| declared(declaration).position(|argument| argument.name.as_bytes() == name);
        let without = name.strip_prefix(b"no-").and_then(find).filter(|_| value.is_none());
        if let Some(position) = find(name) {
            let argument = declared(declaration).nth(position);
            let kind = argument.map_or(Kind::Boolean, |argument| argument.kind);
            let value = match value {
                None if kind != Kind::Boolean => {
                    index += 1;
                    let value = host.word(index - 1);
                    if value.is_none() {
                        mistake = mistake.and(argument.map_or(Ok(()), |argument| Err(Mistake::NoValue(argument))));
                    }
                    value
                }
                value => value,
            };
            visit(Word::Named { position, value })?;
        } else if let Some(position) = without.filter(|position| {
            declared(declaration).nth(*position).is_some_and(|argument| argument.kind == Kind::Boolean)
        }) {
            visit(Word::Named { position, value: Some(b"false") })?;
        } else {
            // Help may still be asked for.
            mistake = mistake.and(Err(Mistake::Unknown(word)));
        }
    }
    mistake
}

/// Fails if an argument is given twice, one that is required is not given, or a word has no argument.
fn complete<'h>(declaration: &'h str, host: &'h impl Host) -> Result<(), Mistake<'h>> {
    let mut alone = 0;
    for (position, argument) in declared(declaration).enumerate() {
        let mut times = 0;
        walk(declaration, host, |word| {
            match word {
                Word::Named { position: named, .. } if named == position => times += 1,
                Word::Alone { number, .. } => alone = alone.max(number + 1),
                _ => {}
            }
            if times > 1 { Err(Mistake::Twice(argument.name)) } else { Ok(()) }
        })?;
    }
    let places = declared(declaration)
        .enumerate()
        .filter(|(at, argument)| argument.default.is_none() && !is_named(declaration, host, *at));
    let (mut count, mut missing) = (0, None);
    for (_, argument) in places {
        if count >= alone {
            missing = missing.or(Some(argument));
        }
        count += 1;
    }
    if alone > count {
        let mut result = Ok(());
        walk(declaration, host, |word| {
            if let Word::Alone { number, value } = word
                && number == count
            {
                result = Err(Mistake::TooMany(value));
            }
            Ok(())
        })?;
        return result;
    }
    missing.map_or(Ok(()), |argument| Err(Mistake::Missing(argument)))
}

fn is_named(declaration: &str, host: &impl Host, position: usize) -> bool {
    let mut found = false;
    let _ = walk(declaration, host, |word| {
        found |= matches!(word, Word::Named { position: named, .. } if named == position);
        Ok(())
    });
    found
}

/// What the command line gives for an argument: its value, or that it is named only; or nothing.
fn given<'h>(declaration: &'h str, host: &'h impl Host, position: usize, is_required: bool) -> Option<&'h [u8]> {
    // Words that stand alone are the required arguments that are not named, in order.
    let before = declared(declaration).take(position).enumerate();
    let number = before.filter(|(at, other)| other.default.is_none() && !is_named(declaration, host, *at)).count();
    let stands_alone = is_required && !is_named(declaration, host, position);
    let mut found = None;
    let _ = walk(declaration, host, |word| {
        match word {
            Word::Named { position: named, value } if named == position => found = Some(value.unwrap_or(b"true")),
            Word::Alone { number: this, value } if stands_alone && this == number => found = Some(value),
            _ => {}
        }
        Ok(())
    });
    found
}

/// Gives the program the numbers of an argument.
fn give(declaration: &str, host: &mut impl Host, position: usize, argument: Declared<'_>) -> Result<(), Refused> {
    let Declared { name, kind, default, .. } = argument;
    let mut value = [0; 4096];
    let given = given(declaration, host, position, default.is_none());
    let given = given.or(default.map(str::as_bytes)).unwrap_or(b"");
    let length = given.len();
    // A copy: the host is about to change.
    let Some(place) = value.get_mut(..length) else {
        return Err(refuse(host, declaration, Mistake::TooLong(name)));
    };
    place.copy_from_slice(given);
    let value = value.get(..length).unwrap_or(b"");
    let not_of_kind = Mistake::NotOfKind(argument, value);
    let allowed = |number: &f64| argument.limits().all(|(relation, limit)| is_within(*number, relation, limit));
    let number = match kind {
        Kind::Real => real(value).filter(allowed),
        Kind::Integer => real(value).filter(|number| is_whole(*number)).filter(allowed),
        Kind::Choice => argument.choices().position(|choice| choice.as_bytes() == value).map(|place| place as f64),
        Kind::Boolean => match value {
            b"true" | b"yes" | b"1" => Some(1.0),
            b"false" | b"no" | b"0" => Some(0.0),
            _ => None,
        },
        Kind::Vector | Kind::Matrix if is_inline(value) => {
            let rows = || value.split(|byte| *byte == b';');
            let columns = |row: &[u8]| row.split(|byte| *byte == b',').count();
            let first = rows().next().map_or(0, columns);
            if kind == Kind::Vector && rows().count() > 1 {
                return Err(refuse(host, declaration, not_of_kind));
            }
            if rows().any(|row| columns(row) != first) {
                return Err(refuse(host, declaration, Mistake::Ragged(name, value)));
            }
            if kind == Kind::Matrix {
                host.push(rows().count() as f64);
            }
            host.push(first as f64);
            for row in rows() {
                if numbers(row, host).is_none() {
                    return Err(refuse(host, declaration, not_of_kind));
                }
            }
            return Ok(());
        }
        Kind::Vector | Kind::Matrix => {
            let item = if kind == Kind::Vector { Item::Vector } else { Item::Matrix };
            return host.file(value, item, &argument.table()).map_err(|Unreadable| Refused::File);
        }
    };
    match number {
        Some(number) => {
            host.push(number);
            Ok(())
        }
        None => Err(refuse(host, declaration, not_of_kind)),
    }
}

fn real(text: &[u8]) -> Option<f64> {
    number::parse(::core::str::from_utf8(text).ok()?)
}

fn is_within(number: f64, relation: &str, limit: f64) -> bool {
    match relation {
        ">=" => number >= limit,
        "<=" => number <= limit,
        ">" => number > limit,
        _ => number < limit,
    }
}

fn is_whole(number: f64) -> bool {
    (-LARGEST_WHOLE..=LARGEST_WHOLE).contains(&number) && (number as i64) as f64 == number
}

/// Whether a value is numbers and not the name of a file. (A file whose name looks like numbers is `./1`.)
fn is_inline(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE,;/ ".contains(byte);
    let begins = value.trim_ascii_start().first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
    begins
        && value.iter().all(is_part)
        && value.iter().any(u8::is_ascii_digit)
        && !value.starts_with(b"./")
        && !value.starts_with(b"../")
}

fn numbers(row: &[u8], host: &mut impl Host) -> Option<()> {
    for part in row.split(|byte| *byte == b',') {
        host.push(real(part.trim_ascii())?);
    }
    Some(())
}

/// Reads an array that a file holds, and nothing else, and gives its numbers to `push`: how many, and each.
///
/// # Errors
///
/// What is wrong with the file.
pub fn read_array<'r>(
    input: &mut impl Input,
    reader: &'r mut Reader,
    (item, table): (Item, &Table<'_>),
    mut push: impl FnMut(f64),
) -> Result<(), Wrong<'r>> {
    let count = match reader.read_anew(input, item, table) {
        Ok(count) => count,
        Err(Failure::End) => return Err(Wrong::Empty),
        Err(Failure::Malformed(fault)) => return Err(Wrong::Malformed(reader, fault)),
    };
    while input.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
        input.advance();
    }
    if input.peek().is_some() {
        return Err(Wrong::More);
    }
    push(count);
    while let Some(number) = input.pop() {
        push(number);
    }
    Ok(())
}

/// What is wrong with a file.
pub enum Wrong<'r> {
    /// There is nothing in it.
    Empty,
    /// Something stands behind the array.
    More,
    /// The system does not let it be read, for this reason.
    Refused(&'r str),
    /// It is no array.
    Malformed(&'r Reader, Fault),
}

impl fmt::Display for Wrong<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Empty => f.write_str("it holds no numbers"),
            Wrong::Refused(reason) => f.write_str(reason),
            Wrong::More => f.write_str("it holds more than one array"),
            Wrong::Malformed(reader, fault) => reader.report(*fault).fmt(f),
        }
    }
}

fn write_mistake(f: &mut Text, declaration: &str, mistake: Mistake<'_>) -> fmt::Result {
    match mistake {
        Mistake::Unknown(word) => {
            f.write_str("there is no argument `")?;
            write_bytes(f, word)?;
            f.write_char('`')
        }
        Mistake::Twice(name) => write!(f, "`--{name}` is given twice"),
        Mistake::NoValue(argument) => {
            write!(f, "`--{}` has no value: expected {}", argument.name, argument.expected())
        }
        Mistake::TooMany(word) => {
            f.write_char('`')?;
            write_bytes(f, word)?;
            let required = declared(declaration).any(|argument| argument.default.is_none());
            f.write_str(if required { "` is one value too many" } else { "` belongs to no argument" })
        }
        Mistake::Missing(argument) => {
            write!(f, "`--{}` is missing: expected {}", argument.name, argument.expected())
        }
        Mistake::NotOfKind(argument, value) => {
            write!(f, "`--{}`: expected {}, found `", argument.name, argument.expected())?;
            write_bytes(f, value)?;
            f.write_char('`')
        }
        Mistake::TooLong(name) => write!(f, "`--{name}`: the value is longer than 4096 bytes"),
        Mistake::Ragged(name, value) => {
            write!(f, "`--{name}`: the rows of `")?;
            write_bytes(f, value)?;
            f.write_str("` are of different lengths")
        }
    }
}

fn write_help(declaration: &str, host: &mut impl Host) {
    let mut program = Text::new();
    let _ = write_bytes(&mut program, host.program());
    let out = host.out();
    // There is nowhere to say that standard output cannot be written.
    let _ = help(declaration, program.as_str(), out);
}

fn help(declaration: &str, program: &str, out: &mut dyn Write) -> fmt::Result {
    let about = declaration.split(RECORD).next().unwrap_or("");
    if !about.is_empty() {
        writeln!(out, "{about}\n")?;
    }
    write!(out, "Usage: {program}")?;
    if declared(declaration).any(|argument| argument.default.is_some()) {
        out.write_str(" [OPTIONS]")?;
    }
    for argument in declared(declaration).filter(|argument| argument.default.is_none()) {
        write!(out, " --{}", argument.name)?;
        if argument.kind != Kind::Boolean {
            write!(out, " {}", argument.kind.value())?;
        }
    }
    out.write_str("\n\nArguments:\n")?;
    let width = |argument: Declared<'_>| {
        let space = usize::from(argument.kind != Kind::Boolean);
        argument.name.chars().count() + space + argument.kind.value().len()
    };
    let widest = declared(declaration).map(width).fold("version".len(), usize::max);
    for argument in declared(declaration) {
        let space = if argument.kind == Kind::Boolean { "" } else { " " };
        write!(out, "  --{}{space}{}", argument.name, argument.kind.value())?;
        write!(out, "{:pad$}  {}", "", argument.about, pad = widest - width(argument))?;
        let gap = if argument.about.is_empty() { "" } else { " " };
        let is_limited = matches!(argument.kind, Kind::Real | Kind::Integer) && argument.limits().next().is_some();
        if argument.kind == Kind::Choice {
            write!(out, "{gap}[")?;
            for (position, choice) in argument.choices().enumerate() {
                write!(out, "{}{choice}", if position == 0 { "" } else { ", " })?;
            }
            out.write_char(']')?;
        } else if is_limited {
            let mut text = Text::new();
            write_limits(&mut text, argument)?;
            write!(out, "{gap}[{}]", text.as_str().trim_start_matches(", "))?;
        }
        let is_described = !argument.about.is_empty() || argument.kind == Kind::Choice || is_limited;
        let gap = if is_described { " " } else { "" };
        match argument.default {
            None => write!(out, "{gap}[required]")?,
            Some("false") if argument.kind == Kind::Boolean => {}
            Some("true") if argument.kind == Kind::Boolean => {
                write!(out, "{gap}[default; --no-{} for the contrary]", argument.name)?;
            }
            Some(default) => write!(out, "{gap}[default: {default}]")?,
        }
        out.write_char('\n')?;
    }
    writeln!(out, "  --version{:pad$}  show the version", "", pad = widest - "version".len())?;
    writeln!(out, "  --help{:pad$}  show this", "", pad = widest - "help".len())
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
