//! Tapes that can be vectors, and how the fields of their nodes are read then.

use super::study::{Rounds, Study};
use super::{Builder, Plan, Read, Reader, again};
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::{Code, is_length, is_tested, preheader, same};
use crate::opt::analysis::points_to::{Class, Classes, Place};
use crate::opt::edit::rewrite::use_counts;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, FuncId, Function, Inst, Int2, IntCompare, Op, Program, SumId, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop of more rounds than this that depend on each other has a tape that can be made again piece by piece: as a
/// vector it would take half a gigabyte at least.
const MANY: i64 = 1 << 26;

/// A sum of nodes of one kind, which one instruction makes, and a start.
#[derive(Debug)]
pub(super) struct Tape {
    pub(super) sum: SumId,
    pub(super) node: u32,
    start: u32,
    pub(super) maker: FuncId,
    lookers: Vec<FuncId>,
    /// The function that all its values stay in, if there is one, and their class.
    home: Option<(FuncId, Class)>,
    /// Places of its values that are parameters of blocks of that function.
    carried: FxHashSet<Value>,
}

impl Tape {
    /// The functions that make nodes or look at them.
    pub(super) fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.lookers.iter().copied().chain([self.maker])
    }
}

#[derive(Default)]
struct Sites {
    boxes: Vec<(FuncId, u32)>,
    starts: FxHashSet<(FuncId, u32)>,
    lookers: Vec<FuncId>,
}

/// The sums that may be tapes.
pub(super) fn tapes(program: &Program) -> Vec<Tape> {
    let mut sites: FxHashMap<SumId, Sites> = FxHashMap::default();
    for (id, function) in program.functions.iter() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst.op {
                Op::Box(sum, tag) => sites.entry(sum).or_default().boxes.push((id, tag)),
                Op::Immediate(sum, tag) => drop(sites.entry(sum).or_default().starts.insert((id, tag))),
                Op::Tag(sum) | Op::HasTag(sum, _) | Op::Field(sum, ..) => {
                    let lookers = &mut sites.entry(sum).or_default().lookers;
                    if lookers.last() != Some(&id) {
                        lookers.push(id);
                    }
                }
                _ => {}
            }
        }
    }
    sites.retain(|_, sites| {
        let made_at = sites.boxes.first().map(|(function, _)| *function);
        let start = sites.starts.iter().next().map(|(function, _)| *function);
        sites.boxes.len() == 1 && sites.starts.len() == 1 && made_at == start
    });
    if sites.is_empty() {
        return Vec::new();
    }
    let classes = Classes::new(program);
    let mut classes_of: FxHashMap<SumId, Vec<Class>> = FxHashMap::default();
    let vectors = classes.vectors();
    for (class, sums) in classes.all() {
        for sum in sums {
            classes_of.entry(*sum).or_default().push(class);
            if sums.len() > 1 || vectors.contains(&class) {
                sites.remove(sum);
            }
        }
    }
    let mut found: Vec<Tape> = sites
        .into_iter()
        .map(|(sum, sites)| {
            let (maker, node) = sites.boxes[0];
            let start = sites.starts.iter().next().map_or(node, |(_, start)| *start);
            Tape { sum, node, start, maker, lookers: sites.lookers, home: None, carried: FxHashSet::default() }
        })
        .collect();
    found.sort_by_key(|tape| tape.sum);
    find_homes(&mut found, &classes, &classes_of);
    found
}

/// Gives each loop a block before it that goes nowhere else, where its vector can be made: what comes before may be
/// another loop, which tests there in each round whether it ends.
pub(super) fn enter_loops_once(function: &mut Function) {
    let graph = Graph::new(function);
    for header in graph.order.iter().filter(|block| graph.is_loop_header(**block)) {
        preheader(function, &graph, *header);
    }
}

