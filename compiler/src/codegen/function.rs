//! One SSA function → one Cranelift function: values, blocks and terminators.
//!
//! ```text
//! b0: v2 = mul v0, v1              block0(v0: f64, v1: f64):
//!     branch v3, b1(v2), b2    →       v2 = fmul v0, v1
//!                                      brif v3, block1(v2), block2
//! ```
//!
//! Blocks are visited so that definitions come before their uses. Blocks that end in an error are marked cold.

use crate::base::entity::Entity;
use crate::base::{EntityVec, Span};
use crate::codegen::abi::{Abi, Place, clif_type};
use crate::codegen::callers::Places;
use crate::codegen::constants::Constants;
use crate::codegen::decisions::adjacent::adjacent;
use crate::codegen::decisions::in_place::first_names;
use crate::codegen::decisions::loop_values::{self, LoopValues, Used};
use crate::codegen::decisions::operands::{Homes, fields_in_place, to_swap};
use crate::codegen::decisions::ownership::{Facts, Plan};
use crate::codegen::decisions::reuse::Reuse;
use crate::codegen::unit::{External, Home, Unit};
use crate::codegen::{Error, layout};
use crate::ssa::graph::{Graph, reverse_postorder};
use crate::ssa::ir::{Block, BlockId, FuncId, Function, Inst, Op, Real1, Target, Terminator, TextId, Type, Value};
use crate::ssa::kinds::without_callers;
use crate::ssa::sole_owners::sole_owners;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{
    self, BlockArg, BlockCall, InstBuilder, InstructionData, JumpTableData, MemFlagsData, SourceLoc, StackSlotData,
    StackSlotKind, TrapCode, UserFuncName, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_module::DataId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Switches with up to this many targets are chains of comparisons.
const SHORT_SWITCH: usize = 4;

/// What stands where code cannot be reached.
pub(super) const UNREACHABLE: TrapCode = TrapCode::unwrap_user(1);

/// All memory that compiled code touches is mapped and aligned.
pub(super) const TRUSTED: MemFlagsData = MemFlagsData::trusted();

/// Where the value of an SSA value is.
#[derive(Clone, Copy)]
enum Held {
    Value(ir::Value),
    /// At an offset from an address, from its definition on: it is loaded for each use.
    Memory(ir::Value, i32, ir::Type),
    /// In its own block; in others, the constant is made for each use: it would be saved and restored on the way there.
    Constant(ir::Value, BlockId, Op),
}

/// The state of the translation of one function.
pub(super) struct Translator<'u, 'p, 'b> {
    pub(super) unit: &'u mut Unit<'p>,
    pub(super) function: &'p Function,
    pub(super) builder: FunctionBuilder<'b>,
    abi: Abi,
    values: Vec<Option<Held>>,
    blocks: EntityVec<BlockId, ir::Block>,
    /// The block that is being translated.
    here: BlockId,
    /// Where in the source the instruction stands that is being translated.
    pub(super) span: Option<Span>,
    /// What is told of that place.
    location: SourceLoc,
    /// The blocks that go on in their loop where their condition holds, and else leave it.
    going_on: FxHashSet<BlockId>,
    loop_values: LoopValues,
    /// The value that stands for each value, see [`crate::codegen::decisions::in_place`].
    first_names: EntityVec<Value, Value>,
    /// What integers of the block that is being translated are: another one and a constant.
    pub(super) sums: FxHashMap<Value, (ir::Value, i64)>,
    /// The names that values have in the inner loop that a block begins.
    names: FxHashMap<(BlockId, Value), ir::Value>,
    /// The names of where the elements of vectors begin, likewise.
    starts: FxHashMap<(BlockId, Value), ir::Value>,
    /// Blocks between a branch and a loop that it goes to, which have no code yet.
    edges: Vec<(ir::Block, &'p Target)>,
    /// Vectors that nobody else owns.
    pub(super) sole_owners: EntityVec<Value, bool>,
    /// Vectors whose elements stand behind their headers.
    adjacent: EntityVec<Value, bool>,
    /// Where the caller wants the results that are not in registers.
    result_address: Option<ir::Value>,
    /// For each size class, the box that is kept aside, see [`crate::codegen::decisions::reuse`].
    pub(super) kept: FxHashMap<usize, Variable>,
    functions: FxHashMap<cranelift_module::FuncId, ir::FuncRef>,
    data: FxHashMap<DataId, ir::GlobalValue>,
}

/// The blocks that go on in a loop where their condition holds, and else leave it.
fn going_on(function: &Function) -> FxHashSet<BlockId> {
    let graph = Graph::new(function);
    let mut found = FxHashSet::default();
    for header in graph.order.iter().filter(|block| graph.is_loop_header(**block)) {
        let body = graph.loop_body(*header);
        for id in graph.order.iter().filter(|id| body[**id]) {
            if let Terminator::Branch(_, yes, no) = &function.blocks[*id].terminator
                && body[yes.block]
                && !body[no.block]
            {
                found.insert(*id);
            }
        }
    }
    found
}

/// The conditions that all have to hold so that one does, of those that a block's instructions make.
fn conjuncts(insts: &[Inst], condition: Value) -> Vec<Value> {
    match insts.iter().find(|inst| inst.results[..] == [condition]) {
        Some(inst) if inst.op == Op::And => inst.args.iter().flat_map(|arg| conjuncts(insts, *arg)).collect(),
        _ => vec![condition],
    }
}

/// By the positions of instructions that are the sine or the cosine of a number of which the other follows in the block:
/// the sine and the cosine.
pub(super) fn sines_and_cosines(block: &Block) -> FxHashMap<usize, (Value, Value)> {
    let mut pairs = FxHashMap::default();
    // What follows, by operand.
    let (mut sines, mut cosines) = (FxHashMap::default(), FxHashMap::default());
    for (position, inst) in block.insts.iter().enumerate().rev() {
        let Op::Real1(op @ (Real1::Sin | Real1::Cos)) = inst.op else { continue };
        let (operand, result) = (inst.args[0], inst.results[0]);
        let (own, others) = if op == Real1::Sin { (&mut sines, &cosines) } else { (&mut cosines, &sines) };
        if let Some(other) = others.get(&operand) {
            pairs.insert(position, if op == Real1::Sin { (result, *other) } else { (*other, result) });
        }
        own.insert(operand, result);
    }
    pairs
}

/// Translates a function of the program.
pub fn translate(unit: &mut Unit, id: FuncId, context: &mut FunctionBuilderContext) -> Result<ir::Function, Error> {
    let function = &unit.program.functions[id];
    let abi = unit.abis[id].clone();
    let mut code = ir::Function::with_name_signature(UserFuncName::default(), abi.signature.clone());
    let mut builder = FunctionBuilder::new(&mut code, context);
    let order = reverse_postorder(function);
    let blocks = function.blocks.ids().map(|_| builder.create_block()).collect();
    let values = vec![None; function.values.len()];
    let facts = Facts::new(function);
    let constants = Constants::new(function, &unit.sums, &mut unit.constant_boxes);
    let plans: EntityVec<BlockId, Plan> = function.blocks.ids().map(|block| facts.plan(function, block)).collect();
    let reuse = Reuse::new(function, &order, &plans, &unit.sums, &constants);
    let sole_owners = sole_owners(function);
    let adjacent = adjacent(function);
    let first_names = first_names(function, &sole_owners);
    let needs_start = |inst: &Inst| {
        let vector = match inst.op {
            Op::Element(vector, _) | Op::Elements(vector, _) => vector,
            Op::WithElement(vector) | Op::WithElements(vector) if sole_owners[inst.args[0]] => vector,
            _ => return false,
        };
        !unit.program.vectors[vector].has_pointers() && !adjacent[inst.args[0]]
    };
    let loop_values =
        LoopValues::new(function, &loop_values::Facts { first_names: &first_names, needs_start: &needs_start });
    let mut translator = Translator {
        unit,
        function,
        builder,
        abi,
        values,
        blocks,
        here: Function::ENTRY,
        span: None,
        location: SourceLoc::default(),
        going_on: going_on(function),
        loop_values,
        first_names,
        sums: FxHashMap::default(),
        names: FxHashMap::default(),
        starts: FxHashMap::default(),
        edges: Vec::new(),
        sole_owners,
        adjacent,
        result_address: None,
        kept: FxHashMap::default(),
        functions: FxHashMap::default(),
        data: FxHashMap::default(),
    };
    let homes = Homes::new(function);
    for block in order {
        let in_place = fields_in_place(function, block, &homes);
        let swapped = to_swap(function, block, &homes, &in_place);
        translator.block(block, &plans[block], &reuse, &constants, [&in_place, &swapped])?;
    }
    let Translator { unit, builder, .. } = translator;
    unit.finish(builder);
    Ok(code)
}

/// The code that releases the content of every global that is a pointer.
pub fn release_globals(unit: &mut Unit, builder: &mut FunctionBuilder) -> Result<(), Error> {
    let release = unit.external(External::Runtime("vlad_release", &[types::I64, types::I64], None))?;
    let release = unit.import(release, builder.func);
    for (slot, ty) in unit.program.slots.iter() {
        if *ty == Type::Ptr {
            let address = unit.home(builder, unit.slots[slot]);
            let value = builder.ins().load(types::I64, TRUSTED, address, 0);
            let heap = unit.home(builder, unit.heap);
            builder.ins().call(release, &[value, heap]);
        }
    }
    Ok(())
}

impl<'p> Translator<'_, 'p, '_> {
    fn block(
        &mut self,
        id: BlockId,
        plan: &Plan,
        reuse: &Reuse,
        constants: &Constants,
        [in_place, swapped]: [&[bool]; 2],
    ) -> Result<(), Error> {
        let function: &'p Function = self.function;
        let source = &function.blocks[id];
        let block = self.blocks[id];
        if id == Function::ENTRY && self.abi.result_bytes > 0 {
            self.result_address = Some(self.builder.append_block_param(block, types::I64));
        }
        for param in &source.params {
            if self.first_names[*param] != *param {
                continue;
            }
            let value = self.builder.append_block_param(block, clif_type(function.values[*param]));
            self.define(*param, value);
        }
        for used in self.loop_values.used(id).to_vec() {
            let name = self.builder.append_block_param(block, clif_type(function.values[used.value()]));
            match used {
                Used::Value(value) => self.names.insert((id, value), name),
                Used::Start(vector, _) => self.starts.insert((id, vector), name),
            };
        }
        let reports =
            |inst: &Inst| matches!(inst.op, Op::Call(callee) if self.unit.program.reporters.contains(&callee));
        let is_cold = matches!(source.terminator, Terminator::Fail(..) | Terminator::Unreachable)
            || !self.unit.program.reporters.is_empty() && source.insts.iter().any(reports);
        if is_cold && id != Function::ENTRY {
            self.builder.set_cold_block(block);
        }
        self.builder.switch_to_block(block);
        self.here = id;
        self.sums.clear();
        if id == Function::ENTRY {
            if self.unit.is_library {
                self.demand_stack()?;
            }
            for class in reuse.classes() {
                let kept = self.builder.declare_var(types::I64);
                self.kept.insert(class, kept);
                self.keep_nothing(kept);
            }
        }
        if let Some(first) = source.insts.iter().find(|inst| inst.span.is_some()) {
            self.stand_at(first);
        }
        let pairs = sines_and_cosines(source);
        for (position, inst) in source.insts.iter().enumerate() {
            if constants.needs_no_code(inst) {
                continue;
            }
            self.stand_at(inst);
            if let Some(place) = constants.place(inst) {
                self.constant_box(inst.results[0], place, constants.given(inst));
            } else if let Some(known) = plan.releases.get(&position) {
                self.release_known(inst.args[0], known, reuse.is_at(id, position))?;
            } else if let Op::Box(sum, tag) = inst.op {
                let fields =
                    inst.args.iter().map(|arg| self.is_defined(*arg).then(|| self.value(*arg))).collect::<Vec<_>>();
                let address = self.new_box(sum, tag, &fields, reuse.is_at(id, position))?;
                self.define(inst.results[0], address);
            } else if let (Op::Field(sum, tag, field), true) = (inst.op, in_place[position]) {
                let address = self.value(inst.args[0]);
                let offset = self.field_offset(sum, tag, field);
                self.values[inst.results[0].index()] = Some(Held::Memory(address, offset, types::F64));
            } else if let Some((sine, cosine)) = pairs.get(&position) {
                self.sin_cos(inst.args[0], *sine, *cosine)?;
            } else if !plan.skipped.contains(&position)
                && inst.results.iter().all(|result| self.values[result.index()].is_none())
            {
                self.instruction(inst, swapped[position])?;
            }
        }
        self.terminator(&source.terminator)
    }

    /// Goes on to the code of an instruction. One that is from no place belongs to what is before it.
    fn stand_at(&mut self, inst: &Inst) {
        self.span = inst.span.map(|source| source.span);
        let is_call = matches!(inst.op, Op::Call(_));
        let is_told = is_call || self.unit.debug.is_some();
        match inst.span.filter(|_| is_told).and_then(|source| self.unit.places.location(source)) {
            Some(location) => self.location = location,
            // A call that is from no place is not at the one before it.
            None if is_call || !is_told => self.location = SourceLoc::default(),
            None => {}
        }
        self.builder.set_srcloc(if is_call { Places::of_call(self.location) } else { self.location });
    }

    /// The Cranelift value of an SSA value.
    pub(super) fn value(&mut self, value: Value) -> ir::Value {
        let value = self.first_names[value];
        if let Some(name) = self.loop_values.loop_of(self.here).and_then(|header| self.names.get(&(header, value))) {
            return *name;
        }
        // Definitions dominate uses, and dominating blocks are visited first.
        let held = self.values[value.index()];
        match held.unwrap_or_else(|| panic!("{value} of {} has no code", self.function.name)) {
            Held::Value(value) => value,
            Held::Memory(address, offset, ty) => self.builder.ins().load(ty, TRUSTED, address, offset),
            Held::Constant(value, home, _) if home == self.here => value,
            Held::Constant(_, _, op) => self.constant(op),
        }
    }

    /// Where the elements of a vector without pointer fields begin: an address, and an offset from it.
    pub(super) fn start(&mut self, vector: Value) -> (ir::Value, i32) {
        let first = self.first_names[vector];
        if self.adjacent[vector] || self.adjacent[first] {
            return (self.value(first), (layout::VECTOR_HEADER_WORDS * layout::WORD) as i32);
        }
        if let Some(start) = self.named_start(first) {
            return (start, 0);
        }
        let elements = self.value(first);
        (self.builder.ins().load(types::I64, TRUSTED, elements, layout::ELEMENTS_OFFSET), 0)
    }

    /// Where the elements of a vector begin that a loop reads which begins next; unless it certainly reads them, some
    /// address if the value is no vector now.
    fn start_before(&mut self, vector: Value, is_certain: bool) -> ir::Value {
        let vector = self.first_names[vector];
        if let Some(start) = self.named_start(vector) {
            return start;
        }
        let elements = self.value(vector);
        if is_certain {
            return self.builder.ins().load(types::I64, TRUSTED, elements, layout::ELEMENTS_OFFSET);
        }
        let is_box =
            self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, elements, layout::IMMEDIATES as i64);
        let any = self.home(self.unit.heap);
        let address = self.builder.ins().select(is_box, elements, any);
        self.builder.ins().load(types::I64, TRUSTED, address, layout::ELEMENTS_OFFSET)
    }

    fn named_start(&self, vector: Value) -> Option<ir::Value> {
        let header = self.loop_values.loop_of(self.here)?;
        self.starts.get(&(header, vector)).copied()
    }

    /// Sets an SSA value to a constant.
    pub(super) fn define_constant(&mut self, value: Value, op: Op) {
        let constant = self.constant(op);
        self.values[value.index()] = Some(Held::Constant(constant, self.here, op));
    }

    /// The constant that an SSA value is.
    pub(super) fn constant_of(&self, value: Value) -> Option<Op> {
        match self.values[value.index()] {
            Some(Held::Constant(_, _, op)) => Some(op),
            _ => None,
        }
    }

    fn constant(&mut self, op: Op) -> ir::Value {
        match op {
            Op::ConstReal(bits) => self.builder.ins().f64const(Ieee64::with_bits(bits)),
            Op::ConstBool(value) => self.builder.ins().iconst(types::I8, i64::from(value)),
            Op::ConstInt(value) => self.builder.ins().iconst(types::I64, value),
            Op::Immediate(_, tag) => self.builder.ins().iconst(types::I64, i64::from(tag)),
            _ => panic!("{op:?} is no constant"),
        }
    }

    /// False for what is vacant.
    fn is_defined(&self, value: Value) -> bool {
        self.values[self.first_names[value].index()].is_some()
    }

    /// Sets the Cranelift value of an SSA value.
    pub(super) fn define(&mut self, value: Value, definition: ir::Value) {
        self.values[value.index()] = Some(Held::Value(definition));
    }

    fn all(&mut self, values: &[Value]) -> Vec<ir::Value> {
        values.iter().map(|value| self.value(*value)).collect()
    }

    /// What a jump passes, given whether control goes nowhere else.
    fn arguments(&mut self, target: &Target, is_alone: bool) -> (ir::Block, Vec<BlockArg>) {
        let names = self.loop_values.used(target.block).to_vec();
        let params = &self.function.blocks[target.block].params;
        let passed = target.args.iter().zip(params).filter(|(_, param)| self.first_names[**param] == **param);
        let passed: Vec<Used> = passed.map(|(arg, _)| Used::Value(*arg)).chain(names).collect();
        let block = self.blocks[target.block];
        let passed = passed.into_iter().map(|arg| {
            BlockArg::Value(match arg {
                Used::Value(value) => self.value(value),
                Used::Start(vector, is_certain) => self.start_before(vector, is_certain && is_alone),
            })
        });
        (block, passed.collect())
    }

    /// What one way of a branch passes. Where a loop begins that has to know where vectors begin, this is read on the
    /// way.
    fn branch_arguments(&mut self, target: &'p Target) -> (ir::Block, Vec<BlockArg>) {
        let reads = |used: &Used| match used {
            Used::Start(vector, is_certain) => *is_certain && self.named_start(self.first_names[*vector]).is_none(),
            Used::Value(_) => false,
        };
        if self.loop_values.used(target.block).iter().any(reads) {
            let edge = self.builder.create_block();
            self.edges.push((edge, target));
            return (edge, Vec::new());
        }
        self.arguments(target, false)
    }

    /// The code of the blocks behind a branch.
    fn end_branch(&mut self) {
        for (edge, target) in std::mem::take(&mut self.edges) {
            self.builder.switch_to_block(edge);
            let (block, args) = self.arguments(target, true);
            self.builder.ins().jump(block, &args);
        }
    }

    fn terminator(&mut self, terminator: &'p Terminator) -> Result<(), Error> {
        match terminator {
            Terminator::Jump(target) => {
                let (block, args) = self.arguments(target, true);
                self.builder.ins().jump(block, &args);
            }
            Terminator::Branch(condition, yes, no) => self.branch(*condition, yes, no),
            Terminator::Switch(value, targets) => self.switch(*value, targets),
            Terminator::Return(values) => self.return_values(values),
            Terminator::TailCall(callee, args) => {
                let args: Vec<ir::Value> = self.result_address.into_iter().chain(self.all(args)).collect();
                let callee = self.function_reference(self.unit.functions[*callee]);
                self.builder.ins().return_call(callee, &args);
            }
            Terminator::Fail(text, place) => {
                let (address, length) = self.text(*text);
                if self.unit.is_library {
                    self.call_with_context("vlad_context_fail", &[types::I64; 3], &[address, length])?;
                } else {
                    let notes = without_callers(&self.unit.program.texts[*text]).1;
                    let place = notes.map_or(0, |(indent, is_first)| {
                        let place = place.map_or(0, |place| self.unit.places.failure(place, self.unit.program));
                        let first = if is_first { layout::FAILURE_FIRST_NOTE } else { 0 };
                        place | (indent as u64) << layout::FAILURE_INDENT | first
                    });
                    let frame = self.builder.ins().get_frame_pointer(types::I64);
                    let place = self.builder.ins().iconst(types::I64, place as i64);
                    self.call_external(
                        External::Runtime("vlad_fail_within", &[types::I64; 4], None),
                        &[address, length, frame, place],
                    )?;
                }
                self.builder.ins().trap(UNREACHABLE);
            }
            Terminator::Unreachable => {
                if self.unit.is_library {
                    self.call_with_context("vlad_context_unreachable", &[types::I64], &[])?;
                }
                self.builder.ins().trap(UNREACHABLE);
            }
        }
        Ok(())
    }

    /// A branch; where several conditions have to hold, there is one for each, which need not be made values then.
    fn branch(&mut self, condition: Value, yes: &'p Target, no: &'p Target) {
        let mut conditions = conjuncts(&self.function.blocks[self.here].insts, condition);
        let last = conditions.pop().expect("there is one at least");
        let last = self.value(last);
        let conditions: Vec<ir::Value> = conditions.into_iter().map(|condition| self.value(condition)).collect();
        let (yes, yes_args) = self.branch_arguments(yes);
        let (no, no_args) = self.branch_arguments(no);
        for condition in conditions {
            let next = self.builder.create_block();
            match self.opposite(condition) {
                Some(opposite) => self.builder.ins().brif(opposite, no, &no_args, next, &[]),
                None => self.builder.ins().brif(condition, next, &[], no, &no_args),
            };
            self.builder.switch_to_block(next);
        }
        // Cranelift places the second target closer to the branch: a loop should lie in one piece, or values that
        // live across it change their places in each round.
        let opposite = if self.going_on.contains(&self.here) { self.opposite(last) } else { None };
        match opposite {
            Some(opposite) => self.builder.ins().brif(opposite, no, &no_args, yes, &yes_args),
            None => self.builder.ins().brif(last, yes, &yes_args, no, &no_args),
        };
        self.end_branch();
    }

    /// The opposite of a comparison.
    fn opposite(&mut self, condition: ir::Value) -> Option<ir::Value> {
        let inst = self.builder.func.dfg.value_def(condition).inst()?;
        match self.builder.func.dfg.insts[inst] {
            InstructionData::IntCompare { cond, args: [x, y], .. } => {
                Some(self.builder.ins().icmp(cond.complement(), x, y))
            }
            InstructionData::FloatCompare { cond, args: [x, y], .. } => {
                Some(self.builder.ins().fcmp(cond.complement(), x, y))
            }
            _ => None,
        }
    }

    fn switch(&mut self, value: Value, targets: &[Target]) {
        let value = self.value(value);
        let Some((last, others)) = targets.split_last() else {
            self.builder.ins().trap(UNREACHABLE);
            return;
        };
        if targets.len() <= SHORT_SWITCH {
            for (index, target) in others.iter().enumerate() {
                let is_this = self.builder.ins().icmp_imm_u(IntCC::Equal, value, index as i64);
                let (block, args) = self.arguments(target, false);
                let next = self.builder.create_block();
                self.builder.ins().brif(is_this, block, &args, next, &[]);
                self.builder.switch_to_block(next);
            }
            let (block, args) = self.arguments(last, false);
            self.builder.ins().jump(block, &args);
            return;
        }
        let mut call = |target: &Target| {
            let (block, args) = self.arguments(target, false);
            BlockCall::new(block, args, &mut self.builder.func.dfg.value_lists)
        };
        // The value is always in range, so the last target is the default that Cranelift demands. It must not be in the
        // table as well: two calls with one list of arguments would be rewritten twice.
        let calls: Vec<BlockCall> = others.iter().map(&mut call).collect();
        let table = JumpTableData::new(call(last), &calls);
        let table = self.builder.create_jump_table(table);
        let index = self.builder.ins().ireduce(types::I32, value);
        self.builder.ins().br_table(index, table);
    }

    fn return_values(&mut self, values: &[Value]) {
        let mut registers = Vec::new();
        for (value, place) in self.all(values).into_iter().zip(self.abi.results.clone()) {
            match (place, self.result_address) {
                (Place::Memory(offset), Some(address)) => {
                    self.builder.ins().store(TRUSTED, value, address, offset);
                }
                _ => registers.push(value),
            }
        }
        self.builder.ins().return_(&registers);
    }

    /// A call of a function of the program.
    pub(super) fn call(&mut self, callee: FuncId, args: &[Value], results: &[Value]) {
        let abi = self.unit.abis[callee].clone();
        let memory = (abi.result_bytes > 0).then(|| {
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, abi.result_bytes, 3);
            let slot = self.builder.create_sized_stack_slot(slot);
            self.builder.ins().stack_addr(types::I64, slot, 0)
        });
        let args: Vec<ir::Value> = memory.into_iter().chain(self.all(args)).collect();
        let callee = self.function_reference(self.unit.functions[callee]);
        let call = self.builder.ins().call(callee, &args);
        let mut registers = self.builder.inst_results(call).to_vec().into_iter();
        for (result, place) in results.iter().zip(abi.results) {
            self.values[result.index()] = Some(match (place, memory) {
                (Place::Memory(offset), Some(address)) => {
                    Held::Memory(address, offset, clif_type(self.function.values[*result]))
                }
                _ => Held::Value(
                    registers.next().expect("the signature has a return value for each result in a register"),
                ),
            });
        }
    }

    /// A call of a function that is not part of the program; its result, if it has one.
    pub(super) fn call_external(&mut self, callee: External, args: &[ir::Value]) -> Result<Option<ir::Value>, Error> {
        let callee = self.unit.external(callee)?;
        let callee = self.function_reference(callee);
        let call = self.builder.ins().call(callee, args);
        Ok(self.builder.inst_results(call).first().copied())
    }

    fn function_reference(&mut self, id: cranelift_module::FuncId) -> ir::FuncRef {
        if let Some(reference) = self.functions.get(&id) {
            return *reference;
        }
        let reference = self.unit.import(id, self.builder.func);
        self.functions.insert(id, reference);
        reference
    }

    /// The address of something that changes while the program runs.
    pub(super) fn home(&mut self, home: Home) -> ir::Value {
        match home {
            Home::Data(id) => self.data_address(id),
            Home::Context(_) => self.unit.home(&mut self.builder, home),
        }
    }

    /// The address of a data object.
    pub(super) fn data_address(&mut self, id: DataId) -> ir::Value {
        use cranelift_module::Module;
        let global = *self.data.entry(id).or_insert_with(|| {
            let global = self.unit.module.declare_data_in_func(id, self.builder.func);
            if let ir::GlobalValueData::Symbol { colocated, .. } = &mut self.builder.func.global_values[global] {
                // Data of the run time are part of the same executable.
                *colocated = true;
            }
            global
        });
        self.builder.ins().symbol_value(types::I64, global)
    }

    /// The address and the length of a text.
    pub(super) fn text(&mut self, text: TextId) -> (ir::Value, ir::Value) {
        let (start, length) = self.unit.text(text);
        let texts = self.data_address(self.unit.texts);
        let address = self.builder.ins().iadd_imm_s(texts, start as i64);
        (address, self.builder.ins().iconst(types::I64, length as i64))
    }
}
