//! The figures of `vlad bench` as an SVG image, and as an HTML page with that image and a table.
//!
//! A bar for each row, as long as the median; a thin line on it from the first to the third quartile.

use super::{Group, Row, table};
use std::fmt::Write;

const LABELS: f64 = 190.0;
const BARS: f64 = 420.0;
const FIGURES: f64 = 190.0;
const LINE: f64 = 22.0;
/// Blue for values, orange for derivatives: told apart by all eyes, and on black and on white.
const COLORS: [&str; 2] = ["#4477aa", "#ee7733"];

/// The image.
pub fn svg(groups: &[Group]) -> String {
    let lines: usize = groups.iter().map(|group| group.rows.len() + 2).sum();
    let (width, height) = (LABELS + BARS + FIGURES, lines as f64 * LINE);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n"
    );
    let mut y = 0.0;
    for group in groups {
        y += LINE;
        let _ = writeln!(text, "<text x=\"0\" y=\"{y}\" font-weight=\"bold\">{}</text>", escaped(&group.call));
        let longest = group.rows.iter().map(|row| row.time.quarter(3)).fold(f64::MIN_POSITIVE, f64::max);
        for (at, row) in group.rows.iter().enumerate() {
            bar(&mut text, row, &group.rows[0], COLORS[at.min(1)], y, BARS / longest);
            y += LINE;
        }
        y += LINE;
    }
    text + "</svg>\n"
}

fn bar(text: &mut String, row: &Row, value: &Row, color: &str, y: f64, scale: f64) {
    let [first, median, third] = [1, 2, 3].map(|quarter| LABELS + row.time.quarter(quarter) * scale);
    let (base, middle, width) = (y + 0.75 * LINE, y + 0.55 * LINE, median - LABELS);
    let ratio = table::ratio(row, value).map_or(String::new(), |ratio| format!(" (× {ratio:.2})"));
    let _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{}</text>\
         <rect x=\"{LABELS}\" y=\"{}\" width=\"{width:.2}\" height=\"{}\" fill=\"{color}\"/>\
         <line x1=\"{first:.2}\" y1=\"{middle}\" x2=\"{third:.2}\" y2=\"{middle}\" stroke=\"black\" stroke-width=\"2\"/>\
         <text x=\"{}\" y=\"{base}\">{}{ratio}</text>",
        LABELS - 8.0,
        escaped(&row.name),
        y + 0.25 * LINE,
        0.6 * LINE,
        LABELS + BARS + 8.0,
        table::time(row.time.median()),
    );
}

/// The page.
pub fn html(groups: &[Group]) -> String {
    let mut text = "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>vlad bench</title>\n\
        <style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right}\
        td:first-child,th:first-child{text-align:left}caption{text-align:left;font-weight:bold;padding-top:1em}\
        </style>\n<h1>vlad bench</h1>\n"
        .to_string();
    text += &svg(groups);
    for group in groups {
        let (call, place) = (escaped(&group.call), escaped(&group.place));
        let _ = writeln!(text, "<table><caption>{call} ({place})</caption>");
        text += "<tr><th><th>time<th>spread<th>ratio<th>boxes<th>memory<th>compile time<th>executable\n";
        for row in &group.rows {
            let _ = writeln!(
                text,
                "<tr><td>{}<td>{}<td>{:.1} %<td>{}<td>{}<td>{}<td>{}<td>{}",
                escaped(&row.name),
                table::time(row.time.median()),
                table::spread(row),
                table::ratio(row, &group.rows[0]).map_or(String::new(), |ratio| format!("{ratio:.2}")),
                table::bytes(row.boxes),
                table::bytes(row.memory),
                table::time(row.compile_time),
                table::bytes(row.size),
            );
        }
        text += "</table>\n";
    }
    text + "</html>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
