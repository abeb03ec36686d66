//! The page that `--report FILE` asks for: one HTML file, which needs no other, with the arguments of the program, how
//! each search has gone and what it has found, a comparison of its derivatives with differences, and what was printed
//! and drawn; and what went wrong, if anything did.
//!
//! While the program runs, pieces of the page are collected in rows of bytes; at its end they are put together. What a
//! search has found is handed over as numbers:
//!
//! ~~~text
//! n, n numbers of the place | value | size of the gradient | code | steps | evaluations | start | place
//! start, place: how many directions | value | for each of them the derivative and the difference
//! ~~~
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::chart;
use super::number;
use super::progress::Told;
use ::core::fmt::{self, Write};

/// Bytes in a row, as many as are needed.
pub trait Bytes {
    /// All of them.
    fn all(&self) -> &[u8];
    /// Adds some.
    fn extend(&mut self, bytes: &[u8]);
    /// Keeps so many.
    fn shorten(&mut self, length: usize);
}

/// The pieces of the page.
#[derive(Clone, Copy)]
enum Piece {
    Head,
    Arguments,
    Searches,
    Printed,
    Messages,
    Plots,
    Page,
}

/// How many pieces there are.
pub const PIECES: usize = 7;

/// So many searches are shown.
const SEARCHES: u64 = 20;
/// So many points of a curve are kept.
const POINTS: usize = 256;
/// So many bytes of what is printed are kept, and of all plots.
const PRINTED: usize = 1 << 16;
const PLOTTED: usize = 1 << 23;
/// So many numbers of a place are shown.
const NUMBERS: usize = 100;

/// How searches end, by their codes; the library has the same.
pub const STATUSES: [&str; 13] = [
    "",
    "converged: the gradient is small",
    "converged: the value does not get smaller",
    "converged: the steps are small",
    "stopped: as many steps as allowed",
    "stopped: as many evaluations as allowed",
    "failed: the function has no minimum here",
    "failed: no step makes the value smaller, but the gradient is not small",
    "failed: the function has no finite value at the start",
    "failed: the conditions are not fulfilled",
    "failed: the value ceases to be a finite number",
    "stopped: the time is up",
    "failed: the function has no minimum here",
];

/// What a curve tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    Nothing,
    /// A loop of the program that tells how far it has come.
    Loop,
    Search,
}

/// What is known for the page.
pub struct Report<B> {
    is_wanted: bool,
    is_begun: bool,
    pieces: [B; PIECES],
    /// Iteration, objective and gradient norm; the iterations go on counting where a search begins again.
    points: [[f64; 3]; POINTS],
    count: usize,
    curve: Curve,
    /// One of 2 to the power of this points is kept. (All is 0 in the beginning, and takes no room in executables.)
    halvings: u32,
    seen: u64,
    last: [f64; 3],
    offset: f64,
    searches: u64,
    loops: u64,
    printed: u64,
    /// Where the plot begins that is being drawn.
    plot: Option<usize>,
    /// [`Report::end_curve`], once a curve has begun: programs that tell of none do without the code that draws.
    end: Option<fn(&mut Report<B>)>,
}

