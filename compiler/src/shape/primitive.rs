//! What the primitives do to shapes.
//!
//! An operand may be a sum; alternatives that a primitive does not accept contribute nothing here and become a checked
//! failure where code is generated. A result without alternatives means that the call always fails.

use crate::base::entity::Entity;
use crate::core::arithmetic;
use crate::core::ir::{Below, LambdaId, Part, Program, RecordId};
use crate::core::prim::{Family, Levels, Prim};
use crate::shape::algebra::{TowerTooHigh, Transform};
use crate::shape::known::Lists;
use crate::shape::lattice::{Alternative, Class, Code, Fact, Head, Shape, Shapes, Site};
use crate::shape::operators::Operator;
use crate::shape::vector;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The shape of the result of a primitive below some transformations of its operands.
pub fn apply(
    shapes: &mut Shapes,
    transform: &mut dyn Transform,
    below: Below,
    prim: Prim,
    args: &[Shape],
) -> Result<Shape, TowerTooHigh> {
    if args.contains(&Shapes::BOTTOM) {
        return Ok(Shapes::BOTTOM);
    }
    Ok(match prim.family() {
        Family::Arithmetic => arithmetic(shapes, prim, args),
        Family::Comparison if prim == Prim::IsSameString => same_string(shapes, args),
        Family::Comparison => comparison(shapes, prim, args),
        Family::Test => test(shapes, below, prim, args),
        Family::Structure => match prim {
            Prim::Cons => shapes.pair(args[0], args[1]),
            Prim::Car => part(shapes, args[0], 0),
            Prim::Record => record(shapes, args[0], args[1]),
            Prim::RecordParts => record_parts(shapes, args[0], None),
            _ => part(shapes, args[0], 1),
        },
        Family::Vector => match prim {
            Prim::NewVector => vector::new_vector(shapes, args[0]),
            Prim::Fill => vector::fill(shapes, args[0], args[1]),
            Prim::Finish => vector::finish(shapes, args[0]),
            Prim::Filled => vector::filled(shapes, args[0]),
            Prim::VectorLength => vector::length(shapes, args[0]),
            Prim::WithElement => vector::with_element(shapes, args),
            _ => vector::reference(shapes, args[0], args[1]),
        },
        Family::Derivative => match prim {
            Prim::Zero => shapes.zero(args[0]),
            Prim::Plus => shapes.plus(args[0], args[1]),
            Prim::Bundle => shapes.bundle(below, [args[0], args[1]], transform)?,
            Prim::InCar => in_part(shapes, args[0], args[1], 0),
            Prim::InCdr => in_part(shapes, args[0], args[1], 1),
            Prim::Handed | Prim::HandedFew | Prim::Kept => shapes.split_sum(args[0], prim, Levels::ALL),
            Prim::Lent => args[0],
            Prim::SumCar | Prim::SplitCar => sum_part(shapes, args[0], 0),
            Prim::SumCdr | Prim::SplitCdr => sum_part(shapes, args[0], 1),
            Prim::Adding | Prim::Plain => form(shapes, transform, prim, args[0]),
            Prim::InElement => vector::in_element(shapes, args[0], args[2]),
            Prim::TakeElement => vector::take_element(shapes, args[0]),
            Prim::PutElement => vector::put_element(shapes, args[0], args[2]),
            Prim::Environment => environment(shapes, args[0]),
            Prim::WithEnvironment => with_environment(shapes, args[0], args[1]),
            Prim::Series => rename(shapes, args[0], Head::Series, |head| matches!(head, Head::Pair(_))),
            Prim::SeriesParts => rename(shapes, args[0], Head::Pair(None), |head| head == Head::Series),
            _ => shapes.operator(Operator { prim, below }, args[0], transform)?,
        },
        Family::Kernel => kernel(shapes, args),
        Family::Effect => effect(shapes, prim, args),
    })
}

/// The shape of what a kernel makes of a list of numbers and a list of vectors.
fn kernel(shapes: &mut Shapes, args: &[Shape]) -> Shape {
    let mut rest = args[1];
    while shapes.find(rest, Class::Pair(None)).is_some() {
        let vector = part(shapes, rest, 0);
        if !is_of_numbers(shapes, vector) {
            return Shapes::BOTTOM;
        }
        rest = part(shapes, rest, 1);
    }
    numbers(shapes)
}

