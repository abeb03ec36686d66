//! Random SSA programs, well formed by construction, that end.
//!
//! Every function takes a number as its first parameter, returns at once when it is not positive, and passes a smaller
//! one to everything that it calls; loops count. Bodies are made of arithmetic, tests, choices, boxes of two sums that
//! are built and taken apart, vectors of two kinds that are made, read and changed, calls, tail calls, loops, output
//! and, rarely, failure.

use vlad::ssa::builder::Builder;
use vlad::ssa::ir::*;

/// A small generator of random numbers (xorshift), so that a seed gives the same program everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// What a value stands for: a type, with the sum or the vector of a pointer.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Real,
    Bool,
    List,
    Tree,
    /// A vector of reals.
    Reals,
    /// A vector of elements with fields of many kinds.
    Records,
}

const KINDS: [Kind; 6] = [Kind::Real, Kind::Bool, Kind::List, Kind::Tree, Kind::Reals, Kind::Records];
const LIST: SumId = SumId(0);
const TREE: SumId = SumId(1);

impl Kind {
    fn ty(self) -> Type {
        match self {
            Kind::Real => Type::F64,
            Kind::Bool => Type::Bool,
            Kind::List | Kind::Tree | Kind::Reals | Kind::Records => Type::Ptr,
        }
    }
}

fn alternatives(kind: Kind) -> (SumId, Vec<Vec<Kind>>) {
    match kind {
        Kind::List => (LIST, vec![vec![], vec![Kind::Real, Kind::List]]),
        _ => (TREE, vec![vec![Kind::Real], vec![], vec![Kind::Tree, Kind::Bool, Kind::Tree], vec![Kind::List]]),
    }
}

fn sum_of(kind: Kind) -> SumId {
    alternatives(kind).0
}

/// The vectors of a kind, their length, and the fields of their elements.
fn elements(kind: Kind) -> (VectorId, i64, Vec<Kind>) {
    match kind {
        Kind::Reals => (VectorId(0), 3, vec![Kind::Real]),
        _ => (VectorId(1), 2, vec![Kind::Real, Kind::Reals, Kind::Bool, Kind::List, Kind::Tree]),
    }
}

struct Header {
    params: Vec<Kind>,
    results: Vec<Kind>,
}

/// A random program.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let mut program = Program::default();
    for kind in [Kind::List, Kind::Tree] {
        let fields = |kinds: &Vec<Kind>| kinds.iter().map(|kind| kind.ty()).collect();
        let alternatives = alternatives(kind).1;
        let alternatives = alternatives.iter().map(|kinds| Alternative { name: "a".into(), fields: fields(kinds) });
        program.sums.push(Sum { alternatives: alternatives.collect() });
    }
    for (name, kind) in [("real", Kind::Reals), ("record", Kind::Records)] {
        let fields = elements(kind).2.iter().map(|kind| kind.ty()).collect();
        program.vectors.push(VectorLayout { name: name.into(), fields });
    }
    for text in ["\n", "failed\n", "no input\n"] {
        program.texts.push(text.into());
    }
    program.slots.push(Type::Ptr);
    program.main = Some(FuncId(0));
    let mut headers = vec![Header { params: vec![], results: vec![] }];
    for _ in 0..1 + random.below(6) {
        let kinds = |random: &mut Random, least, most: usize| -> Vec<Kind> {
            (0..least + random.below(most)).map(|_| random.pick(&KINDS)).collect()
        };
        let mut params = vec![Kind::Real];
        params.extend(kinds(&mut random, 0, 4));
        // Few different result lists, so that tail calls are possible.
        let results = [
            vec![Kind::Real],
            vec![Kind::List],
            vec![Kind::Real, Kind::Tree],
            vec![],
            vec![Kind::Records, Kind::Reals],
        ];
        headers.push(Header { params, results: results[random.below(results.len())].clone() });
    }
    for (index, header) in headers.iter().enumerate() {
        let params: Vec<Type> = header.params.iter().map(|kind| kind.ty()).collect();
        let results = header.results.iter().map(|kind| kind.ty()).collect();
        program.functions.push(Function::new(format!("f{index}").into(), &params, results));
    }
    for id in program.functions.ids().collect::<Vec<_>>() {
        let mut function = program.functions[id].clone();
        let env = function.params().iter().copied().zip(headers[id.0 as usize].params.iter().copied()).collect();
        let mut b = Builder::new(&mut function);
        let mut body = Body { random: &mut random, headers: &headers, own: id, env, calls: 2, depth: 0 };
        if id == FuncId(0) {
            body.main(&mut b)
        } else {
            body.function(&mut b)
        }
        program.functions[id] = function;
    }
    program
}