/// The style of the page, which may be dark.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:0}
h2{margin-top:2.5rem;border-bottom:1px solid #8888}
table{border-collapse:collapse}
td,th{padding:.2rem 1rem .2rem 0;text-align:left;vertical-align:top}
td.n{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
pre{overflow:auto;padding:.7rem;background:#8882}
figure{margin:1rem 0}
figure img{background:#fff;max-width:100%}
svg{width:100%}
svg text{font-size:12px;fill:currentColor}
svg rect{fill:none;stroke:currentColor}
svg .grid{stroke:#8886}
svg .curve{fill:none;stroke:#0072b2;stroke-width:2}
.good{color:#00805a}
.bad{color:#d03000}
";

/// A row of bytes for formatted text.
struct Html<'r, B>(&'r mut B);

impl<B: Bytes> Write for Html<'_, B> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend(text.as_bytes());
        Ok(())
    }
}

impl<B: Bytes> Html<'_, B> {
    #[inline(never)]
    fn add(&mut self, html: &str) {
        self.0.extend(html.as_bytes());
    }
    /// Adds a text as such.
    fn text(&mut self, text: &[u8]) {
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '&' => self.add("&amp;"),
                    '<' => self.add("&lt;"),
                    '>' => self.add("&gt;"),
                    '"' => self.add("&quot;"),
                    '\n' | '\t' => self.add(character.encode_utf8(&mut [0; 4])),
                    _ if character.is_control() => self.add("\u{fffd}"),
                    _ => self.add(character.encode_utf8(&mut [0; 4])),
                }
            }
            if !chunk.invalid().is_empty() {
                self.add("\u{fffd}");
            }
        }
    }
    fn number(&mut self, number: f64) {
        self.add(number::format(number).as_str());
    }
    fn row(&mut self, name: &str, number: f64) {
        self.add("<tr><th>");
        self.add(name);
        self.add("<td class=\"n\">");
        self.number(number);
        self.add("</tr>\n");
    }
    fn preformatted(&mut self, text: &[u8]) {
        self.add("<pre>");
        self.text(text);
        self.add("</pre>\n");
    }
}

impl<B: Bytes> Report<B> {
    /// No page is wanted.
    pub const fn new(pieces: [B; PIECES]) -> Report<B> {
        Report {
            is_wanted: false,
            is_begun: false,
            pieces,
            points: [[0.0; 3]; POINTS],
            count: 0,
            curve: Curve::Nothing,
            halvings: 0,
            seen: 0,
            last: [0.0; 3],
            offset: 0.0,
            searches: 0,
            loops: 0,
            printed: 0,
            plot: None,
            end: None,
        }
    }

    /// A page is wanted.
    pub fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Whether one is.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Whether the program has begun, so that there is something to tell of.
    pub fn is_begun(&self) -> bool {
        self.is_wanted && self.is_begun
    }

    /// No page is wanted any more.
    pub fn silence(&mut self) {
        self.is_wanted = false;
    }

    fn piece(&mut self, piece: Piece) -> Html<'_, B> {
        Html(&mut self.pieces[piece as usize])
    }

    /// The program begins: its name, and what it is about.
    pub fn begin(&mut self, program: &[u8], about: &str) {
        self.is_begun = true;
        let mut head = self.piece(Piece::Head);
        head.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        head.add("<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
        head.text(program);
        head.add("</title>\n<style>\n");
        head.add(STYLE);
        head.add("</style>\n</head>\n<body>\n<h1>");
        head.text(program);
        head.add("</h1>\n");
        if !about.is_empty() {
            head.add("<p>");
            head.text(about.as_bytes());
            head.add("</p>\n");
        }
    }

    /// An argument, its value as a text, and where that is from.
    pub fn argument(&mut self, name: &str, value: &[u8], source: &[u8]) {
        let mut arguments = self.piece(Piece::Arguments);
        arguments.add("<tr><th>");
        arguments.text(name.as_bytes());
        arguments.add("<td class=\"n\">");
        arguments.text(value);
        arguments.add("<td>");
        arguments.text(source);
        arguments.add("</tr>\n");
    }

    /// Something is written to standard output.
    pub fn printed(&mut self, bytes: &[u8]) {
        self.printed += bytes.len() as u64;
        let printed = &mut self.pieces[Piece::Printed as usize];
        let room = PRINTED.saturating_sub(printed.all().len());
        printed.extend(&bytes[..bytes.len().min(room)]);
    }

    /// A message is written to standard error.
    pub fn message(&mut self, bytes: &[u8]) {
        let messages = &mut self.pieces[Piece::Messages as usize];
        let room = PRINTED.saturating_sub(messages.all().len());
        messages.extend(&bytes[..bytes.len().min(room)]);
    }

    /// A file of that name is begun.
    pub fn begin_file(&mut self, name: &[u8]) {
        let start = self.pieces[Piece::Plots as usize].all().len();
        if !name.ends_with(b".svg") || start > PLOTTED {
            return;
        }
        self.plot = Some(start);
        let mut plots = self.piece(Piece::Plots);
        plots.add("<figure>\n<figcaption>");
        plots.text(name);
        // What stands in a picture can do nothing to the page.
        plots.add("</figcaption>\n<img alt=\"\" src=\"data:image/svg+xml,");
    }

    /// Something is written to the file. A picture becomes a part of its address.
    pub fn filed(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        if self.plot.is_none() {
            return;
        }
        let plots = &mut self.pieces[Piece::Plots as usize];
        for byte in bytes {
            if byte.is_ascii_alphanumeric() || b" /:=.,;-()'".contains(byte) {
                plots.extend(&[*byte]);
            } else {
                plots.extend(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
        }
    }

    /// The file is ended: it is whole, or forgotten.
    pub fn end_file(&mut self, is_whole: bool) {
        let Some(start) = self.plot.take() else { return };
        if is_whole {
            self.piece(Piece::Plots).add("\">\n</figure>\n");
        } else {
            self.pieces[Piece::Plots as usize].shorten(start);
        }
    }

    /// Takes a number that tells of progress, told within a search or not.
    pub fn tell(&mut self, told: Told, number: f64, within: bool) {
        let curve = match told {
            Told::Total => return,
            Told::Iteration => return self.last[0] = number,
            Told::Objective => return self.last[1] = number,
            // Loops of the function that is minimised are not shown.
            Told::Gradient if within => return,
            Told::Gradient => Curve::Loop,
            Told::Search => Curve::Search,
        };
        if self.curve != curve {
            self.end_curve();
        }
        self.end = Some(Report::end_curve);
        let iteration = self.last[0];
        let before = self.points[..self.count].last().map_or(0.0, |point| point[0]);
        if self.curve != curve {
            (self.curve, self.offset) = (curve, 0.0);
        } else if self.offset + iteration < before {
            if curve == Curve::Loop {
                self.end_curve();
                (self.curve, self.offset) = (curve, 0.0);
            } else {
                // A gap, and on from there.
                self.push([before, f64::NAN, f64::NAN]);
                self.offset = before;
            }
        }
        self.last[2] = number;
        let point = [self.offset + iteration, self.last[1], number];
        if self.seen.is_multiple_of(1 << self.halvings) {
            self.push(point);
        }
        self.seen += 1;
    }

    #[inline(never)]
    fn push(&mut self, point: [f64; 3]) {
        // One place is for the last point.
        if self.count + 1 == POINTS {
            let mut kept = 0;
            for at in (0..self.count).step_by(2) {
                self.points[kept] = self.points[at];
                kept += 1;
            }
            (self.count, self.halvings) = (kept, self.halvings + 1);
        }
        self.points[self.count] = point;
        self.count += 1;
    }

    /// What a search has found, as its numbers.
    pub fn found(&mut self, words: &[u64]) {
        self.searches += 1;
        let mut numbers = words.iter().map(|word| f64::from_bits(*word));
        let length = numbers.next().unwrap_or(0.0) as usize;
        let place = numbers.clone().take(length);
        let mut rest = numbers.skip(length);
        let mut next = || rest.next().unwrap_or(f64::NAN);
        let outcome = [(); 5].map(|()| next());
        if self.searches <= SEARCHES {
            self.heading("Search", self.searches);
            let [value, gradient, code, steps, evaluations] = outcome;
            let status = STATUSES.get(code as usize).copied().unwrap_or("");
            let class = if status.starts_with("converged") { "good" } else { "bad" };
            let mut html = self.piece(Piece::Searches);
            let _ = writeln!(html, "<table>\n<tr><th>status<td class=\"{class}\">{status}</tr>");
            html.row("value", value);
            if !gradient.is_nan() {
                html.row("gradient", gradient);
            }
            html.row("steps", steps);
            html.row("evaluations", evaluations);
            html.add("<tr><th>place<td class=\"n\">");
            for (at, number) in place.take(NUMBERS).enumerate() {
                html.add(if at > 0 { " " } else { "" });
                html.number(number);
            }
            if length > NUMBERS {
                let _ = write!(html, " and {} more numbers", length - NUMBERS);
            }
            html.add("</tr>\n</table>\n");
            self.draw();
            let mut html = self.piece(Piece::Searches);
            html.add("<table>\n<tr><th>checked at<th>derivative<th>by differences<th></tr>\n");
            compare("the start", &mut next, &mut html);
            compare("the place found", &mut next, &mut html);
            html.add("</table>\n");
        }
        self.forget_curve();
    }

    fn heading(&mut self, what: &str, number: u64) {
        let _ = writeln!(self.piece(Piece::Searches), "<h2>{what} {number}</h2>");
    }

    fn forget_curve(&mut self) {
        (self.count, self.halvings, self.seen, self.offset) = (0, 0, 0, 0.0);
        self.curve = Curve::Nothing;
    }

    /// Draws a curve of which nothing more is told.
    #[inline(never)]
    fn end_curve(&mut self) {
        let what = match self.curve {
            Curve::Nothing => return,
            Curve::Loop => {
                self.loops += 1;
                (self.loops <= SEARCHES).then_some(("Loop", self.loops))
            }
            Curve::Search => {
                self.searches += 1;
                (self.searches <= SEARCHES).then_some(("Search", self.searches))
            }
        };
        if let Some((what, number)) = what {
            self.heading(what, number);
            let [iteration, value, gradient] = self.last;
            let is_search = self.curve == Curve::Search;
            let mut html = self.piece(Piece::Searches);
            html.add("<table>\n");
            if is_search {
                html.add("<tr><th>status<td class=\"bad\">not ended</tr>\n");
            }
            html.row("value", value);
            if !gradient.is_nan() {
                html.row("gradient", gradient);
            }
            html.row("iterations", iteration);
            html.add("</table>\n");
            self.draw();
        }
        self.forget_curve();
    }

    /// Draws the curves of what was told.
    fn draw(&mut self) {
        if self.count > 0 {
            let [iteration, value, gradient] = self.last;
            self.points[self.count] = [self.offset + iteration, value, gradient];
            self.count += 1;
        }
        let html = &mut Html(&mut self.pieces[Piece::Searches as usize]);
        let points = self.points[..self.count].iter();
        for (place, title) in [(1, "value"), (2, "gradient norm")] {
            let _ = chart::draw(title, points.clone().map(|point| (point[0], point[place])), html);
        }
    }

    /// The page of the program, which ends with that exit code after so many nanoseconds.
    pub fn page(&mut self, code: i32, time: u64) -> &[u8] {
        self.end_file(false);
        if let Some(end) = self.end {
            end(self);
        }
        for (shown, what) in [(self.searches, "searches"), (self.loops, "loops")] {
            if shown > SEARCHES {
                let _ = writeln!(self.piece(Piece::Searches), "<p>And {} more {what}.</p>", shown - SEARCHES);
            }
        }
        let unseen = self.printed.saturating_sub(PRINTED as u64);
        self.pieces[Piece::Page as usize].shorten(0);
        let [head, arguments, searches, printed, messages, plots, page] = &mut self.pieces;
        page.extend(head.all());
        let mut html = Html(page);
        match code {
            0 => html.add("<p class=\"good\">The program has ended as it should.</p>\n"),
            130 | 143 => html.add("<p class=\"bad\">The program was interrupted.</p>\n"),
            _ => {
                let _ = writeln!(html, "<p class=\"bad\">The program has failed, with exit code {code}.</p>");
            }
        }
        if !messages.all().is_empty() {
            html.preformatted(messages.all());
        }
        if !arguments.all().is_empty() {
            html.add("<h2>Arguments</h2>\n<table>\n<tr><th>name<th>value<th>from</tr>\n");
            html.0.extend(arguments.all());
            html.add("</table>\n");
        }
        html.0.extend(searches.all());
        if !printed.all().is_empty() {
            html.add("<h2>Output</h2>\n");
            html.preformatted(printed.all());
            if unseen > 0 {
                let _ = writeln!(html, "<p>And {unseen} more bytes.</p>");
            }
        }
        if !plots.all().is_empty() {
            html.add("<h2>Plots</h2>\n");
            html.0.extend(plots.all());
        }
        let (seconds, hundredths) = (time / 1_000_000_000, time / 10_000_000 % 100);
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(html, "<footer><p>Made by vlad {version}; took {seconds}.{hundredths:02} s.</p></footer>");
        html.add("</body>\n</html>\n");
        page.all()
    }
}

/// How derivatives along some directions compare with differences there.
fn compare<B: Bytes>(name: &str, next: &mut impl FnMut() -> f64, html: &mut Html<'_, B>) {
    let [count, value] = [next(), next()];
    for _ in 0..count as usize {
        let [derivative, difference] = [next(), next()];
        // What rounding makes of differences, and what is left of their error.
        let allowed = 1e-8 * (1.0 + value.abs()) + 1e-4 * derivative.abs();
        let (class, verdict) = match (derivative - difference).abs() {
            difference if difference <= allowed => ("good", "agree"),
            difference if difference.is_finite() => ("bad", "differ"),
            _ => ("bad", "not finite here"),
        };
        html.add("<tr><td>");
        html.add(name);
        html.add("<td class=\"n\">");
        html.number(derivative);
        html.add("<td class=\"n\">");
        html.number(difference);
        let _ = writeln!(html, "<td class=\"{class}\">{verdict}</tr>");
    }
}
