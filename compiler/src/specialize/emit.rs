//! Emitting SSA for one function: values with shapes.
//!
//! An operation returns `None` when control does not get past it (it failed, or calls something that never returns);
//! the current block has its terminator then and nothing may be appended.

use super::{Sharing, Specializer};
use crate::base::Span;
use crate::shape::lattice::{Alternative, Fact, Head, Shape};
use crate::specialize::layout::leaves::{Layout, Leaf, Slots};
use crate::specialize::operators::tables::has_table;
use crate::ssa::ir::{BlockId, FuncId, Function, Inst, Op, Phase, Source, Target, Terminator, Type, Value};
use std::rc::Rc;
use std::sync::Arc;

/// A value: its shape and its leaves.
#[derive(Clone, Debug)]
pub struct Val {
    pub shape: Shape,
    pub leaves: Vec<Value>,
}

/// One alternative of a value, taken apart.
#[derive(Clone, Debug)]
pub struct Parts {
    pub alternative: Alternative,
    /// The leaf of an unknown real, boolean or text; the length of a vector.
    pub own: Option<Value>,
    /// The place of the next element of the beginning of a vector, or that of the element of a one-hot vector; the
    /// number of places in a table.
    pub place: Option<Value>,
    /// The elements of a vector, if they have leaves; those that the elements of a one-hot vector are zeros of.
    pub elements: Option<Value>,
    /// The parts; of a one-hot vector its element only.
    pub children: Vec<Val>,
    /// What a one-hot vector has in further places.
    pub more: Vec<Hot>,
    /// If a one-hot vector may have any number of places, their table instead: its capacity and its cells.
    pub table: Option<[Value; 2]>,
}

/// A place of a one-hot vector, with what is there.
#[derive(Clone, Debug)]
pub struct Hot {
    /// -1 if there is nothing; then the part is anything. The first place always has something.
    pub place: Value,
    pub part: Val,
}

impl Hot {
    pub fn leaves(self) -> impl Iterator<Item = Value> {
        [self.place].into_iter().chain(self.part.leaves)
    }
}

impl Parts {
    /// The places of a one-hot vector.
    pub fn hots(&self) -> Vec<Hot> {
        let first =
            self.place.filter(|_| self.table.is_none()).map(|place| Hot { place, part: self.children[0].clone() });
        first.into_iter().chain(self.more.iter().cloned()).collect()
    }
}

/// The function being emitted.
#[derive(Debug)]
pub struct Emitter {
    pub function: Function,
    pub block: BlockId,
    pub span: Option<Span>,
    /// What messages about memory and about callers name: the place at hand, or the user's call that led into the
    /// library.
    pub site: Option<Span>,
    /// What the code at hand is a part of.
    pub phase: Phase,
    /// How many choices that run time makes lead to the current block.
    pub depth: usize,
    /// Whether what is being emitted is the last thing that the function does, and the function never returns.
    pub is_endless_tail: bool,
    /// In a function that several places share, the texts before and after what it says about an error.
    pub around_errors: Option<[Value; 2]>,
}

/// The result of emitting something: `None` when control does not get past it.
pub type Emitted<T> = Option<T>;

