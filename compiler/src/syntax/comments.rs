//! Comments: where they are in a text.
//!
//! What stands between tokens is white space and comments; a text with mistakes may hold other things there.

use crate::base::SourceMap;
use crate::syntax::lexer;
use std::ops::Range;

/// The places of all comments of a text, in order. (What `#;` hides is no comment here.)
pub fn comments(text: &str) -> Vec<Range<usize>> {
    let file = SourceMap::new().add("", "", false);
    let (tokens, _) = lexer::tokens(file, text, 0);
    let mut found = Vec::new();
    let mut at = 0;
    for (start, end) in tokens.iter().map(|token| (token.0, token.2)).chain([(text.len(), text.len())]) {
        while at < start {
            match length(&text[at..start]) {
                Some(length) => {
                    found.push(at..at + length);
                    at += length;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        at = end;
    }
    found
}

/// The length of the comment that a text starts with, without the end of its line.
pub fn length(text: &str) -> Option<usize> {
    if text.starts_with(';') {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("#|") {
        return None;
    }
    let (mut open, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("#|") {
            open += 1;
            at += 2;
        } else if text[at..].starts_with("|#") {
            open -= 1;
            at += 2;
            if open == 0 {
                break;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Some(at)
}
