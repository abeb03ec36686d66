//! Datums of a file → what each name in it stands for, as far as the file itself says.
//!
//! ```text
//! (define (f x)              f  defines a name of the top level       x  binds a local variable
//!   (let ((y (g x)))         y  binds                                 g  is free        x  is that parameter
//!     (f y)))                f  is free: the top level says more      y  is that variable
//! ```
//!
//! What holds: every name in the datums outside of quotations is one [`Occurrence`], in the order of the text. One that
//! stands for a local variable names the innermost [`Binder`] of that name around it, by the rules of the expander: of
//! parameters, of `let` and its kind, of the patterns of a clause, of definitions in a body, which see each other. A
//! name that is free stands for whatever the top level of the module says, which other files may be part of. So two
//! readings of a file, before and after names are changed, mean the same if their occurrences have the same roles and
//! their free names stand for the same.
//!
//! Tools ask this of programs that are being written, so nothing is reported: what is no proper form is looked into
//! like a call. Everything that editors ask about names rests on this one structure.

mod walk;

use crate::base::Span;
use crate::expand::program::outline::Outline;
use crate::syntax::Datum;
use std::cmp::Reverse;
use std::ops::Range;
use std::rc::Rc;

/// The position of a [`Binder`] in its file.
pub type BinderId = usize;

/// A place where a local variable is bound.
#[derive(Clone, Debug)]
pub struct Binder {
    /// The name.
    pub name: Rc<str>,
    /// Where it stands.
    pub span: Span,
    /// The bytes in which it is visible, unless an inner one hides it.
    pub scope: Range<u32>,
    /// Names with the same number are bound together, so that they must differ.
    pub group: usize,
    /// What binds it.
    pub kind: BinderKind,
    /// How it is called, if it is a function: `(f x y)`.
    pub call: Option<String>,
}

/// What binds a local variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinderKind {
    /// A parameter list.
    Parameter,
    /// Anything else.
    Variable,
}

/// A name where it stands.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The name.
    pub name: Rc<str>,
    /// Where it stands.
    pub span: Span,
    /// What it does there.
    pub role: Role,
}

/// What a name does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Binds a local variable.
    Binds(BinderId),
    /// Stands for a local variable.
    Local(BinderId),
    /// Is defined at top level: the position among [`Bindings::definitions`].
    Defines(usize),
    /// Stands for a name of the top level of the module, or of the library.
    Free,
    /// Is listed by `provide`, and stands for the same.
    Provides,
    /// Is listed by an import, and stands for a name of another module: the position among [`Bindings::files`].
    Imports(usize),
    /// Belongs to a form: its keyword, `else`, the type of an argument...
    Word,
    /// Says what a pattern takes apart.
    Constructor,
    /// Is nothing that anything else refers to: a prefix, the name of what is exported.
    Label,
}

/// A file that is included or imported.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name as written.
    pub name: Rc<str>,
    /// Where that stands.
    pub span: Span,
    /// Whether it is imported, and how.
    pub import: Option<Import>,
}

/// What an import says besides the file.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The names wanted, if not all are.
    pub only: Option<Vec<Rc<str>>>,
    /// What stands in front of each.
    pub prefix: Rc<str>,
}

/// A bracket that is a call, or a form.
#[derive(Clone, Debug)]
pub struct Call {
    /// The whole bracket.
    pub span: Span,
    /// The name that is called, perhaps in brackets of its own.
    pub name: Span,
    /// How many brackets are around that name inside of this one.
    pub layer: usize,
    /// The operands.
    pub operands: Vec<Span>,
}

/// What the names of a file stand for.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// Where local variables are bound; outer ones before inner ones.
    pub binders: Vec<Binder>,
    /// All names, in the order of the text.
    pub occurrences: Vec<Occurrence>,
    /// What is defined at top level, arguments included.
    pub definitions: Vec<Outline>,
    /// The files included and imported.
    pub files: Vec<Named>,
    /// What `provide` lists, if there is one.
    pub provides: Option<Vec<Rc<str>>>,
    /// All calls and forms, outer ones before inner ones.
    pub calls: Vec<Call>,
    /// The expressions at top level.
    pub expressions: Vec<Span>,
}

impl Bindings {
    /// What the names in the datums of a file stand for.
    pub fn of(datums: &[Datum]) -> Bindings {
        walk::bindings(datums)
    }

    /// The name at a byte, or just in front of it.
    pub fn at(&self, byte: usize) -> Option<&Occurrence> {
        let byte = u32::try_from(byte).ok()?;
        let after = self.occurrences.partition_point(|occurrence| occurrence.span.start <= byte);
        let found = self.occurrences.get(after.checked_sub(1)?)?;
        (byte <= found.span.end).then_some(found)
    }

    /// The local variables visible at a byte, inner ones first.
    pub fn visible(&self, byte: usize) -> Vec<&Binder> {
        let mut found: Vec<&Binder> = self
            .binders
            .iter()
            .filter(|binder| (binder.scope.start as usize..=binder.scope.end as usize).contains(&byte))
            .collect();
        found.sort_by_key(|binder| (Reverse(binder.scope.start), binder.scope.end));
        found
    }

