//! Numbers as written in programs.
//!
//! ```text
//! 1  -2.5  .5  1.  1e-5  1/3  +inf.0  -inf.0  +nan.0  #b101  #o17  #d99  #xff  #e1.5  #x#eff
//! ```

/// What a token that might be a number turned out to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// This number.
    Real(f64),
    /// A fraction whose denominator is zero.
    ZeroDenominator,
    /// Not a number.
    None,
}

/// Reads a number without a radix mark.
pub fn decimal(text: &str) -> Number {
    match text {
        "+inf.0" => return Number::Real(f64::INFINITY),
        "-inf.0" => return Number::Real(f64::NEG_INFINITY),
        "+nan.0" | "-nan.0" => return Number::Real(f64::NAN),
        _ => {}
    }
    if let Some((numerator, denominator)) = text.split_once('/') {
        return fraction(numerator, denominator, 10);
    }
    if !is_decimal(text.as_bytes()) {
        return Number::None;
    }
    text.parse().map_or(Number::None, Number::Real)
}

/// Reads a number behind marks of its radix, `#b`, `#o`, `#d` or `#x`, and of its exactness, `#e` or `#i`: all numbers
/// are doubles, so that this says nothing. `None` when no such mark stands there.
pub fn marked(text: &str) -> Option<(Number, u32)> {
    let (mut rest, mut radix, mut exactness) = (text, None, false);
    while let Some(mark) = rest.strip_prefix('#') {
        match mark.chars().next()?.to_ascii_lowercase() {
            'b' if radix.is_none() => radix = Some(2),
            'o' if radix.is_none() => radix = Some(8),
            'd' if radix.is_none() => radix = Some(10),
            'x' if radix.is_none() => radix = Some(16),
            'e' | 'i' if !exactness => exactness = true,
            _ => return None,
        }
        rest = &mark[1..];
    }
    let number = match radix {
        Some(radix) if radix != 10 => with_radix(rest, radix),
        _ => decimal(rest),
    };
    // `#e` alone is no start of a number.
    (number != Number::None || radix.is_some()).then_some((number, radix.unwrap_or(10)))
}

/// Reads the digits after `#b`, `#o` or `#x`, perhaps with a sign or as a fraction.
fn with_radix(text: &str, radix: u32) -> Number {
    match text.split_once('/') {
        Some((numerator, denominator)) => fraction(numerator, denominator, radix),
        None => integer(text, radix).map_or(Number::None, Number::Real),
    }
}

/// True for `[sign] digits [. [digits]] [exponent]` and `[sign] . digits [exponent]`.
fn is_decimal(text: &[u8]) -> bool {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = |at: usize| usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let mut at = sign(0);
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        at += 1;
        fraction = digits(at);
        at += fraction;
    }
    if whole + fraction == 0 {
        return false;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += sign(at);
        let exponent = digits(at);
        if exponent == 0 {
            return false;
        }
        at += exponent;
    }
    at == text.len()
}

fn fraction(numerator: &str, denominator: &str, radix: u32) -> Number {
    let signed = denominator.starts_with(['+', '-']);
    match (integer(numerator, radix), integer(denominator, radix)) {
        (Some(_), Some(0.0)) if !signed => Number::ZeroDenominator,
        (Some(n), Some(d)) if !signed => Number::Real(n / d),
        _ => Number::None,
    }
}

/// The double nearest to an integer.
fn integer(text: &str, radix: u32) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = if radix == 10 { digits.parse().ok()? } else { power_of_two_integer(digits, radix) };
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// The value of digits in a radix that is a power of two, rounded once: digits beyond the precision of a double only
/// decide the direction of rounding.
fn power_of_two_integer(digits: &str, radix: u32) -> f64 {
    let bits = radix.trailing_zeros();
    let (mut leading, mut sticky, mut dropped) = (0u128, 0u128, 0i32);
    for digit in digits.chars().filter_map(|digit| digit.to_digit(radix)) {
        if leading < 1 << 120 {
            leading = leading << bits | u128::from(digit);
        } else {
            sticky |= u128::from(digit != 0);
            dropped = dropped.saturating_add(bits as i32);
        }
    }
    (leading | sticky) as f64 * 2f64.powi(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_documented_forms_are_numbers() {
        for (text, value) in [
            ("1", 1.0),
            ("-2.5", -2.5),
            ("+3", 3.0),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e-5", 1e-5),
            ("1E3", 1000.0),
            ("1/3", 1.0 / 3.0),
            ("-1/4", -0.25),
            ("+inf.0", f64::INFINITY),
            ("-inf.0", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
        ] {
            assert_eq!(decimal(text), Number::Real(value), "{text}");
        }
        assert!(matches!(decimal("+nan.0"), Number::Real(x) if x.is_nan()));
        assert!(matches!(decimal("-0"), Number::Real(x) if x == 0.0 && x.is_sign_negative()));
    }

    #[test]
    fn names_that_resemble_numbers_are_names() {
        for text in
            ["+", "-", "...", ".", "1+", "-1+", "1.2.3", "e5", "1e", "1e+", "1/", "/2", "1/2/3", "1/-2", "inf", "nan"]
        {
            assert_eq!(decimal(text), Number::None, "{text}");
        }
        assert_eq!(decimal("1/0"), Number::ZeroDenominator);
    }

    #[test]
    fn marks_stand_in_any_order() {
        for (text, value) in [("#d100", 100.0), ("#e1.5", 1.5), ("#i#xff", 255.0), ("#X#eff", 255.0), ("#d-1/4", -0.25)]
        {
            assert!(matches!(marked(text), Some((Number::Real(x), _)) if x == value), "{text}");
        }
        assert_eq!(marked("#d1x"), Some((Number::None, 10)));
        for text in ["#error", "#true", "#e", "#", "#b#d1", "#\u{3bb}"] {
            assert!(!matches!(marked(text), Some((Number::Real(_), _))), "{text}");
        }
        assert_eq!(marked("#error"), None);
    }

    #[test]
    fn other_radixes_round_once() {
        assert_eq!(with_radix("101", 2), Number::Real(5.0));
        assert_eq!(with_radix("17", 8), Number::Real(15.0));
        assert_eq!(with_radix("fF", 16), Number::Real(255.0));
        assert_eq!(with_radix("-a/4", 16), Number::Real(-2.5));
        assert_eq!(with_radix("12", 2), Number::None);
        assert_eq!(with_radix("", 2), Number::None);
        // 2^53 + 1 lies halfway between two doubles: a one far to the right decides.
        let halfway = "20000000000001";
        assert_eq!(with_radix(halfway, 16), Number::Real(9007199254740992.0));
        let above = format!("{halfway}{}1", "0".repeat(40));
        assert_eq!(with_radix(&above, 16), Number::Real(9007199254740994.0 * 2f64.powi(164)));
    }
}
