//! What passes over one function share: replacing values, finding definitions, counting uses.

use crate::base::EntityVec;
use crate::ssa::ir::{Block, BlockId, Function, Inst, Op, Source, SumId, Terminator, Type, Value, Values};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// Values that stand for other values of the same function.
#[derive(Clone, Debug)]
pub struct Replacements {
    map: EntityVec<Value, Option<Value>>,
    any: bool,
}

impl Replacements {
    /// No replacement yet.
    pub fn new(function: &Function) -> Replacements {
        Replacements { map: function.values.same_ids(None), any: false }
    }
    /// Lets `by` stand for `value` from now on; `by` is resolved already and not `value`.
    pub fn replace(&mut self, value: Value, by: Value) {
        debug_assert_ne!(value, by);
        self.map[value] = Some(by);
        self.any = true;
    }
    /// What stands for `value` in the end.
    pub fn resolve(&self, mut value: Value) -> Value {
        while let Some(Some(by)) = self.map.get(value) {
            value = *by;
        }
        value
    }
    /// True when there is something to replace.
    pub fn any(&self) -> bool {
        self.any
    }
    /// Replaces all uses in `function`.
    pub fn apply(&self, function: &mut Function) -> bool {
        let mut changed = false;
        if self.any {
            for block in function.blocks.values_mut() {
                block.for_each_use(|value| {
                    let by = self.resolve(*value);
                    changed |= by != *value;
                    *value = by;
                });
            }
        }
        changed
    }
}

/// The instruction that defines each value, by place. Blocks may change their instructions but not move them.
#[derive(Clone, Debug)]
pub struct Definitions {
    places: EntityVec<Value, Option<(BlockId, u32)>>,
    /// Instructions that are not in a block yet.
    added: FxHashMap<Value, Inst>,
}

impl Definitions {
    /// Finds all definitions.
    pub fn new(function: &Function) -> Definitions {
        let mut places = function.values.same_ids(None);
        for (block, data) in function.blocks.iter() {
            for (index, inst) in data.insts.iter().enumerate() {
                for value in &inst.results {
                    places[*value] = u32::try_from(index).ok().map(|index| (block, index));
                }
            }
        }
        Definitions { places, added: FxHashMap::default() }
    }
    /// The instruction that defines `value`, unless a block parameter or nothing does.
    pub fn inst<'f>(&'f self, function: &'f Function, value: Value) -> Option<&'f Inst> {
        let Some(place) = self.places.get(value) else {
            return self.added.get(&value);
        };
        let (block, index) = (*place)?;
        function.blocks[block].insts.get(index as usize)
    }
    /// Adds an instruction with one result that will be inserted.
    pub fn add(&mut self, inst: Inst) {
        self.added.insert(inst.results[0], inst);
    }
    /// The operation that defines `value`.
    pub fn op(&self, function: &Function, value: Value) -> Option<Op> {
        self.inst(function, value).map(|inst| inst.op)
    }
}

/// How often each value is used.
pub fn use_counts(function: &Function) -> EntityVec<Value, u32> {
    let mut counts = function.values.same_ids(0);
    for block in function.blocks.values() {
        block.for_each_value(|value| counts[value] += 1);
    }
    counts
}

/// The blocks that use each value.
pub fn using_blocks(function: &Function) -> EntityVec<Value, Vec<BlockId>> {
    let mut users: EntityVec<Value, Vec<BlockId>> = function.values.same_ids(Vec::new());
    for (id, block) in function.blocks.iter() {
        block.for_each_value(|value| {
            // Uses by one block follow each other.
            if users[value].last() != Some(&id) {
                users[value].push(id);
            }
        });
    }
    users
}

/// Appends an instruction with one result, of type `ty`, to a list, and returns the result.
pub fn append(
    values: &mut EntityVec<Value, Type>,
    insts: &mut Vec<Inst>,
    op: Op,
    args: Vec<Value>,
    ty: Type,
    span: Option<Source>,
) -> Value {
    let result = values.push(ty);
    insts.push(Inst { op, args: args.into(), results: smallvec![result], span });
    result
}

/// Constants to be added at the start of a function.
#[derive(Debug, Default)]
pub struct Constants {
    values: FxHashMap<Op, Value>,
    added: Vec<Inst>,
}

impl Constants {
    /// The value of a constant.
    pub fn value(&mut self, function: &mut Function, definitions: &mut Definitions, op: Op) -> Value {
        if let Some(value) = self.values.get(&op) {
            return *value;
        }
        let ty = match op {
            Op::ConstReal(_) => Type::F64,
            Op::ConstBool(_) => Type::Bool,
            Op::ConstInt(_) => Type::Int,
            _ => Type::Ptr,
        };
        let value = function.values.push(ty);
        self.values.insert(op, value);
        let inst = Inst { op, args: Values::new(), results: smallvec![value], span: None };
        definitions.add(inst.clone());
        self.added.push(inst);
        value
    }
    /// Adds the new constants to the entry block.
    pub fn insert(self, function: &mut Function) {
        function.blocks[Function::ENTRY].insts.splice(0..0, self.added);
    }
}

