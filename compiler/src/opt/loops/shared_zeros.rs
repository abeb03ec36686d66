//! One test tells for many reals whether they are the symbolic zero: SSA → SSA.
//!
//! ```text
//! jump b1(nan.0x7ff87a65726f0001, nan.0x7ff87a65726f0001)    jump b1(nan.0x7ff87a65726f0001, -0.0)
//! b1(v1: f64, v2: f64):                                      b1(v1: f64, v2: f64):
//!     v4 = real_is v1                                            v4 = real_is v1
//!     v5 = add v1, v3                                            v5 = add v1, v3
//!     v6 = select v4, v3, v5                                →    v6 = select v4, v3, v5
//!     v7 = real_is v2
//!     v8 = add v2, v3                                            v8 = add v2, v3
//!     v9 = select v7, v3, v8
//!     jump b1(v6, v9)                                            jump b1(v6, v8)
//! ```
//!
//! The sensitivities that a loop sums up are symbolic zeros until its first round, all of them, and numbers ever after.
//! So one of them, the *witness*, tells for all. The others hold -0.0 where they would be the symbolic zero: to add
//! that changes no number, not even in the sign of zero, so that their sums need no test at all. Who wants to know
//! whether they are zero asks the witness.
//!
//! Reals that are handed over together are parameters of a block or of a function, results of a function, or fields of
//! an alternative: *places* of an *owner*. Two places of an owner have one witness when at each occasion both are given
//! the symbolic zero, or both numbers, or both what comes from places that have one witness themselves: the coarsest
//! such partition is found by refinement, from one class for each owner (Hopcroft, *An n log n Algorithm for Minimizing
//! States in a Finite Automaton*, 1971, in its simplest form).
//!
//! What an operation computes is a number (see [`Op::RealIs`]); for the operands of a selection that a test guards that
//! is so whenever they are selected.
//!
//! Tests: `tests/opt/shared-zeros/`.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::{Definitions, Replacements, use_counts};
use crate::ssa::ir::{
    Block, BlockId, FuncId, Function, Inst, Op, Program, Real1, Real2, SumId, Terminator, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Who holds places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Owner {
    Fields(SumId, u32),
    /// Those of the entry are the parameters of the function.
    Params(FuncId, BlockId),
    Results(FuncId),
}

/// Where a value was read.
#[derive(Clone, Copy, Debug)]
struct Read {
    owner: Owner,
    index: usize,
    /// What tells at which occasion: the box, or the first parameter or result.
    occasion: Value,
}

/// What a place is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Letter {
    Zero,
    Number,
    /// What a place of this class holds, at this occasion.
    Of((FuncId, Value), u32),
    Unknown((FuncId, Value)),
}

/// A real or other value that is handed over: which owner's, and in which place.
type Place = (Owner, usize);

/// The values that an owner is given at one occasion.
type Gift<'p> = (FuncId, &'p [Value]);

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let tests = program.functions.values().flat_map(|function| function.blocks.values()).flat_map(|block| &block.insts);
    let zero = |inst: &Inst| if let Op::RealIs(bits) = inst.op { Some(bits) } else { None };
    let Some(zero) = tests.filter_map(zero).next() else { return false };
    let before = program.clone();
    let places = Places::new(&before, zero);
    let witnesses = places.witnesses();
    for id in program.functions.ids() {
        Rewriter::new(&places, id, &witnesses).rewrite(&mut program.functions[id]);
    }
    !witnesses.is_empty()
}

/// For each value that is read from a place: from which.
fn reads(function: &Function, id: FuncId) -> FxHashMap<Value, Read> {
    let mut reads = FxHashMap::default();
    let mut note = |owner: Owner, values: &[Value]| {
        for (index, value) in values.iter().enumerate() {
            reads.insert(*value, Read { owner, occasion: values[0], index });
        }
    };
    for (block, data) in function.blocks.iter() {
        note(Owner::Params(id, block), &data.params);
        for inst in &data.insts {
            if let Op::Call(callee) = inst.op {
                note(Owner::Results(callee), &inst.results);
            }
        }
    }
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        if let Op::Field(sum, tag, index) = inst.op {
            let read = Read { owner: Owner::Fields(sum, tag), occasion: inst.args[0], index: index as usize };
            reads.insert(inst.results[0], read);
        }
    }
    reads
}