/// A vector of numbers of which nothing is known.
fn numbers(shapes: &mut Shapes) -> Shape {
    let number = shapes.real(Fact::Unknown);
    shapes.make(Head::Vector, &[number])
}

/// Whether a shape may be a vector of numbers.
fn is_of_numbers(shapes: &mut Shapes, shape: Shape) -> bool {
    let vector = shapes.dense(shape);
    let vector = shapes.find(vector, Class::Vector);
    vector.is_some_and(|vector| vector.children[0] == Shapes::BOTTOM || real_fact(shapes, vector.children[0]).is_some())
}

fn effect(shapes: &mut Shapes, prim: Prim, args: &[Shape]) -> Shape {
    match prim {
        Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix => shapes.real(Fact::Unknown),
        Prim::Argument | Prim::ArgumentArray => shapes.real(Fact::Unknown),
        Prim::CheckNumber => shapes.real(Fact::Unknown),
        Prim::Ask if args.iter().all(|arg| real_fact(shapes, *arg).is_some()) => shapes.real(Fact::Unknown),
        Prim::Warn => shapes.nil(),
        Prim::ArgumentElements => {
            if real_fact(shapes, args[0]).is_none() {
                return Shapes::BOTTOM;
            }
            numbers(shapes)
        }
        Prim::ResultElements if is_of_numbers(shapes, args[0]) => shapes.nil(),
        Prim::ResultArray => shapes.nil(),
        Prim::Write => args[0],
        Prim::Opaque | Prim::Exchange => shapes.forget_numbers(args[0]),
        Prim::Result | Prim::WriteReal | Prim::WriteByte | Prim::WriteDouble => match real_fact(shapes, args[0]) {
            Some(fact) => shapes.real(fact),
            None => Shapes::BOTTOM,
        },
        Prim::WriteString | Prim::BeginFile if shapes.find(args[0], Class::Text).is_none() => Shapes::BOTTOM,
        Prim::BeginText => shapes.nil(),
        Prim::EndText => shapes.make(Head::Text(None), &[]),
        Prim::TextByte if shapes.find(args[0], Class::Text).is_none() || real_fact(shapes, args[1]).is_none() => {
            Shapes::BOTTOM
        }
        Prim::TextByte => shapes.real(Fact::Unknown),
        Prim::EndFile if real_fact(shapes, args[0]).is_none() => Shapes::BOTTOM,
        Prim::WriteString | Prim::Newline | Prim::BeginFile | Prim::EndFile => shapes.nil(),
        _ => Shapes::BOTTOM,
    }
}

/// What is known of the real alternative of a shape, folded zeros unfolded.
pub fn real_fact(shapes: &mut Shapes, shape: Shape) -> Option<Fact> {
    let shape = shapes.unfold_zeros(shape);
    match shapes.find(shape, Class::Real)?.head {
        Head::Real(fact) => Some(fact),
        _ => None,
    }
}

fn arithmetic(shapes: &mut Shapes, prim: Prim, args: &[Shape]) -> Shape {
    let mut facts = Vec::with_capacity(args.len());
    for arg in args {
        match real_fact(shapes, *arg) {
            Some(fact) => facts.push(fact),
            None => return Shapes::BOTTOM,
        }
    }
    let fact = match (prim, &facts[..]) {
        (Prim::Real, [fact]) => match fact.number() {
            Some(number) if shapes.open_reals => Fact::of(number),
            number => {
                shapes.hides_numbers.set(shapes.hides_numbers.get() || number.is_some());
                Fact::Unknown
            }
        },
        (Prim::Scale, facts) if facts.contains(&Fact::Zero) => Fact::Zero,
        (Prim::Unscale, [Fact::Zero, _]) => Fact::Zero,
        (Prim::Scale, facts) if facts.contains(&Fact::PerhapsZero) => Fact::PerhapsZero,
        (Prim::Unscale, [Fact::PerhapsZero, _]) => Fact::PerhapsZero,
        (_, [x]) => x.number().and_then(|x| arithmetic::real1(prim, x)).map_or(Fact::Unknown, Fact::of),
        (_, [x, y]) => match (x.number(), y.number()) {
            (Some(x), Some(y)) => arithmetic::real2(prim, x, y).map_or(Fact::Unknown, Fact::of),
            _ => Fact::Unknown,
        },
        _ => Fact::Unknown,
    };
    shapes.real(fact)
}

