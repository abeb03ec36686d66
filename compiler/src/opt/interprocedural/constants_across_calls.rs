//! Constants and unchanged parameters across calls: SSA → SSA.
//!
//! ```text
//! fn fn1(v0: f64, v1: f64) -> f64, f64 {      fn fn1(v0: f64, v1: f64) -> f64, f64 {
//!     v2 = add v0, v1                             v3 = real 2.0
//!     return v2, v0                               v2 = add v0, v3
//! }                                      →        return v2, v0
//! ...                                         }
//!     v4 = real 2.0                           ...
//!     v5, v6 = call fn1(v3, v4)                   v5, v6 = call fn1(v3, v4)
//!     return v5, v6                               return v5, v3
//! ```
//!
//! Every parameter of a function or block and every result starts as unknown; what calls, jumps and returns pass is
//! joined, and what is not always the same varies. This happens twice: once for constants, and once for parameters of
//! functions, to find results that always are a certain parameter, for which callers can use their own argument. The
//! join is optimistic, so what a recursion hands on unchanged is found. Each item changes at most twice, and only then
//! is what depends on it looked at again.
//!
//! Fields of boxes count like parameters: one that holds the same constant in all boxes of an alternative is that
//! constant wherever it is read.
//!
//! Of reals that are not constants, it is also found out whether they are sure to be numbers that an operation has made
//! or the program mentions: then a test for the bits that stand for a symbolic zero fails (`real_is`). A selection by
//! such a test is what its operand is that can be selected. A vector is known as a number when all reals in it are sure
//! to be numbers, and in the vectors that it holds. In the same way all integers in a vector may be one: the rows of a
//! matrix have the same length, wherever they are read.
//!
//! Parameters and results that this makes useless are dropped by [`crate::opt::interprocedural::dead_across_calls`].
//!
//! Not done: evaluation of operations on constants (see [`crate::opt::scalar::fold`]); the flow analysis before this
//! stage has done what decides control.
//!
//! Tests: `tests/opt/constants-across-calls/`.

use crate::base::EntityVec;
use crate::opt::analysis::points_to::Field;
use crate::opt::edit::rewrite::{Constants, Definitions, Replacements, is_constant, use_counts};
use crate::ssa::ir::{FuncId, Function, Inst, Op, Program, SlotId, Terminator, Type, Value};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let constants = Analysis::run(program, Track::Constants);
    let params = Analysis::run(program, Track::Params);
    let mut changed = false;
    for id in program.functions.ids() {
        let facts = Facts { constants: &constants.0[id], params: &params.0[id], results: &params.1 };
        changed |= rewrite(&mut program.functions[id], &facts);
    }
    changed
}

/// What to look for.
#[derive(Clone, Copy, PartialEq)]
enum Track {
    Constants,
    Params,
}

/// What is known about each value and each result.
type Tables = (EntityVec<FuncId, EntityVec<Value, Known>>, EntityVec<FuncId, Vec<Known>>);

/// What is known about a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// Nothing has been seen yet.
    Nothing,
    Constant(Op),
    /// A real, not one with bits that no operation makes.
    Number,
    /// A vector.
    Vector(Held),
    /// The parameter of the function at this position.
    Param(usize),
    Varies,
}

/// What is known of the elements of a vector, and of those of the vectors in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    /// Whether all reals are numbers.
    are_numbers: bool,
    integers: Integers,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Integers {
    None,
    /// All are this constant.
    All(Op),
    Vary,
}

impl Held {
    /// No elements.
    const NONE: Held = Held { are_numbers: true, integers: Integers::None };
    /// Whatever there is.
    const ANY: Held = Held { are_numbers: false, integers: Integers::Vary };

    fn join(self, other: Held) -> Held {
        let integers = match (self.integers, other.integers) {
            (Integers::None, one) | (one, Integers::None) => one,
            (one, other) if one == other => one,
            _ => Integers::Vary,
        };
        Held { are_numbers: self.are_numbers && other.are_numbers, integers }
    }

    /// What it says of a value of that type that is read of the vector.
    fn read(self, ty: Type) -> Known {
        match (ty, self.integers) {
            (Type::F64, _) if self.are_numbers => Known::Number,
            (Type::Ptr, _) => Known::Vector(self),
            (Type::Int, Integers::None) => Known::Nothing,
            (Type::Int, Integers::All(constant)) => Known::Constant(constant),
            _ => Known::Varies,
        }
    }

