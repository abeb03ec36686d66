//! Numbers, texts and names → how C writes them.

use crate::ssa::ir::{FuncId, Op, Program, Type};
use std::fmt::Write;

/// The C type of a value.
pub fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::F64 => "double",
        Type::Bool => "bool",
        Type::Int => "int64_t",
        Type::Ptr => "box",
        Type::F64x2 => "lanes",
        Type::Boolx2 => "truths",
    }
}

/// A letter for a type, for names of types that are made of several.
fn letter(ty: Type) -> char {
    match ty {
        Type::F64 => 'r',
        Type::Bool => 'b',
        Type::Int => 'i',
        Type::Ptr => 'p',
        Type::F64x2 => 'l',
        Type::Boolx2 => 't',
    }
}

/// The C type of the results of a function.
pub fn results_name(results: &[Type]) -> String {
    match results {
        [] => "void".to_string(),
        [ty] => type_name(*ty).to_string(),
        _ => {
            // Runs of one type are a letter and a number.
            let mut name = "struct of_".to_string();
            for run in results.chunk_by(|a, b| a == b) {
                name.push(letter(run[0]));
                if run.len() > 1 {
                    let _ = write!(name, "{}", run.len());
                }
            }
            name
        }
    }
}

/// A constant.
pub fn constant(op: Op) -> Option<String> {
    Some(match op {
        Op::ConstReal(bits) => real(f64::from_bits(bits)),
        Op::ConstBool(value) => value.to_string(),
        Op::ConstInt(value) => int(value),
        Op::Immediate(_, tag) => format!("(box){tag}"),
        _ => return None,
    })
}

/// A real: the shortest decimal that is read as the same one.
pub fn real(x: f64) -> String {
    if !x.is_finite() {
        return format!("from_bits({})", bits(x.to_bits()));
    }
    let text = format!("{x:?}");
    if x.is_sign_negative() { format!("({text})") } else { text }
}

/// An integer.
pub fn int(value: i64) -> String {
    match value {
        i64::MIN => "INT64_MIN".to_string(),
        _ if i32::try_from(value).is_ok() => value.to_string(),
        _ => format!("INT64_C({value})"),
    }
}

/// A word.
pub fn bits(word: u64) -> String {
    if word < 1 << 12 { word.to_string() } else { format!("UINT64_C({word:#x})") }
}

/// A text as string literals, one for each of its lines, each on a line of its own.
pub fn text(bytes: &[u8]) -> String {
    let mut literals = String::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        literals.push_str("\n    \"");
        for byte in line {
            match byte {
                b'\n' => literals.push_str("\\n"),
                b'\\' => literals.push_str("\\\\"),
                b'"' => literals.push_str("\\\""),
                // No trigraphs.
                b'?' => literals.push_str("\\?"),
                b' '..=b'~' => literals.push(char::from(*byte)),
                // Always three digits, so that what follows is no part of the number.
                _ => {
                    let _ = write!(literals, "\\{byte:03o}");
                }
            }
        }
        literals.push('"');
    }
    if literals.is_empty() { " \"\"".to_string() } else { literals }
}

/// A text in a comment of one line.
pub fn comment(text: &str) -> String {
    let clean = |c: char| if c.is_control() || c == '\\' { '_' } else { c };
    text.chars().map(clean).collect()
}

/// How a text begins, in a comment that something follows.
pub fn beginning(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut chars = text.chars();
    let shown: String = chars.by_ref().take(SHOWN).collect();
    let more = if chars.next().is_some() { "..." } else { "" };
    format!("{shown:?}{more}").replace("*/", "* /")
}

/// The name of a function: its number, which makes it unique, and what C allows of its own.
pub fn function(program: &Program, id: FuncId) -> String {
    let mut name = format!("f{}_", id.0);
    for c in program.functions[id].name.chars().take(40) {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c != '_' || !name.ends_with('_') {
            name.push(c);
        }
    }
    name.trim_end_matches('_').to_string()
}

#[cfg(test)]
mod tests {
    use super::{beginning, comment, int, real, results_name, text};
    use crate::ssa::ir::Type;

    #[test]
    fn numbers_are_literals_of_c() {
        assert_eq!(real(0.1), "0.1");
        assert_eq!(real(-0.0), "(-0.0)");
        assert_eq!(real(1e300), "1e300");
        assert_eq!(real(f64::INFINITY), "from_bits(UINT64_C(0x7ff0000000000000))");
        assert_eq!(int(-5), "-5");
        assert_eq!(int(1 << 40), "INT64_C(1099511627776)");
        assert_eq!(int(i64::MIN), "INT64_MIN");
    }

    #[test]
    fn texts_hold_nothing_that_c_reads_otherwise() {
        assert_eq!(text(b"a\n\"b\"??/\\\xc3\xa91"), "\n    \"a\\n\"\n    \"\\\"b\\\"\\?\\?/\\\\\\303\\2511\"");
        assert_eq!(comment("dir\\\nname"), "dir__name");
        assert_eq!(beginning("a */ b\n"), "\"a * / b\\n\"");
    }

    #[test]
    fn types_of_results_have_names() {
        assert_eq!(results_name(&[]), "void");
        assert_eq!(results_name(&[Type::F64]), "double");
        assert_eq!(results_name(&[Type::F64, Type::F64, Type::Ptr]), "struct of_r2p");
    }
}
