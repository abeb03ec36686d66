//! Operations on reals, truth values, texts and globals → Cranelift instructions and calls.
//!
//! Every operation computes what [`crate::core::arithmetic`] says: by the same IEEE instruction or by the same
//! function of `runtime/math`. Comparisons are those of IEEE, all false with a NaN except `ne`.

use crate::codegen::abi::clif_type;
use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::unit::External;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{Compare, Form, Inst, Int2, IntCompare, Op, Real1, Real2, Stream, Type, Value};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, StackSlotData, StackSlotKind, types};
use cranelift_module::Module;

const ITEM: &[ir::Type] = &[types::I64, types::I64, types::I64];
const STREAM_TEXT: &[ir::Type] = &[types::I64, types::I64, types::I64];

/// The function that computes an operation for which a processor need not have an instruction: of the run time, or of
/// the C library where that is exact.
pub(in crate::codegen) fn real_function(op: Real1) -> Option<&'static str> {
    Some(match op {
        Real1::Neg | Real1::Abs | Real1::Sqrt => return None,
        Real1::Floor => "floor",
        Real1::Ceiling => "ceil",
        // In the default rounding mode, which nothing changes, this is to nearest, ties to even.
        Real1::Round => "rint",
        Real1::Truncate => "trunc",
        Real1::Exp => "vlad_exp",
        Real1::Log => "vlad_log",
        Real1::Sin => "vlad_sin",
        Real1::Cos => "vlad_cos",
        Real1::Tan => "vlad_tan",
        Real1::Asin => "vlad_asin",
        Real1::Acos => "vlad_acos",
        Real1::Atan => "vlad_atan",
        Real1::Sinh => "vlad_sinh",
        Real1::Cosh => "vlad_cosh",
        Real1::Tanh => "vlad_tanh",
        Real1::Log1p => "vlad_log1p",
        Real1::Expm1 => "vlad_expm1",
        Real1::Erf => "vlad_erf",
        Real1::Erfc => "vlad_erfc",
        Real1::Gamma => "vlad_tgamma",
        Real1::LogGamma => "vlad_lgamma",
    })
}