struct Body<'r> {
    random: &'r mut Random,
    headers: &'r [Header],
    own: FuncId,
    env: Vec<(Value, Kind)>,
    /// How many calls may still be made on this path.
    calls: usize,
    depth: usize,
}

impl Body<'_> {
    fn main(&mut self, b: &mut Builder) {
        let n = b.real(3.0);
        self.env.push((n, Kind::Real));
        let set = self.value(b, Kind::List);
        b.inst(Op::GlobalSet(SlotId(0)), &[set], &[]);
        let x = b.value(Op::Read(Item::Real, TextId(2)), &[], Type::F64);
        self.env.push((x, Kind::Real));
        for id in 1..self.headers.len() {
            let call = FuncId(id as u32);
            // Unknown, or nothing would be left to do when the program runs.
            let n = b.real(4.0);
            let n = b.value(Op::Opaque, &[n], Type::F64);
            let results = self.call(b, call, n);
            for (value, kind) in results {
                self.show(b, value, kind);
                self.env.push((value, kind));
            }
        }
        b.ret(vec![]);
    }

    fn function(&mut self, b: &mut Builder) {
        let n = self.env[0].0;
        let zero = b.real(0.0);
        let done = b.compare(Compare::Le, n, zero);
        let (base, rest) = (b.new_block(&[]), b.new_block(&[]));
        b.branch(done, to(base, vec![]), to(rest, vec![]));
        b.switch_to(base);
        self.finish(b);
        b.switch_to(rest);
        let one = b.real(1.0);
        let less = b.real2(Real2::Sub, n, one);
        self.env.push((less, Kind::Real));
        self.statements(b);
        match self.random.below(3) {
            0 => self.finish(b),
            _ => self.tail_call(b, less),
        }
    }

    fn finish(&mut self, b: &mut Builder) {
        let results = self.headers[self.own.0 as usize].results.clone();
        let values = results.into_iter().map(|kind| self.value(b, kind)).collect();
        b.ret(values);
    }

    fn tail_call(&mut self, b: &mut Builder, less: Value) {
        let results = &self.headers[self.own.0 as usize].results;
        let fits = |id: &usize| self.headers[*id].results == *results;
        let candidates: Vec<usize> = (1..self.headers.len()).filter(fits).collect();
        let callee = FuncId(self.random.pick(&candidates) as u32);
        let args = self.args(b, callee, less);
        b.tail_call(callee, args);
    }

    fn args(&mut self, b: &mut Builder, callee: FuncId, counter: Value) -> Vec<Value> {
        let params = self.headers[callee.0 as usize].params[1..].to_vec();
        let mut args = vec![counter];
        args.extend(params.into_iter().map(|kind| self.value(b, kind)));
        args
    }

    fn call(&mut self, b: &mut Builder, callee: FuncId, counter: Value) -> Vec<(Value, Kind)> {
        let args = self.args(b, callee, counter);
        let kinds = self.headers[callee.0 as usize].results.clone();
        let types: Vec<Type> = kinds.iter().map(|kind| kind.ty()).collect();
        b.inst(Op::Call(callee), &args, &types).into_iter().zip(kinds).collect()
    }

    fn show(&mut self, b: &mut Builder, value: Value, kind: Kind) {
        match kind {
            Kind::Real => drop(b.inst(Op::WriteReal(Stream::Out), &[value], &[])),
            Kind::Bool => {
                let (one, two) = (b.real(1.0), b.real(2.0));
                let number = b.value(Op::Select, &[value, one, two], Type::F64);
                b.inst(Op::WriteReal(Stream::Out), &[number], &[]);
            }
            Kind::List | Kind::Tree => self.show_sum(b, value, kind),
            Kind::Reals | Kind::Records => {
                let (whole, (_, length, fields)) = (kind, elements(kind));
                for place in 0..length {
                    for (field, kind) in fields.iter().enumerate() {
                        let place = b.int(place);
                        let shown = self.element(b, whole, value, field, place);
                        self.show(b, shown, *kind);
                    }
                }
            }
        }
        b.inst(Op::WriteText(Stream::Out, TextId(0)), &[], &[]);
    }

    /// Shows the tag, and the fields of the outermost box.
    fn show_sum(&mut self, b: &mut Builder, value: Value, kind: Kind) {
        let (sum, alternatives) = alternatives(kind);
        let join = b.new_block(&[]);
        let blocks: Vec<BlockId> = alternatives.iter().map(|_| b.new_block(&[])).collect();
        let tag = b.value(Op::Tag(sum), &[value], Type::Int);
        let number = b.value(Op::RealOf, &[tag], Type::F64);
        b.inst(Op::WriteReal(Stream::Out), &[number], &[]);
        b.terminate(Terminator::Switch(tag, blocks.iter().map(|block| to(*block, vec![])).collect()));
        for (tag, block) in blocks.into_iter().enumerate() {
            b.switch_to(block);
            for (field, kind) in alternatives[tag].iter().enumerate() {
                let field = b.value(Op::Field(sum, tag as u32, field as u32), &[value], kind.ty());
                match kind {
                    Kind::Real | Kind::Bool => self.show(b, field, *kind),
                    Kind::List | Kind::Tree => {
                        let has = b.value(Op::HasTag(sum_of(*kind), 1), &[field], Type::Bool);
                        self.show(b, has, Kind::Bool);
                    }
                    Kind::Reals | Kind::Records => {}
                }
            }
            b.jump(join, vec![]);
        }
        b.switch_to(join);
    }

    fn statements(&mut self, b: &mut Builder) {
        for _ in 0..1 + self.random.below(5) {
            self.statement(b);
        }
    }

    fn statement(&mut self, b: &mut Builder) {
        match self.random.below(20) {
            0..3 => self.compute(b),
            3 => {
                let kind = self.random.pick(&KINDS);
                let (condition, x, y) = (self.value(b, Kind::Bool), self.value(b, kind), self.value(b, kind));
                let value = b.value(Op::Select, &[condition, x, y], kind.ty());
                self.env.push((value, kind));
            }
            4 | 17.. => {
                let kind = self.random.pick(&[Kind::List, Kind::Tree]);
                let value = self.boxed(b, kind);
                self.env.push((value, kind));
            }
            5 | 6 if self.depth < 3 => self.choice(b),
            7 | 8 if self.depth < 3 => self.take_apart(b),
            9 if self.depth < 2 => self.counted_loop(b),
            10 if self.calls > 0 && self.own != FuncId(0) => {
                self.calls -= 1;
                let callee = FuncId(1 + self.random.below(self.headers.len() - 1) as u32);
                let n = self.env[0].0;
                let one = b.real(1.0);
                let less = b.real2(Real2::Sub, n, one);
                let results = self.call(b, callee, less);
                self.env.extend(results);
            }
            11..13 => {
                let kind = self.random.pick(&[Kind::Reals, Kind::Records]);
                let value = self.changed(b, kind);
                self.env.push((value, kind));
            }
            13 | 14 => {
                let kind = self.random.pick(&[Kind::Reals, Kind::Records]);
                let (value, place) = (self.value(b, kind), self.place(b, kind));
                let fields = elements(kind).2;
                let field = self.random.below(fields.len());
                let value = self.element(b, kind, value, field, place);
                self.env.push((value, fields[field]));
            }
            15 => self.change_within(b),
            16 if self.random.below(3) == 0 => {
                let value = self.value(b, Kind::Real);
                self.show(b, value, Kind::Real);
            }
            _ => self.compute(b),
        }
    }

    fn compute(&mut self, b: &mut Builder) {
        let (x, y) = (self.value(b, Kind::Real), self.value(b, Kind::Real));
        let entry = match self.random.below(10) {
            0 => (b.real1(Real1::Neg, x), Kind::Real),
            1 => (b.compare(self.random.pick(&[Compare::Lt, Compare::Eq, Compare::Ge, Compare::Ne]), x, y), Kind::Bool),
            2 => {
                let (p, q) = (self.value(b, Kind::Bool), self.value(b, Kind::Bool));
                (b.value(self.random.pick(&[Op::And, Op::Or]), &[p, q], Type::Bool), Kind::Bool)
            }
            3 => {
                let p = self.value(b, Kind::Bool);
                (b.value(Op::Not, &[p], Type::Bool), Kind::Bool)
            }
            4 => {
                let list = b.value(Op::GlobalGet(SlotId(0)), &[], Type::Ptr);
                (list, Kind::List)
            }
            5 => {
                let integer = b.value(Op::IntOf, &[x], Type::Int);
                (b.value(Op::RealOf, &[integer], Type::F64), Kind::Real)
            }
            6 => {
                let (m, n) = (b.value(Op::IntOf, &[x], Type::Int), b.value(Op::IntOf, &[y], Type::Int));
                let op = Op::Int2(self.random.pick(&[Int2::Add, Int2::Sub, Int2::Mul]));
                let n = b.value(op, &[m, n], Type::Int);
                let op = Op::IntCompare(self.random.pick(&[IntCompare::Eq, IntCompare::Lt, IntCompare::Below]));
                (b.value(op, &[m, n], Type::Bool), Kind::Bool)
            }
            _ => {
                let op = self.random.pick(&[Real2::Add, Real2::Sub, Real2::Mul, Real2::Div]);
                (b.real2(op, x, y), Kind::Real)
            }
        };
        if entry.1 == Kind::List && self.own == FuncId(0) {
            return;
        }
        self.env.push(entry);
    }

    /// An existing value of this kind, or a new one.
    fn value(&mut self, b: &mut Builder, kind: Kind) -> Value {
        let known: Vec<Value> = self.env.iter().filter(|entry| entry.1 == kind).map(|entry| entry.0).collect();
        if !known.is_empty() && self.random.below(5) > 0 {
            // Recent values are more interesting.
            let index = self.random.below(known.len()).max(self.random.below(known.len()));
            return known[index];
        }
        match kind {
            Kind::Real => {
                let constants = [0.0, 1.0, -1.0, 2.0, -0.0, 0.5, 3.0];
                b.real(self.random.pick(&constants))
            }
            Kind::Bool => b.boolean(self.random.below(2) == 0),
            Kind::List => b.value(Op::Immediate(LIST, 0), &[], Type::Ptr),
            Kind::Tree => b.value(Op::Immediate(TREE, 1), &[], Type::Ptr),
            Kind::Reals | Kind::Records => self.vector(b, kind),
        }
    }

    /// A new vector, all elements of which are set.
    fn vector(&mut self, b: &mut Builder, kind: Kind) -> Value {
        let (vector, length, fields) = elements(kind);
        let count = b.int(length);
        let mut value = b.value(Op::NewVector(vector), &[count], Type::Ptr);
        for place in 0..length {
            let mut args = vec![value, count, b.int(place)];
            args.extend(fields.iter().map(|kind| self.value(b, *kind)));
            value = b.value(Op::WithElement(vector), &args, Type::Ptr);
        }
        value
    }

    /// A vector with another element.
    fn changed(&mut self, b: &mut Builder, kind: Kind) -> Value {
        let (vector, length, fields) = elements(kind);
        let mut args = vec![self.value(b, kind), b.int(length), self.place(b, kind)];
        args.extend(fields.iter().map(|kind| self.value(b, *kind)));
        b.value(Op::WithElement(vector), &args, Type::Ptr)
    }

    /// Changes a vector that is an element of another one, perhaps with something else in between.
    fn change_within(&mut self, b: &mut Builder) {
        let (vector, length, fields) = elements(Kind::Records);
        let (whole, place) = (self.value(b, Kind::Records), self.place(b, Kind::Records));
        let mut args = vec![whole, b.int(length), place];
        for (field, kind) in fields.iter().enumerate() {
            args.push(self.element(b, Kind::Records, whole, field, place));
            self.env.push((args[3 + field], *kind));
        }
        let mut inner = vec![args[4], b.int(elements(Kind::Reals).1), self.place(b, Kind::Reals)];
        inner.push(self.value(b, Kind::Real));
        args[4] = b.value(Op::WithElement(elements(Kind::Reals).0), &inner, Type::Ptr);
        // What is taken out of a vector must not be seen later.
        self.env.truncate(self.env.len() - fields.len());
        if self.random.below(2) == 0 {
            self.statement(b);
        }
        let value = b.value(Op::WithElement(vector), &args, Type::Ptr);
        if self.depth == 0 && self.random.below(2) == 0 {
            self.env.retain(|entry| entry.0 != whole);
        }
        self.env.push((value, Kind::Records));
    }

    fn element(&mut self, b: &mut Builder, kind: Kind, value: Value, field: usize, place: Value) -> Value {
        let (vector, length, fields) = elements(kind);
        let length = b.int(length);
        b.value(Op::Element(vector, field as u32), &[value, length, place], fields[field].ty())
    }

    /// A place in a vector: a constant, or one that a number tells.
    fn place(&mut self, b: &mut Builder, kind: Kind) -> Value {
        if self.random.below(3) == 0 {
            return b.int(self.random.below(elements(kind).1 as usize) as i64);
        }
        let x = self.value(b, Kind::Real);
        let (wanted, length) = (b.value(Op::IntOf, &[x], Type::Int), b.int(elements(kind).1));
        let is_one = b.value(Op::IntCompare(IntCompare::Below), &[wanted, length], Type::Bool);
        let first = b.int(0);
        b.value(Op::Select, &[is_one, wanted, first], Type::Int)
    }

    fn boxed(&mut self, b: &mut Builder, kind: Kind) -> Value {
        let (sum, alternatives) = alternatives(kind);
        let tag = self.random.below(alternatives.len());
        let fields: Vec<Value> = alternatives[tag].iter().map(|kind| self.value(b, *kind)).collect();
        let op = if fields.is_empty() { Op::Immediate(sum, tag as u32) } else { Op::Box(sum, tag as u32) };
        b.value(op, &fields, Type::Ptr)
    }

    /// Runs one side in a scope of its own; the values of these kinds that it ends with.
    fn side(&mut self, b: &mut Builder, kinds: &[Kind]) -> Vec<Value> {
        let (size, calls) = (self.env.len(), self.calls);
        self.depth += 1;
        self.statements(b);
        let values = kinds.iter().map(|kind| self.value(b, *kind)).collect();
        self.depth -= 1;
        self.env.truncate(size);
        self.calls = calls.min(self.calls);
        values
    }

    fn join(&mut self, b: &mut Builder, kinds: &[Kind]) -> BlockId {
        let types: Vec<Type> = kinds.iter().map(|kind| kind.ty()).collect();
        b.new_block(&types)
    }

    fn continue_at(&mut self, b: &mut Builder, join: BlockId, kinds: &[Kind]) {
        b.switch_to(join);
        self.env.extend(b.block_params(join).into_iter().zip(kinds.iter().copied()));
    }

    fn some_kinds(&mut self) -> Vec<Kind> {
        (0..self.random.below(4)).map(|_| self.random.pick(&KINDS)).collect()
    }

    fn choice(&mut self, b: &mut Builder) {
        let condition = self.value(b, Kind::Bool);
        let (yes, no, kinds) = (b.new_block(&[]), b.new_block(&[]), self.some_kinds());
        let join = self.join(b, &kinds);
        b.branch(condition, to(yes, vec![]), to(no, vec![]));
        for block in [yes, no] {
            b.switch_to(block);
            let values = self.side(b, &kinds);
            if self.random.below(30) == 0 {
                b.fail(TextId(1));
            } else {
                b.jump(join, values);
            }
        }
        self.continue_at(b, join, &kinds);
    }

    fn take_apart(&mut self, b: &mut Builder) {
        let kind = self.random.pick(&[Kind::List, Kind::Tree]);
        let value = self.value(b, kind);
        let (sum, alternatives) = alternatives(kind);
        let blocks: Vec<BlockId> = alternatives.iter().map(|_| b.new_block(&[])).collect();
        let kinds = self.some_kinds();
        let join = self.join(b, &kinds);
        if let [first, second] = blocks[..] {
            let has = b.value(Op::HasTag(sum, 0), &[value], Type::Bool);
            b.branch(has, to(first, vec![]), to(second, vec![]));
        } else {
            let tag = b.value(Op::Tag(sum), &[value], Type::Int);
            b.terminate(Terminator::Switch(tag, blocks.iter().map(|block| to(*block, vec![])).collect()));
        }
        for (tag, block) in blocks.into_iter().enumerate() {
            b.switch_to(block);
            let size = self.env.len();
            for (index, kind) in alternatives[tag].iter().enumerate() {
                let field = b.value(Op::Field(sum, tag as u32, index as u32), &[value], kind.ty());
                self.env.push((field, *kind));
            }
            let values = self.side(b, &kinds);
            self.env.truncate(size);
            b.jump(join, values);
        }
        self.continue_at(b, join, &kinds);
    }

    fn counted_loop(&mut self, b: &mut Builder) {
        let mut kinds = vec![Kind::Real];
        kinds.extend(self.some_kinds());
        let start = b.real(self.random.below(4) as f64);
        let mut values = vec![start];
        values.extend(kinds[1..].iter().map(|kind| self.value(b, *kind)));
        let (header, exit) = (self.join(b, &kinds), self.join(b, &kinds[1..]));
        let body = b.new_block(&[]);
        b.jump(header, values);
        let size = self.env.len();
        self.continue_at(b, header, &kinds);
        let counter = self.env[size];
        let zero = b.real(0.0);
        let more = b.compare(Compare::Gt, counter.0, zero);
        let carried = b.block_params(header)[1..].to_vec();
        b.branch(more, to(body, vec![]), to(exit, carried));
        b.switch_to(body);
        let one = b.real(1.0);
        let less = b.real2(Real2::Sub, counter.0, one);
        let calls = std::mem::take(&mut self.calls);
        let mut next = vec![less];
        next.extend(self.side(b, &kinds[1..]));
        self.calls = calls;
        b.jump(header, next);
        self.env.truncate(size);
        let kinds = kinds[1..].to_vec();
        self.continue_at(b, exit, &kinds);
    }
}

fn to(block: BlockId, args: Vec<Value>) -> Target {
    Target { block, args }
}
