//! What makes object code a library: the functions that its callers call, and what it says about itself.
//!
//! ```text
//! int NAME_f(context, x, v, v_length, result)       words = CALL, number of f, x, v, v_length, result, how
//!                                               →   return vlad_enter(context, words)
//! ```
//!
//! `vlad_enter` runs the compiled program on the stack of the context. The program reads the words: first the kind of
//! the call and the number of the function, then
//!
//! | | words |
//! |---|---|
//! | an argument that is a number or a truth value | the number, 0 or 1 |
//! | a vector | its address, its length |
//! | a matrix | its address, the numbers of its rows and columns |
//! | a function | where its address stands behind all others, its data, and which argument it is |
//! | a text | the address of its bytes, which end in a zero |
//! | a result that is a number or a truth value | where to, how |
//! | a text | where to, the bytes that there is room for, where to the number of its bytes |
//! | an array | where to, how, the numbers that there is room for, where to the numbers of its rows and columns |
//!
//! Lengths and whole numbers are passed as reals, as the language has them; how is [`layout::OVERWRITE`],
//! [`layout::ACCUMULATE`] or, for truth values, [`layout::TRUTH`]. Tuples and records are passed part by part. What
//! an array consists of is read in place, see [`Translator::argument_elements`].
//!
//! Compiled code keeps the address of the context in a register (Cranelift's pinned register) and checks at the
//! beginning of each function that calls others whether the context has stack left.

use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::unit::{External, Home, Unit, contents, module_error};
use crate::codegen::{Error, Library, layout};
use crate::core::interface::{self, Function, Type};
use crate::ssa::ir::{Op, Piece};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, UserFuncName, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, FuncId, Linkage, Module, ModuleError};

const _: () = assert!(layout::INITIALISE == interface::INITIALISE && layout::CALL == interface::CALL);

/// From here on, not all whole numbers are reals.
const MOST_INTEGER: i64 = 1 << 53;

/// Defines everything that a library has and an executable has not. `main` is the compiled program.
pub fn define(
    unit: &mut Unit,
    library: &Library,
    main: FuncId,
    context: &mut FunctionBuilderContext,
) -> Result<(), Error> {
    for (number, function) in library.functions.iter().enumerate() {
        define_function(unit, &format!("{}_{}", library.name, function.symbol()), number, function, context)?;
    }
    describe(unit, main)
}

/// `vlad_description`, see the run time's `library`.
fn describe(unit: &mut Unit, main: FuncId) -> Result<(), Error> {
    let bug = |error: ModuleError| module_error("the description of the library", &error);
    let (bytes, addresses) = std::mem::take(&mut unit.constant_boxes).into_image();
    let numbers = [unit.slots.len() * layout::WORD, bytes.len(), addresses.len()];
    let table = addresses.iter().flat_map(|(at, to)| [*at as u64, *to as u64]).flat_map(u64::to_le_bytes).collect();
    let mut define = |name: &str, bytes: Vec<u8>| {
        let id = unit.module.declare_data(name, Linkage::Local, false, false).map_err(bug)?;
        // Empty data have no place in an object file.
        let bytes = if bytes.is_empty() { vec![0; layout::WORD] } else { bytes };
        unit.module.define_data(id, &contents(bytes)).map(|()| id).map_err(bug)
    };
    let (boxes, addresses) = (define("boxes", bytes)?, define("box_addresses", table)?);
    let mut data = DataDescription::new();
    let [slots, constant_bytes, address_count] = numbers.map(|number| (number as u64).to_le_bytes());
    let nothing = [0; layout::WORD];
    let words = [nothing, slots, nothing, constant_bytes, nothing, address_count];
    data.define(words.concat().into_boxed_slice());
    data.set_align(layout::WORD as u64);
    let main = unit.module.declare_func_in_data(main, &mut data);
    data.write_function_addr(0, main);
    for (place, id) in [(2, boxes), (4, addresses)] {
        let global = unit.module.declare_data_in_data(id, &mut data);
        data.write_data_addr(place * layout::WORD as u32, global, 0);
    }
    let id = unit.module.declare_data("vlad_description", Linkage::Export, false, false).map_err(bug)?;
    unit.module.define_data(id, &data).map_err(bug)
}

