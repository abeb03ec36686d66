//! `read-real`: numbers from a text, separated by white space.

use crate::core::errors::RuntimeError;
use crate::core::number;
use std::io::{self, BufRead};

/// Reads the next number. Nothing behind the character that ends it is consumed, so that reading from a terminal does
/// not wait for more than it needs.
pub fn read_real(input: &mut dyn BufRead) -> Result<f64, RuntimeError> {
    let word = read_word(input).map_err(|error| RuntimeError::InputOutput { message: error.to_string() })?;
    let text = String::from_utf8_lossy(&word);
    if text.is_empty() {
        return Err(RuntimeError::EndOfInput);
    }
    number::parse(&text).ok_or_else(|| RuntimeError::MalformedNumber { text: text.into_owned() })
}

fn read_word(input: &mut dyn BufRead) -> io::Result<Vec<u8>> {
    let mut word = Vec::new();
    loop {
        let buffer = input.fill_buf()?;
        let Some(byte) = buffer.first().copied() else {
            return Ok(word);
        };
        input.consume(1);
        match (byte.is_ascii_whitespace(), word.is_empty()) {
            (false, _) => word.push(byte),
            (true, true) => {}
            (true, false) => return Ok(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_separated_by_white_space() {
        let mut input: &[u8] = b"  1 -2.5\n\t1/4 1e-5x 7";
        assert_eq!(read_real(&mut input), Ok(1.0));
        assert_eq!(read_real(&mut input), Ok(-2.5));
        assert_eq!(read_real(&mut input), Ok(0.25));
        assert_eq!(read_real(&mut input), Err(RuntimeError::MalformedNumber { text: "1e-5x".into() }));
        assert_eq!(read_real(&mut input), Ok(7.0));
        assert_eq!(read_real(&mut input), Err(RuntimeError::EndOfInput));
    }
}
