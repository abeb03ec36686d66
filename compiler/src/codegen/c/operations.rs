//! Operations on reals, truth values, integers, lanes, texts and globals → expressions and calls in C.
//!
//! Every operation computes what [`crate::core::arithmetic`] says, as in the other back end.

use crate::codegen::Error;
use crate::codegen::c::function::Writer;
use crate::codegen::c::literal::{self, type_name};
use crate::codegen::operations::instruction::real_function;
use crate::codegen::operations::lanes::lane_functions;
use crate::ssa::ir::{Compare, Form, Inst, Int2, IntCompare, Item, Lanewise, Op, Real1, Real2, Stream, Type, Value};

impl Writer<'_, '_> {
    /// Translates an instruction. One arm per operation.
    pub(super) fn instruction(&mut self, inst: &Inst) -> Result<(), Error> {
        let args: Vec<String> = inst.args.iter().map(|arg| self.value(*arg)).collect();
        let x = args.first().map(String::as_str).unwrap_or_default();
        let expression = match inst.op {
            Op::Real1(op) => self.real1(op, x),
            Op::Real2(op) => self.real2(op, x, &args[1]),
            Op::Compare(op) => format!("{x} {} {}", comparison(op), args[1]),
            Op::Not => format!("!{x}"),
            Op::And => format!("{x} & {}", args[1]),
            Op::Or => format!("{x} | {}", args[1]),
            Op::RealIs(bits) => format!("to_bits({x}) == {}", literal::bits(bits)),
            Op::IntIs(number) => format!("{x} == {}", literal::int(number)),
            Op::Int2(op) => {
                let name = match op {
                    Int2::Add => "add",
                    Int2::Sub => "subtract",
                    Int2::Mul => "multiply",
                };
                format!("{name}({x}, {})", args[1])
            }
            Op::IntCompare(op) => match op {
                IntCompare::Eq | IntCompare::Conform => format!("{x} == {}", args[1]),
                IntCompare::Lt => format!("{x} < {}", args[1]),
                IntCompare::Below => format!("(uint64_t){x} < (uint64_t){}", args[1]),
            },
            Op::IntOf => format!("to_int({x})"),
            Op::RealOf => format!("(double){x}"),
            Op::Lanes(op) => self.lanewise(op, &args),
            Op::Splat => format!("splat({x})"),
            Op::Pair => format!("(lanes){{{x}, {}}}", args[1]),
            Op::AnyLane => format!("({x}[0] | {x}[1]) != 0"),
            Op::Lane(second) => format!("{x}[{}]", u8::from(second)),
            Op::Select => format!("{x} ? {} : {}", args[1], args[2]),
            Op::Opaque => match self.function.values[inst.results[0]] {
                Type::Int => format!("opaque_int({x})"),
                Type::Ptr => format!("opaque_box({x})"),
                Type::Bool => format!("opaque_bool({x})"),
                Type::F64 => format!("opaque_real({x})"),
                Type::F64x2 | Type::Boolx2 => x.to_string(),
            },
            Op::Exchange => {
                let (ty, word) = (self.function.values[inst.results[0]], self.word(inst.args[0]));
                let exchange = self.unit.needs("vlad_exchange");
                let word = format!("{exchange}({}, {word})", u8::from(ty == Type::Ptr));
                match ty {
                    Type::F64 => format!("from_bits({word})"),
                    Type::Ptr => format!("(word *)(uintptr_t){word}"),
                    _ => format!("({}){word}", type_name(ty)),
                }
            }
            // A cell that has not been set is zero.
            Op::GlobalGet(slot) | Op::IsSet(slot) => slot.to_string(),
            Op::GlobalSet(slot) => return self.statement(format!("{slot} = {x}")),
            Op::Read(item, text) => {
                self.unit.reads_arrays |= item != Item::Real;
                let (name, text) = (self.unit.needs("vlad_read"), self.unit.text(text));
                format!("{name}({}, {text})", item as u64)
            }
            Op::WriteReal(stream) => {
                let name = self.unit.needs("vlad_write_real");
                return self.statement(format!("{name}({}, {x})", stream as u64));
            }
            Op::HeapBytes => "(int64_t)vlad_heap[HEAP_TAKEN]".to_string(),
            Op::TapeMemory => "(int64_t)vlad_heap[HEAP_TAPE_MEMORY]".to_string(),
            Op::Ask => format!("{}({x}, {})", self.unit.needs("vlad_ask"), args[1]),
            Op::WriteByte | Op::WriteDouble => {
                let name = if inst.op == Op::WriteByte { "vlad_write_byte" } else { "vlad_write_double" };
                let name = self.unit.needs(name);
                return self.statement(format!("{name}({x})"));
            }
            Op::WriteText(stream, text) => {
                let text = self.unit.text(text);
                return self.write_text(stream, Form::Plain, &text);
            }
            Op::WriteTextOf(stream, form) => {
                let text = self.text_of(x);
                return self.write_text(stream, form, &text);
            }
            Op::BeginText => {
                let begin = self.unit.needs("vlad_begin_text");
                return self.statement(format!("{begin}()"));
            }
            Op::EndText => {
                let texts = self.unit.text_arguments();
                format!("(int64_t){}({texts})", self.unit.needs("vlad_end_text"))
            }
            Op::TextByte => {
                self.unit.looks_up_texts = true;
                format!("text_byte({x}, {})", args[1])
            }
            Op::BeginFile(message) => {
                let (name, message) = (self.text_of(x), self.unit.text(message));
                let begin = self.unit.needs("vlad_begin_file");
                return self.statement(format!("{begin}({name}, {message})"));
            }
            Op::EndFile(message) => {
                let (end, message) = (self.unit.needs("vlad_end_file"), self.unit.text(message));
                return self.statement(format!("{end}({x}, {message})"));
            }
            Op::Argument(_) | Op::ArgumentElements(_) | Op::Result(_) | Op::ResultElements(_) => {
                let message = "only libraries have callers, and this is none".to_string();
                return Err(Error::Bug { name: self.function.name.to_string(), message });
            }
            _ => return self.memory(inst, &args),
        };
        self.define(inst.results[0], expression);
        Ok(())
    }

