//! First-order, typed, monomorphic static single assignment form.
//!
//! ```text
//! fn name(v0: f64, v1: ptr) -> f64, f64 {
//! b0:
//!     v2 = mul v0, v0
//!     v3 = has_tag.sum0.1 v1
//!     branch v3, b1(v2), b2
//! ...
//! ```
//!
//! A program is a set of functions over a few machine types. There are no closures and no dynamic types: what the flow
//! analysis knows has become structure of the code. A value of the source language is a tuple of SSA values (its
//! leaves); only recursive data live in boxes on the heap, and the elements of vectors.
//!
//! Invariants, checked by [`crate::ssa::verify`]:
//!
//! - Every value is defined once, by a block parameter or an instruction, and its definition dominates its uses.
//! - Operand and result types are those that [`Op`] documents; jumps pass as many arguments of the right types as the
//!   target has parameters; returns and tail calls agree with [`Function::results`].
//! - The entry block (the first one) has the function's parameters as its own and no predecessors.
//! - All data are immutable. `retain`, `release` and `take_element` appear only after the pass that places them; before
//!   it the code is a pure description and an optimisation may duplicate, merge and drop any operation without effect.

use crate::base::{EntityVec, Span, entity_id};
pub use crate::core::reader::Item;
pub use crate::ssa::types::{LANES, Type};
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::sync::Arc;

pub use crate::ssa::kinds::{CALLERS, Compare, Form, INPUT_FAULT, Int2, IntCompare, Lanewise, Real1, Real2, Stream};
pub use vlad_kernels::Kernel;

entity_id! {
    /// A function.
    FuncId, "fn"
}
entity_id! {
    /// A basic block of one function.
    BlockId, "b"
}
entity_id! {
    /// A value of one function.
    Value, "v"
}
entity_id! {
    /// The alternatives of one boxed sum.
    SumId, "sum"
}
entity_id! {
    /// A kind of vector: the fields of its elements.
    VectorId, "vec"
}
entity_id! {
    /// A constant text.
    TextId, "text"
}
entity_id! {
    /// A memory cell that holds (a leaf of) a global value.
    SlotId, "slot"
}
entity_id! {
    /// A call that is no more, because what it called stands in its place.
    InlinedId, "inlined"
}

