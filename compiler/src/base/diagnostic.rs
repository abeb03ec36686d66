//! Messages to the user: what went wrong, where, why, and how to mend it.
//!
//! Stages describe a mistake as data (their own `Error` enum) and turn it into a [`Diagnostic`]; only this module
//! knows how one looks on a terminal.

use crate::base::source::{SourceMap, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program cannot be compiled or run.
    Error,
    /// The program runs, but not as the user may expect.
    Warning,
}

/// A marked range with a short text.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The range to mark.
    pub span: Span,
    /// What to say beside the marks; may be empty.
    pub text: String,
}

/// A change of the program that mends a mistake, for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to replace; empty where something is missing.
    pub span: Span,
    /// What to write there; empty where something is too much.
    pub text: String,
}

impl Fix {
    /// What to call the change, of the text that it replaces.
    pub fn title(&self, replaced: &str) -> String {
        match (replaced, &*self.text) {
            ("", text) => format!("insert `{text}`"),
            (replaced, "") => format!("remove `{replaced}`"),
            (_, text) => format!("write `{text}`"),
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The stable code, such as `V0101`.
    pub code: &'static str,
    /// The headline, in lower case, without a final stop.
    pub message: String,
    /// The cause: gets the carets. `None` only for mistakes that have no place in a file (such as a missing file).
    pub primary: Option<Label>,
    /// Related places.
    pub secondary: Vec<Label>,
    /// Why this is a mistake: what was expected and what was found.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Option<String>,
    /// Which calls led there, the innermost one first.
    pub callers: Vec<String>,
    /// The change that does what `help` says, where that is certain.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// An error at `span`; `label` is the text beside the carets.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Some(Label { span, text: label.into() }),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            callers: Vec::new(),
            fix: None,
        }
    }
    /// An error that no place in a file caused.
    pub fn error_without_place(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            callers: Vec::new(),
            fix: None,
        }
    }
    /// The same message at a place, if there is one.
    pub fn at(mut self, span: Option<Span>, label: &str) -> Diagnostic {
        self.primary = span.map(|span| Label { span, text: label.to_string() });
        self
    }
    /// The same message as a warning.
    pub fn as_warning(mut self) -> Diagnostic {
        self.severity = Severity::Warning;
        self
    }
    /// Adds a related place.
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }
    /// Adds a line that says why.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }
    /// Sets the line that says how to mend it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Adds a line about a call that led there.
    pub fn called_from(mut self, text: impl Into<String>) -> Diagnostic {
        self.callers.push(text.into());
        self
    }

    /// Sets the change that mends it.
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.fix = Some(Fix { span, text: text.into() });
        self
    }

    /// The message as shown to a person, ending in a newline. `color` adds terminal colours.
    pub fn render(&self, sources: &SourceMap, color: bool) -> String {
        self.render_within(sources, color, if color { usize::MAX } else { LONG_LINE })
    }

    /// The same, where of lines longer than that the renderer reads only what stands around the place.
    fn render_within(&self, sources: &SourceMap, color: bool, long: usize) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str()).id(self.code);
        let mut group = Group::with_title(title);
        let mut labels: Vec<(&Label, AnnotationKind)> = Vec::new();
        labels.extend(self.primary.iter().map(|label| (label, AnnotationKind::Primary)));
        labels.extend(self.secondary.iter().map(|label| (label, AnnotationKind::Context)));
        let (mut files, mut shifts) = (Vec::new(), Vec::new());
        for (label, _) in &labels {
            if !files.contains(&label.span.file) {
                files.push(label.span.file);
            }
        }
        for file in files {
            let source = sources.file(file);
            let here = || labels.iter().filter(|(label, _)| label.span.file == file);
            let lines = lines_around(&source.text, here().map(|(label, _)| label.span));
            let line = source.line(lines.start);
            let (lines, shift) = window(&source.text, lines, here().map(|(label, _)| label.span), long);
            shifts.extend(shift.map(|columns| (format!(" {}:{line}:", source.name), columns)));
            let snippet = Snippet::source(&source.text[lines.clone()]).line_start(line);
            let mut snippet = snippet.path(source.name.as_str());
            for (label, kind) in here() {
                let range = char_range(&source.text, label.span);
                let mut annotation = kind.span(range.start - lines.start..range.end - lines.start);
                if !label.text.is_empty() {
                    annotation = annotation.label(label.text.as_str());
                }
                snippet = snippet.annotation(annotation);
            }
            group = group.element(snippet);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        for caller in &self.callers {
            group = group.element(Level::NOTE.message(caller.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut text = renderer.render(&[group]).to_string();
        text.push('\n');
        shifts.into_iter().for_each(|(place, columns)| shift(&mut text, &place, columns));
        text
    }
}

/// Lines with more bytes are long.
const LONG_LINE: usize = 2000;

/// So much of a long line is read on both sides of a place: more than is shown.
const MARGIN: usize = 500;

/// What the renderer reads of some lines. If that is the middle of one line, also how many characters are left out
/// before it: a program may be one line of a megabyte with a thousand places.
fn window(
    text: &str,
    lines: std::ops::Range<usize>,
    spans: impl Iterator<Item = Span>,
    long: usize,
) -> (std::ops::Range<usize>, Option<usize>) {
    if lines.len() <= long || text[lines.clone()].contains('\n') {
        return (lines, None);
    }
    let ranges: Vec<std::ops::Range<usize>> = spans.map(|span| char_range(text, span)).collect();
    let first = ranges.iter().map(|range| range.start).min().unwrap_or(lines.start);
    let last = ranges.iter().map(|range| range.end).max().unwrap_or(lines.end);
    let mut start = first.saturating_sub(MARGIN).max(lines.start);
    let mut end = (last + MARGIN).min(lines.end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let columns = text[lines.start..start].chars().count();
    (start..end, Some(columns))
}

/// Adds columns to the first one that is mentioned with that place.
fn shift(text: &mut String, place: &str, columns: usize) {
    let Some(start) = text.find(place).map(|at| at + place.len()) else { return };
    let digits = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| start + length);
    if let Ok(column) = text[start..digits].parse::<usize>() {
        text.replace_range(start..digits, &(column + columns).to_string());
    }
}

/// More messages than this are not shown.
pub const MAX_MESSAGES: usize = 20;

/// The first messages, when there are more than anyone reads; the last one says so.
pub fn limited(mut messages: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let more = messages.len().saturating_sub(MAX_MESSAGES);
    if more > 0 {
        messages.truncate(MAX_MESSAGES);
        if let Some(last) = messages.last_mut() {
            last.notes.push(format!("{more} more mistakes are not shown"));
        }
    }
    messages
}

/// The lines that the spans touch: a program may have thousands of messages, and the renderer reads all it is given.
fn lines_around(text: &str, spans: impl Iterator<Item = Span>) -> std::ops::Range<usize> {
    let ranges: Vec<std::ops::Range<usize>> = spans.map(|span| char_range(text, span)).collect();
    let first = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let last = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    // What stands behind the last line is shown at its end.
    let before = if first == text.len() { text.trim_end_matches('\n') } else { &text[..first] };
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[last..].find('\n').map_or(text.len(), |newline| last + newline);
    start..end
}

/// The range of `span` in `text`, moved outwards to character boundaries and kept inside the text.
fn char_range(text: &str, span: Span) -> std::ops::Range<usize> {
    let mut start = (span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, LONG_LINE};
    use crate::base::source::{SourceMap, Span};

    #[test]
    fn long_lines_are_shown_as_if_all_of_them_were_read() {
        let words: String = (0..2000).map(|i| format!("  (+ x{i} \u{e4})")).collect();
        let line = format!("    {words}");
        let mut sources = SourceMap::default();
        let file = sources.add("long.vlad", format!("first\n{line}\nlast\n"), false);
        let length = u32::try_from(line.len()).expect("a short text");
        for start in (6..length).step_by(617) {
            for width in [1, 9, 200, 3000] {
                let span = Span { file, start, end: (start + width).min(6 + length) };
                let message = Diagnostic::error("V0000", "wrong", span, "this").note("why");
                assert_eq!(
                    message.render_within(&sources, false, LONG_LINE),
                    message.render_within(&sources, false, usize::MAX)
                );
            }
        }
    }
}
