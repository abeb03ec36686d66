//! Recursive data that a program declares: sorts of tagged records that contain one another, functions that build them
//! from a counter, functions that walk them with what they need on the way.
//!
//! ```text
//! sort A: (list 0 number) | (list 1 A B);  sort B: (list 0 number) | (list 1 A (lambda (_) B))
//! (letrec ((walk-A (lambda (v e) (if (= (car v) 0) ... (let (((list _ a b) v)) ... (walk-A a e') ... (walk-B b e') ...))))
//!          (walk-B ...))
//!   (walk-A value start))
//! ```

use super::generate::Generator;
use super::sexp::{Sexp, atom, form};
use super::types::Type;
use std::rc::Rc;

/// One sort of records.
#[derive(Clone)]
pub(super) struct Sort {
    /// Fields by tag. A record with tag 0 contains no others.
    constructors: Vec<Vec<Field>>,
    /// Whether the compiler knows the tags.
    known_tags: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Field {
    Plain(Type),
    /// A record of a sort.
    Inner(usize),
    /// A list of them.
    Inners(usize),
    /// A function that gives one.
    Delayed(usize),
}

impl Field {
    fn of(&self) -> Type {
        match self {
            Field::Plain(of) => of.clone(),
            Field::Inner(sort) => Type::Record(*sort),
            Field::Inners(sort) => Type::List(Rc::new(Type::Record(*sort))),
            Field::Delayed(sort) => Type::function(Type::Bool, Type::Record(*sort)),
        }
    }

    fn sort(&self) -> Option<usize> {
        match self {
            Field::Plain(_) => None,
            Field::Inner(sort) | Field::Inners(sort) | Field::Delayed(sort) => Some(*sort),
        }
    }
}

/// Makes what is done with the fields of a record, which have these names.
type Case<'a> = dyn FnMut(&mut Generator, &[Field], &[String]) -> Sexp + 'a;

/// How often the code of a function that builds or walks records may run.
const NODES: usize = 10;

impl Generator {
    /// Some sorts.
    pub(super) fn sorts(&mut self) -> Vec<Sort> {
        let count = 1 + self.rng.below(2);
        let sort = |generator: &mut Generator| {
            let mut constructors = vec![vec![Field::Plain(Type::Real)]];
            for _ in 0..1 + generator.rng.below(3) {
                let fields = 1 + generator.rng.below(3);
                constructors.push((0..fields).map(|_| generator.field(count)).collect());
            }
            Sort { constructors, known_tags: generator.rng.percent(60) }
        };
        (0..count).map(|_| sort(self)).collect()
    }

    fn field(&mut self, sorts: usize) -> Field {
        let sort = self.rng.below(sorts);
        match self.rng.below(10) {
            0 => Field::Plain(Type::Real),
            1 => Field::Plain(Type::random(&mut self.rng, 1)),
            2 => Field::Inners(sort),
            3 => Field::Delayed(sort),
            _ => Field::Inner(sort),
        }
    }

    pub(super) fn random_record(&mut self) -> Option<Type> {
        let sorts = self.sorts_in_scope.len();
        (sorts > 0).then(|| Type::Record(self.rng.below(sorts)))
    }

    fn tagged(&mut self, sort: usize, tag: usize, fields: Vec<Sexp>) -> Sexp {
        let known = self.sorts_in_scope[sort].known_tags;
        let tag = if known { atom(tag.to_string()) } else { form("(real ?)", [atom(tag.to_string())]) };
        let mut parts = vec![atom("list"), tag];
        parts.extend(fields);
        Sexp::List(parts)
    }

    pub(super) fn simple_record(&mut self, sort: usize) -> Sexp {
        let number = self.simple(&Type::Real);
        self.tagged(sort, 0, vec![number])
    }

    /// A record of a sort.
    pub(super) fn record(&mut self, sort: usize) -> Sexp {
        if self.rng.percent(35) && self.work * NODES <= super::generate::MOST_WORK {
            return self.grown_record(sort);
        }
        let constructors = self.sorts_in_scope[sort].constructors.clone();
        let tag = self.rng.below(constructors.len());
        let fields = constructors[tag].iter().map(|field| self.expression(&field.of())).collect();
        self.tagged(sort, tag, fields)
    }

    /// All sorts that records of a sort may contain, itself first.
    fn reachable(&self, sort: usize) -> Vec<usize> {
        let mut found = vec![sort];
        let mut next = 0;
        while let Some(sort) = found.get(next).copied() {
            for inner in self.sorts_in_scope[sort].constructors.iter().flatten().filter_map(Field::sort) {
                if !found.contains(&inner) {
                    found.push(inner);
                }
            }
            next += 1;
        }
        found
    }