/// The type of a parameter of C: a number, a whole number, a truth value, an address or a count, or a choice.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Real,
    Integer,
    Truth,
    Word,
    Choice,
}

/// What a word of the call is.
enum Word {
    /// A constant.
    Constant(u64),
    /// A parameter as it is.
    Parameter(usize),
    /// A parameter that is a length, as a real.
    Length(usize),
    /// The product of two lengths.
    Product(usize, usize),
}

/// The parameters of a function of C behind the context, and the words that are made of them.
#[derive(Default)]
struct Call {
    parameters: Vec<Kind>,
    words: Vec<Word>,
    /// Functions among the arguments: which word says where they are, their first parameter, which argument they are.
    functions: Vec<(usize, usize, usize)>,
}

impl Call {
    fn new(number: usize, function: &Function) -> Call {
        let mut call = Call::default();
        call.words.push(Word::Constant(layout::CALL.to_bits()));
        call.words.push(Word::Constant((number as f64).to_bits()));
        // For each parameter of the function, the lengths of its arrays.
        let mut lengths = Vec::new();
        for (position, parameter) in function.parameters.iter().enumerate() {
            if parameter.ty.signature().is_some() {
                let address = call.parameter(Kind::Word);
                call.parameter(Kind::Word);
                call.functions.push((call.words.len(), address, position + 1));
                call.words.push(Word::Constant(0));
                lengths.push(Vec::new());
                continue;
            }
            let leaves = parameter.ty.leaves();
            lengths.push(leaves.iter().map(|(_, ty)| call.argument(ty)).collect::<Vec<_>>());
        }
        match &function.gradient {
            None => {
                let leaves = function.result.as_ref().map(Type::leaves).unwrap_or_default();
                leaves.iter().for_each(|(_, ty)| call.result(ty));
            }
            Some(positions) => {
                let how = call.parameter(Kind::Choice);
                call.result(&Type::Real);
                for lengths in positions.iter().flat_map(|position| &lengths[*position]) {
                    call.gradient(how, lengths);
                }
            }
        }
        for (place, address, position) in std::mem::take(&mut call.functions) {
            call.words[place] = Word::Constant((call.words.len() as f64).to_bits());
            let data = Word::Parameter(address + 1);
            call.words.extend([Word::Parameter(address), data, Word::Constant(position as u64)]);
        }
        call
    }

    fn parameter(&mut self, kind: Kind) -> usize {
        self.parameters.push(kind);
        self.parameters.len() - 1
    }

    /// Passes a number or an array; the result is the lengths of the latter.
    fn argument(&mut self, ty: &Type) -> Vec<usize> {
        let kind = match ty {
            Type::Integer => Kind::Integer,
            Type::Boolean => Kind::Truth,
            Type::Text => Kind::Word,
            _ => Kind::Real,
        };
        if !ty.is_array() {
            let parameter = self.parameter(kind);
            self.words.push(Word::Parameter(parameter));
            return Vec::new();
        }
        let address = self.parameter(Kind::Word);
        self.words.push(Word::Parameter(address));
        let dimensions = if *ty == Type::Matrix { 2 } else { 1 };
        let lengths: Vec<usize> = (0..dimensions).map(|_| self.parameter(Kind::Word)).collect();
        self.words.extend(lengths.iter().map(|length| Word::Length(*length)));
        lengths
    }

    /// Gets a number or an array of any length.
    fn result(&mut self, ty: &Type) {
        let address = self.parameter(Kind::Word);
        if *ty == Type::Text {
            let (room, length) = (self.parameter(Kind::Word), self.parameter(Kind::Word));
            self.words.extend([address, room, length].map(Word::Parameter));
            return;
        }
        let how = if *ty == Type::Boolean { layout::TRUTH } else { layout::OVERWRITE };
        self.words.extend([Word::Parameter(address), Word::Constant(how)]);
        if !ty.is_array() {
            return;
        }
        let room = self.parameter(Kind::Word);
        let rows = self.parameter(Kind::Word);
        let columns = (*ty == Type::Matrix).then(|| self.parameter(Kind::Word));
        let columns = columns.map_or(Word::Constant(0), Word::Parameter);
        self.words.extend([Word::Parameter(room), Word::Parameter(rows), columns]);
    }