/// An operation. The comment gives operand types -> result types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `-> f64`, by its bits, so that operations can be compared and hashed.
    ConstReal(u64),
    /// `-> bool`
    ConstBool(bool),
    /// `-> int`
    ConstInt(i64),
    /// `-> ptr`: the alternative of the sum that has this tag and no fields.
    Immediate(SumId, u32),
    /// `f64 -> f64`
    Real1(Real1),
    /// `f64, f64 -> f64`
    Real2(Real2),
    /// `f64, f64 -> bool`
    Compare(Compare),
    /// `bool -> bool`
    Not,
    /// `bool, bool -> bool`
    And,
    /// `bool, bool -> bool`
    Or,
    /// `int -> bool`: whether the operand is this number.
    IntIs(i64),
    /// `int, int -> int`
    Int2(Int2),
    /// `int, int -> bool`
    IntCompare(IntCompare),
    /// `f64 -> int`: without the fraction; the nearest integer of what is too large, 0 of what is not a number.
    IntOf,
    /// `int -> f64`: the same number. The producer's obligation: [`Op::IntOf`] gives the integer back.
    RealOf,
    /// `f64 -> bool`: whether the operand has these bits; they are those of a NaN that no operation makes.
    RealIs(u64),
    /// `bool, T, T -> T`: the second operand if the first is true, else the third.
    Select,
    /// `T -> T`: the operand, about which no optimisation knows anything, not even that it is needed once only.
    Opaque,
    /// `T -> T`: the operand, or what another process has in its place (see [`crate::core::prim::Prim::Exchange`]). It
    /// takes the owner of the operand and gives one of the result.
    Exchange,
    /// `parameters -> results` of the function.
    Call(FuncId),
    /// `fields -> ptr`: a new box of the sum's alternative that has this tag; the fields are those of its layout.
    Box(SumId, u32),
    /// `ptr -> int`: the tag of a boxed sum.
    Tag(SumId),
    /// `ptr -> bool`: whether the boxed sum is the alternative with this tag.
    HasTag(SumId, u32),
    /// `ptr -> T`: a field, counted from 0, of a box that is known to be the alternative with this tag.
    Field(SumId, u32, u32),
    /// `int -> ptr`: the elements of a new vector of that length. Each is vacant, and not read before it is replaced.
    NewVector(VectorId),
    /// `int, int -> ptr`: memory in one piece for the elements of so many vectors, of that length. Elements hold no
    /// pointers.
    NewRows(VectorId),
    /// `ptr, int, int -> ptr`: what [`Op::NewVector`] gives for that length, which is the one of these rows, in the
    /// memory for the row at this place, or elsewhere if there is no such row. The producer's obligation: no place is
    /// named twice.
    NewRow(VectorId),
    /// `ptr, int, int -> T`: a field of an element of the vector with these elements and this length at this place,
    /// counted from 0. The producer's obligation: the place is less than the length.
    Element(VectorId, u32),
    /// `ptr, int, int, fields -> ptr`: the elements of the vector when the one at this place has these fields. Once
    /// owners are counted, it takes the vector over, and changes it in place if nobody else owns it.
    WithElement(VectorId),
    /// `ptr, int -> ptr`: the elements of the vector of that length, which it takes over, as [`Op::WithElement`]
    /// does: the vector itself if nobody else owns it, else a copy.
    Own(VectorId),
    /// `ptr, int, int -> ptr`: what [`Op::Element`] gives, with an owner. If nobody else owns the vector, the field is
    /// vacant afterwards, and not read before it is replaced.
    TakeElement(VectorId, u32),
    /// `int, sizes: f64, vectors: (ptr, int) -> ptr`: the elements of a new vector of that length, which the kernel
    /// makes of numbers and vectors. All vectors have elements of one real field.
    Kernel(Kernel, VectorId),
    /// `lanes -> lanes`: an operation on the first lanes of the operands and on the second ones; what is `f64` or
    /// `bool` in one lane is `f64x2` or `boolx2`.
    Lanes(Lanewise),
    /// `f64 -> f64x2`: the operand in both lanes.
    Splat,
    /// `f64, f64 -> f64x2`: the lanes.
    Pair,
    /// `f64x2 -> f64`: the first lane, or, if true, the second.
    Lane(bool),
    /// `boolx2 -> bool`: whether one of the lanes is true.
    AnyLane,
    /// `ptr, int, int -> f64x2`: what [`Op::Element`] gives at the place and at the one after it, a real field. The
    /// producer's obligation: both places are less than the length.
    Elements(VectorId, u32),
    /// `ptr, int, int, lanes of fields -> ptr`: two times [`Op::WithElement`], at the place and at the one after it;
    /// all fields are reals.
    WithElements(VectorId),
    /// `ptr, int -> ptr`: the elements of the vector of that length, each a real, when a function that is computed of
    /// several numbers at a time ([`Real1::has_lanes`]) has been applied to each. It takes the vector over, as
    /// [`Op::Own`] does.
    OfEach(Real1, VectorId),
    /// `-> T`: the content of a global's cell, which has been set.
    GlobalGet(SlotId),
    /// `T ->`: sets a global's cell; each is set at most once.
    GlobalSet(SlotId),
    /// `-> bool`: whether a cell of truth values has been set to true by now.
    IsSet(SlotId),
    /// `-> f64`: the next item of standard input; fails with the text when there is none. If the text contains a zero
    /// character, what follows it is the message for malformed input, and behind a second one stands that for input
    /// which the system does not let it read; [`INPUT_FAULT`] in them stands for what is wrong.
    Read(Item, TextId),
    /// `-> f64`: the next number that the caller of a library passes; the length or the number of rows of the array
    /// that it passes next.
    Argument(Piece),
    /// `int -> ptr`: the next elements of the array at hand, so many: a vector with elements of one real field.
    ArgumentElements(VectorId),
    /// Hands the caller of a library a number, `f64 ->`; or begins an array of so many rows and columns, `f64, f64 ->`.
    Result(Piece),
    /// `ptr, int ->`: hands over the next elements of the array at hand: a vector of one real field, and its length.
    ResultElements(VectorId),
    /// `f64 ->`: writes the shortest decimal that reads back to the same double.
    WriteReal(Stream),
    /// `f64 ->`: writes the byte of this value to standard output.
    WriteByte,
    /// `f64 ->`: writes the eight bytes of the number to standard output, the lowest first.
    WriteDouble,
    /// `-> int`: how many bytes the heap has taken by now. What is freed stays counted, so the number never falls.
    HeapBytes,
    /// `-> int`: how many bytes the tape of a loop may take before its rounds are run again instead.
    TapeMemory,
    /// `f64, f64 -> f64`: asks the system what the first number says, see [`crate::core::question`].
    Ask,
    /// `->`: writes a text.
    WriteText(Stream, TextId),
    /// `int ->`: writes the text with that number.
    WriteTextOf(Stream, Form),
    /// `->`: what is written to standard output from now on belongs to a text. Texts nest.
    BeginText,
    /// `-> int`: the number of that text. Equal texts have one number.
    EndText,
    /// `int, f64 -> f64`: the byte at a place of the text with that number; -1 where there is none.
    TextByte,
    /// `int ->`: what is written to standard output from now on goes to the file whose name is the text with that number.
    /// If that cannot be, it fails with the text, in which [`INPUT_FAULT`] stands for the reason.
    BeginFile(TextId),
    /// `f64 ->`: ends that file, or forgets it where the operand is 0; fails in the same way.
    EndFile(TextId),
    /// `-> T`: what a field of a new box holds that [`Op::Fill`] will fill; no value of the language.
    Vacant(Type),
    /// `ptr -> int`: the address of a vacant field of a box. Holes appear only after the pass that makes them, and no
    /// field is read before it has been filled.
    Hole(SumId, u32, u32),
    /// `int, T ->`: fills a hole.
    Fill(Type),
    /// `parameters -> bool`: whether some of the arguments of a function are boxes, and all of these have more than one
    /// owner. Before owners are counted it says no. The function is one that may be asked for what it remembers.
    IsShared(FuncId),
    /// `parameters -> bool, results`: whether the results of a function for these arguments are remembered, and these.
    Recall(FuncId),
    /// `parameters, results ->`: remembers the results of a function.
    Remember(FuncId),
    /// `->`: forgets all that is remembered.
    Forget,
    /// `ptr ->`: one more owner.
    Retain,
    /// `ptr ->`: one owner less; the last one frees the box.
    Release,
}

