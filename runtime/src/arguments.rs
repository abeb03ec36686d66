//! Arguments of programs: the same in the evaluator and in compiled programs.
//!
//! In front of everything else that the program does, the words of the command line, and the names in a file that it
//! may name, are held against the declaration ([`prepare`], [`declaration`]). The numbers that they stand for are put
//! where the program reads its input from, in the order of the declaration: a number, 1 or 0 for a truth value, the
//! position of what is chosen, the length of a vector and its numbers, the numbers of rows and columns of a matrix and
//! its numbers. Options are given to the system. What the command line says comes before what the file says.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.
//!
//! [`declaration`]: super::declaration

use super::config::{self, Entries, NoArray, Part, Parts, Value};
use super::declaration::{Declared, Kind, Purpose, declared, nearest, nth};
pub use super::declaration::{FIELD, RECORD, Text};
use super::help;
use super::number;
use super::reader::{Failure, Fault, Input, Item, Reader, write_bytes, write_start};
use super::table::Table;
use ::core::fmt::{self, Write};

/// Whole numbers beyond are not all doubles.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The longest value, but for arrays in files.
const LONGEST: usize = 4096;

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
    /// Reads a file with arguments.
    fn load(&mut self, path: &[u8]) -> Result<(), Unreadable>;
    /// The file with arguments, if one was read.
    fn config(&self) -> Option<Config>;
    /// Does what an option says.
    fn set(&mut self, purpose: Purpose, setting: Setting<'_>) -> Result<(), Unreadable>;
    /// The program is about to begin: says so to the page about the run, if there is one; whether there is.
    fn begin_report(&mut self, about: &str) -> bool;
    /// Says to it what an argument is, and where that is from.
    fn note(&mut self, name: &str, value: &[u8], source: &[u8]);
    /// Writes to standard output.
    fn out(&mut self) -> &mut dyn Write;
    /// Writes to standard error.
    fn error(&mut self) -> &mut dyn Write;
}

/// A file with arguments.
#[derive(Clone, Copy)]
pub struct Config {
    /// What it is called.
    pub path: &'static [u8],
    /// What it holds.
    pub text: &'static [u8],
}

impl Config {
    fn entries(self) -> Entries<'static> {
        Entries::new(self.text, self.path.ends_with(b".json"))
    }
}

/// What an option says.
#[derive(Clone, Copy, Debug)]
pub enum Setting<'v> {
    /// The name of a file.
    File(&'v [u8]),
    /// A time in seconds.
    Seconds(f64),
    /// A truth value.
    Truth(bool),
}

/// Why a file cannot be used. What there is to say is written already.
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

/// What is wrong with a command line, or with a file of arguments.
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
    /// A name that stood in the file before, in this line.
    Again(&'w [u8], usize),
    /// The name of another such file.
    Another,
    /// Something else than this.
    Expected(&'static str),
}

/// A mistake, and the file and the line in it if it is there.
type Placed<'w> = (Option<(&'static [u8], usize)>, Mistake<'w>);

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
    prepare_some::<true>(declaration, host)
}

/// The same for a program that declares nothing: it has options only.
pub fn prepare_options(host: &mut impl Host) -> Outcome {
    prepare_some::<false>("", host)
}

/// `ARRAYS` says whether arguments may be arrays: programs that have none do without the code that reads them.
fn prepare_some<const ARRAYS: bool>(declaration: &str, host: &mut impl Host) -> Outcome {
    let (mut help, mut version) = (false, false);
    let checked = walk(declaration, host, &mut |word| {
        help |= matches!(word, Word::Help);
        version |= matches!(word, Word::Version);
        Ok(())
    });
    // Who asks for help has not got it right yet.
    if help {
        let mut program = Text::new();
        let _ = write_bytes(&mut program, host.program());
        // There is nowhere to say that standard output cannot be written.
        let _ = help::write(declaration, program.as_str(), host.out());
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
        let _ = write_mistake(&mut text, declaration, (None, mistake));
        return wrong(host, &text);
    }
    if load(declaration, host).is_err() {
        return Outcome::Wrong;
    }
    let checked = check(declaration, host).and_then(|()| missing(declaration, host));
    if let Err(mistake) = checked {
        let mut text = Text::new();
        let _ = write_mistake(&mut text, declaration, mistake);
        return wrong(host, &text);
    }
    for position in 0..declared(declaration).count() {
        let Some(argument) = nth(declaration, position) else { break };
        match give::<ARRAYS>(declaration, host, position, argument) {
            Ok(()) => {}
            Err(Refused::Said) => return Outcome::Wrong,
            Err(Refused::File) => {
                if argument.purpose.is_none() {
                    let _ = writeln!(host.error(), "  = note: `--{}` needs {}", argument.name, argument.expected());
                }
                advise(host);
                return Outcome::Wrong;
            }
        }
    }
    if host.begin_report(declaration.split(RECORD).next().unwrap_or("")) {
        note(declaration, host);
    }
    Outcome::Ready
}