/// Finds the tapes all whose values stay in one function.
fn find_homes(tapes: &mut [Tape], classes: &Classes, classes_of: &FxHashMap<SumId, Vec<Class>>) {
    let outside: FxHashSet<Class> = classes.holders().map(|(_, inner)| inner).collect();
    let mut places: FxHashMap<Class, Vec<Place>> = FxHashMap::default();
    for (place, class) in classes.places() {
        places.entry(class).or_default().push(place);
    }
    for tape in tapes {
        let Some([class]) = classes_of.get(&tape.sum).map(|classes| &classes[..]) else { continue };
        let places = places.get(class).map(|places| &places[..]).unwrap_or_default();
        let here = |place: &Place| matches!(place, Place::Value(function, _) if *function == tape.maker);
        if !outside.contains(class) && places.iter().all(here) {
            tape.home = Some((tape.maker, *class));
            let values = places.iter().filter_map(|place| match place {
                Place::Value(_, value) => Some(*value),
                _ => None,
            });
            tape.carried = values.collect();
        }
    }
}

/// Finds the loops of a tape; `None` when its nodes are made or looked at in another way.
pub(super) fn plan(program: &Program, effects: &Effects, tape: &Tape) -> Option<Plan> {
    let code = Code::new(&program.functions[tape.maker]);
    let (mut builder, node) = builder(&code, tape)?;
    let (before, bound) = (builder.before, builder.bound);
    builder.is_count = is_length(&code, before, bound, |_| false) || is_tested(&code, before, bound);
    if !is_length(&code, before, bound, |id| builder.body.contains(&id)) && !completes(&code, effects, &builder.body) {
        builder.limit = Some(limit(&code, &builder)?);
    }
    let chain = node.args.iter().position(|arg| *arg == builder.tape)?;
    let readers = readers(program, tape, u32::try_from(chain).ok()?)?;
    let (header, body, known) = (builder.header, &builder.body, known(&code, tape));
    let study = Study { rounds: Rounds { program, code: &code, header, body, known }, builder: &builder };
    let (mut reads, mut kept, mut held, mut boxes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let expressions = study.fields(&node.args);
    for ((field, arg), expression) in (0..).zip(&node.args).zip(expressions) {
        if field as usize == chain {
            continue;
        }
        reads.push(match expression {
            Some(expression) => {
                study.hold(&expression, &mut held);
                Read::Computed(expression)
            }
            None => {
                let ty = code.function.values[*arg];
                if ty == Type::Ptr {
                    boxes.extend(study.boxes(*arg, field, &readers, Op::Field(tape.sum, tape.node, field)));
                }
                kept.push(ty);
                Read::Kept(u32::try_from(kept.len() - 1).ok()?)
            }
        });
    }
    boxes.iter().flat_map(|found| &found.fields).for_each(|expression| study.hold(expression, &mut held));
    let chain = u32::try_from(chain).ok()?;
    Some(Plan { sum: tape.sum, node: tape.node, start: tape.start, chain, builder, readers, reads, kept, held, boxes })
}

fn builder<'f>(code: &Code<'f>, tape: &Tape) -> Option<(Builder, &'f Inst)> {
    let function = code.function;
    let starts = |value: Value| matches!(code.op(value), Some(Op::Immediate(sum, _)) if sum == tape.sum);
    let (node, header, position) = chain(code, tape)?;
    let (made, chain) = (node.results[0], function.blocks[header].params[position]);
    let body = code.body(header);
    let [outside, inside] = code.passed(header, position, &body);
    let before = same(outside.iter().map(|(from, _)| *from))?;
    let uses = use_counts(function);
    let begins = outside.iter().all(|(_, value)| starts(*value));
    if !begins || inside.iter().any(|(_, value)| *value != made) || uses[made] as usize != inside.len() {
        return None;
    }
    // The start is used for this loop only.
    let immediates = function
        .blocks
        .values()
        .flat_map(|block| &block.insts)
        .filter(|inst| starts(inst.results.first().copied().unwrap_or(made)));
    if immediates.map(|inst| uses[inst.results[0]]).sum::<u32>() as usize != outside.len()
        || !body.contains(&code.homes.get(made)?)
    {
        return None;
    }
    let Terminator::Branch(condition, onward, out) = &function.blocks[header].terminator else { return None };
    let test = code.definitions.inst(function, *condition)?;
    let Inst { op: Op::IntCompare(IntCompare::Lt), args, .. } = test else { return None };
    let [counter, bound] = args[..] else { return None };
    let counted = function.blocks[header].params.iter().position(|param| *param == counter)?;
    let is_step = |value: Value| {
        let inst = code.definitions.inst(function, value);
        inst.is_some_and(|inst| {
            inst.op == Op::Int2(Int2::Add)
                && inst.args.contains(&counter)
                && inst.args.iter().any(|arg| code.op(*arg) == Some(Op::ConstInt(1)))
        })
    };
    let [entries, steps] = code.passed(header, counted, &body);
    let first = same(entries.iter().map(|(_, value)| *value))?;
    let is_fixed = |value: Value| code.homes.get(value).is_some_and(|home| !body.contains(&home));
    if !body.contains(&onward.block)
        || body.contains(&out.block)
        || steps.iter().any(|(_, value)| !is_step(*value))
        || !is_fixed(first)
        || !is_fixed(bound)
        || !code.is_left_at_header(header, &body)
        || !is_used_once(code, header, &body, chain)
    {
        return None;
    }
    let number = |value: Value| match code.op(value) {
        Some(Op::ConstInt(number)) => Some(number),
        _ => None,
    };
    let constant = number(first);
    if number(bound).is_some_and(|bound| bound - constant.unwrap_or(0) > MANY) && goes_on(code, header, &body, node) {
        return None;
    }
    let function = tape.maker;
    let builder = Builder {
        function,
        header,
        before,
        body,
        position,
        tape: chain,
        counter,
        first,
        constant,
        bound,
        is_count: false,
        limit: None,
        node: made,
    };
    Some((builder, node))
}