/// Calls `f` with each owner that the block gives something, and with what.
fn for_each_gift<'p>(id: FuncId, block: &'p Block, mut f: impl FnMut(Owner, &'p [Value])) {
    for inst in &block.insts {
        match inst.op {
            Op::Box(sum, tag) => f(Owner::Fields(sum, tag), &inst.args),
            Op::Call(callee) => f(Owner::Params(callee, Function::ENTRY), &inst.args),
            _ => {}
        }
    }
    match &block.terminator {
        Terminator::Return(values) => f(Owner::Results(id), values),
        Terminator::TailCall(callee, args) => f(Owner::Params(*callee, Function::ENTRY), args),
        terminator => terminator.targets().iter().for_each(|target| f(Owner::Params(id, target.block), &target.args)),
    }
}

/// What is known about the places of a program.
struct Places<'p> {
    program: &'p Program,
    zero: u64,
    reads: EntityVec<FuncId, FxHashMap<Value, Read>>,
    definitions: EntityVec<FuncId, Definitions>,
    /// For each place whether it may hold the symbolic zero.
    perhaps_zero: FxHashMap<Owner, Vec<bool>>,
    /// For each place its class; `None` for what is no real.
    classes: FxHashMap<Owner, Vec<Option<u32>>>,
}

impl<'p> Places<'p> {
    fn new(program: &'p Program, zero: u64) -> Places<'p> {
        let mut places = Places {
            program,
            zero,
            reads: program.functions.iter().map(|(id, function)| reads(function, id)).collect(),
            definitions: program.functions.values().map(Definitions::new).collect(),
            perhaps_zero: FxHashMap::default(),
            classes: FxHashMap::default(),
        };
        places.begin();
        let numbers = |classes: &Vec<Option<u32>>| vec![false; classes.len()];
        places.perhaps_zero = places.classes.iter().map(|(owner, classes)| (*owner, numbers(classes))).collect();
        places.give_up_results_of_tail_calls();
        let gifts = places.gifts();
        places.spread_zeros(&gifts);
        places.refine(&gifts);
        places
    }

    /// What each owner is given, at each occasion.
    fn gifts(&self) -> FxHashMap<Owner, Vec<Gift<'p>>> {
        let mut gifts: FxHashMap<Owner, Vec<Gift<'p>>> = FxHashMap::default();
        for (id, function) in self.program.functions.iter() {
            for block in function.blocks.values() {
                for_each_gift(id, block, |owner, values| gifts.entry(owner).or_default().push((id, values)));
            }
        }
        gifts
    }

    /// The places that must hold numbers for a value always to be one; `None` if it need not be one.
    fn number_if(&self, id: FuncId, value: Value) -> Option<Vec<Place>> {
        let (mut waiting, mut places) = (vec![value], Vec::new());
        // Selections of selections; giving up after some is always right.
        for _ in 0..16 {
            let Some(value) = waiting.pop() else { return Some(places) };
            if let Some(read) = self.reads[id].get(&value) {
                places.push((read.owner, read.index));
                continue;
            }
            match self.definitions[id].inst(&self.program.functions[id], value).map(|inst| (inst.op, &inst.args)) {
                Some((Op::ConstReal(bits), _)) if bits != self.zero => {}
                Some((Op::Real1(_) | Op::Real2(_) | Op::Read(..) | Op::Argument(_), _)) => {}
                Some((Op::Select, args)) => waiting.extend(&args[1..]),
                _ => return None,
            }
        }
        None
    }

    /// Whether a value is always a number.
    fn is_number(&self, id: FuncId, value: Value) -> bool {
        let places = self.number_if(id, value);
        places.is_some_and(|places| places.iter().all(|(owner, index)| !self.perhaps_zero[owner][*index]))
    }

    /// Finds the places that may hold the symbolic zero.
    fn spread_zeros(&mut self, gifts: &FxHashMap<Owner, Vec<Gift<'p>>>) {
        let mut givers: FxHashMap<Place, Vec<Place>> = FxHashMap::default();
        let mut found: Vec<Place> = Vec::new();
        for (owner, occasions) in gifts {
            for (id, values) in occasions {
                for (index, value) in values.iter().enumerate() {
                    match self.number_if(*id, *value) {
                        Some(places) => {
                            places.iter().for_each(|place| givers.entry(*place).or_default().push((*owner, index)));
                        }
                        None => found.push((*owner, index)),
                    }
                }
            }
        }
        let known = self.perhaps_zero.iter();
        let known = known.flat_map(|(owner, zeros)| (0..zeros.len()).filter(|at| zeros[*at]).map(|at| (*owner, at)));
        found.extend(known.flat_map(|place| givers.get(&place).into_iter().flatten()));
        while let Some((owner, index)) = found.pop() {
            let zeros = self.perhaps_zero.get_mut(&owner).expect("an owner of the program");
            if !std::mem::replace(&mut zeros[index], true) {
                found.extend(givers.get(&(owner, index)).into_iter().flatten());
            }
        }
    }

