//! Reading numbers and arrays of numbers, the same in the evaluators and in compiled programs.
//!
//! | | in the input |
//! |---|---|
//! | a number | a word between white space |
//! | a vector | the numbers up to an empty line or the end; a line ends with a line feed, a carriage return, or both |
//! | a matrix | the same, one row in each line; a heading and comments may stand there, too |
//! | either | what NumPy writes as `.npy`: real numbers or truth values of any size, in either byte and memory order |
//!
//! Arrays as text are [tables](crate::table). An array is read at once: its numbers are put
//! in a queue from which the reads that follow take theirs, and the result is how many there are. Of a matrix the
//! result is the number of rows, and the first number in the queue that of columns, which is negative where the numbers
//! come column by column (Fortran order).
//!
//! Beside the literals of the language, `nan`, `inf` and `infinity` in any case are numbers: other programs write them.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::number;
use super::table::Table;
use ::core::fmt::{self, Write};

/// The longest text of a number that is read, and the longest header of a `.npy` array; longer ones are neither.
pub(super) const LONGEST: usize = 4096;

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// A number.
    Real,
    /// A vector; the result is its length.
    Vector,
    /// A matrix; the result is how many rows it has.
    Matrix,
}

/// The bytes of the input, and the numbers that were read in advance.
pub trait Input {
    /// The next byte, which stays where it is; `None` at the end.
    fn peek(&mut self) -> Option<u8>;
    /// Goes on to the byte after the next.
    fn advance(&mut self);
    /// The next bytes, as many as are at hand: none at the end only.
    fn at_hand(&mut self) -> &[u8];
    /// Goes on behind so many of the bytes at hand.
    fn skip(&mut self, count: usize);
    /// Adds a number to the end of the queue.
    fn push(&mut self, number: f64);
    /// Takes the first number of the queue.
    fn pop(&mut self) -> Option<f64>;
    /// Replaces the first number of the queue, which has one.
    fn replace_first(&mut self, number: f64);
    /// Keeps a number of a row of which is not known yet whether it is wanted.
    fn hold(&mut self, number: f64);
    /// Adds the numbers kept to the end of the queue, if they are wanted; and keeps none.
    fn settle(&mut self, are_wanted: bool);
}

/// Why nothing could be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// There is nothing left.
    End,
    /// Something else stands there; [`Reader::report`] says what.
    Malformed(Fault),
}

