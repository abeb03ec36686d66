//! The textual form of SSA. [`crate::ssa::parse`] reads it back; positions in the source are not printed.
//!
//! ```text
//! sum sum0 = "nil" | "pair"(f64, ptr)
//! vec vec0 = "real"(f64)
//! text text0 "message"
//! slot slot0: f64
//! main fn0
//!
//! fn fn1 "length"(v0: ptr, v1: f64) -> f64 {
//! b0:
//!     v2 = has_tag.sum0.1 v0
//!     branch v2, b1, b2
//! b1:
//!     v3 = field.sum0.1.1 v0
//!     v4 = real 1.0
//!     v5 = add v1, v4
//!     tail_call fn1(v3, v5)  ; length
//! b2:
//!     return v1
//! }
//! ```
//!
//! The parts of an operation's name behind its dots are entities and numbers that it has besides its operands. A
//! semicolon starts a comment.

use crate::core::reader::Item;
use crate::ssa::ir::{
    Block, BlockId, Compare, Form, FuncId, Function, Inst, Int2, IntCompare, Lanewise, Op, Piece, Program, Real1,
    Real2, Stream, Target, Terminator, Type, Value, Walk,
};
use std::fmt::{self, Write};

/// The names of what reads.
pub const READ: &[(Item, &str)] =
    &[(Item::Real, "read_real"), (Item::Vector, "read_vector"), (Item::Matrix, "read_matrix")];

/// The names of what a call of a library passes or gets.
pub const PARTS: &[(Piece, &str)] = &[(Piece::Number, "number"), (Piece::Array, "array")];

/// What stands behind the results of functions that are told to do something.
pub const WALKS: &[(Walk, &str)] = &[(Walk::Shared, "walks"), (Walk::Borrowing, "borrows")];

/// The names of operations on one real.
pub const REAL1: &[(Real1, &str)] = &[
    (Real1::Neg, "neg"),
    (Real1::Sqrt, "sqrt"),
    (Real1::Exp, "exp"),
    (Real1::Log, "log"),
    (Real1::Sin, "sin"),
    (Real1::Cos, "cos"),
    (Real1::Tan, "tan"),
    (Real1::Asin, "asin"),
    (Real1::Acos, "acos"),
    (Real1::Atan, "atan"),
    (Real1::Sinh, "sinh"),
    (Real1::Cosh, "cosh"),
    (Real1::Tanh, "tanh"),
    (Real1::Log1p, "log1p"),
    (Real1::Expm1, "expm1"),
    (Real1::Erf, "erf"),
    (Real1::Erfc, "erfc"),
    (Real1::Gamma, "gamma"),
    (Real1::LogGamma, "log_gamma"),
    (Real1::Abs, "abs"),
    (Real1::Floor, "floor"),
    (Real1::Ceiling, "ceiling"),
    (Real1::Round, "round"),
    (Real1::Truncate, "truncate"),
];

/// The names of the operations on two reals.
pub const REAL2: &[(Real2, &str)] = &[
    (Real2::Add, "add"),
    (Real2::Sub, "sub"),
    (Real2::Mul, "mul"),
    (Real2::Div, "div"),
    (Real2::Atan2, "atan2"),
    (Real2::Pow, "pow"),
];

/// The names of the comparisons.
pub const COMPARE: &[(Compare, &str)] = &[
    (Compare::Eq, "eq"),
    (Compare::Ne, "ne"),
    (Compare::Lt, "lt"),
    (Compare::Le, "le"),
    (Compare::Gt, "gt"),
    (Compare::Ge, "ge"),
];

/// The names of the operations on two integers.
pub const INT2: &[(Int2, &str)] = &[(Int2::Add, "int_add"), (Int2::Sub, "int_sub"), (Int2::Mul, "int_mul")];

/// The names of the comparisons of integers.
pub const INT_COMPARE: &[(IntCompare, &str)] = &[
    (IntCompare::Eq, "int_eq"),
    (IntCompare::Lt, "int_lt"),
    (IntCompare::Below, "int_below"),
    (IntCompare::Conform, "int_conform"),
];

