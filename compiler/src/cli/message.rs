//! Messages for programs: a [`Diagnostic`] → one line with a JSON object.
//!
//! ```json
//! {"code":"V0201","severity":"error","message":"`x` is not defined","file":"a.vlad",
//!  "spans":[{"file":"a.vlad","primary":true,"label":"unknown name",
//!            "start":{"line":1,"column":2,"byte":1},"end":{"line":1,"column":3,"byte":2}}],
//!  "notes":["..."],"help":"..."}
//! ```
//!
//! Lines and columns count from 1, columns in characters; bytes count from 0, and the end is the first place behind the
//! range. `file` is that of the primary span, which is the first if there is one. Where a change of the program is
//! certain to do what `help` says, `fix` has its place and the `text` to write there. `docs/tools.md` promises these
//! fields.

use crate::base::diagnostic::Label;
use crate::base::{Diagnostic, Severity, SourceMap, Span};
use serde_json::{Value as Json, json};
use std::path::Path;

/// The line, which ends in a newline.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let primary = diagnostic.primary.iter().map(|label| span(label, true, sources));
    let secondary = diagnostic.secondary.iter().map(|label| span(label, false, sources));
    let mut message = json!({
        "code": diagnostic.code,
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": diagnostic.message,
        "file": diagnostic.primary.as_ref().map(|label| file(label.span, sources)),
        "spans": primary.chain(secondary).collect::<Vec<Json>>(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    });
    if let Some(fix) = &diagnostic.fix {
        let place = Label { span: fix.span, text: String::new() };
        let Json::Object(mut place) = span(&place, true, sources) else { unreachable!("a span is an object") };
        place.retain(|name, _| name != "primary" && name != "label");
        place.insert("text".to_string(), json!(fix.text));
        message["fix"] = Json::Object(place);
    }
    format!("{message}\n")
}

/// Where the file of a span can be read.
fn file(span: Span, sources: &SourceMap) -> String {
    sources.real(Path::new(&sources.file(span.file).name)).display().to_string()
}

fn span(label: &Label, primary: bool, sources: &SourceMap) -> Json {
    let Label { span, text } = label;
    let place = |byte: u32| {
        let (line, column) = sources.line_column(Span { start: byte, end: byte, ..*span });
        json!({ "line": line, "column": column, "byte": byte })
    };
    json!({
        "file": file(*span, sources),
        "primary": primary,
        "label": text,
        "start": place(span.start),
        "end": place(span.end),
    })
}