    /// What is known of a vector that holds a value of that type, of which that is known.
    fn holds(ty: Type, known: Known) -> Held {
        match (ty, known) {
            (Type::F64, known) => Held { are_numbers: known.is_number(), ..Held::NONE },
            (Type::Int, Known::Constant(constant)) => Held { integers: Integers::All(constant), ..Held::NONE },
            (Type::Int, _) => Held { integers: Integers::Vary, ..Held::NONE },
            (Type::Ptr, Known::Vector(held)) => held,
            _ => Held::ANY,
        }
    }
}

impl Known {
    fn join(self, other: Known) -> Known {
        match (self, other) {
            (Known::Nothing, x) | (x, Known::Nothing) => x,
            (x, y) if x == y => x,
            (x, y) if x.is_number() && y.is_number() => Known::Number,
            (Known::Vector(x), Known::Vector(y)) => Known::Vector(x.join(y)),
            _ => Known::Varies,
        }
    }

    fn is_number(self) -> bool {
        match self {
            Known::Number => true,
            Known::Constant(Op::ConstReal(bits)) => !f64::from_bits(bits).is_nan(),
            _ => false,
        }
    }
}

/// Something that gets a new fact when a value does.
#[derive(Clone, Copy)]
enum Dependent {
    /// The parameter of a block.
    Param(Value),
    /// The parameter of a function that is called, by position.
    Argument(FuncId, usize),
    /// A result of the function itself.
    Result(usize),
    /// The results of a call that are its argument at this position.
    Call(u32, u32),
    /// The results of the function that a tail call gives, where they are its argument at this position.
    TailCall(FuncId, u32),
    /// What many places share.
    Part(Part),
    /// A selection of reals, by its index.
    Selection(u32),
    /// A vector that holds it, or is made of it, or an element of it.
    Elements(Value),
}

/// What many places share.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// A field of all boxes of an alternative.
    Field(Field),
    /// A global variable.
    Global(SlotId),
}

/// A call whose results are values.
#[derive(Clone, Copy)]
struct Call<'p> {
    caller: FuncId,
    inst: &'p Inst,
}

/// A selection of reals by what a test of another one says.
#[derive(Clone, Copy)]
struct Selection {
    /// What is tested, for which bits.
    tested: Option<(Value, u64)>,
    yes: Value,
    no: Value,
    result: Value,
}

/// How many dependents there are up to one of them, itself included.
type Place = NonZeroU32;

struct Analysis<'p> {
    program: &'p Program,
    track: Track,
    values: EntityVec<FuncId, EntityVec<Value, Known>>,
    results: EntityVec<FuncId, Vec<Known>>,
    /// The last of the dependents of each value, by its place in `dependents`.
    last_dependent: EntityVec<FuncId, EntityVec<Value, Option<Place>>>,
    /// All dependents, each with the one before it of the same value.
    dependents: Vec<(Dependent, Option<Place>)>,
    /// All calls that are not in tail position, and those of each function.
    calls: Vec<Call<'p>>,
    calls_of: EntityVec<FuncId, Vec<u32>>,
    tail_callers: EntityVec<FuncId, Vec<(FuncId, &'p [Value])>>,
    /// The results of a function that have been found to be its parameter at this position.
    results_of_params: FxHashMap<(FuncId, u32), Vec<usize>>,
    selections: Vec<Selection>,
    parts: FxHashMap<Part, Known>,
    /// Where each part is read.
    reads: FxHashMap<Part, Vec<(FuncId, Value)>>,
    waiting: Vec<(FuncId, Value)>,
    waiting_results: Vec<(FuncId, usize)>,
}

impl<'p> Analysis<'p> {
    fn run(program: &'p Program, track: Track) -> Tables {
        let functions = &program.functions;
        let mut analysis = Analysis {
            program,
            track,
            values: functions.values().map(|function| function.values.same_ids(Known::Nothing)).collect(),
            results: functions.values().map(|function| vec![Known::Nothing; function.results.len()]).collect(),
            last_dependent: functions.values().map(|function| function.values.same_ids(None)).collect(),
            dependents: Vec::new(),
            calls: Vec::new(),
            calls_of: functions.same_ids(Vec::new()),
            tail_callers: functions.same_ids(Vec::new()),
            results_of_params: FxHashMap::default(),
            selections: Vec::new(),
            parts: FxHashMap::default(),
            reads: FxHashMap::default(),
            waiting: Vec::new(),
            waiting_results: Vec::new(),
        };
        functions.iter().for_each(|(id, function)| analysis.index(id, function));
        for (id, function) in functions.iter() {
            for (position, param) in function.params().iter().enumerate() {
                if track == Track::Params {
                    analysis.join(id, *param, Known::Param(position));
                }
            }
        }
        analysis.finish();
        (analysis.values, analysis.results)
    }

