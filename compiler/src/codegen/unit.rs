//! The object file: symbols, data, imported functions, and the order of work.
//!
//! Functions are translated one after another (that is quick) and compiled by as many threads as the machine has.

use crate::base::entity::Entity;
use crate::base::{EntityVec, SourceMap, parallel};
use crate::codegen::abi::{self, Abi};
use crate::codegen::boxes::{self, SumLayout};
use crate::codegen::callers::{self, Places};
use crate::codegen::complaints::Complaints;
use crate::codegen::constants::Boxes;
use crate::codegen::debug::{self, Debug};
use crate::codegen::decisions::ranks;
use crate::codegen::registers::{far, pressure};
use crate::codegen::{Error, Library, Machine, Object, Options, free, function, layout, library, processor, target};
use crate::ssa::ir::{FuncId, Op, Program, SlotId, SumId, TextId};
use crate::ssa::kinds::without_callers;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, DataId, FuncOrDataId, Linkage, Module, ModuleError, ModuleReloc};
use cranelift_object::{ObjectBuilder, ObjectModule};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// A function that is not part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum External {
    /// An elementary function, or one of the C library, with this many operands.
    Math(&'static str, usize),
    /// An elementary function of two lanes.
    MathPair(&'static str),
    /// An elementary function that is applied to numbers in memory, given their address and how many there are.
    MathAll(&'static str),
    /// Sine and cosine of a number, in two lanes.
    SinCos,
    /// Of the run time, with the convention of the system.
    Runtime(&'static str, &'static [ir::Type], Option<ir::Type>),
    /// Calls a function of the run time with one integer operand and the heap and without result, and preserves all
    /// registers.
    Slow(&'static str),
    /// Frees a box that nobody owns any more, and preserves all registers.
    Free,
}

/// Where something that changes while the program runs is.
#[derive(Clone, Copy, Debug)]
pub enum Home {
    /// In the executable.
    Data(DataId),
    /// At an offset in the context of a library.
    Context(i64),
}

/// The object file in the making.
pub struct Unit<'p> {
    /// The program.
    pub program: &'p Program,
    /// The layout of boxes.
    pub sums: EntityVec<SumId, SumLayout>,
    /// How to call each function.
    pub abis: EntityVec<FuncId, Abi>,
    /// Cranelift's object file.
    pub module: ObjectModule,
    /// Symbols of the program's functions.
    pub functions: EntityVec<FuncId, cranelift_module::FuncId>,
    /// The cells of the globals.
    pub slots: EntityVec<SlotId, Home>,
    /// All texts, one after another, and where each begins.
    pub texts: DataId,
    text_offsets: Vec<usize>,
    /// Whether the program makes texts of its own.
    pub makes_texts: bool,
    text_table: Option<DataId>,
    /// See [`crate::codegen::complaints`].
    pub complaints: Complaints,
    /// The symbol of the constant boxes, and the boxes themselves as far as they are known.
    pub constants: Home,
    /// See [`crate::codegen::constants`].
    pub constant_boxes: Boxes,
    /// The run time's heap, which begins with the lists of free boxes.
    pub heap: Home,
    /// Whether the code is that of a library.
    pub is_library: bool,
    /// The places that code is from, as far as something is told of them.
    pub places: Places,
    /// The calls in the functions that are compiled.
    calls: Vec<(cranelift_module::FuncId, Vec<callers::End>)>,
    /// What debuggers are told, if they are.
    pub debug: Option<Debug>,
    /// Whether the program writes down where it spends its time.
    profile: bool,
    externals: FxHashMap<External, cranelift_module::FuncId>,
    /// Functions that are translated but not yet compiled.
    pending: Vec<Pending>,
}

/// A function to compile.
struct Pending {
    id: cranelift_module::FuncId,
    name: String,
    code: ir::Function,
}

/// A function that is compiled.
struct Compiled {
    alignment: u64,
    bytes: Vec<u8>,
    relocations: Vec<ModuleReloc>,
    listing: Option<String>,
    calls: Vec<callers::End>,
    /// What debuggers are told of it, if they are.
    description: Option<debug::Code>,
}

/// Translates and compiles the whole program.
pub fn compile<'p>(program: &'p Program, options: &Options, library: Option<&Library>) -> Result<Unit<'p>, Error> {
    let isa = target::isa(options)?;
    let needed = target::needed_processor(options, &*isa);
    let frames = isa.create_systemv_cie();
    let mut unit = translate(program, isa, options, library)?;
    if library.is_none() {
        unit.define_needed_processor(needed)?;
    }
    let pending = std::mem::take(&mut unit.pending);
    for (function, compiled) in compile_all(&pending, options, false)? {
        let Compiled { alignment, bytes, relocations, calls, description, .. } = compiled;
        unit.calls.push((function.id, calls));
        let defined = unit.module.define_function_bytes(function.id, alignment, &bytes, &relocations);
        defined.map_err(|error| module_error(&function.name, &error))?;
        if let Some(debug) = &mut unit.debug {
            debug.codes.extend(description.map(|description| (function.id, description)));
        }
    }
    if let Some(debug) = &mut unit.debug {
        debug.frames = frames;
    }
    Ok(unit)
}

