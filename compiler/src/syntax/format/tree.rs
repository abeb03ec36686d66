//! Tokens and what stands between them → a tree that holds comments and remembers line breaks.
//!
//! Requires tokens that the grammar accepts. A line break is remembered if the layout can keep it: not in front of
//! closing brackets and of the first element of a list, and not behind quotation marks and the dot of a list. So trees
//! of texts that differ in nothing else are equal, and what is called flat here can be written on one line.

use crate::syntax::comments;
use crate::syntax::lexer::Spanned;
use crate::syntax::token::Token;

/// A datum or a comment.
#[derive(Debug)]
pub struct Item<'t> {
    /// The line breaks of the source in front of it: 2 stands for more, too.
    pub breaks: usize,
    /// Of a comment with more than one space in front of it, the column that it starts in; otherwise 0.
    pub column: usize,
    /// Its width, if it can stand on one line as it is.
    pub flat: Option<usize>,
    /// The width of what comes before its first line break.
    pub first: usize,
    /// What it is.
    pub kind: Kind<'t>,
}

/// What an [`Item`] is.
#[derive(Debug)]
pub enum Kind<'t> {
    /// A name, a literal, or the dot of a list.
    Atom(&'t str),
    /// A comment to the end of the line.
    Line(&'t str),
    /// A comment in `#|` and `|#`.
    Block(&'t str),
    /// A quotation mark or `#;`, what stands behind it, and the comments in between.
    Marked(&'t str, Vec<Item<'t>>, Box<Item<'t>>),
    /// A list or vector: the brackets and what is between them.
    List(&'t str, Vec<Item<'t>>, &'t str),
}

impl Item<'_> {
    /// Whether the program does not see it.
    pub fn is_comment(&self) -> bool {
        match &self.kind {
            Kind::Line(_) | Kind::Block(_) => true,
            Kind::Marked(mark, _, _) => *mark == "#;",
            _ => false,
        }
    }
    /// Whether it ends the line.
    pub fn is_line_comment(&self) -> bool {
        matches!(self.kind, Kind::Line(_))
    }
    /// Whether it is the dot in front of the tail of a list.
    pub fn is_dot(&self) -> bool {
        matches!(self.kind, Kind::Atom("."))
    }
    /// The text of a name or literal.
    pub fn atom(&self) -> Option<&str> {
        match self.kind {
            Kind::Atom(text) => Some(text),
            _ => None,
        }
    }
}

/// The tree of a file: what stands at its top level.
pub fn read<'t>(text: &'t str, tokens: &[Spanned]) -> Vec<Item<'t>> {
    Reader { text, tokens, next: 0, at: 0, breaks: 0, line: 0 }.items(false)
}

struct Reader<'t, 's> {
    text: &'t str,
    tokens: &'s [Spanned],
    next: usize,
    /// The place that has been read to.
    at: usize,
    /// Line breaks since the last item.
    breaks: usize,
    /// Where the current line starts.
    line: usize,
}

impl<'t> Reader<'t, '_> {
    /// The items up to the closing bracket or the end of the text.
    fn items(&mut self, inside: bool) -> Vec<Item<'t>> {
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.comments(&mut items);
            match self.tokens.get(self.next) {
                None | Some((_, Token::Close(_), _)) => break,
                Some(_) => {
                    let item = self.datum();
                    items.push(item);
                }
            }
        }
        self.breaks = 0;
        for index in 0..items.len() {
            let first = index == 0 && (!inside || !items[0].is_comment());
            let behind_dot = index > 0 && items[index - 1].is_dot() && !items[index].is_comment();
            if first || behind_dot {
                items[index].breaks = 0;
            }
        }
        items
    }

    /// Moves over white space and reads the comments up to the next token.
    fn comments(&mut self, items: &mut Vec<Item<'t>>) {
        let end = self.tokens.get(self.next).map_or(self.text.len(), |token| token.0);
        while self.at < end {
            let rest = &self.text[self.at..end];
            if let Some(length) = comments::length(rest) {
                let line = rest.starts_with(';');
                let kind = |text: &'t str| if line { Kind::Line(text.trim_end()) } else { Kind::Block(text) };
                items.push(self.comment(length, kind));
            } else {
                let white = rest.chars().next().map_or(1, char::len_utf8);
                self.at += white;
                if rest.starts_with('\n') {
                    self.breaks = (self.breaks + 1).min(2);
                    self.line = self.at;
                }
            }
        }
    }

    /// A comment of that many bytes.
    fn comment(&mut self, length: usize, kind: impl FnOnce(&'t str) -> Kind<'t>) -> Item<'t> {
        let breaks = std::mem::take(&mut self.breaks);
        let before = &self.text[self.line..self.at];
        let apart = before.ends_with("  ") || before.ends_with('\t');
        let column = if apart { before.chars().count() } else { 0 };
        let text = &self.text[self.at..self.at + length];
        self.move_to(self.at + length);
        Item { column, ..sized(breaks, kind(text)) }
    }

    fn move_to(&mut self, end: usize) {
        if let Some(newline) = self.text[self.at..end].rfind('\n') {
            self.line = self.at + newline + 1;
        }
        self.at = end;
    }

    /// The text of the next token.
    fn token(&mut self) -> &'t str {
        let (start, _, end) = self.tokens[self.next];
        self.next += 1;
        self.move_to(end);
        &self.text[start..end]
    }

    fn datum(&mut self) -> Item<'t> {
        let breaks = std::mem::take(&mut self.breaks);
        let kind = match self.tokens[self.next].1 {
            Token::Open(_) | Token::OpenVector => {
                let open = self.token();
                let items = self.items(true);
                Kind::List(open, items, self.token())
            }
            Token::Prefix(_) | Token::Skip => {
                let mark = self.token();
                let mut between = Vec::new();
                let inner = loop {
                    self.comments(&mut between);
                    let item = self.datum();
                    if !item.is_comment() {
                        break item;
                    }
                    between.push(item);
                };
                if between.is_empty() {
                    Kind::Marked(mark, between, Box::new(Item { breaks: 0, ..inner }))
                } else {
                    Kind::Marked(mark, between, Box::new(inner))
                }
            }
            _ => Kind::Atom(self.token()),
        };
        sized(breaks, kind)
    }
}

