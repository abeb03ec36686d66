//! The elementary functions as texts, so that a program can be written as one file of C: the sources of core-math →
//! one text for each function.
//!
//! Each source is a file that is compiled alone, so several of them give the same names to their own functions, tables
//! and types. Here each name that a source defines for itself gets an ending by a macro, which holds until the end of
//! its text. What the sources include of the C library stands at the beginning of the file that the texts go to.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The text of a function, given the folder of its source.
pub fn text(folder: &Path, name: &str) -> String {
    let source = with_included(folder, &format!("{name}.c"));
    let (licence, code) = without_comments(&source);
    let mut names = defined(&code);
    names.remove(&format!("cr_{name}"));
    let macros = macros(&code);
    // The other spelling is none of standard C.
    let mut text = format!("\n{licence}\n#define asm __asm__\n");
    for own in &names {
        text += &format!("#define {own} {own}_of_{name}\n");
    }
    for line in code.lines() {
        // What is a function for some compilers is a macro for others.
        if let Some(own) = macro_defined(line).filter(|own| names.contains(own)) {
            text += &format!("#undef {own}\n");
        }
        text += line;
        text += "\n";
    }
    for own in names.union(&macros) {
        text += &format!("#undef {own}\n");
    }
    text + "#undef asm\n"
}

/// A source with the files in place that it includes, and without headers of the C library.
fn with_included(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let mut all = String::new();
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        match directive.and_then(|directive| directive.strip_prefix("include")).map(str::trim) {
            Some(file) if file.starts_with('"') => {
                let file = file[1..].split('"').next().unwrap_or_default();
                all += &with_included(folder, file);
            }
            Some(_) => all += "\n",
            None => {
                all += line;
                all += "\n";
            }
        }
    }
    all
}

/// The first comment of a text, and the text without comments and empty lines.
fn without_comments(text: &str) -> (String, String) {
    let (mut first, mut code, mut rest) = (None, String::new(), text);
    while !rest.is_empty() {
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('"') {
            let length = string_length(rest);
            code += &rest[..length];
            rest = &rest[length..];
            continue;
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            code += &rest[..length];
            rest = &rest[length..];
            continue;
        };
        first.get_or_insert_with(|| rest[..length].to_string());
        code.push(' ');
        rest = &rest[length..];
    }
    let lines = code.lines().map(str::trim_end).filter(|line| !line.is_empty());
    (first.unwrap_or_default(), lines.map(|line| format!("{line}\n")).collect())
}

fn string_length(text: &str) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'"' && !escaped {
            return at + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    text.len()
}

/// The macros that a text defines.
fn macros(code: &str) -> BTreeSet<String> {
    code.lines().filter_map(macro_defined).collect()
}

/// The macro that a line defines.
fn macro_defined(line: &str) -> Option<String> {
    let define = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    Some(define.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

/// The names that a text defines outside of functions: those before a parameter list, a size, a value or an end.
fn defined(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut depth, mut last, mut continued) = (0, String::new(), false);
    for line in code.lines() {
        let is_directive = continued || line.trim_start().starts_with('#');
        continued = is_directive && line.ends_with('\\');
        if is_directive {
            continue;
        }
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            if word > 0 {
                let is_tag = matches!(last.as_str(), "struct" | "union" | "enum");
                last = rest[..word].to_string();
                if is_tag && depth == 0 {
                    names.insert(last.clone());
                }
                rest = &rest[word..];
                continue;
            }
            let is_name = last.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if depth == 0 && is_name && matches!(c, '(' | '[' | '=' | ';' | ',') && !last.starts_with("__") {
                names.insert(last.clone());
            }
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if !c.is_whitespace() {
                last.clear();
            }
            let length = if c == '"' { string_length(rest) } else { c.len_utf8() };
            rest = &rest[length..];
        }
    }
    for keyword in ["_Alignas", "_BitInt", "_Generic", "_Pragma", "_Static_assert", "_Thread_local", "asm", "sizeof"] {
        names.remove(keyword);
    }
    names
}
