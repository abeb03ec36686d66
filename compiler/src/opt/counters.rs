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
//! What can be where is found by unification: places that values flow between are one class, and a class knows the sums
//! that its values are made or looked at as.
//!
//! Tests: `tests/opt/counters/`.

use crate::ssa::ir::{Compare, FuncId, Function, Inst, Op, Program, Real2, SlotId, SumId, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let mut classes = Classes { program, ids: FxHashMap::default(), parents: Vec::new() };
    let evidence = classes.collect();
    let chains = classes.chains(&evidence);
    if chains.is_empty() {
        return false;
    }
    let counted: FxHashSet<usize> =
        evidence.sums.iter().filter(|(sum, _)| chains.contains_key(sum)).map(|(_, id)| classes.root(*id)).collect();
    let places: Vec<(Place, usize)> = classes.ids.iter().map(|(place, id)| (*place, *id)).collect();
    let places: Vec<Place> =
        places.into_iter().filter(|(_, id)| counted.contains(&classes.root(*id))).map(|(place, _)| place).collect();
    for place in places {
        match place {
            Place::Value(function, value) => program.functions[function].values[value] = Type::F64,
            Place::Result(function, position) => program.functions[function].results[position] = Type::F64,
            Place::Field(sum, tag, field) => {
                program.sums[sum].alternatives[tag as usize].fields[field as usize] = Type::F64;
            }
            Place::Slot(slot) => program.slots[slot] = Type::F64,
        }
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

/// Where a pointer can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Value(FuncId, Value),
    Result(FuncId, usize),
    Field(SumId, u32, usize),
    Slot(SlotId),
}

/// How sums are used.
#[derive(Default)]
struct Evidence {
    /// Which sum the values in a class of places belong to.
    sums: Vec<(SumId, usize)>,
    /// The alternatives without fields that are made.
    ends: FxHashMap<SumId, FxHashSet<u32>>,
}

/// Places by what flows between them: a forest in which the places of a class have one root.
struct Classes<'p> {
    program: &'p Program,
    ids: FxHashMap<Place, usize>,
    parents: Vec<usize>,
}