    /// Notes what depends on what in one function, and the facts that hold from the start.
    fn index(&mut self, id: FuncId, function: &'p Function) {
        let mut facts = Vec::new();
        let definitions = Definitions::new(function);
        for block in function.blocks.values() {
            for inst in &block.insts {
                match inst.op {
                    Op::Call(callee) => self.index_call(id, callee, inst),
                    _ if self.track == Track::Constants => {
                        self.index_constants(id, function, &definitions, inst, &mut facts);
                    }
                    _ => facts.extend(inst.results.iter().map(|value| (*value, Known::Varies))),
                }
            }
            for target in block.terminator.targets() {
                for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
                    self.depends(id, *arg, Dependent::Param(*param));
                }
            }
            match &block.terminator {
                Terminator::Return(values) => {
                    for (position, value) in values.iter().enumerate() {
                        self.depends(id, *value, Dependent::Result(position));
                    }
                }
                Terminator::TailCall(callee, args) => {
                    self.index_args(id, *callee, args);
                    if self.track == Track::Params {
                        for (position, arg) in (0..).zip(args) {
                            self.depends(id, *arg, Dependent::TailCall(*callee, position));
                        }
                    }
                    self.tail_callers[*callee].push((id, args));
                }
                _ => {}
            }
        }
        facts.into_iter().for_each(|(value, known)| self.join(id, value, known));
    }

    /// The same of an instruction, where constants are looked for.
    fn index_constants(
        &mut self,
        id: FuncId,
        function: &Function,
        definitions: &Definitions,
        inst: &Inst,
        facts: &mut Vec<(Value, Known)>,
    ) {
        let result = inst.results.first().copied();
        match (inst.op, result) {
            (Op::GlobalSet(slot), _) => self.depends(id, inst.args[0], Dependent::Part(Part::Global(slot))),
            (Op::GlobalGet(slot), Some(result)) => {
                self.reads.entry(Part::Global(slot)).or_default().push((id, result));
            }
            (Op::Field(sum, tag, field), Some(result)) => {
                self.reads.entry(Part::Field((sum, tag, field))).or_default().push((id, result));
            }
            (op, Some(result)) if is_constant(op) => facts.push((result, Known::Constant(op))),
            (Op::NewVector(_) | Op::NewRows(_) | Op::NewRow(_), Some(result)) => {
                facts.push((result, Known::Vector(Held::NONE)));
            }
            (Op::Kernel(kernel, _), Some(result)) if !kernel.shares() => {
                facts.push((result, Known::Vector(Held::NONE)));
            }
            (op, Some(result)) if makes_numbers(op) => facts.push((result, Known::Number)),
            (Op::Select, Some(result)) if function.values[result] == Type::F64 => {
                self.index_selection(id, function, definitions, inst);
            }
            (Op::Element(..) | Op::Own(_), Some(result)) => {
                self.depends(id, inst.args[0], Dependent::Elements(result));
            }
            (Op::WithElement(_), Some(result)) => {
                for value in inst.args[..1].iter().chain(&inst.args[3..]) {
                    self.depends(id, *value, Dependent::Elements(result));
                }
            }
            (Op::Kernel(..), Some(result)) => {
                for value in inst.args.iter().filter(|value| function.values[**value] == Type::Ptr) {
                    self.depends(id, *value, Dependent::Elements(result));
                }
            }
            (op, result) => {
                if let Op::Box(sum, tag) = op {
                    for (field, arg) in (0..).zip(&inst.args) {
                        self.depends(id, *arg, Dependent::Part(Part::Field((sum, tag, field))));
                    }
                }
                facts.extend(result.map(|value| (value, Known::Varies)));
                facts.extend(inst.results.iter().skip(1).map(|value| (*value, Known::Varies)));
            }
        }
    }

    fn index_selection(&mut self, id: FuncId, function: &Function, definitions: &Definitions, inst: &Inst) {
        let [condition, yes, no] = inst.args[..] else { return };
        let tested = definitions.inst(function, condition).and_then(|test| match test.op {
            Op::RealIs(bits) => Some((test.args[0], bits)),
            _ => None,
        });
        let selection = Dependent::Selection(u32::try_from(self.selections.len()).expect("few selections"));
        self.selections.push(Selection { tested, yes, no, result: inst.results[0] });
        for value in tested.iter().map(|(value, _)| *value).chain([yes, no]) {
            self.depends(id, value, selection);
        }
    }

    /// What a selection is, by what is known of its operands and of what decides it.
    fn update_selection(&mut self, id: FuncId, selection: Selection) {
        let known = |value: Value| self.values[id][value];
        let Selection { tested, yes, no, result } = selection;
        let mut found = Known::Nothing;
        let (can_be_yes, can_be_no) = match tested {
            None => (true, true),
            Some((value, bits)) => match known(value) {
                Known::Nothing => (false, false),
                Known::Constant(Op::ConstReal(constant)) => (constant == bits, constant != bits),
                Known::Number => (false, true),
                _ => (true, true),
            },
        };
        if can_be_yes {
            found = found.join(known(yes));
        }
        if can_be_no {
            // It has been tested, so it does not have the bits.
            let is_tested = tested.is_some_and(|(value, _)| value == no) && known(no) == Known::Varies;
            found = found.join(if is_tested { Known::Number } else { known(no) });
        }
        self.join(id, result, found);
    }

    fn index_args(&mut self, caller: FuncId, callee: FuncId, args: &[Value]) {
        for (position, arg) in args.iter().enumerate() {
            self.depends(caller, *arg, Dependent::Argument(callee, position));
        }
    }

    fn index_call(&mut self, caller: FuncId, callee: FuncId, inst: &'p Inst) {
        let call = u32::try_from(self.calls.len()).expect("few calls");
        self.calls.push(Call { caller, inst });
        self.calls_of[callee].push(call);
        self.index_args(caller, callee, &inst.args);
        // Only where a result is a parameter does it depend on the argument.
        if self.track == Track::Params {
            for (position, arg) in (0..).zip(&inst.args) {
                self.depends(caller, *arg, Dependent::Call(call, position));
            }
        }
    }

    fn depends(&mut self, function: FuncId, value: Value, dependent: Dependent) {
        let last = &mut self.last_dependent[function][value];
        self.dependents.push((dependent, *last));
        *last = Place::new(u32::try_from(self.dependents.len()).expect("fewer dependents than memory holds"));
    }

    fn join(&mut self, function: FuncId, value: Value, known: Known) {
        let before = self.values[function][value];
        let after = before.join(known);
        if after != before {
            self.values[function][value] = after;
            self.waiting.push((function, value));
        }
    }

    fn finish(&mut self) {
        loop {
            if let Some((id, value)) = self.waiting.pop() {
                self.update_dependents(id, value);
            } else if let Some((id, position)) = self.waiting_results.pop() {
                self.update_callers(id, position);
            } else {
                break;
            }
        }
    }

    fn update_dependents(&mut self, id: FuncId, value: Value) {
        let known = self.values[id][value];
        let mut next = self.last_dependent[id][value];
        while let Some(place) = next {
            let (dependent, before) = self.dependents[place.get() as usize - 1];
            next = before;
            match dependent {
                Dependent::Param(param) => self.join(id, param, known),
                Dependent::Argument(callee, position) => self.pass(callee, position, known),
                Dependent::Result(position) => self.give(id, position, known),
                Dependent::Call(call, param) => {
                    let Call { inst, .. } = self.calls[call as usize];
                    let Op::Call(callee) = inst.op else { continue };
                    for position in self.results_that_are(callee, param) {
                        self.join(id, inst.results[position], known);
                    }
                }
                Dependent::TailCall(callee, param) => {
                    for position in self.results_that_are(callee, param) {
                        self.give(id, position, known);
                    }
                }
                Dependent::Part(part) => self.store(part, known),
                Dependent::Selection(index) => self.update_selection(id, self.selections[index as usize]),
                Dependent::Elements(of) if known != Known::Nothing => {
                    let types = &self.program.functions[id].values;
                    let found = match (types[of], known) {
                        (Type::Ptr, known) => Known::Vector(Held::holds(types[value], known)),
                        (ty, Known::Vector(held)) => held.read(ty),
                        _ => Known::Varies,
                    };
                    self.join(id, of, found);
                }
                Dependent::Elements(_) => {}
            }
        }
    }

    /// The results of a function that are its parameter at this position, as far as is known.
    fn results_that_are(&self, callee: FuncId, param: u32) -> Vec<usize> {
        let found = self.results_of_params.get(&(callee, param)).into_iter().flatten().copied();
        found.filter(|position| self.results[callee][*position] == Known::Param(param as usize)).collect()
    }

    /// A call passes this to a parameter.
    fn pass(&mut self, callee: FuncId, position: usize, known: Known) {
        if self.track == Track::Constants {
            let param = self.program.functions[callee].params()[position];
            self.join(callee, param, known);
        }
    }

    /// A part holds this.
    fn store(&mut self, part: Part, known: Known) {
        let before = self.parts.get(&part).copied().unwrap_or(Known::Nothing);
        let after = before.join(known);
        if after != before {
            self.parts.insert(part, after);
            for (function, value) in self.reads.get(&part).cloned().unwrap_or_default() {
                self.join(function, value, after);
            }
        }
    }

    /// A function returns this at a position.
    fn give(&mut self, id: FuncId, position: usize, known: Known) {
        let before = self.results[id][position];
        let after = before.join(known);
        if after == before {
            return;
        }
        self.results[id][position] = after;
        self.waiting_results.push((id, position));
        if let Known::Param(param) = after {
            let param = u32::try_from(param).expect("few parameters");
            self.results_of_params.entry((id, param)).or_default().push(position);
        }
    }

    /// Those who call a function see what it returns at a position.
    fn update_callers(&mut self, id: FuncId, position: usize) {
        let known = self.results[id][position];
        for index in 0..self.calls_of[id].len() {
            let Call { caller, inst } = self.calls[self.calls_of[id][index] as usize];
            let known = self.seen_by_caller(caller, &inst.args, known);
            self.join(caller, inst.results[position], known);
        }
        for index in 0..self.tail_callers[id].len() {
            let (caller, args) = self.tail_callers[id][index];
            let known = self.seen_by_caller(caller, args, known);
            self.give(caller, position, known);
        }
    }

    /// What a result of a callee is to its caller.
    fn seen_by_caller(&self, caller: FuncId, args: &[Value], known: Known) -> Known {
        match known {
            Known::Param(position) => self.values[caller][args[position]],
            known => known,
        }
    }
}