fn same_string(shapes: &mut Shapes, args: &[Shape]) -> Shape {
    let texts = [0, 1].map(|position| shapes.find(args[position], Class::Text).map(|text| text.head));
    match texts {
        [Some(Head::Text(Some(a))), Some(Head::Text(Some(b)))] => shapes.boolean(Some(a == b)),
        [Some(_), Some(_)] => shapes.boolean(None),
        _ => Shapes::BOTTOM,
    }
}

fn comparison(shapes: &mut Shapes, prim: Prim, args: &[Shape]) -> Shape {
    let (Some(x), Some(y)) = (real_fact(shapes, args[0]), real_fact(shapes, args[1])) else { return Shapes::BOTTOM };
    let known = match (x.number(), y.number()) {
        (Some(x), Some(y)) => arithmetic::compare(prim, x, y),
        _ => None,
    };
    shapes.boolean(known)
}

/// What a test asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The test.
    pub prim: Prim,
    /// The kind of records that [`Prim::IsOfKind`] asks for; none where that is no record.
    pub kind: Option<RecordId>,
}

impl Question {
    /// The questions that a test of these operands may ask.
    pub fn all(shapes: &Shapes, prim: Prim, args: &[Shape]) -> Vec<Question> {
        match (prim, args) {
            (Prim::IsOfKind, [_, of]) => shapes.alternatives(*of).iter().map(|of| Question::about(of.head)).collect(),
            _ => vec![Question { prim, kind: None }],
        }
    }

    /// Whether something is of the kind of a value with that head.
    pub fn about(head: Head) -> Question {
        let kind = match head {
            Head::Record(kind) => Some(kind),
            _ => None,
        };
        Question { prim: Prim::IsOfKind, kind }
    }
}

/// Whether values of a class satisfy a test.
pub fn satisfies(class: Class, question: Question) -> bool {
    match question.prim {
        Prim::IsNull => class == Class::Nil,
        Prim::IsRecord => matches!(class, Class::Record(_)),
        Prim::IsOfKind => matches!(class, Class::Record(kind) if question.kind == Some(kind)),
        Prim::IsPair => matches!(class, Class::Pair(_)),
        Prim::IsReal => class == Class::Real,
        Prim::IsBoolean => class == Class::Bool,
        Prim::IsString => class == Class::Text,
        Prim::IsVector => matches!(class, Class::Vector | Class::OneHot),
        Prim::IsProcedure => matches!(class, Class::Closure(_)),
        Prim::IsReverse => class == Class::Reverse,
        Prim::IsForward => class == Class::Bundle,
        Prim::IsSeries => class == Class::Series,
        _ => false,
    }
}

/// The values of a shape for which a test came out as `outcome`, where the test was made below so many of the value's
/// transformations.
///
/// A recursive shape is only ever refined to alternatives without recursive parts: the others are boxes already, and to
/// know that one is a pair would mean to take it apart here and to box it anew wherever it is passed on.
pub fn refine(shapes: &mut Shapes, shape: Shape, question: Question, outcome: bool, below: Below) -> Shape {
    let alternatives = shapes.alternatives(shape);
    let is_zero = question.prim == Prim::IsZero;
    if alternatives.len() < 2 || is_zero || alternatives.iter().any(|a| a.head.class() == Class::ZeroOf) {
        return shape;
    }
    let kept = alternatives.iter().filter(|a| {
        let class = class_below(shapes, a.head.class(), &a.children, below);
        class.is_none_or(|class| satisfies(class, question) == outcome)
    });
    let kept: Vec<Alternative> = kept.cloned().collect();
    let contains = |part: &Shape| shapes.contains(*part, shape, &mut FxHashSet::default());
    if shapes.is_recursive(shape) && kept.iter().any(|a| a.children.iter().any(contains)) {
        return shape;
    }
    let refined = shapes.intern(kept);
    // What is left of recursive data that may be a closure is one of these.
    if shapes.is_recursive(shape) { shapes.read_from_data(refined) } else { refined }
}