/// The program in Cranelift's intermediate form.
pub fn clif(program: &Program, options: &Options) -> Result<String, Error> {
    let unit = translate(program, target::isa(options)?, options, None)?;
    let mut text = String::new();
    for function in &unit.pending {
        let _ = writeln!(
            text,
            "; {}\n{}",
            function.name,
            unit.with_names(&function.code.display().to_string(), &function.code)
        );
    }
    Ok(text)
}

/// The program in assembly language.
pub fn assembly(program: &Program, options: &Options) -> Result<String, Error> {
    let mut unit = translate(program, target::isa(options)?, options, None)?;
    let pending = std::mem::take(&mut unit.pending);
    let mut text = String::new();
    for (function, compiled) in compile_all(&pending, options, true)? {
        let listing = compiled.listing.unwrap_or_default();
        let _ = writeln!(
            text,
            "{}: ; {} bytes\n{}",
            function.name,
            compiled.bytes.len(),
            unit.with_names(&listing, &function.code)
        );
    }
    Ok(text)
}

/// So many functions are compiled one after another, in the same memory.
const CHUNK: usize = 16;

/// Parameters or results of one function.
const MOST_VALUES: usize = 5000;

/// Compiles functions on all processors; the result is in the order of `pending`.
fn compile_all<'a>(
    pending: &'a [Pending],
    options: &Options,
    listing: bool,
) -> Result<Vec<(&'a Pending, Compiled)>, Error> {
    let (usual, quick) = (target::isa(options)?, target::quick(options)?);
    let compiled = parallel::map(pending.chunks(CHUNK).collect(), |chunk| {
        let mut context = Context::new();
        let compile = |function: &'a Pending| {
            context.clear();
            context.func = function.code.clone();
            let mut isa = &usual;
            if pressure::is_high(&context.func) {
                far::keep_in_memory(&mut context.func);
                isa = &quick;
            }
            Ok((function, compile_one(function, &mut context, &**isa, listing)?))
        };
        chunk.iter().map(compile).collect::<Result<Vec<_>, Error>>()
    });
    compiled.into_iter().collect::<Result<Vec<_>, Error>>().map(|chunks| chunks.into_iter().flatten().collect())
}

/// Compiles the function that the context holds.
fn compile_one(
    function: &Pending,
    context: &mut Context,
    isa: &dyn TargetIsa,
    listing: bool,
) -> Result<Compiled, Error> {
    context.set_disasm(listing);
    let bug = |message: String| Error::Bug { name: function.name.clone(), message };
    if let Err(error) = context.compile(isa, &mut ControlPlane::default()) {
        return Err(bug(format!("{:?}", error.inner)));
    }
    let mut compiled = context.take_compiled_code().ok_or_else(|| bug("no code".to_string()))?;
    let calls = callers::ends(&compiled);
    let description = debug::Code::of(&compiled, isa).map_err(|error| bug(error.to_string()))?;
    let relocations = compiled.buffer.relocs().iter();
    let relocations =
        relocations.map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, function.id)).collect();
    Ok(Compiled {
        alignment: u64::from(compiled.buffer.alignment),
        bytes: compiled.buffer.data().to_vec(),
        relocations,
        listing: compiled.vcode.take(),
        calls,
        description,
    })
}