/// What is wrong with the input, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    pub(super) place: Place,
    pub(super) problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Line { line: u64, column: u64 },
    Byte(u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Problem {
    /// The last word is not a number.
    NotANumber,
    /// The last word is a number beyond all doubles.
    TooLarge,
    /// Nothing stands where a number should, or a word that says so.
    Missing,
    /// Columns are wanted, but the first line names none.
    NoHeading,
    /// The heading does not have the last word.
    NoColumn,
    /// The heading has the last word twice.
    TwoColumns,
    /// More columns are wanted than can be.
    TooManyColumns,
    /// There is a heading and nothing else, or all rows are left out.
    NoRows,
    /// A cell that begins with a quotation mark does not end with one.
    OpenQuote,
    /// A row of another length than the first.
    Ragged { found: u64, expected: u64 },
    /// The last word is not the type of elements that can be read.
    ElementType,
    /// An array of another number of dimensions.
    Dimensions { found: u64, expected: u64 },
    /// Another mistake in a `.npy` array.
    Array(&'static str),
}

const NOT_UNDERSTOOD: Problem = Problem::Array("the header of a .npy array is not understood");
const CUT_SHORT: Problem = Problem::Array("the input ends within a .npy array");

/// Where the reading has come to.
pub struct Reader {
    pub(super) byte: u64,
    /// How many lines are behind. (All zeros at the beginning: so it takes no place in executables.)
    line: u64,
    /// A carriage return has ended a line: a line feed that follows belongs to it.
    pub(super) has_returned: bool,
    /// The number of bytes before the line.
    line_start: u64,
    word: [u8; LONGEST],
    pub(super) length: usize,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::new()
    }
}

impl Reader {
    /// The beginning of the input.
    pub const fn new() -> Reader {
        Reader { byte: 0, line: 0, has_returned: false, line_start: 0, word: [0; LONGEST], length: 0 }
    }

    /// Goes to the beginning of another input.
    pub fn begin(&mut self) {
        (self.byte, self.line, self.line_start, self.length) = (0, 0, 0, 0);
        self.has_returned = false;
    }

    /// Reads an item.
    #[inline]
    pub fn read(&mut self, input: &mut impl Input, item: Item) -> Result<f64, Failure> {
        match input.pop() {
            Some(number) if item == Item::Real => Ok(number),
            _ => self.read_anew(input, item, &Table::ALL),
        }
    }

    /// Reads an item that is not in the queue; of a table what is wanted.
    pub fn read_anew(&mut self, input: &mut impl Input, item: Item, table: &Table<'_>) -> Result<f64, Failure> {
        while input.peek().ok_or(Failure::End)?.is_ascii_whitespace() {
            self.advance(input);
        }
        match (item, input.peek()) {
            (Item::Real, _) => self.number(input, |byte| byte.is_ascii_whitespace()),
            (_, Some(0x93)) if table.columns.is_empty() => self.npy(input, item),
            (_, Some(0xef)) => {
                // Some programs mark texts in UTF-8 in this way.
                let mut mark = [0xef, 0xbb, 0xbf].into_iter();
                while mark.next().is_some_and(|byte| input.peek() == Some(byte)) {
                    input.advance();
                }
                self.table(input, item, table)
            }
            _ => self.table(input, item, table),
        }
    }

    /// What to say about a failure of the last read.
    pub fn report(&self, fault: Fault) -> Report<'_> {
        Report { fault, word: self.word() }
    }

    /// Makes a text the last word.
    pub(super) fn remember(&mut self, text: &[u8]) {
        self.length = 0;
        text.iter().for_each(|byte| self.keep(*byte));
        self.length = self.length.min(LONGEST);
    }

    pub(super) fn word(&self) -> &[u8] {
        self.word.get(..self.length).unwrap_or(&[])
    }

    pub(super) fn advance(&mut self, input: &mut impl Input) {
        let byte = input.peek();
        self.byte += 1;
        if matches!(byte, Some(b'\n' | b'\r')) {
            self.line += u64::from(byte == Some(b'\r') || !self.has_returned);
            self.line_start = self.byte;
        }
        self.has_returned = byte == Some(b'\r');
        input.advance();
    }

    /// The place so many bytes before the next.
    pub(super) fn place(&self, back: u64) -> Place {
        Place::Line { line: self.line + 1, column: self.byte - back - self.line_start + 1 }
    }

    pub(super) fn keep(&mut self, byte: u8) {
        if let Some(place) = self.word.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
    }

    /// The number that begins here and ends before a separator.
    fn number(&mut self, input: &mut impl Input, is_separator: impl Fn(u8) -> bool) -> Result<f64, Failure> {
        self.length = 0;
        while let Some(byte) = input.peek().filter(|byte| !is_separator(*byte)) {
            self.keep(byte);
            self.byte += 1;
            self.has_returned = false;
            input.advance();
        }
        let back = self.length as u64;
        if self.length <= LONGEST
            && let Some(number) = ::core::str::from_utf8(self.word()).ok().and_then(number_of)
        {
            return Ok(number);
        }
        self.length = self.length.min(LONGEST);
        Err(Failure::Malformed(Fault { place: self.place(back), problem: self.no_number() }))
    }

    /// Why the last word is no number.
    pub(super) fn no_number(&self) -> Problem {
        let is_too_large = ::core::str::from_utf8(self.word().trim_ascii()).is_ok_and(number::is_too_large);
        if is_too_large { Problem::TooLarge } else { Problem::NotANumber }
    }

    /// An array in NumPy's format.
    fn npy(&mut self, input: &mut impl Input, item: Item) -> Result<f64, Failure> {
        let place = Place::Byte(self.byte);
        let wrong = |problem| Failure::Malformed(Fault { place, problem });
        let shape = self.npy_shape(input).map_err(wrong)?;
        let expected = if item == Item::Matrix { 2 } else { 1 };
        if shape.dimensions != expected {
            return Err(wrong(Problem::Dimensions { found: shape.dimensions, expected }));
        }
        let count = shape.rows.checked_mul(shape.columns).ok_or(wrong(NOT_UNDERSTOOD))?;
        if item == Item::Matrix {
            let columns = shape.columns as f64;
            input.push(if shape.is_transposed { -columns } else { columns });
        }
        for _ in 0..count {
            let mut bytes = [0; 8];
            for byte in bytes.iter_mut().take(shape.element.size) {
                *byte = self.npy_byte(input).map_err(wrong)?;
            }
            input.push(shape.element.number(bytes));
        }
        Ok(shape.rows as f64)
    }

    fn npy_byte(&mut self, input: &mut impl Input) -> Result<u8, Problem> {
        let byte = input.peek().ok_or(CUT_SHORT)?;
        self.byte += 1;
        input.advance();
        Ok(byte)
    }

    fn npy_shape(&mut self, input: &mut impl Input) -> Result<Shape, Problem> {
        for expected in b"\x93NUMPY" {
            if self.npy_byte(input)? != *expected {
                return Err(NOT_UNDERSTOOD);
            }
        }
        let (version, _) = (self.npy_byte(input)?, self.npy_byte(input)?);
        let bytes = match version {
            1 => 2,
            2 | 3 => 4,
            _ => return Err(Problem::Array("a .npy array is of a version that is not known")),
        };
        let mut length = 0;
        for position in 0..bytes {
            length |= usize::from(self.npy_byte(input)?) << (8 * position);
        }
        if length > LONGEST {
            return Err(NOT_UNDERSTOOD);
        }
        self.length = 0;
        for _ in 0..length {
            let byte = self.npy_byte(input)?;
            self.keep(byte);
        }
        let header = ::core::str::from_utf8(self.word()).map_err(|_| NOT_UNDERSTOOD)?;
        let order = entry(header, "'fortran_order'")?;
        let is_transposed = order.starts_with("True");
        if !is_transposed && !order.starts_with("False") {
            return Err(NOT_UNDERSTOOD);
        }
        let kind = entry(header, "'descr'")?;
        // Elements with fields have a list here, not a text.
        let kind = kind.strip_prefix('\'').map_or(kind, |kind| kind.split('\'').next().unwrap_or(kind));
        let Some(element) = Element::of(kind) else {
            let kind: [u8; 16] = ::core::array::from_fn(|index| kind.as_bytes().get(index).copied().unwrap_or(b' '));
            self.length = kind.trim_ascii_end().len();
            self.word[..16].copy_from_slice(&kind);
            return Err(Problem::ElementType);
        };
        shape(entry(header, "'shape'")?, is_transposed, element)
    }
}

