//! Where boxed values flow: classes of places by unification (Steensgaard, "Points-to Analysis in Almost Linear Time").
//!
//! A place is a value, a result of a function, a cell, or a field of what is in some class (of a box, or of any element
//! of a vector). Places that values flow between are one class, and the fields of a class, by sum, tag and position,
//! are classes of their own: two lists that never meet are in different classes although they are made of the same sum.
//! A class knows the sums that its values are made or looked at as; where a sum within a union left its slot empty,
//! these are several.

use crate::ssa::ir::{FuncId, Function, Inst, Op, Program, SlotId, SumId, Terminator, Type, Value, VectorId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A set of places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class(usize);

/// Where a pointer can be, apart from fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    Value(FuncId, Value),
    Result(FuncId, usize),
    Slot(SlotId),
}

/// A field of the values of a sum: sum, tag and position.
pub type Field = (SumId, u32, u32);

/// A part of a value: of a box, or of every element of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Part {
    Field(Field),
    Element(VectorId, u32),
}

/// The classes of a program.
#[derive(Debug, Default)]
pub struct Classes {
    ids: FxHashMap<Place, usize>,
    /// A forest in which the places of a class have one root.
    parents: Vec<usize>,
    /// Of roots, the classes of their parts...
    parts: Vec<FxHashMap<Part, usize>>,
    /// ...and the sums of their values.
    sums: Vec<FxHashSet<SumId>>,
    /// Places of new vectors.
    vectors: Vec<usize>,
}

impl Classes {
    /// Finds the classes of a program.
    pub fn new(program: &Program) -> Classes {
        let mut classes = Classes::default();
        for (id, function) in program.functions.iter() {
            classes.function(program, id, function);
        }
        // From now on every root is one step away.
        for id in 0..classes.parents.len() {
            classes.parents[id] = classes.shorten(id);
        }
        classes
    }

    /// The class of a place, if a pointer has been seen there.
    pub fn class(&self, place: Place) -> Option<Class> {
        self.ids.get(&place).map(|id| Class(self.root(*id)))
    }

    /// The class of a field of the values of a class.
    pub fn field(&self, class: Class, field: Field) -> Option<Class> {
        self.parts[class.0].get(&Part::Field(field)).map(|id| Class(self.root(*id)))
    }

    /// All fields of all classes, with their own classes.
    pub fn fields(&self) -> impl Iterator<Item = (Class, Field, Class)> {
        self.parts().filter_map(|(class, part, inner)| match part {
            Part::Field(field) => Some((class, field, inner)),
            Part::Element(..) => None,
        })
    }

    /// The classes of values that may be vectors.
    pub fn vectors(&self) -> FxHashSet<Class> {
        self.vectors.iter().map(|id| Class(self.root(*id))).collect()
    }

    /// The classes of what elements of vectors hold.
    pub fn in_elements(&self) -> impl Iterator<Item = Class> {
        self.parts().filter(|(_, part, _)| matches!(part, Part::Element(..))).map(|(_, _, inner)| inner)
    }

    /// The classes whose boxes, or vectors, hold values of another class, with that class.
    pub fn holders(&self) -> impl Iterator<Item = (Class, Class)> {
        self.parts().map(|(class, _, inner)| (class, inner)).filter(|(class, inner)| class != inner)
    }

    fn parts(&self) -> impl Iterator<Item = (Class, Part, Class)> {
        let roots = (0..self.parents.len()).filter(|id| self.parents[*id] == *id);
        let parts = |id: usize| self.parts[id].iter().map(move |(part, inner)| (id, *part, *inner));
        roots.flat_map(parts).map(|(id, part, inner)| (Class(id), part, Class(self.root(inner))))
    }

    /// All places with their classes, in an order that depends on the program only.
    pub fn places(&self) -> Vec<(Place, Class)> {
        let mut places: Vec<_> = self.ids.iter().map(|(place, id)| (*place, Class(self.root(*id)))).collect();
        places.sort_unstable();
        places
    }

    /// All classes, with the sums of their values, in an order that depends on the program only.
    pub fn all(&self) -> impl Iterator<Item = (Class, &FxHashSet<SumId>)> {
        let roots = (0..self.parents.len()).filter(|id| self.parents[*id] == *id);
        roots.map(|id| (Class(id), &self.sums[id]))
    }