/// Empties the blocks that control cannot get to. True when there was something to empty.
pub fn clear_unreachable(function: &mut Function, reachable: impl Fn(BlockId) -> bool) -> bool {
    let mut changed = false;
    for id in function.blocks.ids() {
        let block = &mut function.blocks[id];
        let empty = block.params.is_empty() && block.insts.is_empty() && block.terminator == Terminator::Unreachable;
        if !reachable(id) && !empty {
            block.params.clear();
            block.insts.clear();
            block.terminator = Terminator::Unreachable;
            changed = true;
        }
    }
    changed
}

/// True for constants: operations without operands and effects that are the same everywhere.
pub fn is_constant(op: Op) -> bool {
    matches!(op, Op::ConstReal(_) | Op::ConstBool(_) | Op::ConstInt(_) | Op::Immediate(..))
}

/// True for operations that can be computed anywhere: arithmetic and tests, which neither fail nor have effects.
pub fn can_move(op: Op) -> bool {
    op.is_logic() || matches!(op, Op::Real1(_) | Op::Real2(_))
}

/// The number of instructions and terminators.
pub fn size(function: &Function) -> usize {
    let nonempty = |terminator: &Terminator| usize::from(*terminator != Terminator::Unreachable);
    function.blocks.values().map(|block| block.insts.len() + nonempty(&block.terminator)).sum()
}

/// Lets the only field of certain alternatives stand for their boxes; true if there was one.
pub fn see_through(function: &mut Function, is_transparent: impl Fn(SumId, u32) -> bool) -> bool {
    let is_same = |inst: &Inst| match inst.op {
        Op::Box(sum, tag) | Op::Field(sum, tag, _) => is_transparent(sum, tag),
        _ => false,
    };
    let mut replacements = Replacements::new(function);
    for inst in function.blocks.values().flat_map(|block| &block.insts).filter(|inst| is_same(inst)) {
        let by = replacements.resolve(inst.args[0]);
        replacements.replace(inst.results[0], by);
    }
    if !replacements.apply(function) {
        return false;
    }
    function.blocks.values_mut().for_each(|block| block.insts.retain(|inst| !is_same(inst)));
    true
}

/// For each block, which of its parameters to keep; `None` keeps all.
pub type KeptParams = EntityVec<BlockId, Option<Vec<bool>>>;

/// Drops parameters of blocks together with the arguments that jumps pass for them.
pub fn keep_params(function: &mut Function, kept: &KeptParams) {
    for id in function.blocks.ids() {
        for target in function.blocks[id].terminator.targets_mut() {
            if let Some(kept) = &kept[target.block] {
                keep(&mut target.args, kept);
            }
        }
    }
    for (id, kept) in kept.iter() {
        if let Some(kept) = kept {
            keep(&mut function.blocks[id].params, kept);
        }
    }
}

/// Keeps the items at the positions that are marked.
pub fn keep<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut marks = kept.iter();
    items.retain(|_| *marks.next().expect("there is a mark for each item"));
}

/// The same for operands and results.
pub fn keep_values(values: &mut Values, kept: &[bool]) {
    let mut marks = kept.iter();
    values.retain(|_| *marks.next().expect("there is a mark for each value"));
}

/// Appends the code of another function with `args` for its parameters. The blocks keep their order, the first is the
/// former entry; where they leave their function they still do.
pub fn paste(function: &mut Function, code: &Function, args: &[Value]) -> impl Iterator<Item = BlockId> + use<> {
    let first = function.blocks.next_id().0;
    let mut values: EntityVec<Value, Option<Value>> = code.values.same_ids(None);
    code.params().iter().zip(args).for_each(|(param, arg)| values[*param] = Some(*arg));
    for block in code.blocks.values() {
        for value in block.params.iter().chain(block.insts.iter().flat_map(|inst| &inst.results)) {
            if values[*value].is_none() {
                values[*value] = Some(function.values.push(code.values[*value]));
            }
        }
    }
    let value = |value: Value| values[value].expect("every use has a definition");
    let all = |list: &[Value]| list.iter().map(|v| value(*v)).collect::<Vec<Value>>();
    let few = |list: &[Value]| list.iter().map(|v| value(*v)).collect::<Values>();
    for (id, block) in code.blocks.iter() {
        let inst =
            |inst: &Inst| Inst { op: inst.op, args: few(&inst.args), results: few(&inst.results), span: inst.span };
        let mut terminator = block.terminator.clone();
        terminator.for_each_use(|v| *v = value(*v));
        for target in terminator.targets_mut() {
            target.block = BlockId(target.block.0 + first);
        }
        let params = if id == Function::ENTRY { Vec::new() } else { all(&block.params) };
        function.blocks.push(Block { params, insts: block.insts.iter().map(inst).collect(), terminator });
    }
    (first..function.blocks.next_id().0).map(BlockId)
}
