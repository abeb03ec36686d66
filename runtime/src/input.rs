//! Input: numbers separated by white space, from standard input.

use crate::cell::Single;
use crate::{number, output, start, system};

const CAPACITY: usize = 1 << 16;
/// The longest text of a number that is read; longer texts are not numbers.
const LONGEST: usize = 4096;

/// The part of standard input that was read from the system and not yet used.
struct Buffer {
    bytes: [u8; CAPACITY],
    start: usize,
    end: usize,
}

static BUFFER: Single<Buffer> = Single::new(Buffer { bytes: [0; CAPACITY], start: 0, end: 0 });

impl Buffer {
    /// The next byte, which stays in the buffer; `None` at the end of the input.
    fn peek(&mut self) -> Option<u8> {
        if self.start == self.end {
            self.fill();
        }
        self.bytes.get(self.start..self.end)?.first().copied()
    }

    fn fill(&mut self) {
        // Whoever types the number should have seen the question.
        output::flush();
        loop {
            // SAFETY: the pointer and the length are those of an array.
            let count = unsafe { system::read(system::STDIN, self.bytes.as_mut_ptr().cast(), CAPACITY) };
            if count < 0 && system::last_error() == system::EINTR {
                continue;
            }
            self.start = 0;
            self.end = usize::try_from(count).unwrap_or(0);
            return;
        }
    }

    /// The next text between white space, at most as long as `word`; `None` at the end of the input.
    fn word<'w>(&mut self, word: &'w mut [u8]) -> Option<&'w [u8]> {
        while self.peek()?.is_ascii_whitespace() {
            self.start += 1;
        }
        let mut length = 0;
        while let Some(byte) = self.peek().filter(|byte| !byte.is_ascii_whitespace()) {
            self.start += 1;
            if let Some(place) = word.get_mut(length) {
                *place = byte;
                length += 1;
            }
        }
        word.get(..length)
    }
}

/// Stands for the word in the message about a word that is not a number: U+FFFC.
const PLACEHOLDER: &[u8] = "\u{FFFC}".as_bytes();

/// The next number of standard input. When there is none, the program fails with the message; if that contains a zero
/// byte, what follows it is the message for a word that is not a number, with a placeholder for the word.
///
/// # Safety
///
/// `message` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_read_real(message: *const u8, length: usize) -> f64 {
    let mut word = [0; LONGEST];
    // SAFETY: nothing else refers to the buffer while this function runs.
    let word = unsafe { &mut *BUFFER.get() }.word(&mut word);
    if let Some(number) = word.and_then(|word| number::parse(core::str::from_utf8(word).ok()?)) {
        return number;
    }
    // SAFETY: the caller's obligation.
    let message = unsafe { core::slice::from_raw_parts(message, length) };
    let mut messages = message.splitn(2, |byte| *byte == 0);
    let end = messages.next().unwrap_or(message);
    match word {
        None => start::fail(end),
        Some(word) => fail_malformed(messages.next().unwrap_or(end), word),
    }
}

fn fail_malformed(message: &[u8], word: &[u8]) -> ! {
    let at = message.windows(PLACEHOLDER.len()).position(|part| part == PLACEHOLDER);
    let (before, after) = at.map_or((message, &[][..]), |at| (&message[..at], &message[at + PLACEHOLDER.len()..]));
    output::write_error(before);
    if at.is_some() {
        word.iter().for_each(|byte| match byte {
            // Control characters are shown as pictures, as everywhere in messages.
            0..0x20 => output::write_error(&[0xE2, 0x90, 0x80 + byte]),
            0x7F => output::write_error("\u{2421}".as_bytes()),
            _ => output::write_error(&[*byte]),
        });
    }
    start::fail(after)
}
