//! One-hot vectors with any number of places: tables.
//!
//! What closures in data share is read in places that the closures decide, and how many these are is known at run time
//! only. The sum of such reads has a table of its places and parts. A read costs one step, wherever its place is, and
//! what is added to a dense vector in the end is one part for each place. So n closures that read k elements each cost
//! n · k, and not n times the vector.
//!
//! ```text
//! length, count, (base,) capacity, cells      a cell: place, part
//! ```
//!
//! A place is in the first cell that had no place when it came, from one on that the place alone decides: a fraction of
//! it, as a fraction of the cells (Knuth's multiplicative method). More than three cells of four are never taken, so
//! that searches are short, and end. Where there are as many cells as the vector has places, each place has its own: so
//! what has been read as a whole costs no more than a vector of pairs.
//!
//! Invariant: the places in a table differ, so that the sum with another vector adds to each element at most once, as
//! it would if both had all their elements: tables change no number. There is at least one place.
//!
//! Of two tables the smaller one is put into the larger one, operands in the order of the sum. Tables are vectors to
//! SSA: who owns one alone changes it in place.

use crate::shape::lattice::{Class, Fact, Head, Shape};
use crate::shape::vector::{Most, Places};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Hot, Parts, Val, target};
use crate::specialize::helper::Helper;
use crate::specialize::operators::vector::Elements;
use crate::ssa::ir::{Compare, Int2, IntCompare, Op, Real1, Real2, Terminator, Type, Value};

/// How many cells a table begins with.
const FIRST: i64 = 8;

/// A vector has a cell for each place if there are no more, and if a larger table would have half as many.
const FEW: i64 = 16;

/// The golden ratio: multiples of it are spread evenly between integers.
const RATIO: f64 = 0.618_033_988_749_894_9;

/// A place in a cell that has none.
const VACANT: f64 = -1.0;

/// A value that is a table, taken apart.
#[derive(Clone, Copy)]
pub(super) struct Table {
    length: Value,
    count: Value,
    base: Option<Value>,
    pub(super) cells: Elements,
}

impl Table {
    fn leaves(&self) -> Vec<Value> {
        [self.length, self.count].into_iter().chain(self.base).chain(self.cells.leaves()).collect()
    }
}

/// Whether an alternative is a one-hot vector with a table.
pub(in crate::specialize) fn has_table(head: Head) -> bool {
    matches!(head, Head::OneHot(Places { most: Most::Any, .. }))
}