/// Declares everything and translates all functions.
fn translate<'p>(
    program: &'p Program,
    isa: OwnedTargetIsa,
    options: &Options,
    library: Option<&Library>,
) -> Result<Unit<'p>, Error> {
    let mut unit = Unit::new(program, isa, options.sources, library.is_some())?;
    unit.profile = options.profile;
    if let Some(sources) = options.sources {
        unit.places = Places::new(program, sources, options.debug);
        unit.debug = options.debug.then(|| Debug::new(program, sources, &unit.places));
    }
    let mut context = FunctionBuilderContext::new();
    for id in program.functions.ids() {
        let code = function::translate(&mut unit, id, &mut context)?;
        unit.define(unit.functions[id], symbol(program, id), code);
    }
    let main = unit.define_entry(&mut context)?;
    match library {
        Some(library) => library::define(&mut unit, library, main, &mut context)?,
        None => {
            unit.define_constants()?;
            unit.define_release_globals(&mut context)?;
        }
    }
    Ok(unit)
}

/// The symbol of a function: its name for profilers, and its number, which makes it unique.
fn symbol(program: &Program, id: FuncId) -> String {
    let clean = |c: char| if c.is_control() || c.is_whitespace() || c == '@' { '_' } else { c };
    let name: String = program.functions[id].name.chars().map(clean).collect();
    format!("{name}.{}", id.index())
}

/// Cranelift's time grows with the square of the number of parameters, and it panics when there are far too many.
pub(super) fn demand_sizes(program: &Program) -> Result<(), Error> {
    for function in program.functions.values() {
        let size = function.params().len().max(function.results.len());
        if size > MOST_VALUES {
            let what = format!("`{}` takes or gives {size} values at once", function.name);
            return Err(Error::TooLarge { what });
        }
    }
    Ok(())
}

pub(super) fn module_error(name: &str, error: &ModuleError) -> Error {
    Error::Bug { name: name.to_string(), message: error.to_string() }
}