/// Whether a node depends on numbers that each round leaves to the next.
fn goes_on(code: &Code<'_>, header: BlockId, body: &FxHashSet<BlockId>, node: &Inst) -> bool {
    let function = code.function;
    let mut seen: FxHashSet<Value> = FxHashSet::default();
    let mut waiting: Vec<Value> = node.args.to_vec();
    while let Some(value) = waiting.pop() {
        let Some(home) = code.homes.get(value).filter(|home| body.contains(home)) else { continue };
        if !seen.insert(value) {
            continue;
        }
        if let Some(inst) = code.definitions.inst(function, value) {
            waiting.extend(&inst.args);
        } else if home == header {
            if function.values[value] == Type::F64 {
                return true;
            }
        } else if let Some(position) = function.blocks[home].params.iter().position(|param| *param == value) {
            let targets =
                code.graph.predecessors[home].iter().flat_map(|from| function.blocks[*from].terminator.targets());
            waiting.extend(targets.filter(|to| to.block == home).map(|to| to.args[position]));
        }
    }
    false
}

/// What makes the nodes of a tape, the head of the loop that carries it, and the position of the parameter there.
pub(super) fn chain<'f>(code: &Code<'f>, tape: &Tape) -> Option<(&'f Inst, BlockId, usize)> {
    let function = code.function;
    let makes = |inst: &&Inst| inst.op == Op::Box(tape.sum, tape.node);
    let node = function.blocks.values().flat_map(|block| &block.insts).find(makes)?;
    let carried = |arg: &&Value| {
        code.header_of(**arg).is_some_and(|(header, position)| {
            let from = code.graph.predecessors[header].iter();
            let mut targets = from.flat_map(|from| function.blocks[*from].terminator.targets());
            targets.any(|target| target.block == header && target.args[position] == node.results[0])
        })
    };
    let (header, position) = code.header_of(*node.args.iter().find(carried)?)?;
    Some((node, header, position))
}

/// Whether the loop uses its tape once.
fn is_used_once(code: &Code<'_>, header: BlockId, body: &FxHashSet<BlockId>, tape: Value) -> bool {
    let mut uses = 0;
    for id in body {
        let block = &code.function.blocks[*id];
        block.insts.iter().flat_map(|inst| &inst.args).for_each(|arg| uses += usize::from(*arg == tape));
        // Those that the loop hands it to in the end do not count.
        for target in block.terminator.targets().iter().filter(|to| *id != header || body.contains(&to.block)) {
            uses += target.args.iter().filter(|arg| **arg == tape).count();
        }
    }
    uses == 1
}

/// Whether nothing in the loop is seen or fails, so that it does all of its rounds if it does the first.
fn completes(code: &Code<'_>, effects: &Effects, body: &FxHashSet<BlockId>) -> bool {
    body.iter().all(|id| {
        let block = &code.function.blocks[*id];
        let fails = |id: BlockId| matches!(code.function.blocks[id].terminator, Terminator::Fail(..));
        block.insts.iter().all(|inst| effects.is_removable(inst.op))
            && !block.terminator.targets().iter().any(|target| !body.contains(&target.block) && fails(target.block))
    })
}

