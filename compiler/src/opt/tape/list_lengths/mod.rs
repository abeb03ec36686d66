//! Chains that hold nothing but their length become numbers: SSA → SSA.
//!
//! ```text
//! sum sum0 = "start" | "step"(ptr)
//!
//! v1 = immediate.sum0.0               v1 = real 0.0
//! v2 = box.sum0.1 v1             →    v2 = add v1, 1.0
//! v3 = has_tag.sum0.0 v2              v3 = eq v2, 0.0
//! v4 = field.sum0.1.0 v2              v4 = sub v2, 1.0
//! ```
//!
//! The tape of a loop whose derivative needs no number of the loop tells only how often it went round; so does a list
//! that is built to be counted. A sum is such a chain when it has one alternative with fields, which has one field, the
//! rest of the chain, and when one alternative without fields is ever made. Then every place that a chain can be in
//! (value, field, result, cell) becomes a real, if nothing else can be in that place. Reals count exactly up to 2⁵³,
//! which no memory has room for.
//!
//! A recursion that makes the chain of what it returns is told the chain so far first, where it can be
//! ([`accumulators`]). Otherwise its chain stays: as a loop it fills boxes ([`crate::memory::tail_modulo_cons`]), as a
//! sum it would need the stack.
//!
//! Tests: `tests/opt/list-lengths/`.

mod accumulators;

use crate::opt::analysis::points_to::{Class, Classes, Field, Place};
use crate::opt::edit::rewrite::{Definitions, append};
use crate::ssa::ir::{Compare, Function, Op, Program, Real2, SumId, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let Some(mut found) = Found::new(program, &FxHashSet::default()) else { return false };
    let is_told = accumulators::introduce(program, &found);
    let excluded = made_of_results(program);
    if is_told || found.chains.keys().any(|sum| excluded.contains(sum)) {
        match Found::new(program, &excluded) {
            Some(others) => found = others,
            None => return is_told,
        }
    }
    let Found { chains, classes, counted, fields } = found;
    for (place, class) in classes.places() {
        if counted.contains(&class) {
            match place {
                Place::Value(function, value) => program.functions[function].values[value] = Type::F64,
                Place::Result(function, position) => program.functions[function].results[position] = Type::F64,
                Place::Slot(slot) => program.slots[slot] = Type::F64,
            }
        }
    }
    for (sum, tag, position) in fields {
        program.sums[sum].alternatives[tag as usize].fields[position as usize] = Type::F64;
    }
    program.functions.values_mut().for_each(|function| rewrite(function, &chains));
    true
}

/// The tags of the two alternatives of a chain.
#[derive(Clone, Copy)]
struct Chain {
    end: u32,
    node: u32,
}

/// The chains of a program that can be numbers.
struct Found {
    chains: FxHashMap<SumId, Chain>,
    classes: Classes,
    /// The classes of chains...
    counted: FxHashSet<Class>,
    /// ...and the fields that hold them.
    fields: FxHashSet<Field>,
}

impl Found {
    /// Finds those that are not `excluded`; `None` when there are none.
    fn new(program: &Program, excluded: &FxHashSet<SumId>) -> Option<Found> {
        let mut chains = candidates(program, excluded);
        if chains.is_empty() {
            return None;
        }
        let classes = Classes::new(program);
        keep_unmixed(&mut chains, &classes);
        let (counted, fields) = loop {
            let counted = counted(&chains, &classes);
            match fields_of(&counted, &classes) {
                Ok(fields) => break (counted, fields),
                Err(mixed) => chains.retain(|sum, _| !mixed.contains(sum)),
            }
        };
        (!chains.is_empty()).then_some(Found { chains, classes, counted, fields })
    }

    /// Whether this makes the end of a chain.
    fn is_end(&self, op: Op) -> bool {
        matches!(op, Op::Immediate(sum, _) if self.chains.contains_key(&sum))
    }

    /// Whether this makes a chain longer.
    fn is_node(&self, op: Op) -> bool {
        matches!(op, Op::Box(sum, _) if self.chains.contains_key(&sum))
    }
}

/// The sums that a recursion makes of what it returns.
fn made_of_results(program: &Program) -> FxHashSet<SumId> {
    let mut found = FxHashSet::default();
    for function in program.functions.values() {
        let definitions = Definitions::new(function);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Op::Box(sum, _) = inst.op
                && matches!(definitions.op(function, inst.args[0]), Some(Op::Call(_)))
            {
                found.insert(sum);
            }
        }
    }
    found
}

