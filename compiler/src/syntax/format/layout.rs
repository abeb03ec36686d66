//! A tree with comments → text.
//!
//! A list that fits stands on one line, unless its author has broken it. Otherwise what follows its first element is
//!
//! - for a form with a body: indented by two columns, behind the elements in front of the body;
//! - for a call: aligned under the first operand, or indented by two columns if that is on a line of its own;
//! - for data, bindings and clauses: aligned under the first element.
//!
//! Where the author has broken a list, the breaks stand, and others are added where lines grow too long; where nobody
//! has, each element gets a line, except that the last may begin on the line of the others if its author has broken it
//! inside, and that the value of a binding stands beside the name if it takes several lines anyway.

use super::WIDTH;
use super::tree::{Item, Kind};
use crate::syntax::bodies::front;

/// A column behind which operands are not aligned if that makes them too long.
const FAR: usize = 40;

/// Writes the items of a file.
pub fn write(items: &[Item]) -> String {
    let mut writer = Writer { text: String::new(), column: 0, lines: 0 };
    writer.elements(items, &Plan::top());
    if !writer.text.is_empty() {
        writer.text.push('\n');
    }
    writer.text
}

/// What a list is to the list around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A form or a call.
    Expression,
    /// The bindings of a `let`.
    Bindings,
    /// One of these.
    Binding,
    /// A clause of a `cond`.
    Clause,
    /// Part of a quotation, or parameters.
    Data,
}

/// How elements are indented.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Two columns, but four up to the given element.
    Body(usize),
    /// Under the first operand.
    Call,
    /// Under the first operand, each on its own line.
    Clauses,
    /// Under the first element.
    Data,
    /// Not at all.
    Top,
}

/// Which elements go to new lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    /// Those that the author has put there, and what does not fit.
    Kept,
    /// All behind the first operand, or behind the first element of data.
    All,
    /// All operands.
    AllOperands,
    /// None.
    None,
}

/// How a list is written that does not stand on one line.
struct Plan {
    style: Style,
    breaks: Breaks,
    /// The role that the list has.
    role: Role,
    /// The column behind the opening bracket.
    inside: usize,
    /// The number of brackets that are closed behind the list, its own included.
    closing: usize,
    /// The first element is called so.
    head: Option<String>,
    /// The second is a name, that of a loop.
    named: bool,
}

impl Plan {
    fn top() -> Plan {
        let (style, breaks, role) = (Style::Top, Breaks::Kept, Role::Expression);
        Plan { style, breaks, role, inside: 0, closing: 0, head: None, named: false }
    }

    fn of(items: &[Item], role: Role, column: usize, open: &str, closing: usize) -> Plan {
        let mut data = items.iter().filter(|item| !item.is_comment());
        let head = data.next().and_then(Item::atom).filter(|_| role == Role::Expression && open != "#(");
        let named = head == Some("let") && data.next().is_some_and(|item| item.atom().is_some());
        let style = match head {
            None => Style::Data,
            Some("cond") => Style::Clauses,
            Some(name) => match front(name) {
                Some(elements) => Style::Body(elements + usize::from(named)),
                None => Style::Call,
            },
        };
        let head = head.map(str::to_string);
        let mut plan =
            Plan { style, breaks: Breaks::Kept, role, inside: column + open.len(), closing: closing + 1, head, named };
        plan.breaks = plan.choose(items);
        plan
    }

    fn choose(&self, items: &[Item]) -> Breaks {
        if self.style == Style::Clauses || items.iter().skip(1).any(|item| item.breaks > 0) {
            return Breaks::Kept;
        }
        let Some((last, others)) = items.split_last() else { return Breaks::Kept };
        let before: Option<usize> = others.iter().map(|item| item.flat.map(|width| width + 1)).sum();
        let fits = before.is_some_and(|before| self.inside + before + last.first <= WIDTH);
        match self.style {
            Style::Body(_) => Breaks::All,
            Style::Data if self.role == Role::Binding && items.len() == 2 => {
                let alone = last.flat.is_some_and(|width| self.inside + width + self.closing <= WIDTH);
                if alone { Breaks::All } else { Breaks::None }
            }
            _ if last.flat.is_none() && fits => Breaks::None,
            Style::Data if items.iter().all(|item| item.atom().is_some()) => Breaks::Kept,
            Style::Call if self.far(items) => Breaks::AllOperands,
            _ => Breaks::All,
        }
    }

    /// Whether operands fit that would not fit under the first one.
    fn far(&self, items: &[Item]) -> bool {
        let Some((head, operands)) = items.split_first() else { return false };
        let aligned = self.inside + head.first + 1;
        let fits = |column: usize, width: usize| column + width + self.closing <= WIDTH;
        let widths = || operands.iter().filter_map(|item| item.flat);
        let gained = |width: usize| !fits(aligned, width) && fits(self.inside + 1, width);
        aligned > FAR && widths().any(gained)
    }

    /// Whether the element with that number, which is not the first, starts a line; `full` says that it should not
    /// follow what stands on the current one.
    fn breaks_before(&self, item: &Item, index: usize, full: bool) -> bool {
        let kept = item.breaks > 0;
        match (self.style, self.breaks) {
            (Style::Body(front), _) if index <= front => kept,
            (Style::Body(front), _) if index == front + 1 => true,
            (Style::Clauses, _) if index > 1 => true,
            (_, Breaks::None) => false,
            (_, Breaks::AllOperands) => true,
            (Style::Call, Breaks::All) if index == 1 => full,
            (_, Breaks::All) => true,
            (_, Breaks::Kept) => kept || full,
        }
    }