impl Op {
    /// Whether memory may be taken for what it makes.
    pub fn allocates(self) -> bool {
        matches!(
            self,
            Op::Box(..)
                | Op::Kernel(..)
                | Op::ArgumentElements(_)
                | Op::NewVector(_)
                | Op::NewRows(_)
                | Op::NewRow(_)
                | Op::WithElement(_)
                | Op::WithElements(_)
                | Op::Own(_)
                | Op::OfEach(..)
                | Op::TakeElement(..)
        )
    }
}

/// What a call of a library passes or gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Piece {
    /// A number on its own.
    Number,
    /// An array, of which the elements follow.
    Array,
}

/// The operands or results of an instruction. Most have few, which stand in the instruction itself: it takes no more
/// room, and passes look at all of them, again and again.
pub type Values = SmallVec<[Value; 4]>;

/// The types of a few values.
pub type Types = SmallVec<[Type; 16]>;

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Operands.
    pub args: Values,
    /// Results: one, except for calls (any number) and operations without result.
    pub results: Values,
    /// The source of the operation, where one is known.
    pub span: Option<Source>,
}

/// What an operation has been made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Where it stands; for what the library does, the call that led there.
    pub span: Span,
    /// What it is a part of.
    pub phase: Phase,
    /// Whether the library does it, for a call that stands there.
    pub is_in_library: bool,
    /// The innermost of the inlined calls that brought it where it is.
    pub within: Option<InlinedId>,
}

/// What the operations that stand at one place compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// What is written there.
    #[default]
    Value,
    /// A derivative of that.
    Derivative,
}