impl<'p> Unit<'p> {
    fn new(
        program: &'p Program,
        isa: OwnedTargetIsa,
        sources: Option<&SourceMap>,
        is_library: bool,
    ) -> Result<Unit<'p>, Error> {
        let bug = |error: ModuleError| module_error("the object file", &error);
        let architecture = isa.triple().architecture;
        let builder =
            ObjectBuilder::new(isa, "program.vlad", cranelift_module::default_libcall_names()).map_err(bug)?;
        let mut module = ObjectModule::new(builder);
        demand_sizes(program)?;
        let abis: EntityVec<FuncId, Abi> =
            program.functions.values().map(|function| abi::abi(function, architecture)).collect();
        let mut functions = EntityVec::new();
        for (id, abi) in abis.iter() {
            let declared = module.declare_function(&symbol(program, id), Linkage::Local, &abi.signature);
            functions.push(declared.map_err(bug)?);
        }
        let mut slots = EntityVec::new();
        for id in program.slots.ids() {
            if is_library {
                slots.push(Home::Context((layout::CONTEXT_BYTES + id.index() * layout::WORD) as i64));
                continue;
            }
            let cell = module.declare_data(&format!("global.{}", id.index()), Linkage::Local, true, false);
            let cell = cell.map_err(bug)?;
            module.define_data(cell, &zeros(8)).map_err(bug)?;
            slots.push(Home::Data(cell));
        }
        let texts = module.declare_data("texts", Linkage::Local, false, false).map_err(bug)?;
        let mut bytes = Vec::new();
        let mut text_offsets = vec![0];
        for text in program.texts.values() {
            bytes.extend_from_slice(without_callers(text).0.as_bytes());
            text_offsets.push(bytes.len());
        }
        bytes.push(0);
        let insts =
            program.functions.values().flat_map(|function| function.blocks.values()).flat_map(|block| &block.insts);
        let makes_texts = insts.into_iter().any(|inst| inst.op == Op::EndText);
        module.define_data(texts, &contents(bytes)).map_err(bug)?;
        let complaints = Complaints::new(program, sources, &mut module)?;
        let (constants, heap) = if is_library {
            // Behind the cells.
            (Home::Context((layout::CONTEXT_BYTES + program.slots.len() * layout::WORD) as i64), Home::Context(0))
        } else {
            let constants = module.declare_data("boxes", Linkage::Local, true, false).map_err(bug)?;
            let heap = module.declare_data("vlad_heap", Linkage::Import, true, false).map_err(bug)?;
            (Home::Data(constants), Home::Data(heap))
        };
        Ok(Unit {
            program,
            sums: boxes::layouts(program)?,
            abis,
            module,
            functions,
            slots,
            texts,
            text_offsets,
            makes_texts,
            text_table: None,
            complaints,
            constants,
            constant_boxes: Boxes::default(),
            heap,
            is_library,
            places: Places::default(),
            calls: Vec::new(),
            debug: None,
            profile: false,
            externals: FxHashMap::default(),
            pending: Vec::new(),
        })
    }

    /// The finished file, for that machine.
    pub fn into_object(self, machine: Machine) -> Result<Object, Error> {
        let has_math = self.externals.keys().any(|external| {
            matches!(external, External::Math(..) | External::MathPair(_) | External::MathAll(_) | External::SinCos)
        });
        let is_kernel =
            |external: &External| matches!(external, External::Runtime(name, ..) if name.starts_with("vlad_kernel_"));
        let has_kernels = self.externals.keys().any(is_kernel);
        let bug = |message: String| Error::Bug { name: "the object file".to_string(), message };
        let main = self.module.get_name(layout::PROFILE_ORIGIN);
        let mut product = self.module.finish();
        if let (Some(FuncOrDataId::Func(main)), false) = (main, self.is_library) {
            callers::write(&self.places, &self.calls, main, &mut product);
        }
        let is_described = self.debug.is_some();
        if let Some(debug) = self.debug {
            let symbols: Vec<_> = self.functions.values().copied().collect();
            debug.write(self.program, &symbols, &mut product).map_err(bug)?;
        }
        let bytes = product.emit().map_err(|error| bug(error.to_string()))?;
        Ok(Object { bytes, has_math, has_kernels, is_described, machine })
    }

    /// Where a text begins among all texts, and its length.
    pub fn text(&self, text: TextId) -> (usize, usize) {
        let start = self.text_offsets[text.index()];
        (start, self.text_offsets[text.index() + 1] - start)
    }

    /// The number of texts that the program has.
    pub fn text_count(&self) -> usize {
        self.text_offsets.len() - 1
    }

    /// A table of the beginnings of all texts, and of the end of the last one.
    pub fn text_table(&mut self) -> Result<DataId, Error> {
        if let Some(table) = self.text_table {
            return Ok(table);
        }
        let bug = |error: ModuleError| module_error("the table of texts", &error);
        let table = self.module.declare_data("text_offsets", Linkage::Local, false, false).map_err(bug)?;
        let bytes = self.text_offsets.iter().flat_map(|offset| (*offset as u64).to_le_bytes()).collect();
        self.module.define_data(table, &contents(bytes)).map_err(bug)?;
        self.text_table = Some(table);
        Ok(table)
    }

    fn define_constants(&mut self) -> Result<(), Error> {
        let Home::Data(constants) = self.constants else { return Ok(()) };
        let data = std::mem::take(&mut self.constant_boxes).into_data(&mut self.module, constants);
        self.module.define_data(constants, &data).map_err(|error| module_error("the constant boxes", &error))
    }

    /// The symbol of a function that is not part of the program.
    pub fn external(&mut self, external: External) -> Result<cranelift_module::FuncId, Error> {
        if let Some(id) = self.externals.get(&external) {
            return Ok(*id);
        }
        let (name, linkage) = match external {
            External::Math(name, _)
            | External::MathPair(name)
            | External::MathAll(name)
            | External::Runtime(name, ..) => (name.to_string(), Linkage::Import),
            External::Slow(name) => (format!("{name}.slow"), Linkage::Local),
            External::SinCos => ("vlad_sin_cos".to_string(), Linkage::Import),
            External::Free => ("vlad_free.quick".to_string(), Linkage::Local),
        };
        let signature = external.signature();
        let declared = self.module.declare_function(&name, linkage, &signature);
        let id = declared.map_err(|error| module_error(&name, &error))?;
        self.externals.insert(external, id);
        match external {
            External::Slow(runtime) => {
                let code = self.slow_call(runtime, signature)?;
                self.define(id, name, code);
            }
            External::Free => {
                let code = free::function(self, signature)?;
                self.define(id, name, code);
            }
            External::Math(..)
            | External::MathPair(_)
            | External::MathAll(_)
            | External::SinCos
            | External::Runtime(..) => {}
        }
        Ok(id)
    }

    /// A function that preserves all registers around a call of the run time.
    ///
    /// Values that live across a call of it need no place in memory, so a loop whose slow path calls it keeps all its
    /// values in registers.
    fn slow_call(&mut self, runtime: &'static str, signature: Signature) -> Result<ir::Function, Error> {
        let mut code = ir::Function::with_name_signature(UserFuncName::default(), signature);
        let callee = self.external(External::Runtime(runtime, &[types::I64, types::I64], None))?;
        let callee = self.import(callee, &mut code);
        let mut context = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut code, &mut context);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let operand = builder.block_params(block)[0];
        let heap = self.home(&mut builder, self.heap);
        builder.ins().call(callee, &[operand, heap]);
        // What the run time makes for itself is from no place.
        let none = builder.ins().iconst(types::I64, 0);
        builder.ins().store(function::TRUSTED, none, heap, layout::HEAP_COMPLAINT);
        builder.ins().return_(&[]);
        self.finish(builder);
        Ok(code)
    }

    /// The address of something that changes while the program runs.
    pub fn home(&mut self, builder: &mut FunctionBuilder, home: Home) -> ir::Value {
        match home {
            Home::Data(id) => {
                let global = self.module.declare_data_in_func(id, builder.func);
                if let ir::GlobalValueData::Symbol { colocated, .. } = &mut builder.func.global_values[global] {
                    *colocated = true;
                }
                builder.ins().symbol_value(types::I64, global)
            }
            Home::Context(offset) => {
                let context = builder.ins().get_pinned_reg(types::I64);
                if offset == 0 { context } else { builder.ins().iadd_imm_s(context, offset) }
            }
        }
    }

    /// Makes a function callable in `code`, directly: everything ends up in one executable, except functions of
    /// the C library, for which the linker puts a stub into it.
    pub fn import(&mut self, id: cranelift_module::FuncId, code: &mut ir::Function) -> ir::FuncRef {
        let reference = self.module.declare_func_in_func(id, code);
        code.dfg.ext_funcs[reference].colocated = true;
        reference
    }

    /// Ends the building of a function.
    pub fn finish(&self, mut builder: FunctionBuilder) {
        builder.seal_all_blocks();
        builder.finalize(self.module.isa().frontend_config());
    }

    pub(super) fn define(&mut self, id: cranelift_module::FuncId, name: String, mut code: ir::Function) {
        code.name = UserFuncName::user(0, id.as_u32());
        self.pending.push(Pending { id, name, code });
    }

    /// `vlad_main`, which the run time calls.
    fn define_entry(&mut self, context: &mut FunctionBuilderContext) -> Result<cranelift_module::FuncId, Error> {
        let main = self.program.main.map(|main| self.functions[main]);
        self.define_exported(layout::PROFILE_ORIGIN, context, |unit, builder| {
            let joins = !unit.is_library && ranks::divides(unit.program);
            for (name, _) in [("vlad_profile", unit.profile), (ranks::JOIN, joins)].iter().filter(|(_, first)| *first) {
                let function = unit.external(External::Runtime(name, &[], None))?;
                let function = unit.import(function, builder.func);
                builder.ins().call(function, &[]);
            }
            unit.prepare_arguments(builder)?;
            if let Some(main) = main {
                let main = unit.import(main, builder.func);
                builder.ins().call(main, &[]);
            }
            Ok(())
        })
    }

    /// Lets the run time hold the command line against what the program declares. Programs without a declaration do
    /// without part of that.
    fn prepare_arguments(&mut self, builder: &mut FunctionBuilder) -> Result<(), Error> {
        // Libraries have no command line.
        if self.is_library {
            return Ok(());
        }
        let declaration = self.program.arguments.as_bytes();
        let identity = builder.ins().iconst(types::I64, self.program.identity as i64);
        if declaration.is_empty() {
            let prepare = self.external(External::Runtime("vlad_prepare_options", &[types::I64], None))?;
            let prepare = self.import(prepare, builder.func);
            builder.ins().call(prepare, &[identity]);
            return Ok(());
        }
        let bug = |error: ModuleError| module_error("the declaration of arguments", &error);
        let data = self.module.declare_data("arguments", Linkage::Local, false, false).map_err(bug)?;
        self.module.define_data(data, &contents(declaration.to_vec())).map_err(bug)?;
        let prepare = External::Runtime("vlad_prepare_arguments", &[types::I64; 3], None);
        let prepare = self.external(prepare)?;
        let prepare = self.import(prepare, builder.func);
        let data = self.module.declare_data_in_func(data, builder.func);
        let address = builder.ins().symbol_value(types::I64, data);
        let length = builder.ins().iconst(types::I64, declaration.len() as i64);
        builder.ins().call(prepare, &[identity, address, length]);
        Ok(())
    }

    /// `vlad_release_globals`, which the run time calls before it counts the boxes that are still alive.
    fn define_release_globals(&mut self, context: &mut FunctionBuilderContext) -> Result<(), Error> {
        self.define_exported("vlad_release_globals", context, |unit, builder| {
            function::release_globals(unit, builder)
        })?;
        Ok(())
    }

    /// `vlad_needed_processor`: the extensions of the processor that the program may use.
    fn define_needed_processor(&mut self, needed: u64) -> Result<(), Error> {
        let name = "vlad_needed_processor";
        let bytes = [*processor::MARK, needed.to_le_bytes()].concat();
        let data = self.module.declare_data(name, Linkage::Export, false, false);
        let data = data.map_err(|error| module_error(name, &error))?;
        self.module.define_data(data, &contents(bytes)).map_err(|error| module_error(name, &error))
    }

    fn define_exported(
        &mut self,
        name: &str,
        context: &mut FunctionBuilderContext,
        body: impl FnOnce(&mut Self, &mut FunctionBuilder) -> Result<(), Error>,
    ) -> Result<cranelift_module::FuncId, Error> {
        let signature = Signature::new(CallConv::SystemV);
        let declared = self.module.declare_function(name, Linkage::Export, &signature);
        let id = declared.map_err(|error| module_error(name, &error))?;
        let mut code = ir::Function::with_name_signature(UserFuncName::default(), signature);
        let mut builder = FunctionBuilder::new(&mut code, context);
        let block = builder.create_block();
        builder.switch_to_block(block);
        body(self, &mut builder)?;
        builder.ins().return_(&[]);
        self.finish(builder);
        self.define(id, name.to_string(), code);
        Ok(id)
    }

    /// Replaces Cranelift's names of symbols by their own: `u0:7` for functions, `u1:7` for data, and in assembly
    /// language `userextname0` for the first symbol that the function uses.
    fn with_names(&self, text: &str, code: &ir::Function) -> String {
        let mut named = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('u') {
            let (before, tail) = rest.split_at(at);
            named.push_str(before);
            let found = ["u0:", "u1:", "userextname"].iter().zip(0..).find_map(|(prefix, namespace)| {
                let digits = tail.strip_prefix(prefix)?;
                let length = digits.bytes().take_while(u8::is_ascii_digit).count();
                let name = self.symbol_name(namespace, digits[..length].parse().ok()?, code)?;
                Some((name, prefix.len() + length))
            });
            let (name, length) = found.unwrap_or_else(|| ("u".to_string(), 1));
            named.push_str(&name);
            rest = &tail[length..];
        }
        named.push_str(rest);
        named
    }

    /// The name of a function (namespace 0), data object (1) or symbol that `code` uses (2).
    fn symbol_name(&self, namespace: u32, number: u32, code: &ir::Function) -> Option<String> {
        let declarations = self.module.declarations();
        match namespace {
            0 => {
                let id = cranelift_module::FuncId::from_u32(number);
                Some(declarations.get_function_decl(id).linkage_name(id).into_owned())
            }
            1 => {
                let id = DataId::from_u32(number);
                Some(declarations.get_data_decl(id).linkage_name(id).into_owned())
            }
            _ => {
                let name = code.params.user_named_funcs().get(ir::UserExternalNameRef::from_u32(number))?;
                self.symbol_name(name.namespace.min(1), name.index, code)
            }
        }
    }
}

