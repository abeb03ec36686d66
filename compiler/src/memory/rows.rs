//! The rows of a matrix lie in one piece of memory: SSA → SSA.
//!
//! ```text
//!     v2 = new_vector.vec1 v0                      v2 = new_vector.vec1 v0
//!                                                  v9 = new_rows.vec0 v0, v1
//!     jump b1(v2, 0)                               jump b1(v2, 0)
//! b1(v3: ptr, v4: int):                        b1(v3: ptr, v4: int):
//!     v5 = new_vector.vec0 v1               →      v5 = new_row.vec0 v9, v1, v4
//!     ... (fills v5)                               ... (fills v5)
//!     v6 = with_element.vec1 v3, v0, v4, v5        v6 = with_element.vec1 v3, v0, v4, v5
//!     jump b1(v6, int_add v4, 1)                   jump b1(v6, int_add v4, 1)
//! ```
//!
//! A vector of vectors refers to its elements, which are shared and change owners like any data. Where all of them have
//! one length that is known before they are made, and hold no pointers, memory is taken for all at once. So a walk down
//! a column goes by equal steps, whatever the heap looks like, and a row costs a view and no search for memory.
//!
//! A row keeps the memory of all. So nobody but the table may own one: rows of tables whose elements are stored
//! elsewhere, returned or changed in place are boxes of their own, and a program that keeps a row of each of many
//! matrices keeps no more than these.
//!
//! No place is named twice: a row is made once in each round of the loop that counts its place, and its memory just
//! outside that loop; or it is made as often as the memory, at a place of its own that is constant.
//!
//! Requires that nothing but the placing of reference counts follows. Tests: `tests/opt/rows/`.

use crate::base::EntityVec;
use crate::memory::ownership::{Modes, wants_owner};
use crate::opt::analysis::loops::{Code, same};
use crate::opt::edit::rewrite::append;
use crate::ssa::ir::{BlockId, Function, Inst, Int2, Op, Program, Source, Type, Value, VectorId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Treats every function.
pub fn run(program: &mut Program) -> bool {
    let mut changed = false;
    let handed_out = handed_out(program);
    for id in program.functions.ids() {
        let function = &program.functions[id];
        let is_row = |inst: &Inst| matches!(inst.op, Op::NewVector(kind) if !program.vectors[kind].has_pointers());
        let is_table = |inst: &Inst| matches!(inst.op, Op::NewVector(kind) if program.vectors[kind].has_pointers());
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        if insts().any(is_table) && insts().any(is_row) {
            let found = Search::new(program, function, &handed_out).matrices();
            changed |= !found.is_empty();
            apply(&mut program.functions[id], found);
        }
    }
    changed
}

/// The fields of vectors whose elements get owners elsewhere: they are stored, returned, or changed.
fn handed_out(program: &Program) -> FxHashSet<(VectorId, u32)> {
    let modes = Modes::infer(program);
    let mut found = FxHashSet::default();
    for function in program.functions.values() {
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        if !insts().any(|inst| matches!(inst.op, Op::Element(..)) && function.values[inst.results[0]] == Type::Ptr) {
            continue;
        }
        let wanted = wants_owner(function, &modes);
        let mut sources: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for inst in insts().filter(|inst| matches!(inst.op, Op::Select | Op::Opaque | Op::Exchange)) {
            sources.entry(inst.results[0]).or_default().extend(&inst.args);
        }
        for target in function.blocks.values().flat_map(|block| block.terminator.targets()) {
            for (param, arg) in function.blocks[target.block].params.iter().zip(&target.args) {
                sources.entry(*param).or_default().push(*arg);
            }
        }
        let mut waiting: Vec<Value> = wanted.iter().filter(|(_, wanted)| **wanted).map(|(value, _)| value).collect();
        let mut seen: FxHashSet<Value> = waiting.iter().copied().collect();
        while let Some(value) = waiting.pop() {
            waiting.extend(sources.get(&value).into_iter().flatten().copied().filter(|value| seen.insert(*value)));
        }
        for inst in insts() {
            if let Op::Element(kind, field) = inst.op
                && seen.contains(&inst.results[0])
            {
                found.insert((kind, field));
            }
        }
    }
    found
}

/// Vectors of one length that are stored in one new vector.
struct Matrix {
    /// Memory is taken after the definition of this value.
    after: Value,
    kind: VectorId,
    /// How many there are at most, and their length.
    count: Value,
    length: Operand,
    /// Where in the source the first is made.
    span: Option<Source>,
    /// What makes each, and where it will be.
    rows: Vec<(Value, Operand)>,
}

/// A value, or a constant that is made where it is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Value(Value),
    Int(i64),
}

