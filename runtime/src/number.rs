//! Numbers as text and texts in quotes, the same in the compiler, in the evaluator and in compiled programs.
//!
//! Printing: the shortest decimal digits that read back to the same double, laid out
//!
//! ~~~text
//! 0.0001 <= |x| < 1e21     positional        5   -2.5   0.5   100000   0.0001
//! otherwise                scientific        1e-5   1.5e-7   1e21   6.02e23
//! zero                     0   -0
//! not finite               +inf.0   -inf.0   +nan.0
//! ~~~
//!
//! A whole number is printed without a decimal point. Reading accepts every numeric literal of the language: decimals
//! with or without point and exponent, ratios of whole numbers, the three names above, and `#b`, `#o`, `#d`, `#x`.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use ::core::fmt::{self, Write};

/// Writes a text as a program has it: in quotes, with a backslash before quotes and backslashes, and `\\n` and `\\t`.
pub fn quoted(text: &[u8], mut write: impl FnMut(&[u8])) {
    write(b"\"");
    let mut start = 0;
    for (place, byte) in text.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\t' => b"\\t",
            _ => continue,
        };
        write(&text[start..place]);
        write(escape);
        start = place + 1;
    }
    write(&text[start..]);
    write(b"\"");
}

/// The longest text is `-1.2345678901234567e-308`, 24 bytes.
const CAPACITY: usize = 32;

/// A printed number.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Text {
    fn new() -> Text {
        Text { bytes: [0; CAPACITY], length: 0 }
    }
    /// The text itself.
    pub fn as_str(&self) -> &str {
        ::core::str::from_utf8(self.as_bytes()).unwrap_or("")
    }
    /// The text as bytes, all of them ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }
    fn zeros(&mut self, count: i32) {
        for _ in 0..count {
            self.push(b'0');
        }
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.push(byte));
        Ok(())
    }
}

/// The text of a number.
pub fn format(x: f64) -> Text {
    let mut text = Text::new();
    // Writing into the buffer cannot fail.
    let _ = match x {
        _ if x.is_nan() => text.write_str("+nan.0"),
        _ if x == f64::INFINITY => text.write_str("+inf.0"),
        _ if x == f64::NEG_INFINITY => text.write_str("-inf.0"),
        _ => format_finite(x, &mut text),
    };
    text
}

/// Takes the shortest digits from the formatter of `core` (which prints `d.ddde-5`) and lays them out anew.
fn format_finite(x: f64, text: &mut Text) -> fmt::Result {
    let mut scientific = Text::new();
    write!(scientific, "{x:e}")?;
    let (mantissa, exponent) = scientific.as_str().split_once('e').unwrap_or(("0", "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..21).contains(&exponent) {
        return text.write_str(scientific.as_str());
    }
    if mantissa.starts_with('-') {
        text.push(b'-');
    }
    let digits = mantissa.bytes().filter(u8::is_ascii_digit);
    if exponent < 0 {
        text.write_str("0.")?;
        text.zeros(-exponent - 1);
    }
    let mut written = 0;
    for digit in digits {
        if exponent >= 0 && written == exponent + 1 {
            text.push(b'.');
        }
        text.push(digit);
        written += 1;
    }
    text.zeros(exponent + 1 - written);
    Ok(())
}

/// The number that a literal denotes; `None` when the text is no literal, or denotes a number beyond all doubles, which
/// is not the infinity that it would be rounded to.
pub fn parse(text: &str) -> Option<f64> {
    literal(text).filter(|number| number.is_finite() || is_name(text))
}

/// Whether a text is a literal of a number beyond all doubles, such as `1e400`.
pub fn is_too_large(text: &str) -> bool {
    literal(text).is_some_and(|number| !number.is_finite() && !is_name(text))
}

/// Whether a text is the name of what is no finite number, and not a row of digits.
fn is_name(text: &str) -> bool {
    text.ends_with(".0") && text.contains(['i', 'a'])
}

fn literal(text: &str) -> Option<f64> {
    match text {
        "+inf.0" => return Some(f64::INFINITY),
        "-inf.0" => return Some(f64::NEG_INFINITY),
        "+nan.0" | "-nan.0" => return Some(f64::NAN),
        _ => {}
    }
    let radix = match text.get(..2) {
        Some("#b" | "#B") => 2,
        Some("#o" | "#O") => 8,
        Some("#d" | "#D") => 10,
        Some("#x" | "#X") => 16,
        _ => return parse_ratio(text),
    };
    let digits = text.get(2..)?;
    if radix == 10 { parse_ratio(digits) } else { parse_radix(digits, radix) }
}

/// Powers of ten that are doubles.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The decimal without an exponent that a text begins with, and how long it is: a sign, digits, a point, digits. `None`
/// if it begins with something else. Few digits make a whole number and a power of ten that are doubles both, whose
/// quotient is the closest one (Clinger, "How to read floating point numbers accurately", 1990).
#[inline]
pub fn leading_decimal(text: &[u8]) -> Option<(f64, usize)> {
    let is_negative = text.first() == Some(&b'-');
    let start = usize::from(is_negative || text.first() == Some(&b'+'));
    let (mut whole, mut digits, mut point, mut at) = (0u64, 0u32, None, start);
    while let Some(byte) = text.get(at) {
        match byte {
            b'0'..=b'9' => {
                whole = whole.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                digits += 1;
            }
            b'.' if point.is_none() => point = Some(at),
            _ => break,
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let scale = point.map_or(0, |point| at - point - 1);
    if digits <= 19
        && whole <= 1 << 53
        && let Some(power) = POWERS.get(scale)
    {
        let number = whole as f64 / power;
        return Some((if is_negative { -number } else { number }, at));
    }
    // Digits and a point are a number to the standard library, too.
    let number: f64 = ::core::str::from_utf8(text.get(..at)?).ok()?.parse().ok()?;
    number.is_finite().then_some((number, at))
}

fn parse_ratio(text: &str) -> Option<f64> {
    let Some((numerator, denominator)) = text.split_once('/') else {
        return parse_decimal(text);
    };
    let (_, magnitude) = split_sign(numerator);
    let whole = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !whole(magnitude) || !whole(denominator) {
        return None;
    }
    let denominator: f64 = denominator.parse().ok()?;
    if denominator == 0.0 {
        return None;
    }
    Some(numerator.parse::<f64>().ok()? / denominator)
}

/// Checks the form and leaves the value to `core`, whose own grammar also knows names such as `inf`.
fn parse_decimal(text: &str) -> Option<f64> {
    let (_, rest) = split_sign(text);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let good_mantissa = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let good_exponent = exponent.is_none_or(|text| {
        let (_, magnitude) = split_sign(text);
        digits(magnitude) && !magnitude.is_empty()
    });
    if good_mantissa && good_exponent { text.parse().ok() } else { None }
}

fn parse_radix(text: &str, radix: u32) -> Option<f64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in digits.chars() {
        value = value * f64::from(radix) + f64::from(digit.to_digit(radix)?);
    }
    Some(if negative { -value } else { value })
}

/// Whether the text starts with `-`, and what follows its sign.
fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or("")),
        Some(b'+') => (false, text.get(1..).unwrap_or("")),
        _ => (false, text),
    }
}