    /// The role of the element with that number.
    fn role(&self, index: usize, item: &Item) -> Role {
        match (self.role, self.head.as_deref()) {
            (Role::Data, _) => Role::Data,
            (Role::Bindings, _) => Role::Binding,
            (_, Some("cond")) if index > 0 => Role::Clause,
            (_, Some("match")) if index > 1 => Role::Clause,
            (_, Some("let" | "let*" | "letrec")) if index == 1 + usize::from(self.named) => Role::Bindings,
            (_, Some("lambda")) if index == 1 && item.atom().is_none() => Role::Data,
            _ => Role::Expression,
        }
    }

    /// The column of a new line that the element with that number, or a comment in front of it, starts. `operand` is
    /// the column of the first operand if that stands beside the head.
    fn indent(&self, index: usize, operand: Option<usize>) -> usize {
        match self.style {
            Style::Top => 0,
            _ if index == 0 => self.inside,
            Style::Data => self.inside,
            Style::Body(front) => self.inside + if index <= front { 3 } else { 1 },
            Style::Call | Style::Clauses => operand.unwrap_or(self.inside + 1),
        }
    }
}

struct Writer {
    text: String,
    column: usize,
    /// Line breaks written.
    lines: usize,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rfind('\n') {
            None => self.column += text.chars().count(),
            Some(newline) => {
                self.lines += 1;
                self.column = text[newline + 1..].chars().count();
            }
        }
    }

    fn new_line(&mut self, blank: bool, indent: usize) {
        self.push(if blank { "\n\n" } else { "\n" });
        self.spaces(indent);
    }

    fn spaces(&mut self, count: usize) {
        self.text.extend(std::iter::repeat_n(' ', count));
        self.column += count;
    }

    /// Writes an item; behind it `closing` brackets are closed.
    fn item(&mut self, item: &Item, role: Role, closing: usize) {
        match &item.kind {
            Kind::Atom(text) | Kind::Line(text) | Kind::Block(text) => self.push(text),
            Kind::Marked(mark, between, inner) => self.marked(mark, between, inner, role, closing),
            Kind::List(open, items, close) => {
                let column = self.column;
                self.push(open);
                if item.flat.is_some_and(|width| column + width + closing <= WIDTH) {
                    self.flat(items);
                } else {
                    self.elements(items, &Plan::of(items, role, column, open, closing));
                }
                self.push(close);
            }
        }
    }

    fn flat(&mut self, items: &[Item]) {
        for (index, item) in items.iter().enumerate() {
            self.spaces(usize::from(index > 0));
            match &item.kind {
                Kind::Atom(text) | Kind::Line(text) | Kind::Block(text) => self.push(text),
                Kind::Marked(mark, between, inner) if between.is_empty() => {
                    self.push(mark);
                    self.flat(std::slice::from_ref(&**inner));
                }
                Kind::Marked(mark, between, inner) => {
                    self.push(mark);
                    self.spaces(1);
                    self.flat(between);
                    self.spaces(1);
                    self.flat(std::slice::from_ref(&**inner));
                }
                Kind::List(open, items, close) => {
                    self.push(open);
                    self.flat(items);
                    self.push(close);
                }
            }
        }
    }

    fn marked(&mut self, mark: &str, between: &[Item], inner: &Item, role: Role, closing: usize) {
        let indent = self.column + mark.len();
        self.push(mark);
        let mut behind_line = false;
        for item in between.iter().chain([inner]) {
            let line = item.is_line_comment();
            if behind_line || item.breaks > 0 {
                self.new_line(false, indent);
            } else if !between.is_empty() {
                self.spaces(1);
            }
            behind_line = line;
            let role = match mark {
                "'" | "`" => Role::Data,
                "," => Role::Expression,
                _ => role,
            };
            let last = std::ptr::eq(item, inner);
            self.item(item, if last { role } else { Role::Expression }, if last { closing } else { 0 });
        }
    }

    /// Writes what stands between the brackets of a list that does not stand on one line.
    fn elements(&mut self, items: &[Item], plan: &Plan) {
        let first_line = self.lines;
        // The number of the next element that is no comment.
        let mut index = 0;
        let mut operand = None;
        let mut behind_lines = false;
        for (place, item) in items.iter().enumerate() {
            let before = place.checked_sub(1).map(|place| &items[place]);
            let closing = if place + 1 == items.len() { plan.closing } else { 0 };
            let breaks = match before {
                Some(before) if before.is_line_comment() => true,
                Some(before) if index > 0 && !item.is_comment() && !before.is_dot() => {
                    plan.breaks_before(item, index, behind_lines || !self.fits(item, closing))
                }
                _ => item.breaks > 0,
            };
            if breaks {
                self.new_line(item.breaks > 1, plan.indent(index, operand));
            } else if item.is_line_comment() && !self.text.is_empty() {
                self.spaces(item.column.saturating_sub(self.column).max(1));
            } else if before.is_some() {
                self.spaces(1);
            }
            if index == 1 && !item.is_comment() && self.lines == first_line {
                operand = Some(self.column);
            }
            let line = self.lines;
            self.item(item, plan.role(index, item), closing);
            behind_lines = self.lines > line;
            index += usize::from(!item.is_comment());
        }
        if plan.style != Style::Top && items.last().is_some_and(Item::is_line_comment) {
            self.new_line(false, plan.indent(index, operand));
        }
    }

    /// Whether an item can start on the current line.
    fn fits(&self, item: &Item, closing: usize) -> bool {
        match item.flat {
            Some(width) => self.column + 1 + width + closing <= WIDTH,
            None => self.column + 1 + item.first <= WIDTH,
        }
    }
}
