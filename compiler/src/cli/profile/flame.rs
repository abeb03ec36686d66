//! Time by stacks → an SVG image: a flame graph.
//!
//! A bar for each function on a stack, as long as the time in it and in those that it calls, which stand on it. Blue is
//! time of values, orange time of derivatives.
//!
//! Source of the idea: Gregg, "The flame graph" (2016).

use super::samples::{Node, Profile};
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const LINE: f64 = 18.0;
const LETTER: f64 = 7.0;
/// Narrower bars are left out.
const NARROWEST: f64 = 0.3;
/// The colours that `vlad bench` has for values and derivatives.
const COLORS: [&str; 2] = ["#88aacc", "#f4a582"];

/// The image.
pub fn svg(profile: &Profile) -> String {
    let scale = WIDTH / profile.total().max(1) as f64;
    let height = (depth(&profile.stacks, scale) + 1) as f64 * LINE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"12\">\n"
    );
    bar(&mut text, ("all", &profile.stacks), 0.0, height - LINE, scale, profile.total());
    text + "</svg>\n"
}

/// How many bars stand on each other.
fn depth(node: &Node, scale: f64) -> usize {
    let shown = node.callees.values().filter(|callee| callee.time.sum() as f64 * scale >= NARROWEST);
    1 + shown.map(|callee| depth(callee, scale)).max().unwrap_or(0)
}

fn bar(text: &mut String, (name, node): (&str, &Node), x: f64, y: f64, scale: f64, total: u64) {
    let width = node.time.sum() as f64 * scale;
    if width < NARROWEST {
        return;
    }
    let of_derivatives = node.time.derivative as f64 * scale;
    let [value, derivative] = COLORS;
    let share = 100.0 * node.time.sum() as f64 / total.max(1) as f64;
    let room = (width / LETTER) as usize;
    // Lines have room for the names of their files without the folders.
    let shown = name.rsplit('/').next().filter(|short| short.contains(".vlad:")).unwrap_or(name);
    let label: String = shown.chars().take(room).collect();
    let (label, name) = (escaped(if label.chars().count() > 1 { &label } else { "" }), escaped(name));
    let _ = writeln!(
        text,
        "<g><title>{name}: {share:.1} %, {:.1} % of it for derivatives</title>\
         <rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" fill=\"{value}\"/>\
         <rect x=\"{:.2}\" y=\"{y}\" width=\"{of_derivatives:.2}\" height=\"{}\" fill=\"{derivative}\"/>\
         <text x=\"{:.2}\" y=\"{:.1}\">{label}</text></g>",
        100.0 * node.time.derivative as f64 / node.time.sum().max(1) as f64,
        LINE - 1.0,
        x + width - of_derivatives,
        LINE - 1.0,
        x + 2.0,
        y + 0.75 * LINE,
    );
    let mut x = x;
    for (name, callee) in &node.callees {
        bar(text, (name, callee), x, y - LINE, scale, total);
        x += callee.time.sum() as f64 * scale;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