#[cfg(test)]
mod tests {
    use super::{format, is_too_large, leading_decimal, parse};

    #[test]
    fn numbers_print_shortest_and_in_the_documented_layout() {
        let cases = [
            (5.0, "5"),
            (-2.5, "-2.5"),
            (0.5, "0.5"),
            (1e-5, "1e-5"),
            (0.0001, "0.0001"),
            (0.00012345, "0.00012345"),
            (1.5e-7, "1.5e-7"),
            (100000.0, "100000"),
            (123456.789, "123456.789"),
            (1e20, "100000000000000000000"),
            (1e21, "1e21"),
            (-1.7976931348623157e308, "-1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0, "0"),
            (-0.0, "-0"),
            (f64::INFINITY, "+inf.0"),
            (f64::NEG_INFINITY, "-inf.0"),
            (f64::NAN, "+nan.0"),
        ];
        for (number, text) in cases {
            assert_eq!(format(number).as_str(), text);
        }
    }

    #[test]
    fn printed_numbers_read_back() {
        let mut bits: u64 = 0x9E37_79B9_7F4A_7C15;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let number = f64::from_bits(bits ^ (bits >> 29));
            if number.is_finite() {
                assert_eq!(parse(format(number).as_str()).map(f64::to_bits), Some(number.to_bits()));
            }
        }
    }

    #[test]
    fn literals_are_read() {
        let cases = [
            ("1", 1.0),
            ("+1", 1.0),
            ("-2.5", -2.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-5", 1e-5),
            ("1E+2", 100.0),
            ("1/4", 0.25),
            ("-3/4", -0.75),
            ("#b101", 5.0),
            ("#o17", 15.0),
            ("#xff", 255.0),
            ("#x-Ff", -255.0),
            ("#d10", 10.0),
            ("+inf.0", f64::INFINITY),
        ];
        for (text, number) in cases {
            assert_eq!(parse(text), Some(number), "{text}");
        }
    }

    #[test]
    fn numbers_beyond_all_doubles_are_not_infinite() {
        let digits = "9".repeat(400);
        let ratio = [&digits, "/", &digits].concat();
        let hexadecimal = ["#x", &digits].concat();
        for text in ["1e400", "-1e309", "1.8e308", &digits, &ratio, &hexadecimal] {
            assert_eq!(parse(text), None, "{text}");
            assert!(is_too_large(text), "{text}");
        }
        assert_eq!(leading_decimal(digits.as_bytes()), None);
        for text in ["1.7976931348623157e308", "1e-400", "+inf.0", "-inf.0", "+nan.0", "x", "1e"] {
            assert!(!is_too_large(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in
            ["", "-", "+", ".", "e5", "1e", "1e+", "inf", "nan", "1/0", "1/", "/2", "1.5/2", "1x", "#b12", "#x", "--1"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
