//! Tables of numbers as text: what spreadsheets, other programs and people write.
//!
//! ~~~text
//! # a comment                          lines that begin with # are not read
//! time,"dose, mg",name                 a heading: no cell is a number
//! 0,1.5,"Ann"                          cells in quotes; those of columns that nobody asks for may be texts
//! 1,NA,Bob                             a number is missing: an error, a row that is not read, or no number
//! ~~~
//!
//! The first line tells what stands between cells: a semicolon if there is one, and then a comma is a decimal point; else
//! a tabulator; else commas or white space. An empty line ends a table.

use super::number;
use super::reader::{Failure, Fault, Input, Item, LONGEST, Place, Problem, Reader, number_of};

/// The longest first line that is looked at as a whole.
const LONGEST_LINE: usize = 1 << 14;

/// So many columns can be chosen by their names.
const MOST_COLUMNS: usize = 256;

/// Stands between the names of columns.
pub const BETWEEN: char = '\u{1d}';

/// What to read of a table.
#[derive(Clone, Copy)]
pub struct Table<'t> {
    /// The names of the columns, in the order in which they are wanted, with [`BETWEEN`] between them; all if empty.
    pub columns: &'t str,
    /// What to do where a number is missing.
    pub missing: Missing,
}

impl Table<'_> {
    /// All of it.
    pub const ALL: Table<'static> = Table { columns: "", missing: Missing::Refused };
}

/// What to do where a number is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// That is a mistake.
    Refused,
    /// The row is not read.
    Dropped,
    /// It is no number.
    NotANumber,
}

/// What stands between the cells of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// White space or one comma.
    Any,
    /// This and nothing else.
    Only(u8),
}

/// What the first line has told.
struct Layout {
    separator: Separator,
    /// The columns that are wanted, if not all are: their places, in order, and which of those wanted each is.
    wanted: [(u16, u16); MOST_COLUMNS],
    chosen: usize,
    /// The numbers of the line at hand in these columns, in the order that is wanted.
    numbers: [f64; MOST_COLUMNS],
    /// How many of the cells that are wanted are behind, in the line at hand.
    behind: usize,
    /// How many cells each line has, once that is known.
    cells: Option<u64>,
    /// The first line of numbers ends with a separator, behind which nothing stands.
    is_open: bool,
}

impl Layout {
    /// Whether a cell of the line at hand is wanted.
    fn wants(&self, cell: u64) -> bool {
        self.chosen == 0 || self.behind < self.chosen && self.place(self.behind).0 == cell
    }

    /// The place of one of the columns that are wanted, and which of those it is.
    fn place(&self, number: usize) -> (u64, usize) {
        self.wanted.get(number).map_or((0, 0), |(place, position)| (u64::from(*place), usize::from(*position)))
    }

    /// Takes the number of a cell: it is kept if not all columns are wanted, held, or goes to the queue.
    fn take(&mut self, input: &mut impl Input, cell: u64, number: f64, holds: bool) {
        while self.behind < self.chosen && self.place(self.behind).0 == cell {
            let (_, position) = self.place(self.behind);
            if let Some(place) = self.numbers.get_mut(position) {
                *place = number;
            }
            self.behind += 1;
        }
        match self.chosen {
            0 if holds => input.hold(number),
            0 => input.push(number),
            _ => {}
        }
    }
}

/// A line.
enum Line {
    /// The table ends here.
    End,
    /// The number of its cells, and whether it is one of those to be left out.
    Cells(u64, bool),
}

/// A cell.
enum Cell {
    Number(f64),
    Missing,
    /// Nobody asks for it.
    Other,
}