/// A row that could lie in memory for all.
struct Row {
    made: Value,
    kind: VectorId,
    length: Operand,
    /// What has to be defined before memory is taken.
    after: Value,
    place: Place,
    span: Option<Source>,
}

/// Where a row stands in its matrix.
#[derive(Clone, Copy)]
enum Place {
    /// Always there.
    Constant(i64),
    /// Where a loop has counted to, and where it began if that is known, upwards or not.
    Counted { counter: Value, start: Option<i64>, upwards: bool },
}

impl Place {
    fn operand(self) -> Operand {
        match self {
            Place::Constant(place) => Operand::Int(place),
            Place::Counted { counter, .. } => Operand::Value(counter),
        }
    }

    /// Whether two rows of one matrix are never at the same place.
    fn differs(self, other: Place) -> bool {
        match (self, other) {
            (Place::Constant(one), Place::Constant(other)) => one != other,
            (Place::Constant(one), Place::Counted { start: Some(start), upwards, .. })
            | (Place::Counted { start: Some(start), upwards, .. }, Place::Constant(one)) => {
                one != start && (one < start) == upwards
            }
            _ => false,
        }
    }
}

struct Search<'p> {
    program: &'p Program,
    handed_out: &'p FxHashSet<(VectorId, u32)>,
    code: Code<'p>,
    /// The header of the innermost loop around each block, and that of the loop around each loop.
    innermost: EntityVec<BlockId, Option<BlockId>>,
    around: FxHashMap<BlockId, Option<BlockId>>,
    /// Whether all cycles are loops with one way in.
    is_reducible: bool,
    /// What jumps pass for each parameter, and the other way round.
    passed: FxHashMap<Value, Vec<Value>>,
    passed_on: FxHashMap<Value, Vec<Value>>,
    /// The changes of each vector.
    changes: FxHashMap<Value, Vec<&'p Inst>>,
    /// How many instructions and ends of blocks may get an owner of each value: those that do more than look at
    /// elements.
    takers: EntityVec<Value, u32>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, function: &'p Function, handed_out: &'p FxHashSet<(VectorId, u32)>) -> Search<'p> {
        let code = Code::new(function);
        let graph = &code.graph;
        let mut innermost = function.blocks.same_ids(None);
        let mut around = FxHashMap::default();
        // Loops come after those around them.
        for header in graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)) {
            around.insert(header, innermost[header]);
            for block in code.body(header) {
                innermost[block] = Some(header);
            }
        }
        let is_forwards = |from: BlockId, to: BlockId| graph.position[from] < graph.position[to];
        let is_reducible = graph.order.iter().all(|to| {
            graph.predecessors[*to].iter().all(|from| is_forwards(*from, *to) || graph.dominates(*to, *from))
        });
        let (mut passed, mut passed_on) = (FxHashMap::<_, Vec<_>>::default(), FxHashMap::<_, Vec<_>>::default());
        for target in graph.order.iter().flat_map(|block| function.blocks[*block].terminator.targets()) {
            for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
                passed.entry(*param).or_default().push(*arg);
                passed_on.entry(*arg).or_default().push(*param);
            }
        }
        let mut changes = FxHashMap::<_, Vec<_>>::default();
        for inst in function.blocks.values().flat_map(|block| &block.insts).filter(|inst| inst.op.changes_vector()) {
            changes.entry(inst.args[0]).or_default().push(inst);
        }
        Search {
            program,
            handed_out,
            code,
            innermost,
            around,
            is_reducible,
            passed,
            passed_on,
            changes,
            takers: takers(function),
        }
    }

    fn matrices(&self) -> Vec<Matrix> {
        if !self.is_reducible {
            return Vec::new();
        }
        let mut found: Vec<Matrix> = Vec::new();
        let insts = self.code.graph.order.iter().flat_map(|block| &self.code.function.blocks[*block].insts);
        for inst in insts {
            let Op::NewVector(kind) = inst.op else { continue };
            for (field, ty) in self.program.vectors[kind].fields.iter().enumerate() {
                if *ty == Type::Ptr && !self.handed_out.contains(&(kind, field as u32)) {
                    found.extend(self.matrix(inst.results[0], inst.args[0], field));
                }
            }
        }
        // A vector that is stored in two tables lies in the memory of one.
        let mut taken = FxHashSet::default();
        for matrix in &mut found {
            matrix.rows.retain(|row| taken.insert(row.0));
        }
        found.retain(|matrix| !matrix.rows.is_empty());
        found
    }

    /// The rows that are stored in a field of a table of this length.
    fn matrix(&self, table: Value, count: Value, field: usize) -> Option<Matrix> {
        let mut rows: Vec<Row> = Vec::new();
        for change in self.filling(table) {
            let Some(row) = self.row(table, change, field) else { continue };
            let fits = rows.iter().all(|other| {
                (other.kind, other.length, other.after) == (row.kind, row.length, row.after)
                    && other.made != row.made
                    && other.place.differs(row.place)
            });
            if fits {
                rows.push(row);
            }
        }
        let first = rows.first()?;
        let Row { kind, length, after, span, .. } = *first;
        let rows = rows.iter().map(|row| (row.made, row.place.operand())).collect();
        Some(Matrix { after, kind, count, length, span, rows })
    }

    /// The changes of a new vector, in some order that depends on the code only.
    fn filling(&self, table: Value) -> Vec<&'p Inst> {
        let (mut seen, mut waiting, mut found) = (FxHashSet::from_iter([table]), vec![table], Vec::new());
        while let Some(value) = waiting.pop() {
            let changes = self.changes.get(&value).into_iter().flatten().copied();
            let next =
                changes.clone().flat_map(|inst| &inst.results).chain(self.passed_on.get(&value).into_iter().flatten());
            waiting.extend(next.copied().filter(|value| seen.insert(*value)));
            found.extend(changes);
        }
        found
    }

    /// The vector that a change of the table stores, if memory for it can be taken with the table.
    fn row(&self, table: Value, change: &Inst, field: usize) -> Option<Row> {
        let row = *change.args.get(3 + field)?;
        let made = self.origin(row)?;
        let inst = self.code.definitions.inst(self.code.function, made)?;
        let Op::NewVector(kind) = inst.op else { return None };
        let (length, after) = match self.code.op(inst.args[0]) {
            Some(Op::ConstInt(length)) => (Operand::Int(length), table),
            _ if self.is_before(inst.args[0], table) => (Operand::Value(inst.args[0]), table),
            _ if self.is_before(table, inst.args[0]) => (Operand::Value(inst.args[0]), inst.args[0]),
            _ => return None,
        };
        // The table is the only one to own it.
        let is_once =
            self.takers[row] == 1 && self.innermost(after) == self.innermost(table) && self.is_before(after, made);
        let place = self.place(after, made, change.args[2])?;
        (is_once && !self.program.vectors[kind].has_pointers()).then_some(Row {
            made,
            kind,
            length,
            after,
            place,
            span: inst.span,
        })
    }

    /// The only vector that has been changed to be this one.
    fn origin(&self, value: Value) -> Option<Value> {
        let (mut seen, mut waiting, mut origin) = (FxHashSet::from_iter([value]), vec![value], None);
        while let Some(value) = waiting.pop() {
            let inst = self.code.definitions.inst(self.code.function, value);
            match inst {
                Some(inst) if inst.op.changes_vector() => {
                    waiting.extend(seen.insert(inst.args[0]).then_some(inst.args[0]));
                }
                Some(_) if origin.replace(value).is_some() => return None,
                Some(_) => {}
                // A parameter: of the function, or of a block.
                None => {
                    let passed = self.passed.get(&value)?;
                    waiting.extend(passed.iter().copied().filter(|value| seen.insert(*value)));
                }
            }
        }
        origin
    }

    /// Whether a value is defined on every way to the definition of another one.
    fn is_before(&self, value: Value, other: Value) -> bool {
        let (home, of_other) = (self.code.homes[value], self.code.homes[other]);
        let position =
            |value: Value| self.code.function.blocks[home].insts.iter().position(|inst| inst.results.contains(&value));
        if home == of_other { position(value) < position(other) } else { self.code.graph.dominates(home, of_other) }
    }

    fn innermost(&self, value: Value) -> Option<BlockId> {
        self.innermost[self.code.homes[value]]
    }

    /// The place of a row, if there is at most one row at each for memory that is taken at another value.
    fn place(&self, memory: Value, made: Value, place: Value) -> Option<Place> {
        let (inner, outer) = (self.innermost(made), self.innermost(memory));
        match self.code.op(place) {
            Some(Op::ConstInt(place)) => (inner == outer).then_some(Place::Constant(place)),
            _ if inner.is_some_and(|inner| self.around[&inner] == outer) => self.counted(inner?, place),
            _ => None,
        }
    }

    /// What the loop counts by this parameter.
    fn counted(&self, header: BlockId, counter: Value) -> Option<Place> {
        let (_, position) = self.code.header_of(counter).filter(|found| found.0 == header)?;
        let [outside, inside] = self.code.passed(header, position, &self.code.body(header));
        let mut directions = inside.iter().map(|(_, next)| self.direction(counter, *next));
        let upwards = directions.next()??;
        let start = |(_, value): &(BlockId, Value)| match self.code.op(*value) {
            Some(Op::ConstInt(start)) => Some(start),
            _ => None,
        };
        let start = same(outside.iter().map(start)).flatten();
        directions.all(|direction| direction == Some(upwards)).then_some(Place::Counted { counter, start, upwards })
    }

    /// Whether the next value of a counter is larger, or smaller, by a constant.
    fn direction(&self, counter: Value, next: Value) -> Option<bool> {
        let inst = self.code.definitions.inst(self.code.function, next)?;
        let step = |value| match self.code.op(value) {
            Some(Op::ConstInt(step)) if step != 0 => Some(step > 0),
            _ => None,
        };
        match (inst.op, &inst.args[..]) {
            (Op::Int2(Int2::Add), [from, by]) if *from == counter => step(*by),
            (Op::Int2(Int2::Sub), [from, by]) if *from == counter => step(*by).map(|upwards| !upwards),
            _ => None,
        }
    }
}

