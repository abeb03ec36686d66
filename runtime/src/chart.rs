//! A curve as SVG: a number over a count of iterations, on a logarithmic scale where the numbers allow it.
//!
//! Numbers that are all positive are drawn by their logarithms if the largest is ten times the least; others by those
//! of their distance to the least one, if these differ by a factor of a thousand; all else as it is.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::number;
use ::core::fmt::{self, Write};

/// The place of the frame in the picture.
const LEFT: i32 = 70;
const RIGHT: i32 = 630;
const TOP: i32 = 30;
const BOTTOM: i32 = 210;

/// How a number is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Linear,
    Logarithmic,
    /// The logarithm of what is above this.
    Above(f64),
}

impl Scale {
    fn of(least: f64, largest: f64, next: f64) -> Scale {
        if least > 0.0 {
            return if largest / least >= 10.0 { Scale::Logarithmic } else { Scale::Linear };
        }
        if (largest - least) / (next - least) >= 1000.0 { Scale::Above(least) } else { Scale::Linear }
    }
    /// Where a number is on the axis; none for what is not drawn.
    fn place(self, y: f64) -> Option<f64> {
        let place = match self {
            Scale::Linear => y,
            Scale::Logarithmic => log10(y)?,
            Scale::Above(least) => log10(y - least)?,
        };
        place.is_finite().then_some(place)
    }
}

/// Draws the points, in this order. A point that is not finite begins the line anew. Draws nothing where there are less
/// than two points, or no number is finite.
pub fn draw(title: &str, points: impl Iterator<Item = (f64, f64)> + Clone, out: &mut dyn Write) -> fmt::Result {
    let finite = || points.clone().filter(|(_, y)| y.is_finite());
    let range = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, largest), y| (least.min(y), largest.max(y)))
    };
    let (least, largest) = range(&mut finite().map(|(_, y)| y));
    let (next, _) = range(&mut finite().map(|(_, y)| y).filter(|y| *y > least));
    let scale = Scale::of(least, largest, next);
    let (x0, x1) = range(&mut finite().map(|(x, _)| x));
    let (y0, y1) = range(&mut finite().filter_map(|(_, y)| scale.place(y)));
    if x0 >= x1 || !y0.is_finite() {
        return Ok(());
    }
    let room = if y1 > y0 { 0.05 * (y1 - y0) } else { 0.5 };
    let (y0, y1) = (y0 - room, y1 + room);
    let across = |x: f64| f64::from(LEFT) + f64::from(RIGHT - LEFT) * ((x - x0) / (x1 - x0));
    let up = |y: f64| f64::from(BOTTOM) - f64::from(BOTTOM - TOP) * ((y - y0) / (y1 - y0));
    out.write_str("<figure>\n")?;
    writeln!(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 250\" role=\"img\">")?;
    let above = if matches!(scale, Scale::Above(_)) { ", above the least one" } else { "" };
    writeln!(out, "<title>{title}{above}</title>")?;
    writeln!(out, "<text x=\"{LEFT}\" y=\"18\">{title}{above}</text>")?;
    for tick in ticks(x0, x1, true) {
        let x = Tenths(across(tick));
        writeln!(out, "<path class=\"grid\" d=\"M{x} {TOP}V{BOTTOM}\"/>")?;
        let label = number::format(tick);
        writeln!(out, "<text x=\"{x}\" y=\"228\" text-anchor=\"middle\">{}</text>", label.as_str())?;
    }
    for tick in ticks(y0, y1, scale != Scale::Linear) {
        let y = Tenths(up(tick));
        writeln!(out, "<path class=\"grid\" d=\"M{LEFT} {y}H{RIGHT}\"/>")?;
        write!(out, "<text x=\"64\" y=\"{}\" text-anchor=\"end\">", Tenths(up(tick) + 4.0))?;
        if scale != Scale::Linear {
            out.write_str("1e")?;
        }
        writeln!(out, "{}</text>", number::format(tick).as_str())?;
    }
    out.write_str("<path class=\"curve\" d=\"")?;
    let mut is_begun = false;
    for (x, y) in points {
        let place = if y.is_finite() { scale.place(y) } else { None };
        if let Some(place) = place {
            let letter = if is_begun { 'L' } else { 'M' };
            write!(out, "{letter}{} {}", Tenths(across(x)), Tenths(up(place)))?;
        }
        is_begun = place.is_some();
    }
    writeln!(out, "\"/>")?;
    let (width, height) = (RIGHT - LEFT, BOTTOM - TOP);
    writeln!(out, "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\"/>")?;
    writeln!(out, "<text x=\"350\" y=\"246\" text-anchor=\"middle\">iteration</text>")?;
    writeln!(out, "</svg>\n</figure>")
}