    /// All real places of an owner are in one class.
    fn begin(&mut self) {
        let mut add = |owner: Owner, types: &[Type]| {
            let class = u32::try_from(self.classes.len()).expect("programs are not that large");
            self.classes.insert(owner, types.iter().map(|ty| (*ty == Type::F64).then_some(class)).collect());
        };
        for (id, function) in self.program.functions.iter() {
            add(Owner::Results(id), &function.results);
            for (block, data) in function.blocks.iter() {
                let types: Vec<Type> = data.params.iter().map(|param| function.values[*param]).collect();
                add(Owner::Params(id, block), &types);
            }
        }
        for (sum, data) in self.program.sums.iter() {
            (0..).zip(&data.alternatives).for_each(|(tag, case)| add(Owner::Fields(sum, tag), &case.fields));
        }
    }

    /// What a function gets from one that it ends with can be anything: no gift shows it.
    fn give_up_results_of_tail_calls(&mut self) {
        let mut next = self.classes.values().flatten().flatten().max().map_or(0, |class| class + 1);
        for (id, function) in self.program.functions.iter() {
            let ends = |block: &Block| matches!(block.terminator, Terminator::TailCall(callee, _) if callee != id);
            if !function.blocks.values().any(ends) {
                continue;
            }
            let owner = Owner::Results(id);
            self.perhaps_zero.entry(owner).and_modify(|places| places.fill(true));
            for class in self.classes.get_mut(&owner).into_iter().flatten().flatten() {
                (*class, next) = (next, next + 1);
            }
        }
    }

    /// Divides classes by what their places are given, until no class can be divided. A class is of one owner, so only
    /// the owners that are given what a new class holds have to be looked at again.
    fn refine(&mut self, gifts: &FxHashMap<Owner, Vec<Gift<'p>>>) {
        let mut readers: FxHashMap<Owner, FxHashSet<Owner>> = FxHashMap::default();
        let mut numbers: FxHashSet<(FuncId, Value)> = FxHashSet::default();
        for (owner, occasions) in gifts {
            let values = occasions.iter().flat_map(|(id, values)| values.iter().map(|value| (*id, *value)));
            for (id, value) in values {
                if let Some(read) = self.reads[id].get(&value) {
                    readers.entry(read.owner).or_default().insert(*owner);
                }
                if self.is_number(id, value) {
                    numbers.insert((id, value));
                }
            }
        }
        let mut next = self.classes.values().flatten().flatten().max().map_or(0, |class| class + 1);
        // In the order of the program, so that what a class is divided for is divided itself by then.
        let mut waiting: Vec<Owner> = gifts.keys().copied().collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        let mut is_waiting: FxHashSet<Owner> = waiting.iter().copied().collect();
        while let Some(owner) = waiting.pop() {
            is_waiting.remove(&owner);
            let mut groups: FxHashMap<(u32, Vec<Letter>), Vec<usize>> = FxHashMap::default();
            for (index, class) in self.classes[&owner].iter().enumerate() {
                let Some(class) = class else { continue };
                let letters =
                    gifts[&owner].iter().map(|(id, values)| self.letter(*id, values[index], &numbers)).collect();
                groups.entry((*class, letters)).or_default().push(index);
            }
            let mut parts: FxHashMap<u32, Vec<Vec<usize>>> = FxHashMap::default();
            for ((class, _), group) in groups {
                parts.entry(class).or_default().push(group);
            }
            let mut divided = false;
            for mut parts in parts.into_values() {
                // The largest keeps its name.
                parts.sort_unstable_by_key(Vec::len);
                parts.pop();
                for part in parts {
                    let classes = self.classes.get_mut(&owner).expect("an owner of the program");
                    part.iter().for_each(|index| classes[*index] = Some(next));
                    next += 1;
                    divided = true;
                }
            }
            if divided {
                let readers = readers.get(&owner).into_iter().flatten();
                waiting.extend(readers.filter(|reader| is_waiting.insert(**reader)));
            }
        }
    }

    /// What a place is given, given which values are numbers.
    fn letter(&self, id: FuncId, value: Value, numbers: &FxHashSet<(FuncId, Value)>) -> Letter {
        if numbers.contains(&(id, value)) {
            return Letter::Number;
        }
        if let Some(read) = self.reads[id].get(&value)
            && let Some(class) = self.classes[&read.owner][read.index]
        {
            return Letter::Of((id, read.occasion), class);
        }
        match self.definitions[id].op(&self.program.functions[id], value) {
            Some(Op::ConstReal(_)) => Letter::Zero,
            _ => Letter::Unknown((id, value)),
        }
    }