/// The sums that have the alternatives of a chain.
fn candidates(program: &Program, excluded: &FxHashSet<SumId>) -> FxHashMap<SumId, Chain> {
    let mut ends: FxHashMap<SumId, FxHashSet<u32>> = FxHashMap::default();
    for inst in program.functions.values().flat_map(|function| function.blocks.values()).flat_map(|block| &block.insts)
    {
        if let Op::Immediate(sum, tag) = inst.op {
            ends.entry(sum).or_default().insert(tag);
        }
    }
    let chain = |sum: SumId| {
        let mut nodes = (0..).zip(&program.sums[sum].alternatives).filter(|(_, node)| !node.fields.is_empty());
        let (node, alternative) = nodes.next()?;
        let [end] = ends.get(&sum)?.iter().copied().collect::<Vec<_>>()[..] else { return None };
        (nodes.next().is_none() && alternative.fields == [Type::Ptr]).then_some(Chain { end, node })
    };
    let sums = program.sums.ids().filter(|sum| !excluded.contains(sum));
    sums.filter_map(|sum| chain(sum).map(|chain| (sum, chain))).collect()
}

/// Keeps the chains that go on as themselves and whose values share no place with others.
fn keep_unmixed(chains: &mut FxHashMap<SumId, Chain>, classes: &Classes) {
    let vectors = classes.vectors();
    for (class, sums) in classes.all() {
        for sum in sums {
            let rest = chains.get(sum).and_then(|chain| classes.field(class, (*sum, chain.node, 0)));
            if sums.len() > 1 || rest != Some(class) || vectors.contains(&class) {
                chains.remove(sum);
            }
        }
    }
}

/// The classes of chains.
fn counted(chains: &FxHashMap<SumId, Chain>, classes: &Classes) -> FxHashSet<Class> {
    let is_chain = |sums: &FxHashSet<SumId>| sums.iter().any(|sum| chains.contains_key(sum));
    classes.all().filter(|(_, sums)| is_chain(sums)).map(|(class, _)| class).collect()
}

/// The fields that hold chains.
///
/// # Errors
///
/// The chains in a field that holds something else in other values of its sum, or in a vector: these cannot be numbers.
fn fields_of(counted: &FxHashSet<Class>, classes: &Classes) -> Result<FxHashSet<Field>, FxHashSet<SumId>> {
    let holds_chain = |inner: &Class| counted.contains(inner);
    let fields = |chains: bool| classes.fields().filter(move |(_, _, inner)| holds_chain(inner) == chains);
    let without: FxHashSet<Field> = fields(false).map(|(_, field, _)| field).collect();
    let mixed = fields(true).filter(|(_, field, _)| without.contains(field)).map(|(_, _, inner)| inner);
    // Vectors hold what they hold.
    let mixed: FxHashSet<Class> = mixed.chain(classes.in_elements().filter(holds_chain)).collect();
    if mixed.is_empty() {
        return Ok(fields(true).map(|(_, field, _)| field).collect());
    }
    Err(classes.all().filter(|(class, _)| mixed.contains(class)).flat_map(|(_, sums)| sums).copied().collect())
}

fn rewrite(function: &mut Function, chains: &FxHashMap<SumId, Chain>) {
    for block in function.blocks.values_mut() {
        let types = &mut function.values;
        let mut insts = Vec::with_capacity(block.insts.len());
        for mut inst in block.insts.drain(..) {
            let chain = match inst.op {
                Op::Immediate(sum, _) | Op::Box(sum, _) | Op::Tag(sum) | Op::HasTag(sum, _) | Op::Field(sum, ..) => {
                    chains.get(&sum)
                }
                _ => None,
            };
            let Some(chain) = chain else {
                insts.push(inst);
                continue;
            };
            let mut before = |op: Op, args: Vec<Value>, ty: Type| append(types, &mut insts, op, args, ty, inst.span);
            let mut real = |x: f64| before(Op::ConstReal(x.to_bits()), Vec::new(), Type::F64);
            match inst.op {
                Op::Immediate(..) => inst.op = Op::ConstReal(0.0_f64.to_bits()),
                Op::Box(..) => {
                    inst.args.push(real(1.0));
                    inst.op = Op::Real2(Real2::Add);
                }
                Op::Field(..) => {
                    inst.args.push(real(1.0));
                    inst.op = Op::Real2(Real2::Sub);
                }
                Op::HasTag(_, tag) if tag == chain.end || tag == chain.node => {
                    inst.args.push(real(0.0));
                    inst.op = Op::Compare(if tag == chain.end { Compare::Eq } else { Compare::Ne });
                }
                Op::HasTag(..) => (inst.op, inst.args) = (Op::ConstBool(false), Values::new()),
                _ => {
                    let zero = real(0.0);
                    let is_end = before(Op::Compare(Compare::Eq), vec![inst.args[0], zero], Type::Bool);
                    let end = before(Op::ConstInt(i64::from(chain.end)), Vec::new(), Type::Int);
                    let node = before(Op::ConstInt(i64::from(chain.node)), Vec::new(), Type::Int);
                    (inst.op, inst.args) = (Op::Select, smallvec![is_end, end, node]);
                }
            }
            insts.push(inst);
        }
        block.insts = insts;
    }
}
