//! Texts in the evaluator: those of the program, and behind these the ones that it has made.

use super::{Datum, Error, Machine, broken};
use crate::core::number;
use crate::ssa::ir::{Form, Stream, TextId, Value};
use std::sync::Arc;

impl Machine<'_, '_> {
    /// The text with a number.
    fn text(&mut self, base: usize, number: Value) -> Result<Arc<str>, Error> {
        let index = usize::try_from(self.int(base, number)?).unwrap_or(usize::MAX);
        let of_program = u32::try_from(index).ok().and_then(|index| self.program.texts.get(TextId(index)));
        let made = index.checked_sub(self.program.texts.len()).and_then(|index| self.texts_made.get(index));
        match of_program.or(made) {
            Some(text) => Ok(text.clone()),
            None => broken(format!("there is no text {index}")),
        }
    }

    /// The number of a text.
    fn text_with(&mut self, text: &str) -> i64 {
        let known = self.program.texts.values().chain(&self.texts_made).position(|known| **known == *text);
        let index = known.unwrap_or_else(|| {
            self.texts_made.push(Arc::from(text));
            self.program.texts.len() + self.texts_made.len() - 1
        });
        index as i64
    }

    pub(super) fn write_text(&mut self, stream: Stream, form: Form, base: usize, number: Value) -> Result<(), Error> {
        let text = self.text(base, number)?;
        if form == Form::Plain {
            return self.write(stream, &text);
        }
        let mut quoted = Vec::new();
        number::quoted(text.as_bytes(), |piece| quoted.extend_from_slice(piece));
        self.write(stream, &String::from_utf8_lossy(&quoted))
    }

    /// Ends the innermost text; its number.
    pub(super) fn end_text(&mut self) -> Result<Datum, Error> {
        let Some(bytes) = self.texts_begun.pop() else { return broken("no text has begun") };
        Ok(Datum::Int(self.text_with(&String::from_utf8_lossy(&bytes))))
    }

    /// The byte of a text at a place.
    pub(super) fn text_byte(&mut self, base: usize, args: &[Value]) -> Result<Datum, Error> {
        let (text, place) = (self.text(base, args[0])?, self.real(base, args[1])?);
        let byte = Some(place).filter(|place| *place >= 0.0).and_then(|place| text.as_bytes().get(place as usize));
        Ok(Datum::Real(byte.map_or(-1.0, |byte| f64::from(*byte))))
    }
}
