//! Arguments in a file: the names that stand in it, and the texts of their values.
//!
//! ~~~text
//! rate = 0.5              # a comment        {"rate": 0.5,
//! data = "points.csv"                         "data": "points.csv",
//! start = [1, 2]                              "start": [1, 2]}
//! ~~~
//!
//! On the left lines as in TOML, without tables, on the right JSON, one object. What a value has to be is not decided
//! here: a text in quotes, and one without, is what would stand on the command line, an array is one of numbers.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

/// A name with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'c> {
    /// The name.
    pub name: &'c [u8],
    /// What it is given.
    pub value: Value<'c>,
    /// The line that the name stands in, counted from 1.
    pub line: usize,
}

/// A value as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'c> {
    /// Without quotes.
    Bare(&'c [u8]),
    /// Between double quotes, with escapes.
    Quoted(&'c [u8]),
    /// Between single quotes: as it is.
    Literal(&'c [u8]),
    /// From bracket to bracket.
    Array(&'c [u8]),
}

/// What is wrong with the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, counted from 1.
    pub line: usize,
    /// What was expected.
    pub expected: &'static str,
}

const PAIR: &str = "`name = value`";
const MEMBER: &str = "`\"name\": value`";

impl<'c> Value<'c> {
    /// The text of a value, escapes replaced; `None` where it does not fit into the buffer, or an escape is none.
    pub fn decode<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let (bytes, escapes) = match self {
            Value::Quoted(bytes) => (bytes, true),
            Value::Bare(bytes) | Value::Literal(bytes) | Value::Array(bytes) => (bytes, false),
        };
        let (mut rest, mut length) = (*bytes, 0);
        while let [first, tail @ ..] = rest {
            let mut encoded = [0; 4];
            let written: &[u8] = match (*first, tail) {
                (b'\\', [b'u', digits @ ..]) if escapes => {
                    let digits = ::core::str::from_utf8(digits.get(..4)?).ok()?;
                    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                    rest = tail.get(5..)?;
                    character.encode_utf8(&mut encoded).as_bytes()
                }
                (b'\\', [escape, after @ ..]) if escapes => {
                    encoded[0] = match escape {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'b' => 8,
                        b'f' => 12,
                        b'"' | b'\\' | b'/' => *escape,
                        _ => return None,
                    };
                    rest = after;
                    encoded.get(..1)?
                }
                _ => {
                    rest = tail;
                    ::core::slice::from_ref(first)
                }
            };
            buffer.get_mut(length..length + written.len())?.copy_from_slice(written);
            length += written.len();
        }
        buffer.get(..length)
    }
    /// The value as it stands in the file, for messages.
    pub fn written(&self) -> &'c [u8] {
        match self {
            Value::Bare(bytes) | Value::Quoted(bytes) | Value::Literal(bytes) | Value::Array(bytes) => bytes,
        }
    }
}

/// A part of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'c> {
    /// `[`
    Open,
    /// `]`
    Close,
    /// `,`
    Comma,
    /// What is between these.
    Element(&'c [u8]),
}

/// The parts of an array in order.
#[derive(Clone, Copy)]
pub struct Parts<'c>(pub &'c [u8]);

impl<'c> Iterator for Parts<'c> {
    type Item = Part<'c>;
    fn next(&mut self) -> Option<Part<'c>> {
        self.0 = skip(self.0, true, &mut 0);
        let [first, rest @ ..] = self.0 else { return None };
        let part = match first {
            b'[' => Part::Open,
            b']' => Part::Close,
            b',' => Part::Comma,
            _ => {
                let ends = |byte: &u8| b"[],#".contains(byte) || byte.is_ascii_whitespace();
                let length = self.0.iter().position(ends).unwrap_or(self.0.len());
                let (element, rest) = self.0.split_at(length);
                self.0 = rest;
                return Some(Part::Element(element));
            }
        };
        self.0 = rest;
        Some(part)
    }
}

/// Why an array is none of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoArray {
    /// It has another form.
    Form,
    /// Its rows have different lengths.
    Ragged,
}