/// What the counter is checked against on the way to the node of each round.
fn limit(code: &Code<'_>, builder: &Builder) -> Option<Value> {
    let node = code.homes.get(builder.node)?;
    let is_fixed = |value: &Value| code.homes.get(*value).is_some_and(|home| !builder.body.contains(&home));
    code.graph.order.iter().filter(|id| builder.body.contains(id)).find_map(|id| {
        let Terminator::Branch(condition, onward, out) = &code.function.blocks[*id].terminator else { return None };
        let is_way = code.graph.dominates(onward.block, node)
            && code.graph.predecessors[onward.block].len() == 1
            && !builder.body.contains(&out.block);
        let mut waiting = vec![*condition];
        while let Some(condition) = waiting.pop().filter(|_| is_way) {
            let Some(inst) = code.definitions.inst(code.function, condition) else { continue };
            match inst.op {
                Op::And => waiting.extend(&inst.args),
                Op::IntCompare(IntCompare::Below) if inst.args[0] == builder.counter && is_fixed(&inst.args[1]) => {
                    return Some(inst.args[1]);
                }
                _ => {}
            }
        }
        None
    })
}

/// The loops that look at the tape; `None` when it is looked at in another way.
pub(super) fn readers(program: &Program, tape: &Tape, chain: u32) -> Option<Vec<Reader>> {
    let mut readers = Vec::new();
    for id in &tape.lookers {
        find_readers(program, *id, tape, chain, &mut readers)?;
    }
    Some(readers)
}

/// Finds the loops of a function that look at the tape.
fn find_readers(program: &Program, id: FuncId, tape: &Tape, chain: u32, readers: &mut Vec<Reader>) -> Option<()> {
    let code = Code::new(&program.functions[id]);
    let looks = |inst: &&Inst| matches!(inst.op, Op::Tag(of) | Op::HasTag(of, _) | Op::Field(of, ..) if of == tape.sum);
    let all: Vec<&Inst> = code.function.blocks.values().flat_map(|block| &block.insts).filter(looks).collect();
    let mut read: Vec<Value> = all.iter().map(|inst| inst.args[0]).collect();
    read.sort_unstable();
    read.dedup();
    let uses = use_counts(code.function);
    for value in read {
        let (header, position) = code.header_of(value)?;
        let body = code.body(header);
        let here: Vec<&&Inst> = all.iter().filter(|inst| inst.args[0] == value).collect();
        let rests = here.iter().filter(|inst| inst.op == Op::Field(tape.sum, tape.node, chain));
        let rests: FxHashSet<Value> = rests.map(|inst| inst.results[0]).collect();
        let [outside, inside] = code.passed(header, position, &body);
        let goes_on = inside.iter().all(|(_, passed)| rests.contains(passed));
        let used: u32 = rests.iter().map(|rest| uses[*rest]).sum();
        let is_inside = |inst: &&&Inst| code.homes.get(inst.results[0]).is_some_and(|home| body.contains(&home));
        let fits = goes_on
            && used as usize == inside.len()
            && uses[value] as usize == here.len()
            && here.iter().filter(|inst| matches!(inst.op, Op::Field(..))).all(is_inside)
            && !outside.is_empty();
        if !fits {
            return None;
        }
        let reads = here.iter().filter(|inst| matches!(inst.op, Op::Field(..)) && !rests.contains(&inst.results[0]));
        let reads: Vec<BlockId> = reads.filter_map(|inst| code.homes.get(inst.results[0])).collect();
        let (at, reads) = (again::place(&code, &reads, header, &body), !reads.is_empty());
        readers.push(Reader { function: id, header, body, position, tape: value, reads, at });
    }
    Some(())
}

/// The blocks whose values the loops know when they read the tape: those before all blocks that carry it.
pub(super) fn known(code: &Code<'_>, tape: &Tape) -> Option<Vec<BlockId>> {
    tape.home?;
    let carries =
        |block: &BlockId| code.function.blocks[*block].params.iter().any(|param| tape.carried.contains(param));
    Some(code.graph.order.iter().copied().filter(carries).collect())
}