impl Emitter {
    /// A function whose parameters have these types.
    pub fn new(name: Arc<str>, params: &[Type], results: Vec<Type>) -> Emitter {
        Emitter::of(Function::new(name, params, results))
    }
    /// A declared function.
    pub fn of(function: Function) -> Emitter {
        Emitter {
            function,
            block: Function::ENTRY,
            span: None,
            site: None,
            phase: Phase::Value,
            depth: 0,
            is_endless_tail: false,
            around_errors: None,
        }
    }
    /// Appends an instruction with results of these types.
    pub fn inst(&mut self, op: Op, args: &[Value], results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|ty| self.function.values.push(*ty)).collect();
        self.append(op, args, &results);
        results
    }
    fn append(&mut self, op: Op, args: &[Value], results: &[Value]) {
        let span = if op.allocates() || matches!(op, Op::Call(_)) { self.site } else { self.span };
        let span = self.source(span);
        let inst = Inst { op, args: args.into(), results: results.into(), span };
        self.function.blocks[self.block].insts.push(inst);
    }
    /// What stands there, as part of what is being emitted.
    fn source(&self, span: Option<Span>) -> Option<Source> {
        let is_in_library = span != self.span;
        span.map(|span| Source { span, phase: self.phase, is_in_library, within: None })
    }
    /// The place at hand, or the user's call that led into the library.
    pub fn place(&self) -> Option<Source> {
        self.source(self.site)
    }
    /// Appends an instruction with one result.
    pub fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let result = self.function.values.push(ty);
        self.append(op, args, &[result]);
        result
    }
    /// A constant real.
    pub fn real(&mut self, x: f64) -> Value {
        self.value(Op::ConstReal(x.to_bits()), &[], Type::F64)
    }
    /// A constant boolean.
    pub fn boolean(&mut self, x: bool) -> Value {
        self.value(Op::ConstBool(x), &[], Type::Bool)
    }
    /// A constant integer.
    pub fn int(&mut self, x: i64) -> Value {
        self.value(Op::ConstInt(x), &[], Type::Int)
    }
    /// Ends the current block.
    pub fn terminate(&mut self, terminator: Terminator) {
        self.function.blocks[self.block].terminator = terminator;
    }
    /// Ends the current block with a jump.
    pub fn jump(&mut self, block: BlockId, args: Vec<Value>) {
        self.terminate(Terminator::Jump(Target { block, args }));
    }
    /// A new block with parameters of these types.
    pub fn new_block(&mut self, params: &[Type]) -> BlockId {
        self.function.new_block(params)
    }
    /// Continues in that block.
    pub fn switch_to(&mut self, block: BlockId) {
        self.block = block;
    }
    /// Emits a call.
    pub fn call(&mut self, function: FuncId, args: &[Value], results: &[Type]) -> Vec<Value> {
        self.inst(Op::Call(function), args, results)
    }
}

/// An operation that decides more often than this is worth sharing: called from several places it is there once, and
/// what it decides inside such a part is one call.
const MAX_CHOICES: usize = 8;

/// The same in programs whose operations are not shared otherwise.
const MAX_CHOICES_APART: usize = 64;

/// A constant with more parts than this is worth sharing.
const MAX_CONSTANT: usize = 32;