/// The class of a value of an alternative below so many of its transformations, where that is decided.
fn class_below(shapes: &Shapes, class: Class, children: &[Shape], below: Below) -> Option<Class> {
    let Some(below) = inside(class, below) else { return Some(class) };
    let inner = shapes.single(children[0]).filter(|inner| inner.head.class() != Class::ZeroOf)?;
    class_below(shapes, inner.head.class(), &inner.children, below)
}

/// What a test of a number of that class is below in its first part, when the test is about that.
pub fn inside(class: Class, below: Below) -> Option<Below> {
    match class {
        Class::Series => Some(Below { series: below.series.checked_sub(1)?, ..below }),
        Class::Reverse | Class::Bundle => Some(below.with_forward(below.forward.checked_sub(1)?)),
        _ => None,
    }
}

fn test(shapes: &mut Shapes, below: Below, prim: Prim, args: &[Shape]) -> Shape {
    let arg = args[0];
    if prim == Prim::IsTransformed {
        return shapes.boolean(Some(false));
    }
    if prim == Prim::IsZero {
        let known: Vec<Option<bool>> = shapes.alternatives(arg).iter().map(|a| known_zero(shapes, a)).collect();
        return match known[..] {
            [] => Shapes::BOTTOM,
            [first, ref others @ ..] => shapes.boolean(first.filter(|first| others.iter().all(|o| *o == Some(*first)))),
        };
    }
    let arg = shapes.unfold_zeros(arg);
    let questions = match args.get(1) {
        Some(of) => {
            let of = shapes.unfold_zeros(*of);
            Question::all(shapes, prim, &[arg, of])
        }
        None => Question::all(shapes, prim, args),
    };
    let classes = shapes.alternatives(arg);
    let classes = classes.iter().map(|a| class_below(shapes, a.head.class(), &a.children, below));
    let satisfied =
        |class: Option<Class>| questions.iter().map(move |question| class.map(|class| satisfies(class, *question)));
    let mut results = classes.flat_map(satisfied).collect::<Vec<_>>();
    results.dedup();
    match results[..] {
        [] => Shapes::BOTTOM,
        [Some(known)] => shapes.boolean(Some(known)),
        _ => shapes.boolean(None),
    }
}

/// Whether the values of an alternative are known zeros; `None` where that is decided at run time.
pub fn known_zero(shapes: &Shapes, alternative: &Alternative) -> Option<bool> {
    match alternative.head {
        Head::ZeroOf(_) | Head::Real(Fact::Zero) => Some(true),
        Head::Real(Fact::PerhapsZero) => None,
        // What is transformed any number of times is looked at no further: to take it for a number is safe.
        Head::Reverse | Head::Bundle if alternative.children.iter().any(|part| shapes.is_recursive(*part)) => {
            Some(false)
        }
        Head::Reverse | Head::Bundle => {
            let parts = alternative.children.iter().flat_map(|part| shapes.alternatives(*part).to_vec());
            let known: Vec<Option<bool>> = parts.map(|part| known_zero(shapes, &part)).collect();
            match known.contains(&Some(false)) && alternative.children.iter().all(|part| shapes.single(*part).is_some())
            {
                true => Some(false),
                false => known.iter().all(|known| *known == Some(true)).then_some(true),
            }
        }
        Head::Pair(_) | Head::Record(_) | Head::Series | Head::Vector => Some(shapes.is_zero_alternative(alternative)),
        _ => Some(false),
    }
}

/// What a pattern takes out of the values of a shape.
pub fn destructure(shapes: &mut Shapes, demand: Part, shape: Shape) -> Shape {
    match demand {
        Part::Car => part(shapes, shape, 0),
        Part::Cdr => part(shapes, shape, 1),
        Part::Record(kind) => record_parts(shapes, shape, Some(kind)),
        Part::Vector(_) if shapes.vectors(shape) == Shapes::BOTTOM => Shapes::BOTTOM,
        Part::Vector(_) => shapes.nil(),
        Part::Never => Shapes::BOTTOM,
        Part::Nil => {
            let shape = shapes.unfold_zeros(shape);
            let found = shapes.find(shape, Class::Nil);
            found.map_or(Shapes::BOTTOM, |_| shapes.nil())
        }
    }
}