    /// A call or an assignment.
    pub(super) fn statement(&mut self, text: String) -> Result<(), Error> {
        self.line(text + ";");
        Ok(())
    }

    fn real1(&mut self, op: Real1, x: &str) -> String {
        let name = match op {
            Real1::Neg => return format!("-{x}"),
            Real1::Abs => return format!("fabs({x})"),
            Real1::Sqrt => "sqrt",
            _ => real_function(op).expect("what is no operator is a function"),
        };
        format!("{}({x})", self.unit.needs(name))
    }

    fn real2(&mut self, op: Real2, x: &str, y: &str) -> String {
        match op {
            Real2::Add => format!("{x} + {y}"),
            Real2::Sub => format!("{x} - {y}"),
            Real2::Mul => format!("{x} * {y}"),
            Real2::Div => format!("{x} / {y}"),
            Real2::Atan2 => format!("{}({x}, {y})", self.unit.needs("vlad_atan2")),
            Real2::Pow => format!("{}({x}, {y})", self.unit.needs("vlad_pow")),
        }
    }

    fn lanewise(&mut self, op: Lanewise, args: &[String]) -> String {
        let x = &args[0];
        match op {
            Lanewise::Real1(Real1::Neg) => format!("-{x}"),
            Lanewise::Real2(op @ (Real2::Add | Real2::Sub | Real2::Mul | Real2::Div)) => self.real2(op, x, &args[1]),
            Lanewise::Real1(op) if op.has_lanes() => format!("{}({x})", self.unit.needs(lane_functions(op).pair)),
            Lanewise::Real1(_) | Lanewise::Real2(_) => {
                let mut lane = |lane: usize| {
                    let of = |arg: usize| args.get(arg).map(|arg| format!("{arg}[{lane}]")).unwrap_or_default();
                    match op {
                        Lanewise::Real1(op) => self.real1(op, &of(0)),
                        Lanewise::Real2(op) => self.real2(op, &of(0), &of(1)),
                        _ => String::new(),
                    }
                };
                format!("(lanes){{{}, {}}}", lane(0), lane(1))
            }
            Lanewise::Compare(op) => format!("(truths)({x} {} {})", comparison(op), args[1]),
            Lanewise::Not => format!("~{x}"),
            Lanewise::And => format!("{x} & {}", args[1]),
            Lanewise::Or => format!("{x} | {}", args[1]),
            Lanewise::RealIs(bits) => format!("have_bits({x}, {})", literal::bits(bits)),
            Lanewise::Select => format!("choose({x}, {}, {})", args[1], args[2]),
        }
    }

    /// The address and the length of the text with a number that is computed, as two arguments.
    fn text_of(&mut self, number: &str) -> String {
        self.unit.looks_up_texts = true;
        format!("text_of({number}).bytes, text_of({number}).length")
    }

    fn write_text(&mut self, stream: Stream, form: Form, text: &str) -> Result<(), Error> {
        let name = self.unit.needs(match form {
            Form::Plain => "vlad_write_text",
            Form::Quoted => "vlad_write_quoted",
        });
        self.statement(format!("{name}({}, {text})", stream as u64))
    }

    /// A value as a word.
    pub(super) fn word(&self, value: Value) -> String {
        let text = self.value(value);
        match self.function.values[value] {
            Type::F64 => format!("to_bits({text})"),
            Type::Ptr => format!("(uintptr_t){text}"),
            _ => format!("(uint64_t){text}"),
        }
    }
}

fn comparison(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}