    /// The innermost call around a byte of the text. One that is not closed goes on to its end.
    pub fn call_at(&self, byte: usize, text: &str) -> Option<&Call> {
        let is_inside = |call: &&Call| {
            let end = call.span.end as usize;
            let is_closed = text.get(..end).is_some_and(|before| before.ends_with([')', ']']));
            (call.span.start as usize) < byte && (byte < end || byte == end && !is_closed)
        };
        self.calls.iter().filter(is_inside).max_by_key(|call| call.span.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceMap;
    use crate::syntax;

    fn bindings(text: &str) -> Bindings {
        Bindings::of(&syntax::recover(SourceMap::new().add("", "", false), text))
    }

    /// The names of a text, with the number of the binder behind each that stands for a local variable, and a mark
    /// behind others.
    fn resolved(text: &str) -> String {
        let mark = |role| match role {
            Role::Binds(id) => format!(":{id}"),
            Role::Local(id) => format!("={id}"),
            Role::Defines(_) => "!".to_string(),
            Role::Free => "?".to_string(),
            Role::Provides | Role::Imports(_) => "^".to_string(),
            Role::Word | Role::Constructor | Role::Label => String::new(),
        };
        let shown = bindings(text).occurrences.into_iter().filter(|found| !mark(found.role).is_empty());
        shown.map(|found| format!("{}{}", found.name, mark(found.role))).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn parameters_and_patterns_bind() {
        assert_eq!(resolved("(define ((f a) (cons b _)) (g a b))"), "f! a:0 b:1 g? a=0 b=1");
        assert_eq!(resolved("(lambda (x (list y z) . t) (x y z t)) x"), "x:0 y:1 z:2 t:3 x=0 y=1 z=2 t=3 x?");
        assert_eq!(resolved("(lambda all all)"), "all:0 all=0");
        assert_eq!(resolved("(define f (lambda (f) f))"), "f! f:0 f=0");
    }

    #[test]
    fn inner_variables_hide_outer_ones() {
        assert_eq!(resolved("(let ((a 1) (b a)) a)"), "a? a:0 b:1 a=0".replacen("a? a:0 b:1", "a:0 b:1 a?", 1));
        assert_eq!(resolved("(let* ((a 1) (a a) (b a)) a)"), "a:0 a:1 a=0 b:2 a=1 a=1");
        assert_eq!(resolved("(letrec ((f (lambda (x) (f g))) (g f)) f)"), "f:0 x:2 f=0 g=1 g:1 f=0 f=0");
        assert_eq!(resolved("(let i ((i i)) (i i))"), "i:0 i:1 i? i=1 i=1");
        assert_eq!(resolved("(let ((x 1)) (let ((x x)) x) x)"), "x:0 x:1 x=0 x=1 x=0");
    }

    #[test]
    fn clauses_have_names_of_their_own() {
        assert_eq!(
            resolved("(match x ((cons a b) (when (< a x)) b) ('(a) a) ((list \"s\" x) x) (a a))"),
            "x? a:0 b:1 <? a=0 x? b=1 a? x:2 x=2 a:3 a=3"
        );
        assert_eq!(resolved("(cond (a b) (else c))"), "a? b? c?");
        assert_eq!(resolved("(define (match a b) a) (match x (y z))"), "match! a:0 b:1 a=0 match? x? y? z?");
    }

    #[test]
    fn definitions_in_a_body_see_each_other() {
        assert_eq!(
            resolved("(define (f x) (g x) (define (g y) (h y)) (define h g) (g h))"),
            "f! x:0 g=1 x=0 g:1 y:3 h=2 y=3 h:2 g=1 g=1 h=2"
        );
        assert_eq!(resolved("(if c (define x 1) x)"), "c? x?");
    }

    #[test]
    fn quotations_hold_data() {
        assert_eq!(resolved("(f '(a b) `(a ,b #(,c (unquote d))) #(e) (quote g))"), "f? b? c? d?");
    }

    #[test]
    fn files_say_what_they_share() {
        let text = "(import \"m\" (only a b) (prefix p:)) (provide f) (arguments \"x\" (n integer 1)) \
                    (export (gradient f w) ((w real)))";
        assert_eq!(resolved(text), "a^ b^ f^ n! f? w=0 w:0");
        let found = bindings(text);
        let import = found.files[0].import.clone().expect("it is an import");
        assert_eq!((&*found.files[0].name, &*import.prefix, import.only.map(|only| only.len())), ("m", "p:", Some(2)));
        assert_eq!(found.definitions.iter().map(|found| &*found.name).collect::<Vec<_>>(), ["n"]);
        assert_eq!(
            resolved("(define (export f l) f) (export g ((x real)))"),
            "export! f:0 l:1 f=0 export? g? x? real?"
        );
    }

    #[test]
    fn local_variables_are_visible_in_their_scopes() {
        let visible = |text: &str| {
            let byte = text.find('|').expect("there is a mark");
            let found = bindings(&text.replacen('|', "", 1));
            found.visible(byte).iter().map(|binder| binder.name.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(visible("(define (f x) (let* ((a 1) (b |2)) b))"), "a x");
        assert_eq!(visible("(define (f x) (let* ((a 1) (b 2)) (+ |\n(define (g y) y)"), "b a x");
        assert_eq!(visible("(define (f x) x) (g |1)"), "");
    }

    #[test]
    fn functions_are_known_with_their_parameters() {
        let text = "(define (f x) (define g (lambda (y . z) y)) (let loop ((i 0)) ((g i) x)))";
        let found = bindings(text);
        let calls: Vec<&str> = found.binders.iter().filter_map(|binder| binder.call.as_deref()).collect();
        assert_eq!(calls, ["(g y . z)", "(loop i)"]);
        let call = found.call_at(text.find("x)))").expect("it is there"), text).expect("it is inside of a call");
        assert_eq!((call.layer, call.operands.len()), (1, 1));
    }
}
