//! Parameters and results that are always equal: SSA → SSA.
//!
//! ```text
//! fn fn1(v0: f64) -> ptr, ptr {               fn fn1(v0: f64) -> ptr, ptr {
//!     ...                                         ...
//! b1: v2 = immediate.sum0.0                   b1: v2 = immediate.sum0.0
//!     return v2, v2                               return v2, v2
//! b2: v3, v4 = call fn1(v1)             →     b2: v3, v4 = call fn1(v1)
//!     v5 = box.sum0.1 v0, v3                      v5 = box.sum0.1 v0, v3
//!     v6 = box.sum0.1 v0, v4                      v6 = box.sum0.1 v0, v3
//!     return v5, v6                               return v5, v6
//! }                                           }
//! ```
//!
//! Each order of a derivative makes a tape of its own, and backpropagators of two orders that need the same of a round
//! keep the same: two tapes are one then, which all read.
//!
//! This is assumed of all results of a function that have one type, and of all its parameters, and refuted: values are
//! numbered in all functions, where what is assumed to be equal has one number, and classes are split by the numbers
//! that returns and calls pass, until none is split any more. (Numbering is by Alpern, Wegman and Zadeck's idea,
//! "Detecting equality of variables in programs", 1988, with calls in place of the joins in a function.)
//!
//! Vectors that are made apart stay so, since they are changed in place. Parameters of blocks are left to
//! [`crate::opt::scalar::block_params`]; what is left over goes in [`crate::opt::interprocedural::dead_across_calls`].
//!
//! Tests: `tests/opt/equal-across-calls/`.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::Replacements;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{BlockId, FuncId, Function, Op, Program, Terminator, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Classes that are still split after so many rounds are left as they are.
const ROUNDS: usize = 20;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let functions = &program.functions;
    if !functions.values().any(has_twins) {
        return false;
    }
    let orders = functions.iter().map(|(_, function)| reverse_postorder(function)).collect();
    let mut equal: EntityVec<FuncId, Equal> = functions.values().map(Equal::assumed).collect();
    for _ in 0..ROUNDS {
        let (refined, changed) = refine(program, &orders, &equal);
        if !changed {
            return program
                .functions
                .ids()
                .fold(false, |any, id| rewrite(&mut program.functions[id], id, &equal) | any);
        }
        equal = refined;
    }
    false
}

/// Whether two parameters of a function, or two of its results, have one type.
fn has_twins(function: &Function) -> bool {
    let Equal { params, results } = Equal::assumed(function);
    [params, results].iter().any(|firsts| firsts.iter().enumerate().any(|(position, first)| *first < position))
}

/// For each parameter and each result of a function the first one that is equal to it.
#[derive(Clone, PartialEq)]
struct Equal {
    params: Vec<usize>,
    results: Vec<usize>,
}

impl Equal {
    fn assumed(function: &Function) -> Equal {
        let params: Vec<Type> = function.params().iter().map(|param| function.values[*param]).collect();
        Equal { params: firsts(&params), results: firsts(&function.results) }
    }
}

/// For each item the position of the first one like it.
fn firsts<T: Eq + std::hash::Hash>(items: &[T]) -> Vec<usize> {
    let mut seen = FxHashMap::default();
    items.iter().enumerate().map(|(position, item)| *seen.entry(item).or_insert(position)).collect()
}

/// What a value of a function is: equal keys, equal values.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Of(Op, SmallVec<[u32; 4]>),
    /// A result of a tail call.
    Given(FuncId, usize),
}

/// The classes, split by what is passed where they are assumed; whether that splits one.
fn refine(
    program: &Program,
    orders: &EntityVec<FuncId, Vec<BlockId>>,
    equal: &EntityVec<FuncId, Equal>,
) -> (EntityVec<FuncId, Equal>, bool) {
    // By parameter and by result, its class, and then a number for each place that passes something for it.
    let columns = |classes: &Vec<usize>| -> Vec<Vec<u32>> {
        classes.iter().map(|first| vec![u32::try_from(*first).expect("few parameters and results")]).collect()
    };
    let mut params: EntityVec<FuncId, Vec<Vec<u32>>> = equal.values().map(|equal| columns(&equal.params)).collect();
    let mut results: EntityVec<FuncId, Vec<Vec<u32>>> = equal.values().map(|equal| columns(&equal.results)).collect();
    for (id, function) in program.functions.iter() {
        let mut numbers = Numbers { of: function.values.same_ids(None), known: FxHashMap::default(), next: 0 };
        for (param, first) in function.params().iter().zip(&equal[id].params) {
            let first = function.params()[*first];
            let number = numbers.of(first);
            numbers.of[*param] = Some(number);
        }
        for block in &orders[id] {
            let block = &function.blocks[*block];
            for inst in &block.insts {
                let args: SmallVec<[u32; 4]> = inst.args.iter().map(|arg| numbers.of(*arg)).collect();
                match inst.op {
                    Op::Call(callee) => {
                        pass(&mut params[callee], &args);
                        for (result, first) in inst.results.iter().zip(&equal[callee].results) {
                            let number = numbers.of(inst.results[*first]);
                            numbers.of[*result] = Some(number);
                        }
                    }
                    op if op.has_effect() || matches!(op, Op::NewVector(_)) => {}
                    op => {
                        let number = numbers.of_key(Key::Of(op, args));
                        inst.results.iter().for_each(|result| numbers.of[*result] = Some(number));
                    }
                }
            }
            match &block.terminator {
                Terminator::Return(values) => {
                    let given: Vec<u32> = values.iter().map(|value| numbers.of(*value)).collect();
                    pass(&mut results[id], &given);
                }
                Terminator::TailCall(callee, args) => {
                    let args: Vec<u32> = args.iter().map(|arg| numbers.of(*arg)).collect();
                    pass(&mut params[*callee], &args);
                    let firsts = equal[*callee].results.iter();
                    let given: Vec<u32> = firsts.map(|first| numbers.of_key(Key::Given(*callee, *first))).collect();
                    pass(&mut results[id], &given);
                }
                _ => {}
            }
        }
    }
    let refined: EntityVec<FuncId, Equal> = program
        .functions
        .ids()
        .map(|id| Equal { params: firsts(&params[id]), results: firsts(&results[id]) })
        .collect();
    let changed = program.functions.ids().any(|id| refined[id] != equal[id]);
    (refined, changed)
}

/// Notes what is passed at one place.
fn pass(columns: &mut [Vec<u32>], numbers: &[u32]) {
    columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(*number));
}

/// The numbers of the values of a function.
struct Numbers {
    of: EntityVec<Value, Option<u32>>,
    known: FxHashMap<Key, u32>,
    next: u32,
}

impl Numbers {
    fn of(&mut self, value: Value) -> u32 {
        if let Some(number) = self.of[value] {
            return number;
        }
        self.next += 1;
        self.of[value] = Some(self.next);
        self.next
    }

    fn of_key(&mut self, key: Key) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.next += 1;
            self.next
        })
    }
}

/// Lets the first of equal parameters, and of equal results of calls, stand for the others.
fn rewrite(function: &mut Function, id: FuncId, equal: &EntityVec<FuncId, Equal>) -> bool {
    let mut replacements = Replacements::new(function);
    let mut merge = |values: &[Value], firsts: &[usize]| {
        for (value, first) in values.iter().zip(firsts) {
            if *value != values[*first] {
                replacements.replace(*value, values[*first]);
            }
        }
    };
    merge(function.params(), &equal[id].params);
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        if let Op::Call(callee) = inst.op {
            merge(&inst.results, &equal[callee].results);
        }
    }
    replacements.apply(function)
}