impl Translator<'_, '_, '_> {
    /// Translates an instruction; a sum or a product perhaps with its operands swapped. One arm per operation.
    pub(in crate::codegen) fn instruction(&mut self, inst: &Inst, is_swapped: bool) -> Result<(), Error> {
        if let Op::Call(callee) = inst.op {
            self.call(callee, &inst.args, &inst.results);
            return Ok(());
        }
        let mut args: Vec<ir::Value> = inst.args.iter().map(|arg| self.value(*arg)).collect();
        if is_swapped {
            args.swap(0, 1);
        }
        let value = match inst.op {
            Op::ConstReal(_) | Op::ConstBool(_) | Op::ConstInt(_) | Op::Immediate(..) => {
                self.define_constant(inst.results[0], inst.op);
                return Ok(());
            }
            Op::Real1(op) => self.real1(op, args[0])?,
            Op::Real2(op) => self.real2(op, args[0], args[1])?,
            Op::Compare(op) => self.builder.ins().fcmp(condition(op), args[0], args[1]),
            Op::Not => self.builder.ins().bxor_imm_u(args[0], 1),
            Op::And => self.builder.ins().band(args[0], args[1]),
            Op::Or => self.builder.ins().bor(args[0], args[1]),
            Op::RealIs(bits) => {
                let found = self.builder.ins().bitcast(types::I64, ir::MemFlagsData::new(), args[0]);
                let wanted = self.builder.ins().iconst(types::I64, bits.cast_signed());
                self.builder.ins().icmp(IntCC::Equal, found, wanted)
            }
            Op::IntIs(number) => self.builder.ins().icmp_imm_s(IntCC::Equal, args[0], number),
            Op::Int2(op) => {
                self.note_sum(op, inst, args[0]);
                self.int2(op, args[0], args[1])
            }
            Op::IntCompare(op) => self.builder.ins().icmp(int_condition(op), args[0], args[1]),
            Op::IntOf => self.builder.ins().fcvt_to_sint_sat(types::I64, args[0]),
            Op::RealOf => self.builder.ins().fcvt_from_sint(types::F64, args[0]),
            Op::NewVector(vector) => self.new_vector(vector, args[0])?,
            Op::Kernel(kernel, vector) => self.kernel(kernel, vector, &args)?,
            Op::NewRows(vector) => self.new_rows(vector, args[0], args[1])?,
            Op::NewRow(vector) => self.new_row(vector, &args)?,
            Op::Element(vector, field) => {
                let ty = clif_type(self.function.values[inst.results[0]]);
                let position = self.position(vector, inst, &args);
                self.element(vector, field as usize, ty, position)
            }
            Op::TakeElement(vector, field) => {
                let position = self.position(vector, inst, &args);
                self.take_element(vector, field as usize, position)
            }
            Op::WithElement(vector) => {
                let is_sole = self.sole_owners[inst.args[0]];
                let position = self.position(vector, inst, &args);
                self.with_element(vector, position, &args[3..], is_sole)?
            }
            Op::Own(vector) => self.own_vector(vector, args[0], args[1])?,
            Op::OfEach(function, vector) => self.of_each(function, vector, &args)?,
            Op::Elements(vector, field) => {
                let position = self.position(vector, inst, &args);
                self.elements(vector, field as usize, position)
            }
            Op::WithElements(vector) => {
                let is_sole = self.sole_owners[inst.args[0]];
                let position = self.position(vector, inst, &args);
                self.with_elements(vector, position, &args[3..], is_sole)?
            }
            Op::Lanes(op) => self.lanewise(op, &args)?,
            Op::Splat => self.builder.ins().splat(types::F64X2, args[0]),
            Op::Pair => self.pair(args[0], args[1]),
            Op::AnyLane => self.any_lane(args[0]),
            Op::Lane(second) => self.builder.ins().extractlane(args[0], u8::from(second)),
            Op::Select => self.builder.ins().select(args[0], args[1], args[2]),
            Op::Opaque => self.opaque(args[0]),
            Op::Exchange => self.exchange(inst.args[0], args[0])?,
            // See `Translator::block`.
            Op::Call(_) | Op::Box(..) => return Ok(()),
            // No program sees what is vacant, and nobody owns it; but the run time looks at pointers.
            Op::Vacant(Type::F64) => return Ok(()),
            Op::Vacant(ty) => self.builder.ins().iconst(clif_type(ty), 0),
            Op::Hole(sum, tag, index) => self.hole(sum, tag, index, args[0]),
            Op::Fill(_) => {
                self.builder.ins().store(TRUSTED, args[1], args[0], 0);
                return Ok(());
            }
            Op::Tag(sum) => self.tag(sum, args[0]),
            Op::HasTag(sum, tag) => self.has_tag(sum, tag, args[0]),
            Op::Field(sum, tag, index) => {
                let ty = clif_type(self.function.values[inst.results[0]]);
                self.field(sum, tag, index, ty, args[0])
            }
            // A cell that has not been set is zero.
            Op::GlobalGet(slot) | Op::IsSet(slot) => {
                let address = self.home(self.unit.slots[slot]);
                let ty = clif_type(self.function.values[inst.results[0]]);
                self.builder.ins().load(ty, TRUSTED, address, 0)
            }
            Op::GlobalSet(slot) => {
                let address = self.home(self.unit.slots[slot]);
                self.builder.ins().store(TRUSTED, args[0], address, 0);
                return Ok(());
            }
            Op::Argument(part) => self.argument(part)?,
            Op::ArgumentElements(_) => self.argument_elements(args[0])?,
            Op::ResultElements(_) => return self.result_elements(args[0], args[1]),
            Op::Result(part) => return self.result(part, &args),
            Op::WriteByte if self.unit.is_library => {
                return self.call_with_context("vlad_context_keep_byte", &[types::I64, types::F64], &args);
            }
            Op::Read(..) | Op::WriteDouble if self.unit.is_library => return Err(self.outside()),
            Op::Read(item, text) => {
                let (address, length) = self.text(text);
                let item = self.builder.ins().iconst(types::I64, item as i64);
                let read = External::Runtime("vlad_read", ITEM, Some(types::F64));
                self.call_external(read, &[item, address, length])?.expect("the signature has a result")
            }
            Op::WriteReal(stream) if self.unit.is_library => {
                let is_message = stream == Stream::Err;
                let name = if is_message { "vlad_context_write_real" } else { "vlad_context_keep_real" };
                return self.call_with_context(name, &[types::I64, types::F64], &args);
            }
            Op::WriteReal(stream) => {
                let stream = self.stream(stream);
                let write = External::Runtime("vlad_write_real", &[types::I64, types::F64], None);
                self.call_external(write, &[stream, args[0]])?;
                return Ok(());
            }
            Op::HeapBytes | Op::TapeMemory => {
                let offset = if inst.op == Op::HeapBytes { layout::HEAP_TAKEN } else { layout::HEAP_TAPE_MEMORY };
                let heap = self.home(self.unit.heap);
                self.builder.ins().load(types::I64, TRUSTED, heap, offset)
            }
            Op::Ask if self.unit.is_library => self.ask_context(&args)?,
            Op::Ask => {
                let ask = External::Runtime("vlad_ask", &[types::F64, types::F64], Some(types::F64));
                self.call_external(ask, &[args[0], args[1]])?.expect("the signature has a result")
            }
            Op::WriteByte | Op::WriteDouble => {
                let name = if inst.op == Op::WriteByte { "vlad_write_byte" } else { "vlad_write_double" };
                self.call_external(External::Runtime(name, &[types::F64], None), &[args[0]])?;
                return Ok(());
            }
            Op::WriteText(stream, text) => {
                let (address, length) = self.text(text);
                return self.write_text(stream, Form::Plain, address, length);
            }
            Op::WriteTextOf(stream, form) => {
                let (address, length) = self.text_of(args[0])?;
                return self.write_text(stream, form, address, length);
            }
            Op::BeginText if self.unit.is_library => {
                return self.call_with_context("vlad_context_begin_text", &[types::I64], &[]);
            }
            Op::BeginText => {
                self.call_external(External::Runtime("vlad_begin_text", &[], None), &[])?;
                return Ok(());
            }
            Op::EndText => {
                let table = self.unit.text_table()?;
                let (texts, table) = (self.data_address(self.unit.texts), self.data_address(table));
                let count = self.builder.ins().iconst(types::I64, self.unit.text_count() as i64);
                if self.unit.is_library {
                    let end = External::Runtime("vlad_context_end_text", &[types::I64; 4], Some(types::I64));
                    let context = self.context();
                    self.call_external(end, &[context, texts, table, count])?.expect("the signature has a result")
                } else {
                    let end = External::Runtime("vlad_end_text", &[types::I64; 3], Some(types::I64));
                    self.call_external(end, &[texts, table, count])?.expect("the signature has a result")
                }
            }
            Op::TextByte => self.text_byte(args[0], args[1])?,
            Op::BeginFile(message) => {
                if self.unit.is_library {
                    return Err(self.outside());
                }
                let (address, length) = self.text_of(args[0])?;
                let (message, message_length) = self.text(message);
                let begin = External::Runtime("vlad_begin_file", &[types::I64; 4], None);
                self.call_external(begin, &[address, length, message, message_length])?;
                return Ok(());
            }
            Op::EndFile(message) => {
                if self.unit.is_library {
                    return Err(self.outside());
                }
                let (message, message_length) = self.text(message);
                let end = External::Runtime("vlad_end_file", &[types::F64, types::I64, types::I64], None);
                self.call_external(end, &[args[0], message, message_length])?;
                return Ok(());
            }
            Op::IsShared(_) => self.is_shared(&inst.args),
            Op::Recall(callee) => return self.recall(callee, inst),
            Op::Remember(callee) => return self.remember(callee, &inst.args),
            Op::Forget => return self.forget(),
            Op::Retain => {
                self.retain(args[0]);
                return Ok(());
            }
            Op::Release => return self.release(args[0]),
        };
        self.define(inst.results[0], value);
        Ok(())
    }

    /// By the run time, as a word; a library has one process.
    fn exchange(&mut self, operand: Value, x: ir::Value) -> Result<ir::Value, Error> {
        if self.unit.is_library {
            return Ok(x);
        }
        let (ty, flags) = (self.builder.func.dfg.value_type(x), ir::MemFlagsData::new());
        let word = match ty {
            types::F64 => self.builder.ins().bitcast(types::I64, flags, x),
            types::I64 => x,
            _ => self.builder.ins().uextend(types::I64, x),
        };
        let is_pointer = i64::from(self.function.values[operand] == Type::Ptr);
        let is_pointer = self.builder.ins().iconst(types::I64, is_pointer);
        let exchange = External::Runtime("vlad_exchange", &[types::I64; 2], Some(types::I64));
        let word = self.call_external(exchange, &[is_pointer, word])?.expect("the signature has a result");
        Ok(match ty {
            types::F64 => self.builder.ins().bitcast(ty, flags, word),
            types::I64 => word,
            _ => self.builder.ins().ireduce(ty, word),
        })
    }

    /// Through memory, by a load of the kind that Cranelift does not connect with the store before it.
    fn opaque(&mut self, x: ir::Value) -> ir::Value {
        let ty = self.builder.func.dfg.value_type(x);
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, ty.bytes(), 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        self.builder.ins().stack_store(types::I64, x, slot, 0);
        let address = self.builder.ins().stack_addr(types::I64, slot, 0);
        let bits = self.builder.ins().atomic_load(ty.as_int(), TRUSTED, address);
        if ty.is_float() { self.builder.ins().bitcast(ty, ir::MemFlagsData::new(), bits) } else { bits }
    }

    pub(in crate::codegen) fn real1(&mut self, op: Real1, x: ir::Value) -> Result<ir::Value, Error> {
        let rounds = self.has_rounding();
        let instruction = match op {
            Real1::Neg => Some(self.builder.ins().fneg(x)),
            Real1::Abs => Some(self.builder.ins().fabs(x)),
            Real1::Sqrt => Some(self.builder.ins().sqrt(x)),
            Real1::Floor if rounds => Some(self.builder.ins().floor(x)),
            Real1::Ceiling if rounds => Some(self.builder.ins().ceil(x)),
            Real1::Round if rounds => Some(self.builder.ins().nearest(x)),
            Real1::Truncate if rounds => Some(self.builder.ins().trunc(x)),
            _ => None,
        };
        if let Some(result) = instruction {
            return Ok(result);
        }
        let math = real_function(op).expect("what is no instruction is a function");
        Ok(self.call_external(External::Math(math, 1), &[x])?.expect("the signature has a result"))
    }

    /// Sine and cosine of one number: most of the work is the same.
    pub(in crate::codegen) fn sin_cos(&mut self, x: Value, sine: Value, cosine: Value) -> Result<(), Error> {
        let x = self.value(x);
        let both = self.call_external(External::SinCos, &[x])?.expect("the signature has a result");
        for (lane, result) in (0..).zip([sine, cosine]) {
            let lane = self.builder.ins().extractlane(both, lane);
            self.define(result, lane);
        }
        Ok(())
    }

    pub(in crate::codegen) fn real2(&mut self, op: Real2, x: ir::Value, y: ir::Value) -> Result<ir::Value, Error> {
        let math = match op {
            Real2::Add => return Ok(self.builder.ins().fadd(x, y)),
            Real2::Sub => return Ok(self.builder.ins().fsub(x, y)),
            Real2::Mul => return Ok(self.builder.ins().fmul(x, y)),
            Real2::Div => return Ok(self.builder.ins().fdiv(x, y)),
            Real2::Atan2 => "vlad_atan2",
            Real2::Pow => "vlad_pow",
        };
        Ok(self.call_external(External::Math(math, 2), &[x, y])?.expect("the signature has a result"))
    }

    fn int2(&mut self, op: Int2, x: ir::Value, y: ir::Value) -> ir::Value {
        match op {
            Int2::Add => self.builder.ins().iadd(x, y),
            Int2::Sub => self.builder.ins().isub(x, y),
            Int2::Mul => self.builder.ins().imul(x, y),
        }
    }

    /// Whether the target rounds to integers in one instruction.
    fn has_rounding(&self) -> bool {
        let isa = self.unit.module.isa();
        isa.name() != "x64"
            || isa.isa_flags().iter().any(|flag| flag.name == "has_sse41" && flag.as_bool() == Some(true))
    }

    fn stream(&mut self, stream: Stream) -> ir::Value {
        self.builder.ins().iconst(types::I64, stream as i64)
    }

    fn write_text(&mut self, stream: Stream, form: Form, address: ir::Value, length: ir::Value) -> Result<(), Error> {
        // What a library writes is a message, or belongs to a text.
        let [of_program, message, text] = match form {
            Form::Plain => ["vlad_write_text", "vlad_context_write_text", "vlad_context_keep_text"],
            Form::Quoted => ["vlad_write_quoted", "vlad_context_write_quoted", "vlad_context_keep_quoted"],
        };
        if self.unit.is_library {
            let name = if stream == Stream::Err { message } else { text };
            return self.call_with_context(name, &[types::I64; 3], &[address, length]);
        }
        let stream = self.stream(stream);
        self.call_external(External::Runtime(of_program, STREAM_TEXT, None), &[stream, address, length])?;
        Ok(())
    }

    /// The byte of a text at a place, as a real; -1 where there is none.
    fn text_byte(&mut self, number: ir::Value, place: ir::Value) -> Result<ir::Value, Error> {
        let (address, length) = self.text_of(number)?;
        // What is no place in a text, not a number included, becomes one that is behind its end.
        let place = self.builder.ins().fcvt_to_sint_sat(types::I64, place);
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, place, length);
        let (inside, done) = (self.builder.create_block(), self.builder.create_block());
        self.builder.append_block_param(done, types::F64);
        let none = self.builder.ins().f64const(-1.0);
        self.builder.ins().brif(is_inside, inside, &[], done, &[none.into()]);
        self.builder.switch_to_block(inside);
        let address = self.builder.ins().iadd(address, place);
        let byte = self.builder.ins().uload8(types::I64, TRUSTED, address, 0);
        let byte = self.builder.ins().fcvt_from_sint(types::F64, byte);
        self.builder.ins().jump(done, &[byte.into()]);
        self.builder.switch_to_block(done);
        Ok(self.builder.block_params(done)[0])
    }

    /// The address and the length of the text with a number that is computed.
    fn text_of(&mut self, number: ir::Value) -> Result<(ir::Value, ir::Value), Error> {
        let table = self.unit.text_table()?;
        let table = self.data_address(table);
        let offset = self.builder.ins().ishl_imm_u(number, 3);
        let entry = self.builder.ins().iadd(table, offset);
        let texts = self.data_address(self.unit.texts);
        if !self.unit.makes_texts {
            let start = self.builder.ins().load(types::I64, TRUSTED, entry, 0);
            let end = self.builder.ins().load(types::I64, TRUSTED, entry, 8);
            return Ok((self.builder.ins().iadd(texts, start), self.builder.ins().isub(end, start)));
        }
        // The number of a text that the program has made is its address: of its length, another word, and its bytes.
        let count = self.unit.text_count() as i64;
        let is_made = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, number, count);
        let entry = self.builder.ins().select(is_made, number, entry);
        let first = self.builder.ins().load(types::I64, TRUSTED, entry, 0);
        let second = self.builder.ins().load(types::I64, TRUSTED, entry, 8);
        let own = self.builder.ins().iadd(texts, first);
        let made = self.builder.ins().iadd_imm_u(number, 16);
        let length = self.builder.ins().isub(second, first);
        Ok((self.builder.ins().select(is_made, made, own), self.builder.ins().select(is_made, first, length)))
    }
}

pub(in crate::codegen) fn condition(op: Compare) -> FloatCC {
    match op {
        Compare::Eq => FloatCC::Equal,
        Compare::Ne => FloatCC::NotEqual,
        Compare::Lt => FloatCC::LessThan,
        Compare::Le => FloatCC::LessThanOrEqual,
        Compare::Gt => FloatCC::GreaterThan,
        Compare::Ge => FloatCC::GreaterThanOrEqual,
    }
}

fn int_condition(op: IntCompare) -> IntCC {
    match op {
        IntCompare::Eq | IntCompare::Conform => IntCC::Equal,
        IntCompare::Lt => IntCC::SignedLessThan,
        IntCompare::Below => IntCC::UnsignedLessThan,
    }
}