/// See [`Search::takers`].
fn takers(function: &Function) -> EntityVec<Value, u32> {
    let mut takers = function.values.same_ids(0);
    for block in function.blocks.values() {
        for inst in &block.insts {
            let looks = usize::from(matches!(inst.op, Op::Element(..) | Op::Elements(..)));
            let taken: FxHashSet<Value> = inst.args.iter().skip(looks).copied().collect();
            taken.into_iter().for_each(|value| takers[value] += 1);
        }
        block.terminator.for_each_value(|value| takers[value] += 1);
    }
    takers
}

fn apply(function: &mut Function, matrices: Vec<Matrix>) {
    // What takes memory after each value, and for each row where it goes.
    let mut memories: FxHashMap<Value, Vec<(Value, Matrix)>> = FxHashMap::default();
    let mut rows: FxHashMap<Value, (Value, VectorId, Operand)> = FxHashMap::default();
    for matrix in matrices {
        let memory = function.values.push(Type::Ptr);
        rows.extend(matrix.rows.iter().map(|(made, place)| (*made, (memory, matrix.kind, *place))));
        memories.entry(matrix.after).or_default().push((memory, matrix));
    }
    for id in function.blocks.ids() {
        let insts = std::mem::take(&mut function.blocks[id].insts);
        let mut code = Vec::with_capacity(insts.len());
        for param in function.blocks[id].params.clone() {
            take_memory(function, &mut code, memories.remove(&param));
        }
        for mut inst in insts {
            let made = inst.results.clone();
            if let Some((memory, kind, place)) = made.first().and_then(|made| rows.get(made)) {
                let place = operand(function, &mut code, *place);
                inst.op = Op::NewRow(*kind);
                inst.args = smallvec![*memory, inst.args[0], place];
            }
            code.push(inst);
            for made in made {
                take_memory(function, &mut code, memories.remove(&made));
            }
        }
        function.blocks[id].insts = code;
    }
}

fn take_memory(function: &mut Function, code: &mut Vec<Inst>, matrices: Option<Vec<(Value, Matrix)>>) {
    for (memory, matrix) in matrices.unwrap_or_default() {
        let length = operand(function, code, matrix.length);
        let args = smallvec![matrix.count, length];
        code.push(Inst { op: Op::NewRows(matrix.kind), args, results: smallvec![memory], span: matrix.span });
    }
}

/// A value for an operand of what comes next.
fn operand(function: &mut Function, code: &mut Vec<Inst>, operand: Operand) -> Value {
    match operand {
        Operand::Value(value) => value,
        Operand::Int(number) => append(&mut function.values, code, Op::ConstInt(number), vec![], Type::Int, None),
    }
}