impl External {
    /// How to call it.
    fn signature(self) -> Signature {
        match self {
            External::Math(_, operands) => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.resize(operands, AbiParam::new(types::F64));
                signature.returns.push(AbiParam::new(types::F64));
                signature
            }
            External::MathPair(_) | External::SinCos => {
                let mut signature = Signature::new(CallConv::SystemV);
                let operand = if self == External::SinCos { types::F64 } else { types::F64X2 };
                signature.params.push(AbiParam::new(operand));
                signature.returns.push(AbiParam::new(types::F64X2));
                signature
            }
            External::MathAll(_) => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.resize(2, AbiParam::new(types::I64));
                signature
            }
            External::Runtime(_, params, result) => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
                signature.returns.extend(result.map(AbiParam::new));
                signature
            }
            External::Slow(_) | External::Free => {
                let mut signature = Signature::new(CallConv::PreserveAll);
                signature.params.push(AbiParam::new(types::I64));
                signature
            }
        }
    }
}

fn zeros(size: usize) -> DataDescription {
    let mut data = DataDescription::new();
    data.define_zeroinit(size);
    data.set_align(8);
    data
}

pub(super) fn contents(bytes: Vec<u8>) -> DataDescription {
    let mut data = DataDescription::new();
    data.define(bytes.into_boxed_slice());
    data.set_align(8);
    data
}