    /// For each place the place of the same owner that tells whether it is the symbolic zero, unless it tells itself.
    fn witnesses(&self) -> Witnesses {
        let mut fixed: FxHashSet<Owner> = FxHashSet::default();
        for (id, function) in self.program.functions.iter() {
            for block in function.blocks.values() {
                // What another function returns would have to be in the form of this one.
                if let Terminator::TailCall(callee, _) = block.terminator
                    && callee != id
                {
                    fixed.extend([Owner::Results(id), Owner::Results(callee)]);
                }
            }
        }
        let mut witnesses = FxHashMap::default();
        for (owner, classes) in self.classes.iter().filter(|(owner, _)| !fixed.contains(owner)) {
            let witness = |(index, class): (usize, &Option<u32>)| {
                let is_perhaps_zero = class.is_some() && self.perhaps_zero[owner][index];
                classes[..index].iter().position(|other| other == class).filter(|_| is_perhaps_zero)
            };
            let of_owner: Vec<Option<usize>> = classes.iter().enumerate().map(witness).collect();
            if of_owner.iter().any(Option::is_some) {
                witnesses.insert(*owner, of_owner);
            }
        }
        witnesses
    }
}

/// For each place the place of the same owner that tells whether it is the symbolic zero, unless it tells itself.
type Witnesses = FxHashMap<Owner, Vec<Option<usize>>>;

/// Changes one function.
struct Rewriter<'w> {
    places: &'w Places<'w>,
    before: &'w Function,
    id: FuncId,
    witnesses: &'w Witnesses,
    /// The values that hold -0.0 where they are zero, with the places of their witnesses.
    folded: FxHashMap<Value, (Read, usize)>,
    /// For each of them whether it is zero, and the value with the symbolic zero.
    tested: FxHashMap<Value, (Value, Value)>,
    /// Sums that need no test.
    plain: FxHashSet<Value>,
    replacements: Replacements,
}

impl<'w> Rewriter<'w> {
    fn new(places: &'w Places<'w>, id: FuncId, witnesses: &'w Witnesses) -> Rewriter<'w> {
        let folded = |(value, read): (&Value, &Read)| Some((*value, (*read, witnesses.get(&read.owner)?[read.index]?)));
        let before = &places.program.functions[id];
        Rewriter {
            places,
            before,
            id,
            witnesses,
            folded: places.reads[id].iter().filter_map(folded).collect(),
            tested: FxHashMap::default(),
            plain: FxHashSet::default(),
            replacements: Replacements::new(before),
        }
    }

    /// The instruction that defines a value.
    fn definition(&self, value: Value) -> Option<&'w Inst> {
        self.places.definitions[self.id].inst(self.before, value)
    }

    fn rewrite(mut self, function: &mut Function) {
        self.find_plain_sums();
        let mut folded: Vec<Value> = self.folded.keys().copied().collect();
        folded.sort_unstable();
        for value in folded {
            let tested = (function.values.push(Type::Bool), function.values.push(Type::F64));
            self.tested.insert(value, tested);
        }
        for id in function.blocks.ids() {
            let mut code = Vec::new();
            for param in &self.before.blocks[id].params {
                self.test(function, &mut code, *param);
            }
            for mut inst in std::mem::take(&mut function.blocks[id].insts) {
                if let Op::RealIs(_) = inst.op
                    && let Some((is_zero, _)) = self.tested.get(&inst.args[0])
                {
                    self.replacements.replace(inst.results[0], *is_zero);
                    continue;
                }
                let owner = match inst.op {
                    Op::Box(sum, tag) => Some(Owner::Fields(sum, tag)),
                    Op::Call(callee) => Some(Owner::Params(callee, Function::ENTRY)),
                    _ => None,
                };
                if !inst.results.iter().any(|value| self.plain.contains(value)) {
                    self.give(function, &mut code, owner, &mut inst.args);
                }
                let results = inst.results.clone();
                code.push(inst);
                for result in results {
                    self.test(function, &mut code, result);
                }
            }
            let mut terminator = std::mem::replace(&mut function.blocks[id].terminator, Terminator::Unreachable);
            match &mut terminator {
                Terminator::Return(values) => {
                    self.give(function, &mut code, Some(Owner::Results(self.id)), values);
                }
                Terminator::TailCall(callee, args) => {
                    let owner = Owner::Params(*callee, Function::ENTRY);
                    self.give(function, &mut code, Some(owner), args);
                }
                terminator => {
                    for target in terminator.targets_mut() {
                        let owner = Owner::Params(self.id, target.block);
                        self.give(function, &mut code, Some(owner), &mut target.args);
                    }
                }
            }
            function.blocks[id].insts = code;
            function.blocks[id].terminator = terminator;
        }
        self.replacements.apply(function);
    }