impl Classes<'_> {
    fn id(&mut self, place: Place) -> usize {
        let next = self.parents.len();
        let id = *self.ids.entry(place).or_insert(next);
        if id == next {
            self.parents.push(id);
        }
        id
    }

    fn root(&mut self, mut id: usize) -> usize {
        while self.parents[id] != id {
            self.parents[id] = self.parents[self.parents[id]];
            id = self.parents[id];
        }
        id
    }

    fn flows(&mut self, from: Place, to: Place) {
        let (from, to) = (self.id(from), self.id(to));
        let (from, to) = (self.root(from), self.root(to));
        self.parents[from] = to;
    }

    fn collect(&mut self) -> Evidence {
        let mut evidence = Evidence::default();
        for (id, function) in self.program.functions.iter() {
            let is_pointer = |value: Value| function.values[value] == Type::Ptr;
            let place = |value: Value| Place::Value(id, value);
            for block in function.blocks.values() {
                for inst in &block.insts {
                    self.inst(id, function, inst, &mut evidence);
                }
                for target in block.terminator.targets() {
                    for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
                        if is_pointer(*arg) {
                            self.flows(place(*arg), place(*param));
                        }
                    }
                }
                match &block.terminator {
                    Terminator::Return(values) => {
                        for (position, value) in values.iter().enumerate().filter(|(_, value)| is_pointer(**value)) {
                            self.flows(place(*value), Place::Result(id, position));
                        }
                    }
                    Terminator::TailCall(callee, args) => {
                        self.arguments(id, function, *callee, args);
                        for position in (0..function.results.len()).filter(|i| function.results[*i] == Type::Ptr) {
                            self.flows(Place::Result(*callee, position), Place::Result(id, position));
                        }
                    }
                    _ => {}
                }
            }
        }
        evidence
    }

    fn arguments(&mut self, id: FuncId, function: &Function, callee: FuncId, args: &[Value]) {
        let params = self.program.functions[callee].params();
        for (arg, param) in args.iter().zip(params).filter(|(arg, _)| function.values[**arg] == Type::Ptr) {
            self.flows(Place::Value(id, *arg), Place::Value(callee, *param));
        }
    }

    fn inst(&mut self, id: FuncId, function: &Function, inst: &Inst, evidence: &mut Evidence) {
        let place = |value: Value| Place::Value(id, value);
        let is_pointer = |value: Value| function.values[value] == Type::Ptr;
        match inst.op {
            Op::Immediate(sum, tag) => {
                evidence.ends.entry(sum).or_default().insert(tag);
                evidence.sums.push((sum, self.id(place(inst.results[0]))));
            }
            Op::Box(sum, tag) => {
                evidence.sums.push((sum, self.id(place(inst.results[0]))));
                for (field, arg) in inst.args.iter().enumerate().filter(|(_, arg)| is_pointer(**arg)) {
                    self.flows(place(*arg), Place::Field(sum, tag, field));
                }
            }
            Op::Tag(sum) | Op::HasTag(sum, _) => evidence.sums.push((sum, self.id(place(inst.args[0])))),
            Op::Field(sum, tag, field) => {
                evidence.sums.push((sum, self.id(place(inst.args[0]))));
                if is_pointer(inst.results[0]) {
                    self.flows(Place::Field(sum, tag, field as usize), place(inst.results[0]));
                }
            }
            Op::Select if is_pointer(inst.results[0]) => {
                self.flows(place(inst.args[1]), place(inst.results[0]));
                self.flows(place(inst.args[2]), place(inst.results[0]));
            }
            Op::GlobalSet(slot) if is_pointer(inst.args[0]) => self.flows(place(inst.args[0]), Place::Slot(slot)),
            Op::GlobalGet(slot) if is_pointer(inst.results[0]) => {
                self.flows(Place::Slot(slot), place(inst.results[0]));
            }
            Op::Call(callee) => {
                self.arguments(id, function, callee, &inst.args);
                for (position, result) in inst.results.iter().enumerate().filter(|(_, value)| is_pointer(**value)) {
                    self.flows(Place::Result(callee, position), place(*result));
                }
            }
            _ => {}
        }
    }

    /// The sums that are chains and whose values share no place with others.
    fn chains(&mut self, evidence: &Evidence) -> FxHashMap<SumId, Chain> {
        let mut sums_in: FxHashMap<usize, FxHashSet<SumId>> = FxHashMap::default();
        for (sum, id) in &evidence.sums {
            sums_in.entry(self.root(*id)).or_default().insert(*sum);
        }
        let mixed: FxHashSet<SumId> = sums_in.values().filter(|sums| sums.len() > 1).flatten().copied().collect();
        let used: FxHashSet<SumId> = evidence.sums.iter().map(|(sum, _)| *sum).collect();
        let mut chains = FxHashMap::default();
        for sum in used.difference(&mixed).copied() {
            if let Some(chain) = self.chain(sum, evidence) {
                chains.insert(sum, chain);
            }
        }
        chains
    }

    /// The alternatives of a chain, if the sum is one.
    fn chain(&mut self, sum: SumId, evidence: &Evidence) -> Option<Chain> {
        let alternatives = &self.program.sums[sum].alternatives;
        let mut nodes = (0..).zip(alternatives).filter(|(_, alternative)| !alternative.fields.is_empty());
        let (node, alternative) = nodes.next()?;
        let ends = evidence.ends.get(&sum)?;
        if nodes.next().is_some() || alternative.fields != [Type::Ptr] || ends.len() != 1 {
            return None;
        }
        let rest = self.ids.get(&Place::Field(sum, node, 0)).copied()?;
        let rest = self.root(rest);
        let is_chain = evidence.sums.iter().any(|(other, id)| *other == sum && self.root(*id) == rest);
        is_chain.then(|| Chain { end: *ends.iter().next().expect("there is one"), node })
    }
}

fn rewrite(function: &mut Function, chains: &FxHashMap<SumId, Chain>) {
    for block in function.blocks.values_mut() {
        let types = &mut function.values;
        let mut insts = Vec::with_capacity(block.insts.len());
        for mut inst in block.insts.drain(..) {
            let (Op::Immediate(sum, _) | Op::Box(sum, _) | Op::Tag(sum) | Op::HasTag(sum, _) | Op::Field(sum, ..)) =
                inst.op
            else {
                insts.push(inst);
                continue;
            };
            let Some(chain) = chains.get(&sum) else {
                insts.push(inst);
                continue;
            };
            let mut before = |op: Op, args: Vec<Value>, ty: Type| {
                let value = types.push(ty);
                insts.push(Inst { op, args, results: vec![value], span: inst.span });
                value
            };
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
                Op::HasTag(..) => (inst.op, inst.args) = (Op::ConstBool(false), Vec::new()),
                _ => {
                    let zero = real(0.0);
                    let is_end = before(Op::Compare(Compare::Eq), vec![inst.args[0], zero], Type::Bool);
                    let end = before(Op::ConstInt(i64::from(chain.end)), Vec::new(), Type::Int);
                    let node = before(Op::ConstInt(i64::from(chain.node)), Vec::new(), Type::Int);
                    (inst.op, inst.args) = (Op::Select, vec![is_end, end, node]);
                }
            }
            insts.push(inst);
        }
        block.insts = insts;
    }
}