    /// Gets the gradient with respect to a number or an array of these lengths.
    fn gradient(&mut self, how: usize, lengths: &[usize]) {
        let address = self.parameter(Kind::Word);
        self.words.extend([Word::Parameter(address), Word::Parameter(how)]);
        let room = match *lengths {
            [] => return,
            [length] => Word::Parameter(length),
            [rows, columns, ..] => Word::Product(rows, columns),
        };
        self.words.extend([room, Word::Constant(0), Word::Constant(0)]);
    }
}

fn define_function(
    unit: &mut Unit,
    name: &str,
    number: usize,
    function: &Function,
    context: &mut FunctionBuilderContext,
) -> Result<(), Error> {
    let call = Call::new(number, function);
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.push(AbiParam::new(types::I64));
    signature.params.extend(call.parameters.iter().map(|kind| {
        AbiParam::new(match kind {
            Kind::Real => types::F64,
            Kind::Word | Kind::Integer => types::I64,
            Kind::Truth => types::I8,
            Kind::Choice => types::I32,
        })
    }));
    signature.returns.push(AbiParam::new(types::I32));
    let declared = unit.module.declare_function(name, Linkage::Export, &signature);
    let id = declared.map_err(|error| module_error(name, &error))?;
    let enter = unit.external(External::Runtime("vlad_enter", &[types::I64, types::I64], Some(types::I32)))?;
    let mut code = ir::Function::with_name_signature(UserFuncName::default(), signature);
    let enter = unit.import(enter, &mut code);
    let mut builder = FunctionBuilder::new(&mut code, context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    let parameters = builder.block_params(block).to_vec();
    let size = (call.words.len() * layout::WORD) as u32;
    let slot = builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3));
    // Whether all whole numbers are some of the language's.
    let mut all_right: Option<ir::Value> = None;
    for (place, word) in call.words.iter().enumerate() {
        let value = match *word {
            Word::Constant(bits) => builder.ins().iconst(types::I64, bits.cast_signed()),
            Word::Parameter(index) if call.parameters[index] == Kind::Choice => {
                // The run time refuses what is no mode.
                builder.ins().uextend(types::I64, parameters[index + 1])
            }
            Word::Parameter(index) => match call.parameters[index] {
                Kind::Integer => {
                    // Between -2^53 and 2^53, which as a number without sign is one comparison.
                    let moved = builder.ins().iadd_imm_s(parameters[index + 1], MOST_INTEGER);
                    let is_one = builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, moved, 2 * MOST_INTEGER);
                    all_right = Some(match all_right {
                        Some(others) => builder.ins().band(others, is_one),
                        None => is_one,
                    });
                    builder.ins().fcvt_from_sint(types::F64, parameters[index + 1])
                }
                Kind::Truth => {
                    let number = builder.ins().uextend(types::I64, parameters[index + 1]);
                    builder.ins().fcvt_from_uint(types::F64, number)
                }
                _ => parameters[index + 1],
            },
            Word::Length(index) => builder.ins().fcvt_from_uint(types::F64, parameters[index + 1]),
            Word::Product(rows, columns) => builder.ins().imul(parameters[rows + 1], parameters[columns + 1]),
        };
        let address = builder.ins().stack_addr(types::I64, slot, 0);
        builder.ins().store(TRUSTED, value, address, (place * layout::WORD) as i32);
    }
    let mut words = builder.ins().stack_addr(types::I64, slot, 0);
    if let Some(all_right) = all_right {
        let none = builder.ins().iconst(types::I64, 0);
        words = builder.ins().select(all_right, words, none);
    }
    let call = builder.ins().call(enter, &[parameters[0], words]);
    let code_of_call = builder.inst_results(call)[0];
    builder.ins().return_(&[code_of_call]);
    unit.finish(builder);
    unit.define(id, name.to_string(), code);
    Ok(())
}