/// Whether what an operation makes is a real with bits of a number.
fn makes_numbers(op: Op) -> bool {
    matches!(op, Op::Real1(_) | Op::Real2(_) | Op::RealOf | Op::Read(..) | Op::Argument(_))
}

/// What [`rewrite`] needs to know about one function.
struct Facts<'a> {
    constants: &'a EntityVec<Value, Known>,
    params: &'a EntityVec<Value, Known>,
    results: &'a EntityVec<FuncId, Vec<Known>>,
}

/// Uses the facts in one function.
fn rewrite(function: &mut Function, facts: &Facts) -> bool {
    let mut definitions = Definitions::new(function);
    let mut replacements = Replacements::new(function);
    let mut constants = Constants::default();
    for block in function.blocks.ids() {
        for param in function.blocks[block].params.clone() {
            let by = match (facts.constants[param], facts.params[param]) {
                (Known::Constant(op), _) => constants.value(function, &mut definitions, op),
                (_, Known::Param(position)) => function.params()[position],
                _ => continue,
            };
            replace(&mut replacements, param, by);
        }
        for index in 0..function.blocks[block].insts.len() {
            let inst = &function.blocks[block].insts[index];
            if let Op::Field(..) | Op::Element(..) = inst.op
                && let Known::Constant(op) = facts.constants[inst.results[0]]
            {
                let value = inst.results[0];
                let by = constants.value(function, &mut definitions, op);
                replace(&mut replacements, value, by);
                continue;
            }
            if let Op::RealIs(_) = inst.op
                && facts.constants[inst.args[0]].is_number()
            {
                let value = inst.results[0];
                let by = constants.value(function, &mut definitions, Op::ConstBool(false));
                replace(&mut replacements, value, by);
                continue;
            }
            let Op::Call(callee) = inst.op else { continue };
            let (args, results) = (inst.args.clone(), inst.results.clone());
            for (position, value) in results.into_iter().enumerate() {
                let by = match (facts.constants[value], facts.results[callee][position]) {
                    (Known::Constant(op), _) => constants.value(function, &mut definitions, op),
                    (_, Known::Param(position)) => args[position],
                    _ => continue,
                };
                replace(&mut replacements, value, by);
            }
        }
    }
    let used = use_counts(function);
    let changed = function.values.ids().any(|value| replacements.resolve(value) != value && used.get(value) > Some(&0));
    replacements.apply(function);
    constants.insert(function);
    changed
}

fn replace(replacements: &mut Replacements, value: Value, by: Value) {
    let by = replacements.resolve(by);
    if by != value {
        replacements.replace(value, by);
    }
}