impl Specializer<'_> {
    /// The types of the leaves of a shape.
    pub fn leaves(&mut self, shape: Shape) -> Rc<[Type]> {
        self.layouts.leaves(&self.flow.shapes, &mut self.out, shape)
    }

    /// The representation of a shape.
    pub fn layout(&mut self, shape: Shape) -> Layout {
        self.layouts.layout(&self.flow.shapes, &mut self.out, shape)
    }

    /// Whether values of the shape are boxed.
    pub fn is_boxed(&mut self, shape: Shape) -> bool {
        matches!(self.layout(shape), Layout::Boxed(_))
    }

    /// Whether values of the shape are boxed, or part of boxes or vectors of which they contain others.
    pub fn may_recur(&mut self, shape: Shape) -> bool {
        let alternatives = self.flow.shapes.alternatives(shape);
        let holds = alternatives.len() > 1 || alternatives.iter().any(|a| a.head.holds_elements());
        self.is_boxed(shape) || (holds && self.flow.shapes.is_recursive(shape))
    }

    /// Whether an operation on all parts of such values deserves a function of its own: they contain values of the same
    /// shape, or are boxed, or a choice between several values with parts, for which code in place would multiply at
    /// every level, or hold many choices.
    pub fn is_large(&mut self, shape: Shape) -> bool {
        let with_parts = |a: &&Alternative| !a.children.is_empty();
        self.may_recur(shape)
            || self.flow.shapes.alternatives(shape).iter().filter(with_parts).count() > 1
            || self.has_many_choices(shape)
    }

    /// Whether values of the shape are vectors with elements that are large: an operation on all of them is a function
    /// of its own, so that it can be made once for a vector that is shared, and for elements that are.
    pub fn holds_large(&mut self, shape: Shape) -> bool {
        let single = self.flow.shapes.single(shape).filter(|alternative| alternative.head == Head::Vector);
        single.is_some_and(|vector| self.is_large(vector.children[0]))
    }

    /// Whether an operation on all parts of such values decides more than a little, and is to be shared then: each
    /// choice is a branch, and hands all that has been made so far on.
    pub fn has_many_choices(&mut self, shape: Shape) -> bool {
        let most = if self.sharing == Sharing::Shared { MAX_CHOICES } else { MAX_CHOICES_APART };
        self.choices(shape) > most
    }

    /// The number of choices on the paths through a shape, where it does not contain itself.
    fn choices(&mut self, shape: Shape) -> usize {
        if self.flow.shapes.is_recursive(shape) {
            return 0;
        }
        if let Some(known) = self.choices.get(&shape) {
            return *known;
        }
        let alternatives = self.flow.shapes.alternatives(shape);
        let parts = alternatives.iter().flat_map(|alternative| alternative.children.iter());
        let inside = parts.fold(0, |sum: usize, part| sum.saturating_add(self.choices(*part)));
        let choices = inside.saturating_add(alternatives.len().saturating_sub(1));
        self.choices.insert(shape, choices);
        choices
    }

    /// Whether a shape unfolds to more than a few parts.
    pub fn has_many_parts(&mut self, shape: Shape) -> bool {
        let mut left = MAX_CONSTANT;
        let mut open = vec![shape];
        while let Some(shape) = open.pop() {
            if left == 0 {
                return true;
            }
            left -= 1;
            open.extend(self.flow.shapes.alternatives(shape).iter().flat_map(|a| a.children.iter().copied()));
        }
        false
    }

    /// The types of the leaves of one alternative.
    pub fn alternative_leaves(&mut self, alternative: &Alternative) -> Vec<Type> {
        self.layouts.types(&self.flow.shapes, &mut self.out, alternative)
    }

    /// The leaves of one alternative, which say what slots of a union they take.
    fn slots_of(&mut self, alternative: &Alternative) -> Vec<Leaf> {
        self.layouts.alternative(&self.flow.shapes, &mut self.out, alternative)
    }

    /// Splits leaves into values of the given shapes.
    pub fn split(&mut self, shapes: &[Shape], leaves: &[Value]) -> Vec<Val> {
        let mut rest = leaves;
        let mut values = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let (own, after) = rest.split_at(self.leaves(*shape).len());
            values.push(Val { shape: *shape, leaves: own.to_vec() });
            rest = after;
        }
        values
    }

    /// Takes apart the alternative at position `tag`, which the value is known to be.
    pub fn parts(&mut self, e: &mut Emitter, value: &Val, tag: usize) -> Parts {
        let alternative = self.flow.shapes.alternatives(value.shape)[tag].clone();
        let leaves = match self.layout(value.shape) {
            Layout::Product => value.leaves.clone(),
            Layout::Union { .. } => self.union_leaves(value.shape, &value.leaves, tag),
            Layout::Boxed(sum) => self.open_box(e, sum, value.shape, &value.leaves, tag),
        };
        self.parts_of(alternative, leaves)
    }

    /// An alternative with these leaves, taken apart.
    pub fn parts_of(&mut self, alternative: Alternative, leaves: Vec<Value>) -> Parts {
        let own = match alternative.head {
            Head::Real(Fact::Unknown | Fact::PerhapsZero) | Head::Bool(None) | Head::Text(None) => Some(leaves[0]),
            Head::Vector | Head::Beginning | Head::OneHot(_) => Some(leaves[0]),
            _ => None,
        };
        let place = matches!(alternative.head, Head::Beginning | Head::OneHot(_)).then(|| leaves[1]);
        let after = if place.is_some() { 2 } else { 1 };
        let has_elements = alternative.head.holds_elements()
            || matches!(alternative.head, Head::OneHot(_)) && !self.flow.shapes.is_constant(alternative.children[0]);
        let elements = leaves.get(after).copied().filter(|_| has_elements);
        let mut more = Vec::new();
        let mut table = None;
        let children = match alternative.head {
            head if has_table(head) => {
                let after = after + usize::from(has_elements);
                table = Some([leaves[after], leaves[after + 1]]);
                Vec::new()
            }
            Head::OneHot(_) => {
                let (shape, after) = (alternative.children[1], after + usize::from(has_elements));
                let (first, rest) = leaves[after..].split_at(self.leaves(shape).len());
                let hot = |hot: &[Value]| Hot { place: hot[0], part: Val { shape, leaves: hot[1..].to_vec() } };
                more = rest.chunks(first.len() + 1).map(hot).collect();
                vec![Val { shape, leaves: first.to_vec() }]
            }
            _ if own.is_some() => Vec::new(),
            _ => self.split(&alternative.children.clone(), &leaves),
        };
        Parts { alternative, own, place, elements, children, more, table }
    }

    /// Builds a value of `shape` that is its alternative at position `tag`, from the alternative's leaves.
    pub fn build(&mut self, e: &mut Emitter, shape: Shape, tag: usize, leaves: Vec<Value>) -> Val {
        let leaves = match self.layout(shape) {
            Layout::Product => leaves,
            Layout::Union { slots } => {
                let alternative = self.flow.shapes.alternatives(shape)[tag].clone();
                let mut filled: Vec<Option<Value>> = vec![None; slots.iter().sum::<usize>() + 1];
                let mut next = slot_starts(slots);
                for (value, leaf) in leaves.into_iter().zip(self.slots_of(&alternative)) {
                    let position = &mut next[leaf.class()];
                    filled[*position] = Some(value);
                    *position += 1;
                }
                filled[0] = Some(e.int(i64::from(u32_of(tag))));
                let types = self.leaves(shape);
                let filler = |(slot, ty): (Option<Value>, &Type)| match slot {
                    Some(value) => value,
                    None => self.filler(e, *ty),
                };
                filled.into_iter().zip(types.iter()).map(filler).collect()
            }
            Layout::Boxed(sum) => vec![self.make_box(e, sum, shape, tag, &leaves)],
        };
        Val { shape, leaves }
    }

    /// The leaves of the alternative at position `tag` of a value laid out as a union.
    pub fn union_leaves(&mut self, shape: Shape, leaves: &[Value], tag: usize) -> Vec<Value> {
        let alternative = self.flow.shapes.alternatives(shape)[tag].clone();
        let Layout::Union { slots } = self.layout(shape) else { return Vec::new() };
        let mut next = slot_starts(slots);
        let own = self.slots_of(&alternative).into_iter().map(|leaf| {
            let position = &mut next[leaf.class()];
            *position += 1;
            leaves[*position - 1]
        });
        own.collect()
    }

    /// A value for a slot that the alternative at hand does not use.
    pub fn filler(&mut self, e: &mut Emitter, ty: Type) -> Value {
        match ty {
            Type::F64 => e.real(0.0),
            Type::Bool => e.boolean(false),
            Type::Int => e.int(0),
            Type::Ptr => e.value(Op::Immediate(self.empty_sum(), 0), &[], Type::Ptr),
            Type::F64x2 | Type::Boolx2 => unreachable!("slots hold values of the language"),
        }
    }

    /// A truth value that tells whether a value is one of the alternatives at the given positions.
    pub fn is_one_of(&mut self, e: &mut Emitter, value: &Val, tags: &[usize]) -> Value {
        let tests: Vec<Op> = match self.layout(value.shape) {
            Layout::Product => tags.iter().map(|_| Op::ConstBool(true)).collect(),
            Layout::Union { .. } => tags.iter().map(|tag| Op::IntIs(i64::from(u32_of(*tag)))).collect(),
            Layout::Boxed(sum) => {
                let cases = self.cases(value.shape);
                tags.iter().flat_map(|tag| cases[*tag].tags.clone()).map(|tag| Op::HasTag(sum, u32_of(tag))).collect()
            }
        };
        let mut result = None;
        for op in tests {
            let operands = if matches!(op, Op::ConstBool(_)) { &[] } else { &value.leaves[..1] };
            let test = e.value(op, operands, Type::Bool);
            result = Some(match result {
                None => test,
                Some(earlier) => e.value(Op::Or, &[earlier, test], Type::Bool),
            });
        }
        match result {
            Some(value) => value,
            None => e.boolean(false),
        }
    }
}

/// A target without arguments.
pub fn target(block: BlockId) -> Target {
    Target { block, args: Vec::new() }
}

/// Positions and counts fit the IR's 32 bits, as layouts are bounded.
pub fn u32_of(n: usize) -> u32 {
    u32::try_from(n).expect("bounded by the number of leaves")
}

/// Where the slots of each type start in the leaves of a union.
fn slot_starts(slots: Slots) -> Slots {
    let mut starts = [1; 8];
    for class in 1..starts.len() {
        starts[class] = starts[class - 1] + slots[class - 1];
    }
    starts
}