/// The first (0) or second (1) part of the pairs in a shape.
pub fn part(shapes: &mut Shapes, shape: Shape, index: usize) -> Shape {
    let shape = shapes.unfold_zeros(shape);
    let alternatives = shapes.alternatives(shape);
    let pairs = alternatives.iter().filter(|alternative| matches!(alternative.head, Head::Pair(_)));
    let parts: Vec<Shape> = pairs.map(|pair| pair.children[index]).collect();
    let part = shapes.join_all(&parts);
    if shapes.is_recursive(shape) { shapes.read_from_data(part) } else { part }
}

/// A part of the sums in a shape; of nothing, nothing.
fn sum_part(shapes: &mut Shapes, shape: Shape, index: usize) -> Shape {
    let part = part(shapes, shape, index);
    or_nothing(shapes, part, shape)
}

/// Backpropagators as their adding forms, or with `Prim::Plain` the other way round; the lists of the sensitivities of
/// their environments likewise.
fn form(shapes: &mut Shapes, transform: &mut dyn Transform, prim: Prim, shape: Shape) -> Shape {
    let mut forms = Vec::new();
    for alternative in shapes.alternatives(shape).iter() {
        let head = form_of(transform, prim, alternative.head);
        forms.push(shapes.make(head, &alternative.children));
    }
    shapes.join_all(&forms)
}

/// The lists in a shape that can be that of the sensitivities of an environment of that code. Zeros are unfolded: a
/// zero of one of several functions is that of this one. Both forms of a backpropagator have the same environment. Of
/// many lists, each of which one of many functions asks for, only those that are kept are made anew.
pub fn own_environment(shapes: &mut Shapes, transform: &mut dyn Transform, list: Shape, code: Code) -> Shape {
    let list = shapes.unfold_zeros(list);
    let code = transform.form(code, Prim::Plain);
    let lists = lists(shapes, transform, list);
    let own: Vec<usize> = [Some(code), None].iter().filter_map(|of| lists.get(of)).flatten().copied().collect();
    let alternatives = shapes.alternatives(list);
    shapes.work(own.len());
    let own: Vec<(Head, &Alternative)> = own
        .into_iter()
        .map(|position| &alternatives[position])
        .map(|alternative| (form_of(transform, Prim::Plain, alternative.head), alternative))
        .collect();
    if own.len() == alternatives.len() && own.iter().all(|(head, alternative)| *head == alternative.head) {
        return list;
    }
    let own: Vec<Shape> = own.into_iter().map(|(head, list)| shapes.make(head, &list.children)).collect();
    shapes.join_all(&own)
}

fn lists(shapes: &mut Shapes, transform: &mut dyn Transform, list: Shape) -> Rc<Lists> {
    if let Some(known) = shapes.known.lists.get(&list) {
        return Rc::clone(known);
    }
    let mut lists = Lists::default();
    shapes.work(shapes.count(list));
    for (position, alternative) in shapes.alternatives(list).iter().enumerate() {
        let of = match form_of(transform, Prim::Plain, alternative.head) {
            Head::Pair(of) => of,
            _ => None,
        };
        lists.entry(of).or_default().push(position);
    }
    let lists = Rc::new(lists);
    shapes.known.lists.insert(list, Rc::clone(&lists));
    lists
}

/// The head of an alternative that [`Prim::Adding`] or [`Prim::Plain`] makes of one.
pub fn form_of(transform: &mut dyn Transform, prim: Prim, head: Head) -> Head {
    match head {
        Head::Closure(code, site) => Head::Closure(transform.form(code, prim), site),
        Head::Pair(Some(code)) => Head::Pair(Some(transform.form(code, prim))),
        other => other,
    }
}

/// The lists of what the functions in a shape have captured.
fn environment(shapes: &mut Shapes, function: Shape) -> Shape {
    let mut result = Shapes::BOTTOM;
    for alternative in shapes.alternatives(function).iter() {
        if let Head::Closure(code, _) = alternative.head {
            let list = shapes.environment(code, &alternative.children);
            result = shapes.join(result, list);
        }
    }
    result
}