impl Reader {
    /// Reads a table, of which something stands in the first line: a vector of all its numbers, or a matrix.
    pub(super) fn table(&mut self, input: &mut impl Input, item: Item, table: &Table<'_>) -> Result<f64, Failure> {
        while input.peek() == Some(b'#') {
            self.skip_line(input);
        }
        let mut line = [0; LONGEST_LINE];
        let mut length = 0;
        while let Some(byte) = input.peek().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            let Some(place) = line.get_mut(length) else { break };
            *place = byte;
            length += 1;
            input.advance();
        }
        let line = line.get(..length).unwrap_or(&[]);
        let mut layout = Layout {
            separator: separator_of(line),
            wanted: [(0, 0); MOST_COLUMNS],
            chosen: 0,
            numbers: [0.0; MOST_COLUMNS],
            behind: 0,
            cells: None,
            is_open: false,
        };
        let (mut rows, mut columns, mut count) = (0, 0, 0);
        if item == Item::Matrix {
            input.push(0.0);
        }
        let mut replayed = Replay { line, rest: input };
        if self.is_heading(line, layout.separator) {
            self.heading(line, table, &mut layout)?;
            while replayed.peek().is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
                self.advance(&mut replayed);
            }
            self.end_line(&mut replayed);
        } else if table.columns.is_empty() {
            if let Line::Cells(cells, is_dropped) = self.row(&mut replayed, &mut layout, table)? {
                layout.cells = Some(cells);
                if !is_dropped {
                    (rows, columns, count) = (1, cells, cells);
                }
            }
        } else {
            return Err(self.fault(self.place(0), Problem::NoHeading));
        }
        loop {
            let place = self.place(0);
            let Line::Cells(found, is_dropped) = self.row(input, &mut layout, table)? else { break };
            if (item == Item::Matrix || layout.chosen > 0) && layout.cells.is_some_and(|cells| cells != found) {
                let expected = layout.cells.unwrap_or(found);
                return Err(self.fault(place, Problem::Ragged { found, expected }));
            }
            layout.cells = Some(found);
            if !is_dropped {
                let found = if layout.chosen > 0 { layout.chosen as u64 } else { found };
                (rows, columns, count) = (rows + 1, found, count + found);
            }
        }
        if rows == 0 {
            return Err(self.fault(self.place(0), Problem::NoRows));
        }
        match item {
            Item::Matrix => {
                input.replace_first(columns as f64);
                Ok(rows as f64)
            }
            _ => Ok(count as f64),
        }
    }

    fn fault(&self, place: Place, problem: Problem) -> Failure {
        Failure::Malformed(Fault { place, problem })
    }

    fn skip_line(&mut self, input: &mut impl Input) {
        while input.peek().is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.advance(input);
        }
        self.end_line(input);
    }

    /// Goes on behind the end of a line, both halves of it.
    fn end_line(&mut self, input: &mut impl Input) {
        if input.peek().is_some() {
            self.advance(input);
        }
        if self.has_returned && input.peek() == Some(b'\n') {
            self.advance(input);
        }
    }

    /// Whether the first line names columns: no cell is a number, and not all say that one is missing.
    fn is_heading(&self, line: &[u8], separator: Separator) -> bool {
        let (mut names, mut rest) = (0, line);
        while let Some((cell, after)) = next_name(rest, separator) {
            let text = ::core::str::from_utf8(cell).unwrap_or("");
            let is_quoted = cell.first() == Some(&b'"');
            if !is_quoted && number_in(text, separator).is_some() {
                return false;
            }
            let is_quoted_number = is_quoted && number_in(unquoted(text), separator).is_some();
            if !is_missing(cell) && !is_quoted_number {
                let first = cell.first().copied().unwrap_or(b' ');
                // A number with a letter in it is a mistake, not a name.
                if !(first == b'"' || first == b'_' || first.is_ascii_alphabetic() || first >= 0x80) {
                    return false;
                }
                names += 1;
            }
            rest = after;
        }
        names > 0
    }

    /// Finds the columns that are wanted.
    fn heading(&mut self, line: &[u8], table: &Table<'_>, layout: &mut Layout) -> Result<(), Failure> {
        let mut count = 0u64;
        let mut rest = line;
        while let Some((_, after)) = next_name(rest, layout.separator) {
            (count, rest) = (count + 1, after);
        }
        layout.cells = Some(count);
        if layout.separator == Separator::Any && line.contains(&b',') {
            // Names may have spaces in them, and so may texts below.
            layout.separator = Separator::Only(b',');
        }
        if table.columns.is_empty() {
            return Ok(());
        }
        for name in table.columns.split(BETWEEN) {
            let (mut rest, mut place) = (line, 0u16);
            let found = loop {
                let Some((cell, after)) = next_name(rest, layout.separator) else { break None };
                if is_name(cell, name) {
                    break Some((place, after));
                }
                (rest, place) = (after, place.saturating_add(1));
            };
            let Some((found, mut rest)) = found else {
                self.remember(name.as_bytes());
                return Err(self.fault(self.place(0), Problem::NoColumn));
            };
            while let Some((cell, after)) = next_name(rest, layout.separator) {
                if is_name(cell, name) {
                    self.remember(name.as_bytes());
                    return Err(self.fault(self.place(0), Problem::TwoColumns));
                }
                rest = after;
            }
            let Some(wanted) = layout.wanted.get_mut(..=layout.chosen) else {
                return Err(self.fault(self.place(0), Problem::TooManyColumns));
            };
            let at = wanted.iter().take(layout.chosen).filter(|(place, _)| *place <= found).count();
            (at..layout.chosen).rev().for_each(|at| wanted.swap(at, at + 1));
            if let Some(slot) = wanted.get_mut(at) {
                *slot = (found, layout.chosen as u16);
            }
            layout.chosen += 1;
        }
        Ok(())
    }

    /// Reads a line: its numbers go to the queue.
    fn row(&mut self, input: &mut impl Input, layout: &mut Layout, table: &Table<'_>) -> Result<Line, Failure> {
        let holds = layout.chosen == 0 && table.missing == Missing::Dropped;
        let (mut cells, mut is_dropped, mut after_separator) = (0u64, false, false);
        layout.behind = 0;
        loop {
            let is_blank = |byte: u8| byte.is_ascii_whitespace() && layout.separator != Separator::Only(byte);
            match input.peek() {
                // The second half of the end of the line before.
                Some(b'\n') if self.has_returned => self.advance(input),
                Some(b'#') if cells == 0 && !after_separator => self.skip_line(input),
                None | Some(b'\n' | b'\r') => {
                    if cells == 0 && !after_separator {
                        if input.peek().is_some() {
                            self.advance(input);
                        }
                        return Ok(Line::End);
                    }
                    if after_separator {
                        match layout.cells {
                            // A separator at the end of each line means nothing.
                            None => layout.is_open = true,
                            Some(expected) if layout.is_open || cells == expected => {}
                            Some(_) => {
                                is_dropped |= self.missing(table)?;
                                layout.take(input, cells, f64::NAN, holds);
                                cells += 1;
                            }
                        }
                    }
                    if input.peek().is_some() {
                        self.advance(input);
                    }
                    break;
                }
                Some(byte) if is_blank(byte) => self.advance(input),
                Some(byte)
                    if layout.separator == Separator::Only(byte)
                        || layout.separator == Separator::Any && byte == b',' =>
                {
                    // Nothing stands between two separators, or in front of the first.
                    is_dropped |= self.missing(table)?;
                    layout.take(input, cells, f64::NAN, holds);
                    cells += 1;
                    after_separator = true;
                    self.advance(input);
                }
                Some(_) => {
                    let is_wanted = layout.wants(cells);
                    let number = match self.cell(input, layout.separator, is_wanted)? {
                        Cell::Number(number) => number,
                        Cell::Other => 0.0,
                        Cell::Missing if table.missing == Missing::Refused => {
                            let back = self.length as u64;
                            return Err(self.fault(self.place(back), Problem::Missing));
                        }
                        Cell::Missing => {
                            is_dropped |= table.missing == Missing::Dropped;
                            f64::NAN
                        }
                    };
                    layout.take(input, cells, number, holds);
                    cells += 1;
                    after_separator = false;
                    self.end_cell(input, layout.separator, &mut after_separator);
                }
            }
        }
        let is_kept = !is_dropped && layout.cells.is_none_or(|expected| expected == cells);
        if holds {
            input.settle(is_kept);
        } else if is_kept {
            layout.numbers.iter().take(layout.chosen).for_each(|number| input.push(*number));
        }
        Ok(Line::Cells(cells, is_dropped))
    }

    /// Goes behind a separator that follows a cell at once or after blanks.
    fn end_cell(&mut self, input: &mut impl Input, separator: Separator, after_separator: &mut bool) {
        loop {
            match input.peek() {
                Some(b'\n' | b'\r') | None => return,
                Some(byte) if separator == Separator::Only(byte) || separator == Separator::Any && byte == b',' => {
                    *after_separator = true;
                    return self.advance(input);
                }
                Some(byte) if byte.is_ascii_whitespace() => self.advance(input),
                Some(_) => return,
            }
        }
    }

    /// An empty cell; whether its row is left out.
    fn missing(&self, table: &Table<'_>) -> Result<bool, Failure> {
        if table.missing == Missing::Refused {
            return Err(self.fault(self.place(0), Problem::Missing));
        }
        Ok(table.missing == Missing::Dropped)
    }

    /// The cell that begins here.
    fn cell(&mut self, input: &mut impl Input, separator: Separator, is_wanted: bool) -> Result<Cell, Failure> {
        self.length = 0;
        let is_quoted = input.peek() == Some(b'"');
        let begin = self.byte;
        if is_quoted {
            self.advance(input);
            loop {
                match input.peek() {
                    None | Some(b'\n' | b'\r') => {
                        return Err(self.fault(self.place(self.byte - begin), Problem::OpenQuote));
                    }
                    Some(b'"') => {
                        self.advance(input);
                        if input.peek() != Some(b'"') {
                            break;
                        }
                        self.keep(b'"');
                        self.advance(input);
                    }
                    Some(byte) => {
                        self.keep(byte);
                        self.advance(input);
                    }
                }
            }
        } else {
            let ends = |byte: &u8| match separator {
                Separator::Any => *byte == b',' || byte.is_ascii_whitespace(),
                Separator::Only(only) => *byte == only || matches!(byte, b'\n' | b'\r'),
            };
            self.has_returned = false;
            // Most cells are decimals, and at hand.
            let bytes = input.at_hand();
            if is_wanted
                && let Some((number, length)) = number::leading_decimal(bytes)
                && bytes.get(length).is_some_and(ends)
            {
                self.byte += length as u64;
                input.skip(length);
                return Ok(Cell::Number(number));
            }
            loop {
                let bytes = input.at_hand();
                let length = bytes.iter().position(ends).unwrap_or(bytes.len());
                let is_end = length < bytes.len() || bytes.is_empty();
                bytes.iter().take(length).for_each(|byte| self.keep(*byte));
                self.byte += length as u64;
                input.skip(length);
                if is_end {
                    break;
                }
            }
        }
        let is_too_long = self.length > LONGEST;
        self.length = self.length.min(LONGEST);
        if !is_wanted {
            return Ok(Cell::Other);
        }
        let word = self.word().trim_ascii();
        if !is_too_long
            && let Some(number) = ::core::str::from_utf8(word).ok().and_then(|word| number_in(word, separator))
        {
            return Ok(Cell::Number(number));
        }
        if is_missing(word) {
            return Ok(Cell::Missing);
        }
        let place = self.place(self.byte - begin);
        Err(self.fault(place, self.no_number()))
    }
}