fn name_in<T: PartialEq>(table: &[(T, &'static str)], key: T) -> &'static str {
    table.iter().find(|row| row.0 == key).map_or("?", |row| row.1)
}

impl fmt::Display for Real1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_in(REAL1, *self))
    }
}

impl fmt::Display for Real2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_in(REAL2, *self))
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_in(COMPARE, *self))
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stream::Out => "out",
            Stream::Err => "err",
            Stream::Result => "result",
        })
    }
}

/// The name of the operation with its attributes; constants stand behind a space.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::ConstReal(bits) => write_real(f, *bits),
            Op::ConstBool(value) => write!(f, "bool {value}"),
            Op::ConstInt(value) => write!(f, "int {value}"),
            Op::Immediate(sum, tag) => write!(f, "immediate.{sum}.{tag}"),
            Op::Real1(op) => op.fmt(f),
            Op::Real2(op) => op.fmt(f),
            Op::Compare(op) => op.fmt(f),
            Op::Not => f.write_str("not"),
            Op::And => f.write_str("and"),
            Op::Or => f.write_str("or"),
            Op::RealIs(bits) => write!(f, "real_is.{bits}"),
            Op::IntIs(value) => write!(f, "int_is.{value}"),
            Op::Int2(op) => f.write_str(name_in(INT2, *op)),
            Op::IntCompare(op) => f.write_str(name_in(INT_COMPARE, *op)),
            Op::IntOf => f.write_str("int_of"),
            Op::RealOf => f.write_str("real_of"),
            Op::Select => f.write_str("select"),
            Op::Opaque => f.write_str("opaque"),
            Op::Exchange => f.write_str("exchange"),
            Op::Call(callee) => write!(f, "call {callee}"),
            Op::Box(sum, tag) => write!(f, "box.{sum}.{tag}"),
            Op::Tag(sum) => write!(f, "tag.{sum}"),
            Op::HasTag(sum, tag) => write!(f, "has_tag.{sum}.{tag}"),
            Op::Field(sum, tag, field) => write!(f, "field.{sum}.{tag}.{field}"),
            Op::NewVector(vector) => write!(f, "new_vector.{vector}"),
            Op::Kernel(kernel, vector) => write!(f, "kernel.{}.{vector}", kernel.name().replace('-', "_")),
            Op::NewRows(vector) => write!(f, "new_rows.{vector}"),
            Op::NewRow(vector) => write!(f, "new_row.{vector}"),
            Op::Element(vector, field) => write!(f, "element.{vector}.{field}"),
            Op::TakeElement(vector, field) => write!(f, "take_element.{vector}.{field}"),
            Op::WithElement(vector) => write!(f, "with_element.{vector}"),
            Op::Lanes(op) => op.fmt(f),
            Op::Splat => f.write_str("splat"),
            Op::Pair => f.write_str("pair"),
            Op::AnyLane => f.write_str("any_lane"),
            Op::Lane(second) => write!(f, "lane.{}", u8::from(*second)),
            Op::Elements(vector, field) => write!(f, "elements.{vector}.{field}"),
            Op::WithElements(vector) => write!(f, "with_elements.{vector}"),
            Op::OfEach(function, vector) => write!(f, "of_each.{}.{vector}", name_in(REAL1, *function)),
            Op::GlobalGet(slot) => write!(f, "get.{slot}"),
            Op::GlobalSet(slot) => write!(f, "set.{slot}"),
            Op::IsSet(slot) => write!(f, "is_set.{slot}"),
            Op::Read(item, text) => write!(f, "{}.{text}", name_in(READ, *item)),
            Op::Own(vector) => write!(f, "own.{vector}"),
            Op::ArgumentElements(vector) => write!(f, "argument_elements.{vector}"),
            Op::ResultElements(vector) => write!(f, "result_elements.{vector}"),
            Op::Argument(part) => write!(f, "argument.{}", name_in(PARTS, *part)),
            Op::Result(part) => write!(f, "result.{}", name_in(PARTS, *part)),
            Op::WriteReal(stream) => write!(f, "write_real.{stream}"),
            Op::WriteByte => f.write_str("write_byte"),
            Op::WriteDouble => f.write_str("write_double"),
            Op::HeapBytes => f.write_str("heap_bytes"),
            Op::TapeMemory => f.write_str("tape_memory"),
            Op::Ask => f.write_str("ask"),
            Op::WriteText(stream, text) => write!(f, "write_text.{stream}.{text}"),
            Op::WriteTextOf(stream, Form::Plain) => write!(f, "write_text_of.{stream}"),
            Op::WriteTextOf(stream, Form::Quoted) => write!(f, "write_quoted.{stream}"),
            Op::BeginText => f.write_str("begin_text"),
            Op::EndText => f.write_str("end_text"),
            Op::TextByte => f.write_str("text_byte"),
            Op::BeginFile(text) => write!(f, "begin_file.{text}"),
            Op::EndFile(text) => write!(f, "end_file.{text}"),
            Op::Vacant(ty) => write!(f, "vacant.{ty}"),
            Op::Hole(sum, tag, field) => write!(f, "hole.{sum}.{tag}.{field}"),
            Op::Fill(ty) => write!(f, "fill.{ty}"),
            Op::IsShared(callee) => write!(f, "is_shared.{callee}"),
            Op::Recall(callee) => write!(f, "recall.{callee}"),
            Op::Remember(callee) => write!(f, "remember.{callee}"),
            Op::Forget => f.write_str("forget"),
            Op::Retain => f.write_str("retain"),
            Op::Release => f.write_str("release"),
        }
    }
}

