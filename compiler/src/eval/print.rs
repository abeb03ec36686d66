//! Values as text, written without recursion.

use super::value::{Function, Pair, Real, Value};
use crate::ad::tower::Transformation;
use crate::core::errors::Found;
use crate::core::ir::Program;
use crate::core::number;
use std::io::{self, Write};

/// What remains to be written.
enum Rest<'a> {
    Value(&'a Value),
    /// What follows an element of a list.
    Tail(&'a Value),
    Text(&'static str),
    /// So many closing parentheses.
    Close(u32),
}

/// Writes a value as `write` does.
pub fn print(program: &Program, value: &Value, output: &mut dyn Write) -> io::Result<()> {
    print_noting(program, value, output, &mut |_| {})
}

/// The same; each number in it is noted.
pub fn print_noting(
    program: &Program,
    value: &Value,
    output: &mut dyn Write,
    note: &mut dyn FnMut(f64),
) -> io::Result<()> {
    let mut pending = vec![Rest::Value(value)];
    while let Some(rest) = pending.pop() {
        match rest {
            Rest::Value(Value::Pair(pair)) => {
                output.write_all(b"(")?;
                pending.push(Rest::Tail(pair.cdr()));
                pending.push(Rest::Value(pair.car()));
            }
            Rest::Value(Value::Bundle(bundle)) => {
                repeat(b"(reverse ", bundle.tags(), output)?;
                output.write_all(b"(forward ")?;
                pending.extend([Rest::Close(bundle.tags() + 1), Rest::Value(bundle.cdr())]);
                pending.extend([Rest::Text(" "), Rest::Value(bundle.car())]);
            }
            Rest::Value(Value::Record(pair)) => {
                let record = &program.records[pair.kind()];
                write!(output, "({}", record.name)?;
                pending.push(Rest::Close(1));
                let fields = fields(pair, record.fields.len());
                pending.extend(fields.into_iter().rev().flat_map(|field| [Rest::Value(field), Rest::Text(" ")]));
            }
            // A function of the program would see the number.
            Rest::Value(Value::Series(series)) => pending.push(Rest::Value(series.car())),
            Rest::Value(Value::Vector(vector)) => {
                output.write_all(b"#(")?;
                pending.push(Rest::Close(1));
                for (index, element) in vector.elements().iter().enumerate().rev() {
                    pending.push(Rest::Value(element));
                    if index > 0 {
                        pending.push(Rest::Text(" "));
                    }
                }
            }
            Rest::Value(atom) => print_atom(program, atom, output, note)?,
            Rest::Tail(Value::Nil) => output.write_all(b")")?,
            Rest::Tail(Value::Pair(pair)) => {
                output.write_all(b" ")?;
                pending.push(Rest::Tail(pair.cdr()));
                pending.push(Rest::Value(pair.car()));
            }
            Rest::Tail(other) => {
                output.write_all(b" . ")?;
                pending.extend([Rest::Close(1), Rest::Value(other)]);
            }
            Rest::Text(text) => output.write_all(text.as_bytes())?,
            Rest::Close(count) => repeat(b")", count, output)?,
        }
    }
    Ok(())
}

/// The values of so many fields of a record that is made of a pair.
fn fields(pair: &Pair, count: usize) -> Vec<&Value> {
    let (mut fields, mut rest) = (Vec::with_capacity(count), pair);
    while fields.len() + 2 < count
        && let Value::Pair(next) = rest.cdr()
    {
        fields.push(rest.car());
        rest = next;
    }
    fields.extend([rest.car(), rest.cdr()].into_iter().take(count - fields.len()));
    fields
}

fn repeat(text: &[u8], times: u32, output: &mut dyn Write) -> io::Result<()> {
    (0..times).try_for_each(|_| output.write_all(text))
}

fn print_atom(program: &Program, atom: &Value, output: &mut dyn Write, note: &mut dyn FnMut(f64)) -> io::Result<()> {
    match atom {
        Value::Nil | Value::Nothing => output.write_all(b"()"),
        // These are no atoms.
        Value::Pair(_) | Value::Bundle(_) | Value::Series(_) | Value::Record(..) | Value::Vector(_) => Ok(()),
        Value::Bool(truth) => output.write_all(if *truth { b"#t" } else { b"#f" }),
        Value::Real(real) => {
            note(real.number);
            print_real(*real, output)
        }
        Value::Str(text) => print_string(text, output),
        Value::Closure(closure) => {
            let Function { base, tower } = closure.function();
            output.write_all(b"#[procedure ")?;
            for transformation in tower.transformations().iter().rev() {
                output.write_all(match transformation {
                    Transformation::Reverse => b"(*j ",
                    Transformation::Forward => b"(j* ",
                    Transformation::Series => b"(series ",
                    Transformation::Directions => b"(directions ",
                })?;
            }
            output.write_all(program.printed_name(base).as_bytes())?;
            repeat(b")", tower.height(), output)?;
            output.write_all(b"]")
        }
    }
}

/// `(reverse (reverse 1))` for a number with two tags.
fn print_real(real: Real, output: &mut dyn Write) -> io::Result<()> {
    repeat(b"(reverse ", real.tags, output)?;
    output.write_all(number::format(real.number).as_bytes())?;
    repeat(b")", real.tags, output)
}

fn print_string(text: &str, output: &mut dyn Write) -> io::Result<()> {
    let mut quoted = Vec::new();
    number::quoted(text.as_bytes(), |piece| quoted.extend_from_slice(piece));
    output.write_all(&quoted)
}

/// The text of a value, cut after `limit` bytes.
pub fn shortened(program: &Program, value: &Value, limit: usize) -> String {
    let mut short = Short { bytes: Vec::new(), limit };
    let complete = print(program, value, &mut short).is_ok();
    let mut text = String::from_utf8_lossy(&short.bytes).into_owned();
    if !complete {
        text.push_str(" ...");
    }
    text
}

/// A value for a message.
pub fn found(program: &Program, value: &Value) -> Found {
    Found { kind: value.kind(program), value: Some(shortened(program, value, 60)) }
}

/// Collects text and fails when it gets too long, so that a list of a million numbers costs no more than a short one.
struct Short {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(io::Error::from(io::ErrorKind::WriteZero));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: Vec<Value>, tail: Value) -> Value {
        values.into_iter().rev().fold(tail, |tail, value| Value::pair(value, tail))
    }

    #[test]
    fn values_print_as_documented() {
        let program = Program::default();
        let tagged = Value::Real(Real { number: 1.0, tags: 2, symbolic: false });
        let cases = [
            (list(vec![Value::real(1.0), Value::real(2.0)], Value::real(3.0)), "(1 2 . 3)"),
            (list(vec![list(vec![], Value::Nil), Value::Bool(true)], Value::Nil), "(() #t)"),
            (list(vec![list(vec![Value::real(0.5)], Value::Nil)], Value::Bool(false)), "((0.5) . #f)"),
            (tagged, "(reverse (reverse 1))"),
            (Value::Real(Real::symbolic_zero(0)), "0"),
            (Value::Str(std::rc::Rc::new("a \"b\"\n".into())), r#""a \"b\"\n""#),
        ];
        for (value, text) in cases {
            assert_eq!(shortened(&program, &value, 100), text);
        }
    }

    #[test]
    fn long_values_are_cut() {
        let nested = (0..1_000_000).fold(Value::Nil, |value, _| Value::pair(value, Value::Nil));
        assert_eq!(shortened(&Program::default(), &nested, 5), "((((( ...");
    }
}