/// A jump target with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The block.
    pub block: BlockId,
    /// One value for each of its parameters.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Terminator {
    /// Continues at the target.
    Jump(Target),
    /// Continues at the first target if the condition (bool) is true, else at the second.
    Branch(Value, Target, Target),
    /// Continues at the target whose position is the value (int); the verifier's proof obligation is the producer's:
    /// the value is less than the number of targets.
    Switch(Value, Vec<Target>),
    /// Leaves the function.
    Return(Vec<Value>),
    /// Leaves the function with the results of a call; its frame is gone before the call starts.
    TailCall(FuncId, Vec<Value>),
    /// A run-time error: writes the text to standard error and ends the program with exit code 1. The source is that of
    /// what fails; where the text ends with [`CALLERS`], those who called it are named.
    Fail(TextId, Option<Source>),
    /// Cannot be reached (after a call that does not return, for instance).
    Unreachable,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Values that jumps to the block supply.
    pub params: Vec<Value>,
    /// Executed in order.
    pub insts: Vec<Inst>,
    /// How the block ends.
    pub terminator: Terminator,
}

/// What a function is told to do besides what its code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Walk {
    /// Nothing.
    #[default]
    None,
    /// It walks data part by part, without effects: what it makes of a part that is shared is best made once.
    Shared,
    /// Its caller keeps its arguments alive: it owns none of them.
    Borrowing,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// For people and for the symbol table; not necessarily unique.
    pub name: Arc<str>,
    /// The source of the function that it has been made of, if it is of one.
    pub span: Option<Span>,
    /// What it is told to do besides.
    pub walk: Walk,
    /// Result types.
    pub results: Vec<Type>,
    /// The type of every value.
    pub values: EntityVec<Value, Type>,
    /// The blocks; the first is the entry, whose parameters are the function's. Blocks that no path reaches may be
    /// present and have `Unreachable` as terminator and no instructions.
    pub blocks: EntityVec<BlockId, Block>,
}

/// One alternative of a boxed sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alternative {
    /// What it stands for, for people (`pair`, `nil`, the name of a function).
    pub name: Arc<str>,
    /// The types of its fields; an alternative without fields is an immediate and never allocated.
    pub fields: Vec<Type>,
}

/// A sum whose values are boxed; the tag of an alternative is its position.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Sum {
    /// The alternatives in tag order.
    pub alternatives: Vec<Alternative>,
}

/// A kind of vector. All its elements have the same fields; a vector whose elements have none is its length alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VectorLayout {
    /// What its elements are, for people.
    pub name: Arc<str>,
    /// The types of the fields of an element, one at least.
    pub fields: Vec<Type>,
}

impl VectorLayout {
    /// Whether elements refer to boxes.
    pub fn has_pointers(&self) -> bool {
        self.fields.contains(&Type::Ptr)
    }
}

/// A whole program.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// All functions.
    pub functions: EntityVec<FuncId, Function>,
    /// All boxed sums.
    pub sums: EntityVec<SumId, Sum>,
    /// All kinds of vectors.
    pub vectors: EntityVec<VectorId, VectorLayout>,
    /// All constant texts.
    pub texts: EntityVec<TextId, Arc<str>>,
    /// The cells of the globals.
    pub slots: EntityVec<SlotId, Type>,
    /// The function that runs the program: no parameters, no results.
    pub main: Option<FuncId>,
    /// What to say about operations that are watched, by their numbers: the texts before the result, between it and the
    /// operands, and after these. Such an operation has its number in place of its source.
    pub watched: Vec<[TextId; 3]>,
    /// The functions that say it, for operations on one real and on two; there once operations are watched.
    pub reporters: Vec<FuncId>,
    /// The calls that have been inlined, as far as their places are known.
    pub inlined: EntityVec<InlinedId, Source>,
    /// The functions of the source, with their names: what the places of operations lie in.
    pub definitions: Vec<(Span, Arc<str>)>,
    /// The arguments that the program takes, as the run time reads their declaration; empty without one.
    pub arguments: Arc<str>,
    /// Which program this is, see [`crate::core::ir::Program`].
    pub identity: u64,
}

impl Function {
    /// The entry block.
    pub const ENTRY: BlockId = BlockId(0);