/// The name of the operation on one lane behind that of two.
impl fmt::Display for Lanewise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lanes.")?;
        match self {
            Lanewise::Real1(op) => op.fmt(f),
            Lanewise::Real2(op) => f.write_str(name_in(REAL2, *op)),
            Lanewise::Compare(op) => op.fmt(f),
            Lanewise::Not => f.write_str("not"),
            Lanewise::And => f.write_str("and"),
            Lanewise::Or => f.write_str("or"),
            Lanewise::RealIs(bits) => write!(f, "real_is.{bits}"),
            Lanewise::Select => f.write_str("select"),
        }
    }
}

fn write_real(f: &mut fmt::Formatter<'_>, bits: u64) -> fmt::Result {
    let value = f64::from_bits(bits);
    if value.is_nan() && bits != f64::NAN.to_bits() {
        return write!(f, "real nan.{bits:#x}");
    }
    write!(f, "real {value:?}")
}

/// The whole program as text.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, sum) in self.sums.iter() {
            write!(f, "sum {id} =")?;
            for (position, alternative) in sum.alternatives.iter().enumerate() {
                f.write_str(if position > 0 { " | " } else { " " })?;
                write!(f, "{:?}", alternative.name)?;
                if !alternative.fields.is_empty() {
                    write!(f, "({})", commas(&alternative.fields))?;
                }
            }
            f.write_char('\n')?;
        }
        for (id, vector) in self.vectors.iter() {
            writeln!(f, "vec {id} = {:?}({})", vector.name, commas(&vector.fields))?;
        }
        for (id, text) in self.texts.iter() {
            writeln!(f, "text {id} {text:?}")?;
        }
        for (id, ty) in self.slots.iter() {
            writeln!(f, "slot {id}: {ty}")?;
        }
        for texts in &self.watched {
            writeln!(f, "watched {}", commas(texts))?;
        }
        if let Some(main) = self.main {
            writeln!(f, "main {main}")?;
        }
        for id in self.functions.ids() {
            f.write_char('\n')?;
            self.write_function(f, id)?;
        }
        Ok(())
    }
}

impl Program {
    /// The text of one function.
    pub fn function_text(&self, id: FuncId) -> String {
        let mut text = String::new();
        self.write_function(&mut text, id).expect("writing to a string succeeds");
        text
    }