/// The words for a number that is missing.
fn is_missing(word: &[u8]) -> bool {
    let words: [&[u8]; 6] = [b"", b"na", b"n/a", b"null", b"none", b"?"];
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The number that a word is; with a comma as the decimal point where cells are separated by semicolons.
fn number_in(word: &str, separator: Separator) -> Option<f64> {
    if separator != Separator::Only(b';') || !word.contains(',') {
        return number_of(word);
    }
    let mut bytes = [0; 64];
    let place = bytes.get_mut(..word.len())?;
    place.copy_from_slice(word.as_bytes());
    place.iter_mut().filter(|byte| **byte == b',').for_each(|byte| *byte = b'.');
    number::parse(::core::str::from_utf8(place).ok()?)
}

/// What stands between the cells of a line.
fn separator_of(line: &[u8]) -> Separator {
    let mut is_quoted = false;
    let mut found = Separator::Any;
    for byte in line {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => return Separator::Only(b';'),
            b'\t' if !is_quoted => found = Separator::Only(b'\t'),
            _ => {}
        }
    }
    // A table in columns of equal width may have tabulators at the beginning of lines.
    found
}

/// The first cell of a line of names, quotes included, and what follows its separator.
fn next_name(line: &[u8], separator: Separator) -> Option<(&[u8], &[u8])> {
    let has_comma = line.contains(&b',');
    let ends = |byte: u8| match separator {
        Separator::Only(only) => byte == only,
        Separator::Any if has_comma => byte == b',',
        Separator::Any => byte.is_ascii_whitespace(),
    };
    let line = line.trim_ascii_start();
    if line.is_empty() {
        return None;
    }
    let mut is_quoted = false;
    for (at, byte) in line.iter().enumerate() {
        is_quoted ^= *byte == b'"';
        if !is_quoted && ends(*byte) {
            let (cell, rest) = line.split_at(at);
            return Some((cell.trim_ascii(), rest.get(1..).unwrap_or(&[])));
        }
    }
    Some((line.trim_ascii(), &[]))
}

fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name).trim()
}

/// Whether a cell of the heading is this name. Two quotation marks are one, between quotation marks.
fn is_name(cell: &[u8], name: &str) -> bool {
    let cell = ::core::str::from_utf8(cell).unwrap_or("");
    match cell.starts_with('"') {
        true => unquoted(cell).split("\"\"").eq(name.split('"')),
        false => cell.trim() == name,
    }
}

/// The first line, which has been read, once more, and what follows it.
struct Replay<'r, I> {
    line: &'r [u8],
    rest: &'r mut I,
}

impl<I: Input> Input for Replay<'_, I> {
    fn peek(&mut self) -> Option<u8> {
        self.line.first().copied().or_else(|| self.rest.peek())
    }
    fn advance(&mut self) {
        match self.line.split_first() {
            Some((_, rest)) => self.line = rest,
            None => self.rest.advance(),
        }
    }
    fn at_hand(&mut self) -> &[u8] {
        if self.line.is_empty() { self.rest.at_hand() } else { self.line }
    }
    fn skip(&mut self, count: usize) {
        match self.line.get(count..) {
            Some(rest) if !self.line.is_empty() => self.line = rest,
            _ => self.rest.skip(count),
        }
    }
    fn push(&mut self, number: f64) {
        self.rest.push(number);
    }
    fn pop(&mut self) -> Option<f64> {
        self.rest.pop()
    }
    fn replace_first(&mut self, number: f64) {
        self.rest.replace_first(number);
    }
    fn hold(&mut self, number: f64) {
        self.rest.hold(number);
    }
    fn settle(&mut self, are_wanted: bool) {
        self.rest.settle(are_wanted);
    }
}
