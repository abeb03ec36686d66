//! The table of `vlad bench` for the terminal.

use super::{Group, Row};
use std::fmt::Write;
use std::path::Path;

/// How long the longest bar is.
const BAR: f64 = 24.0;

/// What stands above all.
pub fn head(file: &Path, runs: u32) -> String {
    format!("{}: processor time of one call, medians of {runs} runs\n", file.display())
}

/// The rows of a function.
pub fn group(group: &Group) -> String {
    let longest = group.rows.iter().map(|row| row.time.median()).fold(0.0, f64::max);
    let width = group.rows.iter().map(|row| row.name.len()).fold("value".len(), usize::max);
    let mut text = format!("\n{}  ({})\n", group.call, group.place);
    let _ = writeln!(
        text,
        "  {:width$} {:>9} {:>6} {:>7} {:>9} {:>9} {:>9} {:>9}",
        "", "time", "±", "ratio", "boxes", "memory", "compile", "size"
    );
    for row in &group.rows {
        let _ = writeln!(
            text,
            "  {:width$} {:>9} {:>6} {:>7} {:>9} {:>9} {:>9} {:>9}  {}",
            row.name,
            time(row.time.median()),
            format!("{:.1}%", spread(row)),
            ratio(row, &group.rows[0]).map_or(String::new(), |ratio| format!("{ratio:.2}")),
            bytes(row.boxes),
            bytes(row.memory),
            time(row.compile_time),
            bytes(row.size),
            bar(row.time.median() / longest),
        );
    }
    text
}

/// The time beside that of the value; nothing for the value itself.
pub fn ratio(row: &Row, value: &Row) -> Option<f64> {
    (!std::ptr::eq(row, value)).then(|| row.time.median() / value.time.median())
}

/// Half the distance of the quartiles, in percent of the median.
pub fn spread(row: &Row) -> f64 {
    (row.time.quarter(3) - row.time.quarter(1)) / row.time.median() * 50.0
}

/// A time with three digits: `1.23 µs`.
pub fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let (unit, name) = units.into_iter().find(|row| seconds >= row.0).unwrap_or((1e-9, "ns"));
    let value = seconds / unit;
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {name}")
}

/// A number of bytes: `12.3 kB`.
pub fn bytes(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} kB", value / 1024.0),
        _ => format!("{:.1} MB", value / 1_048_576.0),
    }
}

/// A bar, in eighths of characters.
fn bar(part: f64) -> String {
    let eighths = (part * BAR * 8.0).round().max(1.0) as usize;
    let rest = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let end = (eighths % 8).checked_sub(1).and_then(|at| rest.get(at));
    "█".repeat(eighths / 8) + &end.map_or(String::new(), char::to_string)
}

#[cfg(test)]
mod tests {
    use super::super::contender::Spread;
    use super::*;

    #[test]
    fn a_group() {
        let row = |name: &str, times: [f64; 3], boxes| Row {
            name: name.to_string(),
            time: Spread::new(times.to_vec()),
            boxes,
            memory: 3 << 20,
            compile_time: 0.0412,
            size: 90_000,
        };
        let rows = vec![row("value", [1.0e-8, 2.0e-8, 2.1e-8], 0), row("gradient", [5e-8, 5e-8, 5e-8], 40_960)];
        let group = super::group(&Group { call: "((gradient f) 1)".into(), place: "f.vlad:3".into(), rows });
        assert_eq!(
            group,
            "\n((gradient f) 1)  (f.vlad:3)\n                \
                  time      ±   ratio     boxes    memory   compile      size\n  \
             value      20.0 ns  27.5%               0 B    3.0 MB   41.2 ms   87.9 kB  █████████▋\n  \
             gradient   50.0 ns   0.0%    2.50   40.0 kB    3.0 MB   41.2 ms   87.9 kB  ████████████████████████\n"
        );
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!([1.5, 0.0123, 9.999e-6, 1.234e-9].map(time), ["1.50 s", "12.3 ms", "10.0 µs", "1.23 ns"]);
    }
}