/// The number that a word of the input is.
pub(super) fn number_of(word: &str) -> Option<f64> {
    let name = word.strip_prefix(['+', '-']).unwrap_or(word);
    let is_name = ["nan", "inf", "infinity"].iter().any(|known| name.eq_ignore_ascii_case(known));
    // These names are numbers to the standard library, too.
    if is_name { word.parse().ok() } else { number::parse(word) }
}

/// How the elements of a `.npy` array are stored.
#[derive(Clone, Copy)]
struct Element {
    kind: Kind,
    /// In bytes, at most 8.
    size: usize,
    is_big_endian: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

impl Element {
    /// Understands a type such as `<f8`: byte order, kind, size in bytes.
    fn of(text: &str) -> Option<Element> {
        let [order, kind, size] = *text.as_bytes() else { return None };
        let (kind, sizes): (Kind, &[u8]) = match kind {
            b'f' => (Kind::Float, b"48"),
            b'i' => (Kind::Signed, b"1248"),
            b'u' => (Kind::Unsigned, b"1248"),
            b'b' => (Kind::Unsigned, b"1"),
            _ => return None,
        };
        let is_known = sizes.contains(&size) && (matches!(order, b'<' | b'>') || order == b'|' && size == b'1');
        // Only a digit that is known is one.
        is_known.then(|| Element { kind, size: usize::from(size - b'0'), is_big_endian: order == b'>' })
    }