/// Says what all arguments are, and the options that somebody has given.
fn note(declaration: &str, host: &mut impl Host) {
    for (position, argument) in declared(declaration).enumerate() {
        let mut copies = [[0; LONGEST]; 2];
        let [value, source] = &mut copies;
        let is_required = argument.default.is_none();
        let (value, source) = match (given(declaration, host, position, is_required), entry(host, argument)) {
            (Some(given), _) => (copy(given, value), copy(b"command line", source)),
            (None, Some((config, _, found))) => (copy(found.written(), value), copy(config.path, source)),
            (None, None) if argument.purpose.is_some() => continue,
            (None, None) => (copy(argument.default.unwrap_or("").as_bytes(), value), copy(b"default", source)),
        };
        let [value, source] = [(value, &copies[0]), (source, &copies[1])]
            .map(|(length, copy)| length.map_or(&b"(a long text)"[..], |length| &copy[..length]));
        host.note(argument.name, value, source);
    }
}

/// Reads the file with arguments, if the command line names one.
fn load(declaration: &str, host: &mut impl Host) -> Result<(), Unreadable> {
    let position = declared(declaration).position(|argument| argument.purpose == Some(Purpose::Config));
    let Some(position) = position else { return Ok(()) };
    let mut copy = [0; LONGEST];
    let Some(path) = given(declaration, host, position, false) else { return Ok(()) };
    let length = path.len().min(LONGEST);
    copy[..length].copy_from_slice(&path[..length]);
    host.load(&copy[..length]).inspect_err(|_| advise(host))
}

/// Whether what the file says has the form, and names what there is, once.
fn check<'h>(declaration: &'h str, host: &'h impl Host) -> Result<(), Placed<'h>> {
    let Some(config) = host.config() else { return Ok(()) };
    for entry in config.entries() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(fault) => return Err((Some((config.path, fault.line)), Mistake::Expected(fault.expected))),
        };
        let place = Some((config.path, entry.line));
        let named = declared(declaration).find(|argument| argument.name.as_bytes() == entry.name);
        match named.map(|argument| argument.purpose) {
            None => return Err((place, Mistake::Unknown(entry.name))),
            Some(Some(Purpose::Config)) => return Err((place, Mistake::Another)),
            Some(_) => {}
        }
        let first = config.entries().flatten().find(|other| other.name == entry.name);
        if let Some(first) = first.filter(|first| !::core::ptr::eq(first.name, entry.name)) {
            return Err((place, Mistake::Again(entry.name, first.line)));
        }
    }
    Ok(())
}

/// What the file says of an argument.
fn entry(host: &impl Host, argument: Declared<'_>) -> Option<(Config, usize, Value<'static>)> {
    let config = host.config()?;
    let entry = config.entries().flatten().find(|entry| entry.name == argument.name.as_bytes())?;
    Some((config, entry.line, entry.value))
}

/// Why an argument has no numbers.
enum Refused {
    /// What is wrong was said.
    Said,
    /// What is wrong with the file was said.
    File,
}

fn refuse(host: &mut impl Host, declaration: &str, mistake: Placed<'_>) -> Refused {
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

/// The words in order. Fails with the first that is not understood. (Not inlined: code that runs once is better small.)
#[inline(never)]
fn walk<'h>(
    declaration: &'h str,
    host: &'h impl Host,
    visit: &mut dyn FnMut(Word<'h>) -> Result<(), Mistake<'h>>,
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
            let argument = nth(declaration, position);
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
        } else if let Some(position) = without
            .filter(|position| nth(declaration, *position).is_some_and(|argument| argument.kind == Kind::Boolean))
        {
            visit(Word::Named { position, value: Some(b"false") })?;
        } else {
            // Help may still be asked for.
            mistake = mistake.and(Err(Mistake::Unknown(word)));
        }
    }
    mistake
}