/// The numbers of rows and columns of an array, in brackets within brackets if it is a matrix.
///
/// # Errors
///
/// When it is none.
pub fn sizes(array: &[u8], is_matrix: bool) -> Result<(usize, usize), NoArray> {
    let innermost = if is_matrix { 2 } else { 1 };
    let (mut depth, mut rows, mut columns, mut in_row) = (0, 0, None, 0);
    // Whether an element or a row may come next, and whether a comma may.
    let (mut may_begin, mut may_end) = (true, false);
    for part in Parts(array) {
        match part {
            Part::Open if may_begin && depth < innermost => {
                depth += 1;
                (in_row, may_end) = (0, false);
            }
            Part::Element(_) if may_begin && depth == innermost => {
                in_row += 1;
                (may_begin, may_end) = (false, true);
            }
            Part::Comma if may_end && depth > 0 => (may_begin, may_end) = (true, false),
            Part::Close if depth > 0 => {
                if depth == innermost {
                    if columns.is_some_and(|columns| columns != in_row) {
                        return Err(NoArray::Ragged);
                    }
                    columns = Some(in_row);
                    rows += 1;
                }
                depth -= 1;
                (may_begin, may_end) = (false, true);
            }
            _ => return Err(NoArray::Form),
        }
    }
    match columns {
        Some(columns) if columns > 0 => Ok((rows, columns)),
        _ => Err(NoArray::Form),
    }
}

/// The names and values of a file, up to the first fault.
pub struct Entries<'c> {
    rest: &'c [u8],
    line: usize,
    is_json: bool,
    /// How many entries there were, of JSON.
    count: usize,
    is_over: bool,
}

impl<'c> Entries<'c> {
    /// Those of a file with this text.
    pub fn new(text: &'c [u8], is_json: bool) -> Entries<'c> {
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        Entries { rest: text, line: 1, is_json, count: 0, is_over: false }
    }

    fn fault<T>(&self, expected: &'static str) -> Result<T, Fault> {
        Err(Fault { line: self.line, expected })
    }

    fn skip(&mut self) {
        self.rest = skip(self.rest, !self.is_json, &mut self.line);
    }

    fn skip_in_line(&mut self) {
        let blank = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        self.rest = &self.rest[blank..];
    }

    fn take(&mut self, byte: u8) -> bool {
        let after = self.rest.strip_prefix(&[byte]);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// What is up to a quote, which is not part of it.
    fn quoted(&mut self, quote: u8) -> Result<&'c [u8], Fault> {
        let mut escaped = false;
        for (at, byte) in self.rest.iter().enumerate() {
            match byte {
                b'\n' => break,
                _ if escaped => escaped = false,
                b'\\' if quote == b'"' => escaped = true,
                _ if *byte == quote => {
                    let text = &self.rest[..at];
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                _ => {}
            }
        }
        self.fault("a quote at the end of the text")
    }

    fn array(&mut self) -> Result<&'c [u8], Fault> {
        let (all, mut depth, mut parts) = (self.rest, 0_usize, Parts(self.rest));
        let mut next = || match parts.next() {
            Some(part) => {
                depth = match part {
                    Part::Open => depth + 1,
                    Part::Close => depth - 1,
                    _ => depth,
                };
                Some((depth, parts.0))
            }
            None => None,
        };
        loop {
            match next() {
                Some((0, rest)) => {
                    let array = &all[..all.len() - rest.len()];
                    self.line += array.iter().filter(|byte| **byte == b'\n').count();
                    self.rest = rest;
                    return Ok(array);
                }
                Some(_) => {}
                None => return self.fault("`]` at the end of the array"),
            }
        }
    }

    fn value(&mut self) -> Result<Value<'c>, Fault> {
        match self.rest.first() {
            Some(b'"') => {
                self.take(b'"');
                Ok(Value::Quoted(self.quoted(b'"')?))
            }
            Some(b'\'') if !self.is_json => {
                self.take(b'\'');
                Ok(Value::Literal(self.quoted(b'\'')?))
            }
            Some(b'[') => Ok(Value::Array(self.array()?)),
            Some(b'{') => self.fault("a number, a text, `true`, `false` or an array"),
            _ => {
                let ends = |byte: &u8| match self.is_json {
                    true => b",}]".contains(byte) || byte.is_ascii_whitespace(),
                    false => b"\n#".contains(byte),
                };
                let length = self.rest.iter().position(ends).unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(length);
                self.rest = rest;
                let text = text.trim_ascii();
                if text.is_empty() { self.fault("a value") } else { Ok(Value::Bare(text)) }
            }
        }
    }