    /// A function with an empty entry block that has parameters of the given types.
    pub fn new(name: Arc<str>, params: &[Type], results: Vec<Type>) -> Function {
        let (values, blocks) = (EntityVec::new(), EntityVec::new());
        let mut function = Function { name, span: None, walk: Walk::None, results, values, blocks };
        let params = params.iter().map(|ty| function.values.push(*ty)).collect();
        function.blocks.push(Block { params, insts: Vec::new(), terminator: Terminator::Unreachable });
        function
    }
    /// The parameters.
    pub fn params(&self) -> &[Value] {
        &self.blocks[Function::ENTRY].params
    }
    /// The types of the parameters.
    pub fn param_types(&self) -> Types {
        self.params().iter().map(|v| self.values[*v]).collect()
    }
    /// A new block with parameters of the given types.
    pub fn new_block(&mut self, params: &[Type]) -> BlockId {
        let params = params.iter().map(|ty| self.values.push(*ty)).collect();
        self.blocks.push(Block { params, insts: Vec::new(), terminator: Terminator::Unreachable })
    }
}

impl Inst {
    /// The number of an operation that is watched. What has become a constant is none.
    pub fn watched(&self) -> Option<u32> {
        let computes = matches!(self.op, Op::Real1(_) | Op::Real2(_));
        self.span.filter(|source| computes && !source.span.is_marked()).and_then(|source| source.span.number())
    }
    /// The length of a vector that it makes or looks into. No length is negative.
    pub fn vector_length(&self) -> Option<Value> {
        match self.op {
            Op::NewVector(_) | Op::ArgumentElements(_) | Op::Kernel(..) => Some(self.args[0]),
            Op::Element(..) | Op::WithElement(_) => Some(self.args[1]),
            _ => None,
        }
    }
    /// The number of an operation that is computed earlier than it is watched.
    pub fn watched_later(&self) -> Option<u32> {
        self.span.filter(|source| source.span.is_marked()).and_then(|source| source.span.number())
    }
}

/// What checkpoints of loops are called, and what the names of functions about them begin with.
pub const CHECKPOINT: &str = "checkpoint\u{304}";

impl Alternative {
    /// True for environments of backpropagators, which a reverse phase reads: their names have a macron.
    pub fn is_of_tape(&self) -> bool {
        self.name.contains('\u{304}')
    }
}

impl Sum {
    /// The types of the fields of the alternative with this tag.
    pub fn fields(&self, tag: u32) -> &[Type] {
        &self.alternatives[tag as usize].fields
    }
}

impl Op {
    /// True for comparisons and operations on truth values and integers: they take next to no time, and can be computed
    /// anywhere.
    pub fn is_logic(self) -> bool {
        matches!(
            self,
            Op::Compare(_)
                | Op::Not
                | Op::And
                | Op::Or
                | Op::IntIs(_)
                | Op::RealIs(_)
                | Op::Int2(_)
                | Op::IntCompare(_)
                | Op::IntOf
                | Op::RealOf
        )
    }
    /// True when the result is the first operand, a vector, with other elements.
    pub fn changes_vector(self) -> bool {
        matches!(self, Op::WithElement(_) | Op::WithElements(_) | Op::Own(_) | Op::OfEach(..))
    }
    /// True when the result is the elements of a new vector, or memory for some.
    pub fn makes_vectors(self) -> bool {
        matches!(self, Op::NewVector(_) | Op::NewRows(_) | Op::NewRow(_) | Op::Kernel(..) | Op::ArgumentElements(_))
    }
    /// True when executing the operation can be observed other than through its results, or depends on anything but
    /// its operands, so that it must stay where it is. Calls are decided by what they call.
    pub fn has_effect(self) -> bool {
        matches!(
            self,
            Op::GlobalSet(_)
                | Op::IsSet(_)
                | Op::Read(..)
                | Op::Argument(_)
                | Op::ArgumentElements(_)
                | Op::Result(_)
                | Op::ResultElements(_)
                | Op::WriteReal(_)
                | Op::WriteByte
                | Op::WriteDouble
                | Op::HeapBytes
                | Op::TapeMemory
                | Op::Ask
                | Op::WriteText(..)
                | Op::WriteTextOf(..)
                | Op::BeginText
                | Op::EndText
                | Op::BeginFile(_)
                | Op::EndFile(_)
                | Op::Fill(_)
                | Op::Opaque
                | Op::Exchange
                | Op::TakeElement(..)
                | Op::IsShared(_)
                | Op::Recall(_)
                | Op::Remember(_)
                | Op::Forget
                | Op::Retain
                | Op::Release
        )
    }
}