/// Fails if an argument is given twice, or a word has no argument.
fn complete<'h>(declaration: &'h str, host: &'h impl Host) -> Result<(), Mistake<'h>> {
    let mut alone = 0;
    for (position, argument) in declared(declaration).enumerate() {
        let mut times = 0;
        walk(declaration, host, &mut |word| {
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
    let count = places.count();
    if alone > count {
        let mut result = Ok(());
        walk(declaration, host, &mut |word| {
            if let Word::Alone { number, value } = word
                && number == count
            {
                result = Err(Mistake::TooMany(value));
            }
            Ok(())
        })?;
        return result;
    }
    Ok(())
}

/// Fails if an argument that is required stands neither on the command line nor in the file.
fn missing<'h>(declaration: &'h str, host: &'h impl Host) -> Result<(), Placed<'h>> {
    let mut required = declared(declaration).enumerate().filter(|(_, argument)| argument.default.is_none());
    let missing = required.find(|(position, argument)| {
        given(declaration, host, *position, true).is_none() && entry(host, *argument).is_none()
    });
    missing.map_or(Ok(()), |(_, argument)| Err((None, Mistake::Missing(argument))))
}

#[inline(never)]
fn is_named(declaration: &str, host: &impl Host, position: usize) -> bool {
    let mut found = false;
    let _ = walk(declaration, host, &mut |word| {
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
    let _ = walk(declaration, host, &mut |word| {
        match word {
            Word::Named { position: named, value } if named == position => found = Some(value.unwrap_or(b"true")),
            Word::Alone { number: this, value } if stands_alone && this == number => found = Some(value),
            _ => {}
        }
        Ok(())
    });
    found
}

/// Gives the program the numbers of an argument, or the system what an option says.
fn give<const ARRAYS: bool>(
    declaration: &str,
    host: &mut impl Host,
    position: usize,
    argument: Declared<'_>,
) -> Result<(), Refused> {
    let Declared { name, kind, default, .. } = argument;
    let mut value = [0; LONGEST];
    let (mut place, mut in_file) = (None, None);
    // A copy: the host is about to change.
    let length = match given(declaration, host, position, default.is_none()) {
        Some(given) => copy(given, &mut value),
        None => match entry(host, argument) {
            Some((config, line, found)) => {
                (place, in_file) = (Some((config.path, line)), Some(found));
                if matches!(found, Value::Array(_)) { Some(0) } else { found.decode(&mut value).map(<[u8]>::len) }
            }
            None => match default {
                // Nobody wants this option.
                Some("") if argument.purpose.is_some() => return Ok(()),
                _ => copy(default.unwrap_or("").as_bytes(), &mut value),
            },
        },
    };
    let Some(value) = length.and_then(|length| value.get(..length)) else {
        return Err(refuse(host, declaration, (place, Mistake::TooLong(name))));
    };
    let shown = in_file.map_or(value, |found| found.written());
    let not_of_kind = (place, Mistake::NotOfKind(argument, shown));
    if let Some(Value::Array(array)) = in_file {
        if !ARRAYS || !matches!(kind, Kind::Vector | Kind::Matrix) {
            return Err(refuse(host, declaration, not_of_kind));
        }
        return give_array(array, kind == Kind::Matrix, host).map_err(|wrong| {
            let mistake = match wrong {
                NoArray::Ragged => Mistake::Ragged(name, array),
                NoArray::Form => not_of_kind.1,
            };
            refuse(host, declaration, (place, mistake))
        });
    }
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
        Kind::Time => seconds(value),
        Kind::File => (!value.is_empty()).then_some(0.0),
        Kind::Vector | Kind::Matrix if is_inline(value) => {
            let rows = || value.split(|byte| *byte == b';');
            let columns = |row: &[u8]| row.split(|byte| *byte == b',').count();
            let first = rows().next().map_or(0, columns);
            if kind == Kind::Vector && rows().count() > 1 {
                return Err(refuse(host, declaration, not_of_kind));
            }
            if rows().any(|row| columns(row) != first) {
                return Err(refuse(host, declaration, (place, Mistake::Ragged(name, shown))));
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
        Kind::Vector | Kind::Matrix if ARRAYS => {
            let item = if kind == Kind::Vector { Item::Vector } else { Item::Matrix };
            return host.file(value, item, &argument.table()).map_err(|Unreadable| Refused::File);
        }
        Kind::Vector | Kind::Matrix => None,
    };
    let Some(number) = number else { return Err(refuse(host, declaration, not_of_kind)) };
    let setting = match kind {
        Kind::File => Setting::File(value),
        Kind::Time => Setting::Seconds(number),
        _ => Setting::Truth(number != 0.0),
    };
    match argument.purpose {
        Some(purpose) => host.set(purpose, setting).map_err(|Unreadable| Refused::File),
        None => {
            host.push(number);
            Ok(())
        }
    }
}

fn copy(from: &[u8], to: &mut [u8]) -> Option<usize> {
    to.get_mut(..from.len())?.copy_from_slice(from);
    Some(from.len())
}

/// Gives the program the numbers of an array in a file.
fn give_array(array: &[u8], is_matrix: bool, host: &mut impl Host) -> Result<(), NoArray> {
    let (rows, columns) = config::sizes(array, is_matrix)?;
    if is_matrix {
        host.push(rows as f64);
    }
    host.push(columns as f64);
    for part in Parts(array) {
        if let Part::Element(element) = part {
            host.push(real(element).ok_or(NoArray::Form)?);
        }
    }
    Ok(())
}

/// A time as one writes it, in seconds.
fn seconds(text: &[u8]) -> Option<f64> {
    let units: [(&[u8], f64); 4] = [(b"ms", 1e-3), (b"s", 1.0), (b"m", 60.0), (b"h", 3600.0)];
    let found = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(*unit)?, *size)));
    let (number, unit) = found.unwrap_or((text, 1.0));
    let seconds = real(number.trim_ascii())? * unit;
    (seconds >= 0.0 && seconds.is_finite()).then_some(seconds)
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

/// A value in quotes, shortened.
#[inline(never)]
fn quoted(f: &mut Text, value: &[u8]) -> fmt::Result {
    f.write_char('`')?;
    write_start(f, value)?;
    f.write_char('`')
}

fn write_mistake(f: &mut Text, declaration: &str, (place, mistake): Placed<'_>) -> fmt::Result {
    if let Some((path, line)) = place {
        f.write_char('`')?;
        write_bytes(f, path)?;
        write!(f, "`: line {line}: ")?;
    }
    let dashes = if place.is_some() { "" } else { "--" };
    match mistake {
        Mistake::Unknown(word) => {
            f.write_str("there is no argument ")?;
            quoted(f, word)?;
            let name = word.strip_prefix(b"--").unwrap_or(word);
            let name = name.split(|byte| *byte == b'=').next().unwrap_or(name);
            nearest(declaration, name).map_or(Ok(()), |name| write!(f, "; did you mean `{dashes}{name}`?"))
        }
        Mistake::Twice(name) => write!(f, "`--{name}` is given twice"),
        Mistake::Again(name, line) => {
            quoted(f, name)?;
            write!(f, " is given twice, first in line {line}")
        }
        Mistake::Another => f.write_str("a file with arguments names no other"),
        Mistake::Expected(what) => write!(f, "expected {what}"),
        Mistake::NoValue(argument) => {
            write!(f, "`--{}` has no value: expected {}", argument.name, argument.expected())
        }
        Mistake::TooMany(word) => {
            quoted(f, word)?;
            let required = declared(declaration).any(|argument| argument.default.is_none());
            f.write_str(if required { " is one value too many" } else { " belongs to no argument" })
        }
        Mistake::Missing(argument) => {
            write!(f, "`--{}` is missing: expected {}", argument.name, argument.expected())
        }
        Mistake::NotOfKind(argument, value) => {
            write!(f, "`{dashes}{}`: expected {}, found ", argument.name, argument.expected())?;
            quoted(f, value)?;
            // Of arrays one number may be meant.
            let mut words = value.split(|byte| b",;[] \t\r\n".contains(byte));
            let too_large = |word: &[u8]| ::core::str::from_utf8(word).is_ok_and(number::is_too_large);
            match words.find(|word| too_large(word)) {
                Some(word) => {
                    f.write_str(", in which ")?;
                    quoted(f, word)?;
                    write!(f, " is too large: numbers go up to {}", number::format(f64::MAX).as_str())
                }
                None => Ok(()),
            }
        }
        Mistake::TooLong(name) if place.is_some() => {
            write!(f, "`{name}`: the text is longer than {LONGEST} bytes, or has an escape that is none")
        }
        Mistake::TooLong(name) => write!(f, "`--{name}`: the value is longer than {LONGEST} bytes"),
        Mistake::Ragged(name, value) => {
            write!(f, "`{dashes}{name}`: the rows of ")?;
            quoted(f, value)?;
            f.write_str(" are of different lengths")
        }
    }
}