    /// Finds sums of a number and a folded value that are used where the value is not zero only: the number is what is
    /// used otherwise, and the sum is just that then. A sum with a negated number is a difference.
    fn find_plain_sums(&mut self) {
        let (uses, zero) = (use_counts(self.before), self.places.zero);
        let mut selections: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for inst in self.before.blocks.values().flat_map(|block| &block.insts).filter(|inst| inst.op == Op::Select) {
            let [condition, number, sum] = inst.args[..] else { continue };
            let Some(test) = self.definition(condition) else { continue };
            let Some(add) = self.definition(sum) else { continue };
            let value = test.args.first().copied().filter(|value| self.folded.contains_key(value));
            let adds = |value| match (add.op, &add.args[..]) {
                (Op::Real2(Real2::Add), args) => args == [value, number] || args == [number, value],
                (Op::Real2(Real2::Sub), [minuend, subtrahend]) => {
                    *minuend == value && self.negates(number, *subtrahend)
                }
                _ => false,
            };
            if test.op == Op::RealIs(zero) && value.is_some_and(adds) && self.places.is_number(self.id, number) {
                selections.entry(sum).or_default().push(inst.results[0]);
            }
        }
        for (sum, selected) in selections {
            if uses[sum] as usize == selected.len() {
                self.plain.insert(sum);
                selected.into_iter().for_each(|selection| self.replacements.replace(selection, sum));
            }
        }
    }

    /// Whether a value is another one, negated.
    fn negates(&self, value: Value, other: Value) -> bool {
        self.definition(value).is_some_and(|inst| inst.op == Op::Real1(Real1::Neg) && inst.args[..] == [other])
    }

    /// After the definition of a folded value: whether it is zero, and the value as it was.
    fn test(&mut self, function: &mut Function, code: &mut Vec<Inst>, value: Value) {
        let Some((read, place)) = self.folded.get(&value).copied() else { return };
        let (is_zero, full) = self.tested[&value];
        let mut add = |op: Op, args: Vec<Value>, result: Value| {
            code.push(Inst { op, args: args.into(), results: smallvec![result], span: None });
            result
        };
        let witness = match read.owner {
            Owner::Fields(sum, tag) => {
                let place = u32::try_from(place).expect("fields are counted so");
                add(Op::Field(sum, tag, place), vec![read.occasion], function.values.push(Type::F64))
            }
            Owner::Params(_, block) => self.before.blocks[block].params[place],
            Owner::Results(_) => {
                let call = self.definition(value);
                call.expect("calls define their results").results[place]
            }
        };
        add(Op::RealIs(self.places.zero), vec![witness], is_zero);
        let zero = add(Op::ConstReal(self.places.zero), Vec::new(), function.values.push(Type::F64));
        add(Op::Select, vec![is_zero, zero, value], full);
    }

    /// Brings operands into the form that they have to have.
    fn give(&mut self, function: &mut Function, code: &mut Vec<Inst>, owner: Option<Owner>, args: &mut [Value]) {
        let witnesses = owner.and_then(|owner| self.witnesses.get(&owner));
        for (index, arg) in args.iter_mut().enumerate() {
            let is_folded = witnesses.is_some_and(|witnesses| witnesses[index].is_some());
            match (is_folded, self.tested.get(arg)) {
                (true, Some(_)) | (false, None) => {}
                (false, Some((_, full))) => *arg = *full,
                (true, None) if self.places.is_number(self.id, *arg) => {}
                (true, None) => {
                    let mut add = |op: Op, args: Vec<Value>, ty: Type| {
                        let result = function.values.push(ty);
                        code.push(Inst { op, args: args.into(), results: smallvec![result], span: None });
                        result
                    };
                    let is_zero = add(Op::RealIs(self.places.zero), vec![*arg], Type::Bool);
                    let zero = add(Op::ConstReal((-0f64).to_bits()), Vec::new(), Type::F64);
                    *arg = add(Op::Select, vec![is_zero, zero, *arg], Type::F64);
                }
            }
        }
    }
}