impl Target {
    /// A jump to a block that passes these arguments.
    pub fn new(block: BlockId, args: &[Value]) -> Target {
        Target { block, args: args.to_vec() }
    }
}

impl Terminator {
    /// The targets that control may go to within the function.
    pub fn targets(&self) -> SmallVec<[&Target; 2]> {
        match self {
            Terminator::Jump(target) => smallvec![target],
            Terminator::Branch(_, a, b) => smallvec![a, b],
            Terminator::Switch(_, targets) => targets.iter().collect(),
            _ => smallvec![],
        }
    }
    /// One of them. A switch may have thousands, so who wants one does not ask for all.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub fn target(&self, position: usize) -> &Target {
        match (self, position) {
            (Terminator::Jump(target), 0) | (Terminator::Branch(_, target, _), 0) => target,
            (Terminator::Branch(_, _, target), 1) => target,
            (Terminator::Switch(_, targets), _) => &targets[position],
            _ => panic!("there is no target {position}"),
        }
    }
    /// One of them, mutably.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub fn target_mut(&mut self, position: usize) -> &mut Target {
        match (self, position) {
            (Terminator::Jump(target), 0) | (Terminator::Branch(_, target, _), 0) => target,
            (Terminator::Branch(_, _, target), 1) => target,
            (Terminator::Switch(_, targets), _) => &mut targets[position],
            _ => panic!("there is no target {position}"),
        }
    }
    /// How many there are.
    pub fn target_count(&self) -> usize {
        match self {
            Terminator::Jump(_) => 1,
            Terminator::Branch(..) => 2,
            Terminator::Switch(_, targets) => targets.len(),
            Terminator::Return(_) | Terminator::TailCall(..) | Terminator::Fail(..) | Terminator::Unreachable => 0,
        }
    }
    /// All of them, mutably.
    pub fn targets_mut(&mut self) -> SmallVec<[&mut Target; 2]> {
        match self {
            Terminator::Jump(target) => smallvec![target],
            Terminator::Branch(_, a, b) => smallvec![a, b],
            Terminator::Switch(_, targets) => targets.iter_mut().collect(),
            _ => smallvec![],
        }
    }
    /// Calls `f` on every value that the terminator uses.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::Branch(value, ..) | Terminator::Switch(value, _) => f(*value),
            Terminator::Return(values) | Terminator::TailCall(_, values) => values.iter().copied().for_each(&mut f),
            Terminator::Jump(_) | Terminator::Fail(..) | Terminator::Unreachable => {}
        }
        for target in self.targets() {
            target.args.iter().copied().for_each(&mut f);
        }
    }
    /// Calls `f` on every value that the terminator uses, so that it can be replaced.
    pub fn for_each_use(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch(value, ..) | Terminator::Switch(value, _) => f(value),
            Terminator::Return(values) | Terminator::TailCall(_, values) => values.iter_mut().for_each(&mut f),
            Terminator::Jump(_) | Terminator::Fail(..) | Terminator::Unreachable => {}
        }
        for target in self.targets_mut() {
            target.args.iter_mut().for_each(&mut f);
        }
    }
}

impl Block {
    /// Calls `f` on every value that the block uses, in order.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        self.insts.iter().flat_map(|inst| &inst.args).copied().for_each(&mut f);
        self.terminator.for_each_value(f);
    }
    /// Calls `f` on every value that the block uses, so that it can be replaced.
    pub fn for_each_use(&mut self, mut f: impl FnMut(&mut Value)) {
        self.insts.iter_mut().flat_map(|inst| &mut inst.args).for_each(&mut f);
        self.terminator.for_each_use(f);
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::F64 => "f64",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Ptr => "ptr",
            Type::F64x2 => "f64x2",
            Type::Boolx2 => "boolx2",
        })
    }
}