    fn new_class(&mut self) -> usize {
        self.parts.push(FxHashMap::default());
        self.sums.push(FxHashSet::default());
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn id(&mut self, place: Place) -> usize {
        if let Some(id) = self.ids.get(&place) {
            return *id;
        }
        let id = self.new_class();
        self.ids.insert(place, id);
        id
    }

    fn part_id(&mut self, of: usize, part: Part) -> usize {
        let of = self.shorten(of);
        if let Some(id) = self.parts[of].get(&part) {
            return *id;
        }
        let id = self.new_class();
        self.parts[of].insert(part, id);
        id
    }

    fn root(&self, mut id: usize) -> usize {
        while self.parents[id] != id {
            id = self.parents[id];
        }
        id
    }

    /// The root, to which each place on the way gets closer by one step: a chain of values would be walked for each of
    /// them.
    fn shorten(&mut self, mut id: usize) -> usize {
        while self.parents[id] != id {
            self.parents[id] = self.parents[self.parents[id]];
            id = self.parents[id];
        }
        id
    }

    /// Joins two classes, and the classes of their parts.
    fn unify(&mut self, a: usize, b: usize) {
        let mut waiting = vec![(a, b)];
        while let Some((a, b)) = waiting.pop() {
            let (a, b) = (self.shorten(a), self.shorten(b));
            if a == b {
                continue;
            }
            // The one that knows more stays, so that a part moves few times.
            let (from, to) = if self.parts[a].len() > self.parts[b].len() { (b, a) } else { (a, b) };
            self.parents[from] = to;
            for (part, id) in std::mem::take(&mut self.parts[from]) {
                match self.parts[to].get(&part) {
                    Some(other) => waiting.push((id, *other)),
                    None => drop(self.parts[to].insert(part, id)),
                }
            }
            let sums = std::mem::take(&mut self.sums[from]);
            self.sums[to].extend(sums);
        }
    }

    fn flows(&mut self, from: Place, to: Place) {
        let (from, to) = (self.id(from), self.id(to));
        self.unify(from, to);
    }

    /// A value that is made or looked at as one of a sum.
    fn is(&mut self, place: Place, sum: SumId) -> usize {
        let id = self.id(place);
        let root = self.shorten(id);
        self.sums[root].insert(sum);
        id
    }

    /// Lets what is in a place be a part of the values of a class.
    fn part_holds(&mut self, whole: usize, part: Part, place: Place) {
        let (held, part) = (self.id(place), self.part_id(whole, part));
        self.unify(held, part);
    }

    fn function(&mut self, program: &Program, id: FuncId, function: &Function) {
        let is_pointer = |value: Value| function.values[value] == Type::Ptr;
        let place = |value: Value| Place::Value(id, value);
        for block in function.blocks.values() {
            for inst in &block.insts {
                self.inst(program, id, function, inst);
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
                    self.arguments(program, id, function, (*callee, args));
                    for position in (0..function.results.len()).filter(|i| function.results[*i] == Type::Ptr) {
                        self.flows(Place::Result(*callee, position), Place::Result(id, position));
                    }
                }
                _ => {}
            }
        }
    }

    fn arguments(&mut self, program: &Program, id: FuncId, function: &Function, (callee, args): (FuncId, &[Value])) {
        let params = program.functions[callee].params();
        for (arg, param) in args.iter().zip(params).filter(|(arg, _)| function.values[**arg] == Type::Ptr) {
            self.flows(Place::Value(id, *arg), Place::Value(callee, *param));
        }
    }

    fn inst(&mut self, program: &Program, id: FuncId, function: &Function, inst: &Inst) {
        let place = |value: Value| Place::Value(id, value);
        let is_pointer = |value: Value| function.values[value] == Type::Ptr;
        match inst.op {
            Op::Immediate(sum, _) => drop(self.is(place(inst.results[0]), sum)),
            Op::Tag(sum) | Op::HasTag(sum, _) => drop(self.is(place(inst.args[0]), sum)),
            Op::Box(sum, tag) => {
                let made = self.is(place(inst.results[0]), sum);
                for (field, arg) in (0..).zip(&inst.args).filter(|(_, arg)| is_pointer(**arg)) {
                    self.part_holds(made, Part::Field((sum, tag, field)), place(*arg));
                }
            }
            Op::Field(sum, tag, field) => {
                let whole = self.is(place(inst.args[0]), sum);
                if is_pointer(inst.results[0]) {
                    self.part_holds(whole, Part::Field((sum, tag, field)), place(inst.results[0]));
                }
            }
            Op::NewVector(_) | Op::ArgumentElements(_) => {
                let new = self.id(place(inst.results[0]));
                self.vectors.push(new);
            }
            Op::Kernel(..) => {
                let new = self.id(place(inst.results[0]));
                self.vectors.push(new);
                // Whatever it reads and makes is of one kind.
                for arg in inst.args.iter().filter(|arg| is_pointer(**arg)) {
                    self.flows(place(*arg), place(inst.results[0]));
                }
            }
            Op::Element(vector, field) => {
                let whole = self.id(place(inst.args[0]));
                if is_pointer(inst.results[0]) {
                    self.part_holds(whole, Part::Element(vector, field), place(inst.results[0]));
                }
            }
            Op::WithElements(_) => self.flows(place(inst.args[0]), place(inst.results[0])),
            Op::WithElement(vector) => {
                self.flows(place(inst.args[0]), place(inst.results[0]));
                let whole = self.id(place(inst.results[0]));
                for (field, arg) in (0..).zip(&inst.args[3..]).filter(|(_, arg)| is_pointer(**arg)) {
                    self.part_holds(whole, Part::Element(vector, field), place(*arg));
                }
            }
            Op::GlobalSet(slot) if is_pointer(inst.args[0]) => self.flows(place(inst.args[0]), Place::Slot(slot)),
            Op::GlobalGet(slot) if is_pointer(inst.results[0]) => {
                self.flows(Place::Slot(slot), place(inst.results[0]));
            }
            Op::Call(callee) => {
                self.arguments(program, id, function, (callee, &inst.args));
                for (position, result) in inst.results.iter().enumerate().filter(|(_, value)| is_pointer(**value)) {
                    self.flows(Place::Result(callee, position), place(*result));
                }
            }
            // A selection, or what only hides what it hands on: every result may be every operand.
            _ => {
                for result in inst.results.iter().filter(|value| is_pointer(**value)) {
                    for arg in inst.args.iter().filter(|value| is_pointer(**value)) {
                        self.flows(place(*arg), place(*result));
                    }
                }
            }
        }
    }
}