    /// The number that is stored in the first bytes; whole numbers beyond 2^53 are rounded.
    fn number(self, mut bytes: [u8; 8]) -> f64 {
        if self.is_big_endian
            && let Some(bytes) = bytes.get_mut(..self.size)
        {
            bytes.reverse();
        }
        let bits = u64::from_le_bytes(bytes);
        let unused = 64 - 8 * self.size as u32;
        match self.kind {
            Kind::Float if self.size == 4 => f64::from(f32::from_bits(bits as u32)),
            Kind::Float => f64::from_bits(bits),
            Kind::Signed => ((bits << unused) as i64 >> unused) as f64,
            Kind::Unsigned => bits as f64,
        }
    }
}

struct Shape {
    dimensions: u64,
    rows: u64,
    columns: u64,
    /// Whether the elements of a matrix come column by column.
    is_transposed: bool,
    element: Element,
}

/// What follows a key in the header of a `.npy` array.
fn entry<'h>(header: &'h str, key: &str) -> Result<&'h str, Problem> {
    let (_, rest) = header.split_once(key).ok_or(NOT_UNDERSTOOD)?;
    rest.trim_start().strip_prefix(':').map(str::trim_start).ok_or(NOT_UNDERSTOOD)
}

/// A shape such as `(3, 4)` or `(3,)`.
fn shape(text: &str, is_transposed: bool, element: Element) -> Result<Shape, Problem> {
    let (inside, _) = text.strip_prefix('(').and_then(|text| text.split_once(')')).ok_or(NOT_UNDERSTOOD)?;
    let mut shape = Shape { dimensions: 0, rows: 1, columns: 1, is_transposed, element };
    for size in inside.split(',').map(str::trim).filter(|size| !size.is_empty()) {
        let size = size.parse().map_err(|_| NOT_UNDERSTOOD)?;
        match shape.dimensions {
            0 => shape.rows = size,
            _ => shape.columns = size,
        }
        shape.dimensions += 1;
    }
    Ok(shape)
}

/// What is wrong with the input, as a text.
pub struct Report<'r> {
    fault: Fault,
    word: &'r [u8],
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault.place {
            Place::Line { line, column } => write!(f, "line {line}, column {column} of the input: ")?,
            Place::Byte(byte) => write!(f, "byte {byte} of the input: ")?,
        }
        match self.fault.problem {
            Problem::NotANumber => {
                f.write_char('`')?;
                write_start(f, self.word)?;
                f.write_str("` is not a number")
            }
            Problem::TooLarge => {
                f.write_char('`')?;
                write_start(f, self.word)?;
                write!(f, "` is too large: numbers go up to {}", number::format(f64::MAX).as_str())
            }
            Problem::Missing => f.write_str("a number is missing"),
            Problem::NoHeading => f.write_str("the first line must name the columns"),
            Problem::NoColumn => {
                f.write_str("there is no column `")?;
                write_start(f, self.word)?;
                f.write_char('`')
            }
            Problem::TwoColumns => {
                f.write_str("two columns are called `")?;
                write_start(f, self.word)?;
                f.write_char('`')
            }
            Problem::TooManyColumns => f.write_str("more than 256 columns are chosen"),
            Problem::NoRows => f.write_str("there is no row to read"),
            Problem::OpenQuote => f.write_str("a quotation mark is not closed in its line"),
            Problem::Ragged { found, expected } => {
                write!(f, "a row of length {found} after rows of length {expected}")
            }
            Problem::ElementType => {
                f.write_str("a .npy array has elements of type `")?;
                write_start(f, self.word)?;
                f.write_str("`, not numbers of up to 8 bytes")
            }
            Problem::Dimensions { found, expected } => {
                write!(f, "a .npy array of {found} dimensions, where {expected} are to be read")
            }
            Problem::Array(text) => f.write_str(text),
        }
    }
}

/// So many bytes of a word are shown.
pub const SHOWN: usize = 200;

/// The beginning of a word as text, which is as much of it as one wants to see.
pub fn write_start(f: &mut dyn Write, bytes: &[u8]) -> fmt::Result {
    write_bytes(f, bytes.get(..SHOWN).unwrap_or(bytes))?;
    f.write_str(if bytes.len() > SHOWN { "..." } else { "" })
}

/// Bytes as text; control characters are shown as pictures, as everywhere in messages.
pub fn write_bytes(f: &mut dyn Write, bytes: &[u8]) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            f.write_char(match character {
                '\0'..' ' => char::from_u32(0x2400 + character as u32).unwrap_or(character),
                '\u{7f}' => '\u{2421}',
                _ => character,
            })?;
        }
        if !chunk.invalid().is_empty() {
            f.write_char('\u{fffd}')?;
        }
    }
    Ok(())
}
