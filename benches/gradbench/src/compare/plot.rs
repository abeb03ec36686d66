//! The picture: ours over the best of the others, a point for each function on each input, on a logarithmic scale.
//!
//! ```text
//! eval  size      ○ primal   ● derivative
//! gmm   2_5_1000      ○  │   ●
//!                        1
//! ```

use super::table::Report;
use std::fmt::Write;

const LEFT: f64 = 270.0;
const WIDTH: f64 = 560.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 70.0;
const LINE: f64 = 20.0;
const BETWEEN_EVALS: f64 = 10.0;
const BOTTOM: f64 = 50.0;

/// The range of ratios, with 1 and some room: powers of two.
pub fn range(ratios: &[f64]) -> (i32, i32) {
    let logarithms = || ratios.iter().filter(|ratio| ratio.is_finite()).map(|ratio| ratio.log2());
    let (low, high) = (logarithms().fold(0.0, f64::min), logarithms().fold(0.0, f64::max));
    (low.floor().min(-1.0) as i32, high.ceil().max(1.0) as i32)
}

/// The whole picture, as SVG.
pub fn plot(report: &Report) -> String {
    let rows = || report.rows.iter().filter_map(|row| Some((row, row.ratio()?)));
    let (low, high) = range(&rows().map(|(_, ratio)| ratio).collect::<Vec<_>>());
    let across = |ratio: f64| LEFT + WIDTH * (ratio.log2() - f64::from(low)) / f64::from(high - low);
    // One line for all functions of an eval on an input.
    let mut lines: Vec<(&str, &str, f64)> = Vec::new();
    let mut down = TOP;
    for (row, _) in rows() {
        match lines.last() {
            Some((eval, size, _)) if *eval == row.eval && *size == row.size => continue,
            Some((eval, ..)) if *eval != row.eval => down += LINE + BETWEEN_EVALS,
            Some(_) => down += LINE,
            None => {}
        }
        lines.push((row.eval, &row.size, down));
    }
    let end = down + LINE / 2.0;
    let mut svg = Svg::new(LEFT + WIDTH + RIGHT, end + BOTTOM);
    svg.text(LEFT, 22.0, "start", "bold", "VLAD in GradBench: time over the best other tool (left of 1: faster)");
    svg.dot(LEFT + 6.0, 42.0, true);
    svg.text(LEFT + 16.0, 46.0, "start", "normal", "primal");
    svg.dot(LEFT + 86.0, 42.0, false);
    svg.text(LEFT + 96.0, 46.0, "start", "normal", "derivative");
    for power in low..=high {
        let (at, weight) = (across(f64::from(power).exp2()), if power == 0 { "bold" } else { "normal" });
        svg.vertical(at, TOP - LINE / 2.0, end, power == 0);
        let label = if power < 0 { format!("1/{}", 1_u64 << -power) } else { (1_u64 << power).to_string() };
        svg.text(at, end + 20.0, "middle", weight, &label);
    }
    let mut last = "";
    for (eval, size, down) in &lines {
        if last != *eval {
            svg.text(16.0, down + 4.0, "start", "bold", eval);
        }
        last = eval;
        svg.text(LEFT - 12.0, down + 4.0, "end", "normal", size);
        for (row, ratio) in rows().filter(|(row, _)| row.eval == *eval && row.size == *size) {
            svg.dot(across(ratio), *down, row.primal);
        }
    }
    svg.end()
}

const FONT: &str = r#"font-family="sans-serif" font-size="13""#;

/// A picture that is being drawn.
struct Svg(String);

impl Svg {
    fn new(width: f64, height: f64) -> Svg {
        let mut svg = Svg(String::new());
        svg.line(&format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}>"#));
        svg.line(r#"<rect width="100%" height="100%" fill="white"/>"#);
        svg
    }

    fn line(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{text}");
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, weight: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.line(&format!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-weight="{weight}" fill="black">{text}</text>"#
        ));
    }

    fn vertical(&mut self, x: f64, from: f64, to: f64, strong: bool) {
        let (colour, width) = if strong { ("black", 1.5) } else { ("#cccccc", 1.0) };
        self.line(&format!(
            r#"<line x1="{x:.1}" y1="{from:.1}" x2="{x:.1}" y2="{to:.1}" stroke="{colour}" stroke-width="{width}"/>"#
        ));
    }

    fn dot(&mut self, x: f64, y: f64, hollow: bool) {
        let fill = if hollow { "white" } else { "#1f5fa8" };
        let stroke = r##"stroke="#1f5fa8" stroke-width="2""##;
        self.line(&format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="5" fill="{fill}" {stroke}/>"#));
    }

    fn end(mut self) -> String {
        self.line("</svg>");
        self.0
    }
}