    fn pair(&mut self) -> Result<Option<Entry<'c>>, Fault> {
        self.skip();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        let name = if self.take(b'"') {
            self.quoted(b'"')?
        } else {
            let ends = |byte: &u8| b"=[\"'#".contains(byte) || byte.is_ascii_whitespace();
            let length = self.rest.iter().position(ends).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(length);
            self.rest = rest;
            name
        };
        self.skip_in_line();
        if name.is_empty() || !self.take(b'=') {
            return self.fault(PAIR);
        }
        self.skip_in_line();
        let value = self.value()?;
        self.skip_in_line();
        if self.rest.first().is_some_and(|byte| !b"\n#".contains(byte)) {
            return self.fault("the end of the line behind the value");
        }
        Ok(Some(Entry { name, value, line }))
    }

    fn member(&mut self) -> Result<Option<Entry<'c>>, Fault> {
        self.skip();
        if self.count == 0 && !self.take(b'{') {
            return self.fault("`{`");
        }
        self.skip();
        if self.take(b'}') {
            self.skip();
            return if self.rest.is_empty() { Ok(None) } else { self.fault("the end of the file behind `}`") };
        }
        if self.count > 0 && !self.take(b',') {
            return self.fault("`,` or `}`");
        }
        self.skip();
        let line = self.line;
        if !self.take(b'"') {
            return self.fault(MEMBER);
        }
        let name = self.quoted(b'"')?;
        self.skip();
        if !self.take(b':') {
            return self.fault(MEMBER);
        }
        self.skip();
        let value = self.value()?;
        self.count += 1;
        Ok(Some(Entry { name, value, line }))
    }
}

impl<'c> Iterator for Entries<'c> {
    type Item = Result<Entry<'c>, Fault>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = if self.is_json { self.member() } else { self.pair() };
        self.is_over = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

/// The text behind blanks, ends of lines, which are counted, and comments, if there are any.
fn skip<'c>(mut text: &'c [u8], comments: bool, line: &mut usize) -> &'c [u8] {
    loop {
        match text {
            [b'#', rest @ ..] if comments => {
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                text = &rest[length..];
            }
            [byte, rest @ ..] if byte.is_ascii_whitespace() => {
                *line += usize::from(*byte == b'\n');
                text = rest;
            }
            _ => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<Result<(String, Value<'_>, usize), Fault>> {
        let text_of = |entry: Entry<'_>| String::from_utf8_lossy(entry.name).into_owned();
        let is_json = text.trim_start().starts_with('{');
        Entries::new(text.as_bytes(), is_json)
            .map(|entry| entry.map(|entry| (text_of(entry), entry.value, entry.line)))
            .collect()
    }

    #[test]
    fn both_forms_say_the_same() {
        let lines = "# all\nrate = 0.5 # so\n\"data\"='a b.csv'\nm = [[1,\n 2], # two\n [3, 4]]\n\nword = x y\n";
        let found: Vec<_> = entries(lines).into_iter().map(Result::unwrap).collect();
        assert_eq!(found[0], ("rate".into(), Value::Bare(b"0.5"), 2));
        assert_eq!(found[1], ("data".into(), Value::Literal(b"a b.csv"), 3));
        assert!(matches!(found[2], (_, Value::Array(array), 4) if sizes(array, true) == Ok((2, 2))));
        assert_eq!(found[3], ("word".into(), Value::Bare(b"x y"), 8));
        let json = entries("{\"rate\": 0.5,\n \"data\": \"a\\\"\\u00e4.csv\", \"v\": [1, 2] }\n");
        assert_eq!(json[0], Ok(("rate".into(), Value::Bare(b"0.5"), 1)));
        let data = json[1].clone().expect("it can be read");
        assert_eq!((data.1.decode(&mut [0; 20]), data.2), (Some("a\"ä.csv".as_bytes()), 2));
        assert!(matches!(json[2], Ok((_, Value::Array(array), 2)) if sizes(array, false) == Ok((1, 2))));
        assert_eq!(entries("{}"), []);
    }

    #[test]
    fn faults_have_lines() {
        for (text, line) in [
            ("a = 1\nb 2", 2),
            ("[table]", 1),
            ("a = \"x", 1),
            ("a =", 1),
            ("a = [1,\n2", 1),
            ("a = \"x\" y", 1),
            ("a = {x = 1}", 1),
            ("{\"a\": 1\n\"b\": 2}", 2),
            ("{\"a\" 1}", 1),
            ("{a: 1}", 1),
            ("{\"a\": 1,}", 1),
            ("{\"a\": 1} x", 1),
            ("{\"a\": {}}", 1),
            ("{\"a\": 1", 1),
        ] {
            let last = entries(text).pop();
            assert!(matches!(last, Some(Err(fault)) if fault.line == line), "{text}: {last:?}");
        }
    }

    #[test]
    fn arrays_are_well_formed() {
        for wrong in ["[1,,2]", "[,1]", "[[1]]", "[]", "[1 2]"] {
            assert_eq!(sizes(wrong.as_bytes(), false), Err(NoArray::Form), "{wrong}");
        }
        assert_eq!(sizes(b"[[1, 2], [3]]", true), Err(NoArray::Ragged));
        assert_eq!(sizes(b"[1, 2]", true), Err(NoArray::Form));
        assert_eq!(sizes(b"[1, 2,]", false), Ok((1, 2)));
    }
}