    fn write_function(&self, f: &mut impl Write, id: FuncId) -> fmt::Result {
        let function = &self.functions[id];
        write!(f, "fn {id} {:?}({})", function.name, typed(function, function.params()))?;
        if !function.results.is_empty() {
            write!(f, " -> {}", commas(&function.results))?;
        }
        if let Some((_, word)) = WALKS.iter().find(|row| row.0 == function.walk) {
            write!(f, " {word}")?;
        }
        f.write_str(" {\n")?;
        for (block_id, block) in function.blocks.iter() {
            self.write_block(f, function, block_id, block)?;
        }
        f.write_str("}\n")
    }

    fn write_block(&self, f: &mut impl Write, function: &Function, id: BlockId, block: &Block) -> fmt::Result {
        if id == Function::ENTRY || block.params.is_empty() {
            writeln!(f, "{id}:")?;
        } else {
            writeln!(f, "{id}({}):", typed(function, &block.params))?;
        }
        for inst in &block.insts {
            self.write_inst(f, function, inst)?;
        }
        self.write_terminator(f, &block.terminator)
    }

    fn write_inst(&self, f: &mut impl Write, function: &Function, inst: &Inst) -> fmt::Result {
        f.write_str("    ")?;
        if !inst.results.is_empty() {
            write!(f, "{} = ", commas(&inst.results))?;
        }
        match inst.op {
            Op::Call(callee) => {
                return writeln!(f, "call {callee}({})  ; {}", commas(&inst.args), self.name_of(callee));
            }
            Op::Select | Op::Opaque | Op::Exchange => {
                let ty = inst.results.first().map_or(Type::F64, |v| function.values[*v]);
                write!(f, "{}.{ty}", inst.op)?;
            }
            op => write!(f, "{op}")?,
        }
        if !inst.args.is_empty() {
            write!(f, " {}", commas(&inst.args))?;
        }
        if let Some(number) = inst.watched() {
            write!(f, " watched.{number}")?;
        }
        if let Some(number) = inst.watched_later() {
            write!(f, " watched.{number}.later")?;
        }
        f.write_char('\n')
    }

    fn write_terminator(&self, f: &mut impl Write, terminator: &Terminator) -> fmt::Result {
        f.write_str("    ")?;
        match terminator {
            Terminator::Jump(target) => writeln!(f, "jump {}", Jump(target)),
            Terminator::Branch(value, yes, no) => writeln!(f, "branch {value}, {}, {}", Jump(yes), Jump(no)),
            Terminator::Switch(value, targets) => {
                let targets: Vec<Jump> = targets.iter().map(Jump).collect();
                writeln!(f, "switch {value}, {}", commas(&targets))
            }
            Terminator::Return(values) if values.is_empty() => writeln!(f, "return"),
            Terminator::Return(values) => writeln!(f, "return {}", commas(values)),
            Terminator::TailCall(callee, args) => {
                writeln!(f, "tail_call {callee}({})  ; {}", commas(args), self.name_of(*callee))
            }
            Terminator::Fail(text, _) => writeln!(f, "fail {text}"),
            Terminator::Unreachable => writeln!(f, "unreachable"),
        }
    }

    /// The name of a function without line breaks, for comments.
    fn name_of(&self, id: FuncId) -> String {
        self.functions.get(id).map_or("?".to_owned(), |f| f.name.replace('\n', " "))
    }
}

struct Jump<'t>(&'t Target);

impl fmt::Display for Jump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.block)?;
        if self.0.args.is_empty() { Ok(()) } else { write!(f, "({})", commas(&self.0.args)) }
    }
}

fn commas<T: fmt::Display>(items: &[T]) -> String {
    let mut text = String::new();
    for (position, item) in items.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        write!(text, "{comma}{item}").expect("writing to a string succeeds");
    }
    text
}

fn typed(function: &Function, values: &[Value]) -> String {
    let items: Vec<String> = values.iter().map(|v| format!("{v}: {}", function.values[*v])).collect();
    commas(&items)
}