/// The functions of a shape with what is in a list as what they have captured.
fn with_environment(shapes: &mut Shapes, function: Shape, list: Shape) -> Shape {
    let mut result = Shapes::BOTTOM;
    for alternative in shapes.alternatives(function).iter() {
        if let Head::Closure(code, site) = alternative.head
            && let list = shapes.environment_only(list, code)
            && let Some(items) = shapes.items(list, alternative.children.len())
        {
            let closure = shapes.make(Head::Closure(code, site), &items);
            result = shapes.join(result, closure);
        }
    }
    result
}

/// The alternatives of a shape that `takes` takes under another name: pairs as power series or records, or the other
/// way round.
fn rename(shapes: &mut Shapes, shape: Shape, to: Head, takes: impl Fn(Head) -> bool) -> Shape {
    let shape = shapes.unfold_zeros(shape);
    let mut result = Shapes::BOTTOM;
    for alternative in shapes.alternatives(shape).iter() {
        if takes(alternative.head) {
            let renamed = shapes.make(to, &alternative.children);
            result = shapes.join(result, renamed);
        }
    }
    result
}

/// A shape, and nothing where another one may be nothing: what there is in sums that backpropagators are handed.
fn or_nothing(shapes: &mut Shapes, shape: Shape, other: Shape) -> Shape {
    match shapes.position(other, Class::Nothing) {
        Some(_) => {
            let nothing = shapes.make(Head::Nothing, &[]);
            shapes.join(shape, nothing)
        }
        None => shape,
    }
}

/// The pairs in a shape as records of the kinds of other records.
fn record(shapes: &mut Shapes, of: Shape, pair: Shape) -> Shape {
    let of = shapes.unfold_zeros(of);
    let mut result = Shapes::BOTTOM;
    for alternative in shapes.alternatives(of).iter() {
        if let head @ Head::Record(_) = alternative.head {
            let records = rename(shapes, pair, head, |head| matches!(head, Head::Pair(_)));
            result = shapes.join(result, records);
        }
    }
    or_nothing(shapes, result, pair)
}

/// The pairs that the records in a shape are made of, all or those of one kind.
fn record_parts(shapes: &mut Shapes, shape: Shape, kind: Option<RecordId>) -> Shape {
    let takes = |head: Head| matches!(head, Head::Record(of) if kind.is_none_or(|kind| of == kind));
    let mut pairs = rename(shapes, shape, Head::Pair(None), takes);
    if shapes.is_recursive(shape) {
        pairs = shapes.read_from_data(pairs);
    }
    or_nothing(shapes, pairs, shape)
}

/// The sensitivity of a pair that has `part` in the slot at `index` and is zero in the other.
fn in_part(shapes: &mut Shapes, pair: Shape, part: Shape, index: usize) -> Shape {
    let pair = shapes.unfold_zeros(pair);
    let mut sensitivities = Vec::new();
    for alternative in shapes.alternatives(pair).iter() {
        if let head @ Head::Pair(_) = alternative.head {
            let within = Site::Value.within(head);
            let mut parts = [0, 1].map(|part| shapes.zero_at(alternative.children[part], within));
            parts[index] = part;
            sensitivities.push(shapes.make(head, &parts));
        }
    }
    shapes.join_all(&sensitivities)
}

/// `(%check-number f)`: of a choice of functions, that of the first one, if all of them are to be checked. It is not
/// whole if one of them is the library's own.
pub fn check_number(shapes: &mut Shapes, program: &Program, function: Shape) -> Shape {
    let alternatives = shapes.alternatives(function);
    let functions = alternatives.iter().filter_map(|alternative| match alternative.head {
        Head::Closure(code, _) => Some(code.base),
        _ => None,
    });
    let functions: Vec<LambdaId> = functions.collect();
    let number = match functions[..] {
        [] if function == Shapes::BOTTOM => return Shapes::BOTTOM,
        // Whoever calls it says that it is no function.
        [] => 0.0,
        [..] if functions.iter().any(|function| program.trusted.contains(function)) => -1.0,
        [first, ..] if functions.iter().any(|function| program.own.contains(function)) => first.index() as f64 + 0.5,
        [first, ..] => first.index() as f64,
    };
    shapes.real(Fact::Known(number.to_bits()))
}