impl Specializer<'_> {
    /// The shape of cells for parts of a shape.
    fn cell(&mut self, part: Shape) -> Shape {
        let place = self.flow.shapes.real(Fact::Unknown);
        self.flow.shapes.make(Head::Pair(None), &[place, part])
    }

    /// The table of a one-hot vector that has one.
    pub(super) fn table(&mut self, parts: &Parts) -> Option<Table> {
        let shape = self.cell(parts.alternative.children[1]);
        let [capacity, cells] = parts.table?;
        let cells = Elements { shape, length: capacity, filled: None, elements: Some(cells) };
        Some(Table { length: parts.own?, count: parts.place?, base: parts.elements, cells })
    }

    /// The table that a value of a shape with this one alternative is.
    fn table_of(&mut self, e: &mut Emitter, value: &Val) -> Option<Table> {
        let parts = self.parts(e, value, 0);
        self.table(&parts)
    }

    /// The shape of one-hot vectors with tables only, with these bases and parts.
    fn shape_of_tables(&mut self, target: Shape, tag: usize) -> Shape {
        let alternative = self.flow.shapes.alternatives(target)[tag].clone();
        self.flow.shapes.make(alternative.head, &alternative.children)
    }

    fn cells(&mut self, e: &mut Emitter, shape: Shape, capacity: Value) -> Elements {
        self.build_vector(e, shape, capacity, false, |this, e, _| {
            let mut leaves = vec![e.real(VACANT)];
            let types = this.leaves(shape);
            leaves.extend(types.iter().skip(1).map(|ty| this.filler(e, *ty)));
            Some(Val { shape, leaves })
        })
    }

    /// The place of a cell, the part in it, and whether there is one.
    fn opened(&mut self, e: &mut Emitter, cells: &Elements, slot: Value) -> (Value, Val, Value) {
        let cell = self.element(e, cells, slot);
        let part = self.flow.shapes.alternatives(cells.shape)[0].children[1];
        let none = e.real(0.0);
        let is_taken = e.value(Op::Compare(Compare::Ge), &[cell.leaves[0], none], Type::Bool);
        (cell.leaves[0], Val { shape: part, leaves: cell.leaves[1..].to_vec() }, is_taken)
    }

    /// How many cells a table gets: so many, or one for each place of a vector that has no more than `most`.
    fn capacity(&mut self, e: &mut Emitter, cells: Value, most: Value, length: Value) -> Value {
        let is_long = e.value(Op::IntCompare(IntCompare::Lt), &[most, length], Type::Bool);
        e.value(Op::Select, &[is_long, cells, length], Type::Int)
    }

    /// Whether a table has fewer cells than the vector has places.
    fn is_sparse(&mut self, e: &mut Emitter, table: &Table) -> Value {
        e.value(Op::IntCompare(IntCompare::Lt), &[table.cells.length, table.length], Type::Bool)
    }

    /// The cell of a place: the one that has it, or the one that it would be put into.
    fn slot(&mut self, e: &mut Emitter, table: &Table, place: Value) -> Value {
        let (own, cells) = (place, &table.cells);
        let place = e.value(Op::RealOf, &[place], Type::F64);
        let ratio = e.real(RATIO);
        let multiple = e.value(Op::Real2(Real2::Mul), &[place, ratio], Type::F64);
        let whole = e.value(Op::Real1(Real1::Floor), &[multiple], Type::F64);
        let fraction = e.value(Op::Real2(Real2::Sub), &[multiple, whole], Type::F64);
        let capacity = e.value(Op::RealOf, &[cells.length], Type::F64);
        let first = e.value(Op::Real2(Real2::Mul), &[fraction, capacity], Type::F64);
        let first = e.value(Op::IntOf, &[first], Type::Int);
        let is_sparse = self.is_sparse(e, table);
        let first = e.value(Op::Select, &[is_sparse, first, own], Type::Int);
        let (head, body, next) = (e.new_block(&[Type::Int; 2]), e.new_block(&[]), e.new_block(&[]));
        let done = e.new_block(&[Type::Int]);
        let [zero, one] = [0, 1].map(|number| e.int(number));
        e.jump(head, vec![zero, first]);
        e.switch_to(head);
        let (tried, slot) = (e.function.blocks[head].params[0], e.function.blocks[head].params[1]);
        let more = e.value(Op::IntCompare(IntCompare::Lt), &[tried, cells.length], Type::Bool);
        let found = |slot| crate::ssa::ir::Target { block: done, args: vec![slot] };
        e.terminate(Terminator::Branch(more, target(body), found(zero)));
        e.switch_to(body);
        let (there, _, is_taken) = self.opened(e, cells, slot);
        let same = e.value(Op::Compare(Compare::Eq), &[there, place], Type::Bool);
        let vacant = e.value(Op::Not, &[is_taken], Type::Bool);
        let ends = e.value(Op::Or, &[same, vacant], Type::Bool);
        e.terminate(Terminator::Branch(ends, found(slot), target(next)));
        e.switch_to(next);
        let after = e.value(Op::Int2(Int2::Add), &[slot, one], Type::Int);
        let is_in = e.value(Op::IntCompare(IntCompare::Lt), &[after, cells.length], Type::Bool);
        let after = e.value(Op::Select, &[is_in, after, zero], Type::Int);
        let tried = e.value(Op::Int2(Int2::Add), &[tried, one], Type::Int);
        e.jump(head, vec![tried, after]);
        e.switch_to(done);
        e.function.blocks[done].params[0]
    }

    /// What `each` makes of a state of that shape and of every place and part, from the first cell to the last.
    pub(super) fn fold_table(
        &mut self,
        e: &mut Emitter,
        cells: &Elements,
        state: Val,
        each: impl Fn(&mut Self, &mut Emitter, Val, Hot) -> Emitted<Val>,
    ) -> Val {
        let shape = state.shape;
        let leaves = self.for_each_place(e, cells.length, &state.leaves, |this, e, slot, state| {
            let state = Val { shape, leaves: state.to_vec() };
            let (place, part, is_taken) = this.opened(e, cells, slot);
            let state = this.either(e, is_taken, shape, |this, e, is_taken| {
                if !is_taken {
                    return Some(state.clone());
                }
                let place = e.value(Op::IntOf, &[place], Type::Int);
                each(this, e, state.clone(), Hot { place, part: part.clone() })
            })?;
            Some(state.leaves)
        });
        Val { shape, leaves }
    }

    /// The table with what `each` makes of the part in a place, or of its being vacant.
    fn with_place(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        place: Value,
        each: impl Fn(&mut Self, &mut Emitter, Option<&Val>, Shape) -> Emitted<Val>,
    ) -> Emitted<Val> {
        let roomy = self.with_room(e, value)?;
        let table = self.table_of(e, &roomy)?;
        let slot = self.slot(e, &table, place);
        let (_, part, is_taken) = self.opened(e, &table.cells, slot);
        let shape = value.shape;
        self.either(e, is_taken, shape, |this, e, is_taken| {
            let mut table = table;
            let part = each(this, e, is_taken.then_some(&part), part.shape)?;
            table.cells = this.put(e, table.cells, slot, place, part);
            if !is_taken {
                let one = e.int(1);
                table.count = e.value(Op::Int2(Int2::Add), &[table.count, one], Type::Int);
            }
            Some(this.build(e, shape, 0, table.leaves()))
        })
    }

    /// A one-hot vector as a table with another part in a place, as a value of shape `result`.
    pub(super) fn replace_part(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        place: Value,
        part: &Val,
        result: Shape,
    ) -> Emitted<Val> {
        let tag = self.tag_of(result, Class::OneHot)?;
        let shape = self.shape_of_tables(result, tag);
        let sum = self.single(e, parts.clone());
        let table = self.convert(e, &sum, shape)?;
        let table = self.with_place(e, &table, place, |this, e, _, shape| this.convert(e, part, shape))?;
        self.convert(e, &table, result)
    }

    fn put(&mut self, e: &mut Emitter, cells: Elements, slot: Value, place: Value, part: Val) -> Elements {
        let place = e.value(Op::RealOf, &[place], Type::F64);
        let leaves = [place].into_iter().chain(part.leaves).collect();
        self.with_element(e, cells, slot, &Val { shape: cells.shape, leaves })
    }

    /// The table with a cell for one more place.
    fn with_room(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        let table = self.table_of(e, value)?;
        let [three, four] = [3, 4].map(|number| e.int(number));
        let taken = e.value(Op::Int2(Int2::Mul), &[table.count, four], Type::Int);
        let most = e.value(Op::Int2(Int2::Mul), &[table.cells.length, three], Type::Int);
        let is_roomy = e.value(Op::IntCompare(IntCompare::Lt), &[taken, most], Type::Bool);
        let is_sparse = self.is_sparse(e, &table);
        let has_all = e.value(Op::Not, &[is_sparse], Type::Bool);
        let has_room = e.value(Op::Or, &[is_roomy, has_all], Type::Bool);
        let shape = value.shape;
        self.either(e, has_room, shape, |this, e, has_room| {
            if has_room {
                return Some(value.clone());
            }
            let double = e.value(Op::Int2(Int2::Add), &[table.cells.length, table.cells.length], Type::Int);
            let fourfold = e.value(Op::Int2(Int2::Add), &[double, double], Type::Int);
            let capacity = this.capacity(e, double, fourfold, table.length);
            let cells = this.cells(e, table.cells.shape, capacity);
            let larger = this.build(e, shape, 0, Table { cells, ..table }.leaves());
            Some(this.fold_table(e, &table.cells, larger, |this, e, larger, Hot { place, part }| {
                let mut table = this.table_of(e, &larger)?;
                let slot = this.slot(e, &table, place);
                table.cells = this.put(e, table.cells, slot, place, part);
                Some(this.build(e, shape, 0, table.leaves()))
            }))
        })
    }

    /// A one-hot vector as one with a table, with what `each` makes of its parts.
    pub(in crate::specialize) fn map_to_table(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        base: Option<Value>,
        [target, part]: [Shape; 2],
        each: impl Fn(&mut Self, &mut Emitter, &Val, Shape) -> Emitted<Val>,
    ) -> Emitted<Val> {
        let cell = self.cell(part);
        if let Some(table) = self.table(parts) {
            let cells = self.map_cells(e, &table.cells, cell, |this, e, old| each(this, e, old, part));
            return Some(self.build(e, target, 0, Table { base, cells, ..table }.leaves()));
        }
        let [first, few, count] = [FIRST, FEW, 0].map(|number| e.int(number));
        let capacity = self.capacity(e, first, few, parts.own?);
        let cells = self.cells(e, cell, capacity);
        let empty = self.build(e, target, 0, Table { length: parts.own?, count, base, cells }.leaves());
        self.add_parts(e, empty, parts, |this, e, _, hot, shape| each(this, e, hot, shape))
    }

    fn map_cells(
        &mut self,
        e: &mut Emitter,
        cells: &Elements,
        shape: Shape,
        each: impl Fn(&mut Self, &mut Emitter, &Val) -> Emitted<Val>,
    ) -> Elements {
        let new = self.cells(e, shape, cells.length);
        self.replace_elements(e, new, false, |this, e, _, slot| {
            let (place, part, is_taken) = this.opened(e, cells, slot);
            this.either(e, is_taken, shape, |this, e, is_taken| {
                let mut leaves = vec![place];
                match is_taken {
                    true => leaves.extend(each(this, e, &part)?.leaves),
                    false => {
                        let types = this.leaves(shape);
                        leaves.extend(types.iter().skip(1).map(|ty| this.filler(e, *ty)));
                    }
                }
                Some(Val { shape, leaves })
            })
        })
    }

    /// `(plus x y)` of one-hot vectors of one length, as the alternative `tag` of a shape, which is one with a table: a
    /// function of its own, since it is more than a few instructions.
    pub(in crate::specialize) fn plus_tables(
        &mut self,
        e: &mut Emitter,
        x: Parts,
        y: Parts,
        result: Shape,
        tag: usize,
    ) -> Emitted<Val> {
        let shape = self.shape_of_tables(result, tag);
        let [x, y] = [x, y].map(|parts| self.single(e, parts));
        let helper = Helper::PlusTables(x.shape, y.shape, shape, self.origin(e));
        let sum = self.call_helper(e, helper, &[&x, &y], shape);
        self.convert(e, &sum, result)
    }

    /// [`plus_tables`](Self::plus_tables) in place, as a value of a shape that has this alternative only.
    pub(in crate::specialize) fn plus_tables_unfolded(
        &mut self,
        e: &mut Emitter,
        x: &Val,
        y: &Val,
        shape: Shape,
    ) -> Emitted<Val> {
        let [left, right] = [x, y].map(|value| self.parts(e, value, 0));
        let tables = (self.table(&left), self.table(&right));
        let is_left = match tables {
            (Some(a), Some(b)) => Some(e.value(Op::IntCompare(IntCompare::Lt), &[a.count, b.count], Type::Bool)),
            _ => None,
        };
        let put_right = |this: &mut Self, e: &mut Emitter, right: &Parts| {
            let sum = this.convert(e, x, shape)?;
            this.add_parts(e, sum, right, |this, e, old, more, shape| match old {
                Some(old) => this.plus(e, old, more, shape),
                None => this.convert(e, more, shape),
            })
        };
        let put_left = |this: &mut Self, e: &mut Emitter, left: &Parts| {
            let sum = this.convert(e, y, shape)?;
            this.add_parts(e, sum, left, |this, e, old, more, shape| match old {
                Some(old) => this.plus(e, more, old, shape),
                None => this.convert(e, more, shape),
            })
        };
        match (is_left, tables) {
            (Some(is_left), _) => self.either(e, is_left, shape, |this, e, is_left| match is_left {
                true => put_left(this, e, &left),
                false => put_right(this, e, &right),
            }),
            (None, (None, Some(_))) => put_left(self, e, &left),
            _ => put_right(self, e, &right),
        }
    }

    /// A table with the places of a one-hot vector, whose parts `each` adds to those that are there.
    fn add_parts(
        &mut self,
        e: &mut Emitter,
        sum: Val,
        parts: &Parts,
        each: impl Fn(&mut Self, &mut Emitter, Option<&Val>, &Val, Shape) -> Emitted<Val>,
    ) -> Emitted<Val> {
        self.fold_hots(e, parts, sum, |this, e, sum, Hot { place, part }| {
            this.with_place(e, &sum, place, |this, e, old, shape| each(this, e, old, &part, shape))
        })
    }

    /// The element at a place of a table, which is in range, as a value of shape `result`.
    pub(in crate::specialize) fn table_or_zero(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        place: Value,
        is_zero: bool,
        result: Shape,
    ) -> Emitted<Val> {
        // Zeros that have no leaves are the same everywhere.
        if is_zero && self.leaves(result).is_empty() {
            return Some(Val { shape: result, leaves: Vec::new() });
        }
        let table = self.table(parts)?;
        let slot = self.slot(e, &table, place);
        let (_, part, is_taken) = self.opened(e, &table.cells, slot);
        self.either(e, is_taken, result, |this, e, is_taken| match is_taken {
            true => this.part_or_its_zero(e, &part, is_zero, result),
            false => this.zero_element(e, parts, place, result),
        })
    }
}