impl Translator<'_, '_, '_> {
    /// The next argument: a number among the words of the call, or the length of an array.
    pub(super) fn argument(&mut self, part: Piece) -> Result<ir::Value, Error> {
        let context = self.context();
        if part == Piece::Array {
            let array = External::Runtime("vlad_context_argument_array", &[types::I64], Some(types::F64));
            return Ok(self.call_external(array, &[context])?.expect("the signature has a result"));
        }
        let address = self.builder.ins().load(types::I64, TRUSTED, context, layout::CONTEXT_WORDS);
        let number = self.builder.ins().load(types::F64, TRUSTED, address, 0);
        let next = self.builder.ins().iadd_imm_s(address, layout::WORD as i64);
        self.builder.ins().store(TRUSTED, next, context, layout::CONTEXT_WORDS);
        Ok(number)
    }

    /// A view of so many elements at the place that the context notes: in the memory of the caller, who is not to
    /// change them during the call.
    pub(super) fn argument_elements(&mut self, length: ir::Value) -> Result<ir::Value, Error> {
        let context = self.context();
        let start = self.builder.ins().load(types::I64, TRUSTED, context, layout::CONTEXT_ELEMENTS);
        let bytes = self.builder.ins().ishl_imm_u(length, i64::from(layout::WORD.trailing_zeros()));
        let next = self.builder.ins().iadd(start, bytes);
        self.builder.ins().store(TRUSTED, next, context, layout::CONTEXT_ELEMENTS);
        let none = self.builder.ins().iconst(types::I64, 0);
        self.new_view(start, none, layout::SHARED)
    }

    /// The answer to a question.
    pub(super) fn ask_context(&mut self, args: &[ir::Value]) -> Result<ir::Value, Error> {
        let ask = External::Runtime("vlad_context_ask", &[types::I64, types::F64, types::F64], Some(types::F64));
        let context = self.context();
        Ok(self.call_external(ask, &[context, args[0], args[1]])?.expect("the signature has a result"))
    }

    /// Hands over a result: a number, or the sizes of an array, with the run time's help.
    pub(super) fn result(&mut self, part: Piece, args: &[ir::Value]) -> Result<(), Error> {
        match part {
            Piece::Number => self.call_with_context("vlad_context_result", &[types::I64, types::F64], args),
            Piece::Array => {
                self.call_with_context("vlad_context_result_array", &[types::I64, types::F64, types::F64], args)
            }
        }
    }

    /// Hands over the elements of a vector.
    pub(super) fn result_elements(&mut self, elements: ir::Value, length: ir::Value) -> Result<(), Error> {
        let start = self.elements_start(elements);
        self.call_with_context("vlad_context_result_elements", &[types::I64; 3], &[start, length])
    }

    /// Leaves the function if the stack of the context ends near here. Those that call no other cannot be many.
    pub(super) fn demand_stack(&mut self) -> Result<(), Error> {
        let calls = self.function.blocks.values().flat_map(|block| &block.insts).any(|i| matches!(i.op, Op::Call(_)));
        if !calls {
            return Ok(());
        }
        let [exhausted, enough] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.set_cold_block(exhausted);
        let context = self.context();
        let limit = self.builder.ins().load(types::I64, TRUSTED, context, layout::CONTEXT_STACK_LIMIT);
        let here = self.builder.ins().get_stack_pointer(types::I64);
        let is_low = self.builder.ins().icmp(IntCC::UnsignedLessThan, here, limit);
        self.builder.ins().brif(is_low, exhausted, &[], enough, &[]);
        self.builder.switch_to_block(exhausted);
        self.call_with_context("vlad_context_stack_exhausted", &[types::I64], &[])?;
        self.builder.ins().trap(super::function::UNREACHABLE);
        self.builder.switch_to_block(enough);
        Ok(())
    }

    pub(super) fn context(&mut self) -> ir::Value {
        self.home(Home::Context(0))
    }

    /// Calls a function of the run time without result, whose first operand is the context.
    pub(super) fn call_with_context(
        &mut self,
        name: &'static str,
        types: &'static [ir::Type],
        args: &[ir::Value],
    ) -> Result<(), Error> {
        let context = self.context();
        let args = [&[context], args].concat();
        self.call_external(External::Runtime(name, types, None), &args)?;
        Ok(())
    }

    /// What reads and writes has been refused before.
    pub(super) fn outside(&self) -> Error {
        let name = self.function.name.to_string();
        Error::Bug { name, message: "a library neither reads nor writes".to_string() }
    }
}