    /// A record that functions build, one for each sort, which count down.
    fn grown_record(&mut self, sort: usize) -> Sexp {
        self.note("records built by recursion");
        let sorts = self.reachable(sort);
        let suffix = self.fresh("");
        let name = |sort: usize| atom(format!("grow{suffix}-{sort}"));
        let i = self.fresh("i");
        let count = self.count();
        let mut bindings = Vec::new();
        for of in &sorts {
            let constructors = self.sorts_in_scope[*of].constructors.clone();
            let body = self.within(&[(&i, &Type::Real)], |inside| {
                inside.repeated(NODES, |inside| {
                    let leaf = inside.simple_record(*of);
                    let mut grown = leaf.clone();
                    for (tag, fields) in constructors.iter().enumerate().skip(1) {
                        let next = |sort: &usize| form("(? (- ? 1))", [name(*sort), atom(&i)]);
                        // One recursive call in most records, lest they grow exponentially.
                        let parts = fields.iter().map(|field| match field {
                            Field::Plain(of) => inside.expression(of),
                            Field::Inner(sort) => next(sort),
                            Field::Inners(sort) => form("(list ?)", [next(sort)]),
                            Field::Delayed(sort) => form("(lambda (_) ?)", [next(sort)]),
                        });
                        let parts = parts.collect();
                        let record = inside.tagged(*of, tag, parts);
                        grown = if tag == 1 {
                            record
                        } else {
                            form("(if ? ? ?)", [inside.expression(&Type::Bool), record, grown])
                        };
                    }
                    form("(if (<= ? 0) ? ?)", [atom(&i), leaf, grown])
                })
            });
            bindings.push(form("(? (lambda (?) ?))", [name(*of), atom(&i), body]));
        }
        form("(letrec ? (? (min 2 ?)))", [Sexp::List(bindings), name(sort), count])
    }

    /// Looks at a record, or walks all through it.
    pub(super) fn use_of_record(&mut self, wanted: &Type) -> Sexp {
        let Some(Type::Record(sort)) = self.random_record() else {
            return self.expression(wanted);
        };
        if self.work * NODES > super::generate::MOST_WORK {
            return self.simple(wanted);
        }
        let value = self.expression(&Type::Record(sort));
        if self.rng.percent(25) {
            self.note("records looked at");
            let v = self.fresh("v");
            let body = self.cases_of(sort, &v, &mut |inside, fields, names| {
                let types: Vec<Type> = fields.iter().map(Field::of).collect();
                let variables: Vec<(&str, &Type)> = names.iter().map(String::as_str).zip(&types).collect();
                inside.within(&variables, |inside| inside.expression(wanted))
            });
            return form("(let ((? ?)) ?)", [atom(v), value, body]);
        }
        self.walk_of_record(sort, value, wanted)
    }

    /// Takes the record `v` apart; `body` makes what is done with its fields.
    fn cases_of(&mut self, sort: usize, v: &str, body: &mut Case<'_>) -> Sexp {
        let constructors = self.sorts_in_scope[sort].constructors.clone();
        let mut cases = vec![atom("cond")];
        for (tag, fields) in constructors.iter().enumerate() {
            let names: Vec<String> = fields.iter().map(|_| self.fresh("part")).collect();
            let inner = body(self, fields, &names);
            let mut pattern = vec![atom("list"), atom("_")];
            pattern.extend(names.iter().map(atom));
            let test = match tag + 1 == constructors.len() {
                true => atom("else"),
                false => form("(= (car ?) ?)", [atom(v), atom(tag.to_string())]),
            };
            cases.push(form("(? (let ((? ?)) ?))", [test, Sexp::List(pattern), atom(v), inner]));
        }
        Sexp::List(cases)
    }

    /// Functions that walk a record, one for each sort, and carry something along.
    fn walk_of_record(&mut self, sort: usize, value: Sexp, wanted: &Type) -> Sexp {
        self.note("records walked");
        let suffix = self.fresh("");
        let name = |sort: usize| atom(format!("walk{suffix}-{sort}"));
        let (v, e, carried) = (self.fresh("v"), self.fresh("e"), Type::random(&mut self.rng, 1));
        let start = self.expression(&carried);
        let mut bindings = Vec::new();
        for of in self.reachable(sort) {
            let body = self.within(&[(&e, &carried)], |inside| {
                inside.repeated(NODES, |inside| {
                    inside.cases_of(of, &v, &mut |inside, fields, names| {
                        // Each field is replaced by what the walk makes of it.
                        let mut bound = vec![];
                        let mut types = vec![];
                        for (field, part) in fields.iter().zip(names) {
                            let part = atom(part);
                            let along = match field {
                                Field::Plain(_) => atom(&e),
                                _ => inside.expression(&carried),
                            };
                            let (result, of) = match field {
                                Field::Plain(of) => (part.clone(), of.clone()),
                                Field::Inner(sort) => {
                                    (form("(? ? ?)", [name(*sort), part.clone(), along]), wanted.clone())
                                }
                                Field::Delayed(sort) => {
                                    (form("(? (? #t) ?)", [name(*sort), part.clone(), along]), wanted.clone())
                                }
                                Field::Inners(sort) => (
                                    form("(map (lambda (w) (? w ?)) ?)", [name(*sort), along, part.clone()]),
                                    Type::List(Rc::new(wanted.clone())),
                                ),
                            };
                            bound.push(form("(? ?)", [part, result]));
                            types.push(of);
                        }
                        let variables: Vec<(&str, &Type)> = names.iter().map(String::as_str).zip(&types).collect();
                        let result = inside.within(&variables, |inside| inside.expression(wanted));
                        form("(let* ? ?)", [Sexp::List(bound), result])
                    })
                })
            });
            bindings.push(form("(? (lambda (? ?) ?))", [name(of), atom(&v), atom(&e), body]));
        }
        form("(letrec ? (? ? ?))", [Sexp::List(bindings), name(sort), value, start])
    }
}