/// The item, with its widths.
fn sized<'t>(breaks: usize, kind: Kind<'t>) -> Item<'t> {
    let (flat, first) = match &kind {
        Kind::Atom(text) | Kind::Block(text) => {
            let first = text.lines().next().unwrap_or("").chars().count();
            (if text.contains('\n') { None } else { Some(first) }, first)
        }
        Kind::Line(text) => (None, text.chars().count()),
        Kind::Marked(mark, between, inner) => {
            let items = between.iter().chain([&**inner]);
            let spaces = if between.is_empty() { 0 } else { 1 + between.len() };
            let (flat, first) = widths(items);
            let start = mark.len() + spaces.min(1);
            (flat.map(|width| mark.len() + spaces + width), start + first)
        }
        Kind::List(open, items, close) => {
            let (flat, first) = widths(items.iter());
            let brackets = open.len() + close.len();
            let spaces = items.len().saturating_sub(1);
            (flat.map(|width| brackets + spaces + width), open.len() + first + flat.map_or(0, |_| close.len()))
        }
    };
    Item { breaks, column: 0, flat, first, kind }
}

/// The widths of items, without spaces, if they can stand on one line; and that of their first line.
fn widths<'i, 't: 'i>(items: impl Iterator<Item = &'i Item<'t>>) -> (Option<usize>, usize) {
    let (mut flat, mut first, mut ended) = (Some(0), 0, false);
    for (index, item) in items.enumerate() {
        ended |= item.breaks > 0;
        if !ended {
            first += item.first + usize::from(index > 0);
            ended = item.flat.is_none();
        }
        flat = match (flat, item.flat) {
            (Some(sum), Some(width)) if item.breaks == 0 => Some(sum + width),
            _ => None,
        };
    }
    (flat, first)
}
