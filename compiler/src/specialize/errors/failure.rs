//! Run-time errors in compiled code: the message is rendered when the program is compiled.

use crate::base::{Diagnostic, Span};
use crate::core::check::Check;
use crate::core::errors::{Found, Kind, Place, RuntimeError, no_derivative};
use crate::core::ir::{LambdaId, Part, Var};
use crate::core::mismatch::first_demands;
use crate::core::operands::contract::Values;
use crate::core::place::Library;
use crate::core::prim::Prim;
use crate::core::question::{END_FAILED, SAY_FAILURE, SECOND_DERIVATIVE};
use crate::flow::analysis::{Variant, VariantId};
use crate::shape::lattice::{Alternative, Code, Head, Shape};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Val, target};
use crate::specialize::errors::certain::Event;
use crate::specialize::helper::Helper;
use crate::ssa::ir::{CALLERS, Compare, Form, Op, Stream, Terminator, TextId, Type, Value};
use crate::ssa::kinds::without_callers;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Stands for a value in a message that is only known at run time.
/// A character for private use: control characters are shown as pictures.
pub const HOLE: &str = "\u{E000}";

/// A call that the program makes, to be named in errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// Where.
    pub span: Span,
    /// The λ called, before any transform.
    pub callee: LambdaId,
    /// The position of what is wrong with its arguments in [`Specializer::misfits`].
    pub misfit: Option<u32>,
}

impl Values for Specializer<'_> {
    type Value = Shape;

    fn kind(&self, shape: &Shape) -> Option<Kind> {
        let kind = |alternative: &Alternative| match alternative.head {
            Head::ZeroOf(_) | Head::Nothing => None,
            head => Some(self.found(head).kind),
        };
        let kinds: Option<Vec<Kind>> = self.flow.shapes.alternatives(*shape).iter().map(kind).collect();
        let mut kinds = kinds?;
        match kinds.len() {
            0 => None,
            1 => kinds.pop(),
            _ => Some(Kind::OneOf(kinds.into())),
        }
    }

    fn pair(&self, shape: &Shape) -> Option<[Shape; 2]> {
        match &self.flow.shapes.alternatives(*shape)[..] {
            [Alternative { head: Head::Pair(_), children }] => Some([children[0], children[1]]),
            _ => None,
        }
    }

    fn element(&self, shape: &Shape) -> Option<Shape> {
        match &self.flow.shapes.alternatives(*shape)[..] {
            [Alternative { head: Head::Vector, children }] => Some(children[0]),
            _ => None,
        }
    }

    fn found(&self, shape: &Shape) -> Option<Found> {
        self.kind(shape).map(Found::from)
    }
}