/// About six places between two numbers, and what is written there: multiples of 1, 2 or 5 times a power of ten, whole
/// numbers if that is wanted.
fn ticks(from: f64, to: f64, are_whole: bool) -> impl Iterator<Item = f64> {
    // The step is a number divided by another one: quotients of whole numbers are as short as they can be.
    let (mut power, mut divisor) = (1.0, 1.0);
    let rough = (to - from) / 6.0;
    while power / divisor > rough && divisor < 1e300 && !are_whole {
        divisor *= 10.0;
    }
    while 10.0 * power / divisor <= rough && power < 1e300 {
        power *= 10.0;
    }
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power / divisor >= rough).unwrap_or(10.0);
    let step = move |count: f64| count * factor * power / divisor;
    let first = (from / step(1.0)) as i64;
    let count = move |place: i64| (first + place) as f64;
    (-1..=12).map(move |place| step(count(place))).filter(move |y| (from..=to).contains(y))
}

/// A coordinate, to a tenth.
struct Tenths(f64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0 + 0.5) as i64;
        write!(f, "{}.{}", tenths / 10, tenths % 10)
    }
}

/// The decimal logarithm of a positive number, closely enough for a picture.
fn log10(x: f64) -> Option<f64> {
    const LEAST_NORMAL: f64 = f64::MIN_POSITIVE;
    if x.is_nan() || x < LEAST_NORMAL {
        return None;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    // ln m = 2 (t + t³/3 + t⁵/5 + ...), where t = (m - 1) / (m + 1) is at most 1/3.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..12).rev().fold(0.0, |sum, k| sum * t * t + 1.0 / f64::from(2 * k + 1));
    Some((exponent as f64) * ::core::f64::consts::LOG10_2 + 2.0 * t * series * ::core::f64::consts::LOG10_E)
}

#[cfg(test)]
mod tests {
    use super::{Scale, log10, ticks};

    #[test]
    fn logarithms_are_close() {
        for x in [1e-300, 3.7e-9, 0.999, 1.0, 2.0, 9.99, 1e15, f64::MAX] {
            let y = log10(x).unwrap_or(f64::NAN);
            assert!((y - x.log10()).abs() <= 1e-12 * (1.0 + y.abs()), "{x}: {y}");
        }
        assert_eq!([-1.0, 0.0, f64::NAN].map(log10), [None; 3]);
    }

    #[test]
    fn ticks_are_short_numbers() {
        let between = |from, to, whole| ticks(from, to, whole).collect::<Vec<f64>>();
        assert_eq!(between(0.0, 1.0, false), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(between(-0.31, 0.29, false), [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2]);
        assert_eq!(between(0.0, 3.0, true), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(between(-12.0, 2.0, true), [-10.0, -5.0, 0.0]);
        assert_eq!(between(0.0, 7000.0, true), [0.0, 2000.0, 4000.0, 6000.0]);
    }

    #[test]
    fn scales_are_logarithmic_where_they_can_be() {
        assert_eq!(Scale::of(1e-9, 3.0, 1e-8), Scale::Logarithmic);
        assert_eq!(Scale::of(2.0, 3.0, 2.5), Scale::Linear);
        assert_eq!(Scale::of(-5.0, 100.0, -4.999), Scale::Above(-5.0));
        assert_eq!(Scale::of(-5.0, 100.0, 0.0), Scale::Linear);
    }
}