impl Specializer<'_> {
    /// What a value of an alternative is called in messages.
    pub fn found(&self, head: Head) -> Found {
        Found::from(match head {
            Head::Nil | Head::Nothing => Kind::Nil,
            Head::Bool(_) => Kind::Boolean,
            Head::Text(_) => Kind::Text,
            Head::Real(_) | Head::Series => Kind::Real,
            Head::Reverse => Kind::Reverse,
            Head::Bundle => Kind::Forward,
            Head::Pair(_) | Head::ZeroOf(_) => Kind::Pair,
            Head::Record(kind) => Kind::Record(self.core.records[kind].name.clone()),
            Head::Closure(..) => Kind::Procedure,
            Head::Vector | Head::Beginning | Head::OneHot(_) => Kind::Vector,
        })
    }

    /// Goes on to what stands there.
    pub fn stand_at(&self, e: &mut Emitter, span: Option<Span>) {
        e.span = span;
        e.site = span.map(|span| self.call_into_library(span).map_or(span, |call| call.span));
    }

    /// The user's call that led to what stands there, if that is in the library.
    pub fn call_into_library(&self, span: Span) -> Option<Call> {
        self.blame.filter(|_| self.sources.is_library(span))
    }

    /// Where to report an error of the operation at hand: the operation, or the user's call that led into the library.
    pub fn place(&self, e: &Emitter) -> Place {
        self.place_at(e.span)
    }

    /// The same for an operation that stands there.
    pub fn place_at(&self, span: Option<Span>) -> Place {
        let span = span.unwrap_or(self.fallback_span);
        match self.call_into_library(span) {
            Some(call) => {
                let misfit = call.misfit.map(|misfit| Rc::clone(&self.misfits[misfit as usize]));
                let library = Library::new(self.core, call.callee, call.span, misfit);
                Place { library: Some(library), ..Place::from(call.span) }
            }
            None => {
                let tuple = self.blame.and_then(|call| self.tuples.passed(self.core, call.callee, call.span));
                let call = self.blame.map(|call| call.span).filter(|call| !self.sources.is_library(*call));
                Place { span, library: None, call, tuple }
            }
        }
    }

    /// The text of an error, ready to be written.
    pub fn error_text(&mut self, e: &Emitter, error: &RuntimeError) -> TextId {
        let key = (self.place(e), error.clone());
        if let Some(text) = self.error_texts.get(&key) {
            return *text;
        }
        let text = error.to_diagnostic(&key.0).called_from(CALLERS).render(self.sources, false);
        let text = self.text(&text);
        self.error_texts.insert(key, text);
        text
    }

    /// The text of an error that is to be written in pieces. Thousands of functions may have the same one.
    fn rendered(&mut self, e: &Emitter, error: &RuntimeError) -> Rc<str> {
        let key = (self.place(e), error.clone());
        if let Some(text) = self.rendered.get(&key) {
            return Rc::clone(text);
        }
        let text: Rc<str> = error.to_diagnostic(&key.0).called_from(CALLERS).render(self.sources, false).into();
        self.rendered.insert(key, Rc::clone(&text));
        text
    }

    /// The text of an error that the run time notices, which does not know who called.
    fn rendered_alone(&mut self, e: &Emitter, error: &RuntimeError) -> String {
        without_callers(&self.rendered(e, error)).0.to_string()
    }

    /// The messages of a failing read, as [`Op::Read`](crate::ssa::ir::Op::Read) wants them.
    pub fn input_error_text(&mut self, e: &Emitter, prim: Prim) -> TextId {
        let report = crate::ssa::ir::INPUT_FAULT.to_string();
        let errors = [
            RuntimeError::EndOfInput { prim },
            RuntimeError::MalformedInput { report: report.clone() },
            RuntimeError::InputOutput { message: report },
        ];
        let texts = errors.map(|error| self.rendered_alone(e, &error));
        self.text(&texts.join("\0"))
    }

    /// The message of a failure to write a file, as [`Op::BeginFile`] wants it.
    pub fn output_error_text(&mut self, e: &Emitter) -> TextId {
        let report = crate::ssa::ir::INPUT_FAULT.to_string();
        let text = self.rendered_alone(e, &RuntimeError::InputOutput { message: report });
        self.text(&text)
    }

    /// Ends the current block with an error.
    pub fn fail<T>(&mut self, e: &mut Emitter, error: &RuntimeError) -> Emitted<T> {
        self.note_error(e, error, None);
        if let Some([before, after]) = e.around_errors {
            let note = error.to_diagnostic(&self.place(e)).notes.swap_remove(0);
            e.inst(Op::WriteTextOf(Stream::Err, Form::Plain), &[before], &[]);
            self.write_text(e, Stream::Err, &note);
            e.inst(Op::WriteTextOf(Stream::Err, Form::Plain), &[after], &[]);
            let nothing = self.text("");
            e.terminate(Terminator::Fail(nothing, None));
            return None;
        }
        if e.depth == 0 && !matches!(error, RuntimeError::Raised { .. }) {
            let diagnostic = error.to_diagnostic(&self.place(e));
            self.events.push(Event::Fail(Box::new(diagnostic), e.place()));
        }
        let text = self.error_text(e, error);
        e.terminate(Terminator::Fail(text, e.place()));
        None
    }

    /// What a function for `plus` that several places share says at this one, before and after the note that tells
    /// which values it has found.
    pub fn around_sums(&mut self, e: &mut Emitter) -> [Value; 2] {
        if let Some(texts) = e.around_errors {
            return texts;
        }
        let found = || Found::from(Kind::Nil);
        let error = RuntimeError::NonConformant { left: found(), right: found() };
        let mut diagnostic = error.to_diagnostic(&self.place(e));
        diagnostic.notes[0] = HOLE.into();
        let text = diagnostic.render(self.sources, false);
        let (before, after) = text.split_once(HOLE).unwrap_or((&text, ""));
        [before, after].map(|text| {
            let text = self.text(text);
            e.int(i64::from(text.0))
        })
    }

    /// `(error message value)`
    pub fn raise(&mut self, e: &mut Emitter, message: &Val, value: &Val, carried: &Val) -> Emitted<Val> {
        let error = RuntimeError::Raised { message: HOLE.into(), value: HOLE.into() };
        self.note_error(e, &error, Some([message, carried]));
        self.fail_in_pieces(e, &error, |this, e, hole| {
            if hole == 0 {
                crate::specialize::write::display(this, e, message, Stream::Err);
            } else {
                crate::specialize::write::write(this, e, value, Stream::Err);
            }
        })
    }

    /// Ends the current block with an error in whose message numbers stand that only run time knows; each says where
    /// with [`HOLE`], in order.
    pub fn fail_with<T>(&mut self, e: &mut Emitter, error: &RuntimeError, numbers: &[Value]) -> Emitted<T> {
        self.note_error(e, error, None);
        self.fail_in_pieces(e, error, |_, e, hole| {
            e.inst(Op::WriteReal(Stream::Err), &[numbers[hole]], &[]);
        })
    }

    /// Ends the current block with an error in whose message the name of the kind of a record stands.
    pub fn fail_with_kind<T>(&mut self, e: &mut Emitter, error: &RuntimeError, record: &Val) -> Emitted<T> {
        self.note_error(e, error, None);
        let write = self.helper(Helper::WriteKind(record.shape));
        self.fail_in_pieces(e, error, |_, e, _| drop(e.call(write, &record.leaves, &[])))
    }

    /// Writes the name of the kind of a record.
    pub fn write_kind(&mut self, e: &mut Emitter, record: &Val) -> Emitted<Val> {
        let nil = self.flow.shapes.nil();
        self.dispatch(e, record, nil, |this, e, parts| {
            if let Head::Record(kind) = parts.alternative.head {
                let name = this.core.records[kind].name.clone();
                this.write_text(e, Stream::Err, &name);
            }
            Some(Val { shape: nil, leaves: Vec::new() })
        })
    }

    /// Ends the current block with an error; `write` gets the number of each [`HOLE`] in its message and writes what
    /// belongs there.
    pub(in crate::specialize) fn fail_in_pieces<T>(
        &mut self,
        e: &mut Emitter,
        error: &RuntimeError,
        write: impl Fn(&mut Self, &mut Emitter, usize),
    ) -> Emitted<T> {
        let text = self.rendered(e, error);
        let last = self.write_in_pieces(e, &text, write);
        let last = self.text(last);
        e.terminate(Terminator::Fail(last, e.place()));
        None
    }

    /// Writes a message up to the last [`HOLE`], and what belongs into these; the rest of the message.
    fn write_in_pieces<'t>(
        &mut self,
        e: &mut Emitter,
        text: &'t str,
        write: impl Fn(&mut Self, &mut Emitter, usize),
    ) -> &'t str {
        let (last, before) = match text.rsplit_once(HOLE) {
            Some((before, last)) => (last, Some(before)),
            None => (text, None),
        };
        for (hole, piece) in before.iter().flat_map(|before| before.split(HOLE)).enumerate() {
            self.write_text(e, Stream::Err, piece);
            write(self, e, hole);
        }
        last
    }

    /// `(%warn message value)`
    pub fn warn(&mut self, e: &mut Emitter, message: &Val, value: &Val) {
        let diagnostic = no_derivative(HOLE, HOLE, &self.place(e));
        let text = diagnostic.render(self.sources, false);
        let last = self.write_in_pieces(e, &text, |this, e, hole| {
            if hole == 0 {
                crate::specialize::write::display(this, e, message, Stream::Err);
            } else {
                crate::specialize::write::write(this, e, value, Stream::Err);
            }
        });
        self.write_text(e, Stream::Err, last);
    }

    /// Calls a function of the caller of a library, or asks for its second derivative; the answer. If the function
    /// fails, so does the call of the library, with a message that says where the program has called it.
    pub fn call_back(&mut self, e: &mut Emitter, question: f64, asked: &[Value]) -> Value {
        let answer = e.value(Op::Ask, asked, Type::F64);
        let zero = e.real(0.0);
        let has_succeeded = e.value(Op::Compare(Compare::Ge), &[answer, zero], Type::Bool);
        self.demand(e, has_succeeded, |this, e| {
            let place = this.place(e);
            let mut diagnostic = Diagnostic::error("V0327", HOLE, place.span, "this call");
            // What stands for a function of the caller is a function that programs do not know.
            let library = place.library.filter(|library| library.contract.is_some());
            diagnostic.notes.extend(library.map(|library| library.note_with_call()));
            let help = if question == SECOND_DERIVATIVE {
                "functions of the caller have derivatives of the first order: take a search that needs no others, such as \
                 `by-bfgs`"
            } else {
                "the function returns 0 when it has succeeded; then its whole value is written, and its derivative if there \
                 is a pointer for it"
            };
            let text = diagnostic.help(help).render(this.sources, false);
            let zero = e.real(0.0);
            let ask = |e: &mut Emitter, question: f64| {
                let question = e.real(question);
                e.value(Op::Ask, &[question, zero], Type::F64);
            };
            let last = this.write_in_pieces(e, &text, |_, e, _| ask(e, SAY_FAILURE));
            this.write_text(e, Stream::Err, last);
            ask(e, END_FAILED);
            let nothing = this.text("");
            e.terminate(Terminator::Fail(nothing, None));
            None
        });
        answer
    }

    /// Lets the program fail if a derivative is being checked.
    pub fn demand_no_check(&mut self, e: &mut Emitter, prim: Prim) {
        if self.core.checks.is_none() {
            return;
        }
        let [what, zero] = [Check::Level as u32 as f64, 0.0].map(|x| e.real(x));
        let level = e.value(Op::Ask, &[what, zero], Type::F64);
        let is_checking = e.value(Op::Compare(Compare::Gt), &[level, zero], Type::Bool);
        let [failure, done] = [e.new_block(&[]), e.new_block(&[])];
        e.terminate(Terminator::Branch(is_checking, target(failure), target(done)));
        e.switch_to(failure);
        e.depth += 1;
        let _: Emitted<()> = self.fail(e, &RuntimeError::ReadInCheck { prim });
        e.depth -= 1;
        e.switch_to(done);
    }

    /// The number of a constant text.
    pub fn text(&mut self, text: &str) -> TextId {
        if let Some(id) = self.texts.get(text) {
            return *id;
        }
        let text: Arc<str> = text.into();
        let id = self.out.texts.push(Arc::clone(&text));
        self.texts.insert(text, id);
        id
    }

    /// Writes a constant text.
    pub fn write_text(&mut self, e: &mut Emitter, stream: Stream, text: &str) {
        if !text.is_empty() {
            let text = self.text(text);
            e.inst(Op::WriteText(stream, text), &[], &[]);
        }
    }

    /// The call to name in the errors of a function called from here: for a library function, the call by the program
    /// that led into the library; for one of the program's whose pattern may not fit, or whose parameter gets several arguments, the call itself.
    pub fn blame_of_call(&mut self, e: &Emitter, code: Code, variant: VariantId, argument: Shape) -> Option<Call> {
        let span = e.span.unwrap_or(self.fallback_span);
        let mut here = Call { span, callee: code.base, misfit: None };
        let in_library = self.sources.is_library(span);
        if self.sources.is_library(self.core.lambdas[code.lambda].span) {
            if in_library {
                return self.blame;
            }
            here.misfit = self.misfit(here, argument);
            return Some(here);
        }
        let is_wrong = || self.tuples.passed(self.core, code.base, span).is_some();
        (is_wrong() || !in_library && self.may_mismatch(variant)).then_some(here)
    }

    /// What is wrong with the arguments of a call of the library.
    fn misfit(&mut self, call: Call, argument: Shape) -> Option<u32> {
        let contract = self.core.contracts.get(&call.callee)?;
        let misfit = contract.misfit(self, &argument, self.tuples.count(call.span))?;
        let known = self.misfits.iter().position(|known| **known == misfit);
        let place = known.unwrap_or_else(|| {
            self.misfits.push(misfit.into());
            self.misfits.len() - 1
        });
        u32::try_from(place).ok()
    }

    /// Whether a variant that has not been emitted yet begins with a pattern that a value may not fit.
    fn may_mismatch(&mut self, variant: VariantId) -> bool {
        if let Some(known) = self.may_mismatch.get(&variant) {
            return *known;
        }
        let Variant { key, facts, .. } = &self.flow.variants[variant];
        let lambda = &self.core.lambdas[key.lambda];
        let inputs: FxHashMap<Var, Shape> =
            lambda.captures.iter().chain([&lambda.param]).copied().zip(key.args.iter().copied()).collect();
        let fits = |part: Part, x: Var| {
            let Some(shape) = facts.shapes.get(&x).or_else(|| inputs.get(&x)) else { return true };
            self.flow.shapes.alternatives(*shape).iter().all(|alternative| match part {
                Part::Nil => alternative.head == Head::Nil,
                Part::Vector(_) | Part::Never => false,
                Part::Record(kind) => {
                    alternative.head == Head::Record(kind) || matches!(alternative.head, Head::ZeroOf(_))
                }
                Part::Car | Part::Cdr => matches!(alternative.head, Head::Pair(_) | Head::ZeroOf(_)),
            })
        };
        let result = first_demands(lambda).any(|(part, x)| !fits(part, x));
        self.may_mismatch.insert(variant, result);
        result
    }
}
