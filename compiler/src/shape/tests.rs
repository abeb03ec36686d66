//! Tests of the data structure under the analysis: canonical form, join, widening, the derivative operators.

use super::algebra::Transform;
use super::operators::Operator;
use crate::ad::tower::{Tower, Transformation};
use crate::core::ir::{Below, LambdaId};
use crate::core::prim::Prim;
use crate::shape::lattice::{Class, Code, Fact, Head, Shape, Shapes, Site};

/// `{() | (real . ...)}` to the given depth, ending in `()`.
fn list_up_to(shapes: &mut Shapes, depth: usize) -> Shape {
    let nil = shapes.nil();
    let real = shapes.real(Fact::Unknown);
    let mut list = nil;
    for _ in 0..depth {
        let longer = shapes.pair(real, list);
        list = shapes.join(nil, longer);
    }
    list
}

/// `T = {() | (real . T)}`
fn list(shapes: &mut Shapes) -> Shape {
    let (short, long) = (list_up_to(shapes, 1), list_up_to(shapes, 2));
    shapes.widen(short, long)
}

/// The tower of so many `*j`.
fn even(height: u32) -> Tower {
    (0..height).fold(Tower::EMPTY, |tower, _| tower.push(Transformation::Reverse))
}

struct Even;

/// Pretends that λ(n+1) is the transform of λn.
impl Transform for Even {
    fn insert(&mut self, code: Code, _: Transformation, _: u32) -> Option<Code> {
        let above = code.lambda.0 + 1;
        Some(Code { base: LambdaId(0), tower: even(above), lambda: LambdaId(above) })
    }
    fn remove(&mut self, code: Code, _: Transformation, _: u32) -> Option<Code> {
        let below = code.lambda.0.checked_sub(1)?;
        Some(Code { base: LambdaId(0), tower: even(below), lambda: LambdaId(below) })
    }
    fn form(&mut self, code: Code, _: Prim) -> Code {
        code
    }
}

#[test]
fn widening_a_growing_list_ties_the_knot() {
    let mut shapes = Shapes::new();
    let list = list(&mut shapes);
    assert!(shapes.is_recursive(list));
    let pair = shapes.find(list, Class::Pair(None)).expect("a list may be a pair");
    assert_eq!(pair.children[1], list);
    for depth in 0..5 {
        let short = list_up_to(&mut shapes, depth);
        assert!(shapes.covers(list, short));
        assert!(!shapes.covers(short, list));
        assert_eq!(shapes.join(short, list), list);
    }
}

#[test]
fn equal_recursive_shapes_are_identical() {
    let mut shapes = Shapes::new();
    let once = list(&mut shapes);
    let (two, five) = (list_up_to(&mut shapes, 2), list_up_to(&mut shapes, 5));
    let widened = shapes.widen(two, five);
    assert_eq!(widened, once);
    let real = shapes.real(Fact::Unknown);
    let unrolled = shapes.pair(real, once);
    let nil = shapes.nil();
    assert_eq!(shapes.join(nil, unrolled), once);
}

#[test]
fn the_backpropagator_of_a_loop_becomes_recursive() {
    let mut shapes = Shapes::new();
    let code = |n| Head::Closure(Code { base: LambdaId(n), tower: Tower::EMPTY, lambda: LambdaId(n) }, Site::Value);
    let base = shapes.make(code(1), &[]);
    let mut result = base;
    let mut rounds = 0;
    loop {
        let step = shapes.make(code(2), &[result]);
        let computed = shapes.join(base, step);
        let next = shapes.widen(result, computed);
        if next == result {
            break;
        }
        result = next;
        rounds += 1;
        assert!(rounds < 5, "the chain of closures must stop growing");
    }
    assert!(shapes.is_recursive(result));
    assert_eq!(shapes.alternatives(result).len(), 2);
}

#[test]
fn joining_equal_heads_keeps_a_product() {
    let mut shapes = Shapes::new();
    let (one, two) = (shapes.real(Fact::of(1.0)), shapes.real(Fact::of(2.0)));
    let (a, b) = (shapes.pair(one, two), shapes.pair(two, two));
    let joined = shapes.join(a, b);
    let real = shapes.real(Fact::Unknown);
    assert_eq!(joined, shapes.pair(real, two));
    assert_eq!(shapes.single(joined).map(|alternative| alternative.head), Some(Head::Pair(None)));
}

#[test]
fn reversing_keeps_recursion_and_inverts() {
    let mut shapes = Shapes::new();
    let list = list(&mut shapes);
    let reversed =
        shapes.operator(Operator { prim: Prim::J, below: Below::NONE }, list, &mut Even).expect("no limit here");
    assert!(shapes.is_recursive(reversed));
    assert_ne!(reversed, list);
    assert_eq!(shapes.operator(Operator { prim: Prim::JInverse, below: Below::NONE }, reversed, &mut Even), Ok(list));
}

#[test]
fn adding_a_folded_zero_changes_nothing() {
    let mut shapes = Shapes::new();
    let list = list(&mut shapes);
    let zero = shapes.zero(list);
    assert_eq!(shapes.single(zero).map(|alternative| alternative.head), Some(Head::ZeroOf(Site::Value)));
    assert_eq!(shapes.plus(zero, list), list);
    assert_eq!(shapes.plus(list, zero), list);
    assert_eq!(shapes.plus(list, list), list);
    let unfolded = shapes.unfold_zeros(zero);
    let pair = shapes.find(unfolded, Class::Pair(None)).expect("a zero list may be a pair");
    assert_eq!(shapes.single(pair.children[0]).map(|alternative| alternative.head), Some(Head::Real(Fact::Zero)));
    assert_eq!(pair.children[1], zero);
}

#[test]
fn the_whistle_blows_for_growth_only() {
    let mut shapes = Shapes::new();
    let (nil, real) = (shapes.nil(), shapes.real(Fact::Unknown));
    let one = shapes.list(&[real]);
    let two = shapes.list(&[real, real]);
    assert!(shapes.repeats(&[one], &[two]));
    assert!(shapes.repeats(&[nil], &[one]), "an accumulator starts empty");
    assert!(!shapes.repeats(&[two], &[one]), "a list that gets shorter ends by itself");
    let (three, four) = (shapes.real(Fact::of(3.0)), shapes.real(Fact::of(4.0)));
    assert!(shapes.repeats(&[three], &[four]));
    let closure = |shapes: &mut Shapes, n, children: &[Shape]| {
        shapes.make(
            Head::Closure(Code { base: LambdaId(n), tower: Tower::EMPTY, lambda: LambdaId(n) }, Site::Value),
            children,
        )
    };
    let (f, g) = (closure(&mut shapes, 1, &[real]), closure(&mut shapes, 2, &[real]));
    assert!(!shapes.repeats(&[f, one], &[g, two]), "different functions are no repetition");
    let wrapped = closure(&mut shapes, 2, &[f]);
    assert!(shapes.repeats(&[f], &[wrapped]), "a continuation that is wrapped is");
}

#[test]
fn widening_stops_for_any_order_of_growth() {
    let mut shapes = Shapes::new();
    let (nil, real) = (shapes.nil(), shapes.real(Fact::Unknown));
    let mut tree = nil;
    for round in 0..20 {
        let left = shapes.pair(tree, real);
        let node = shapes.pair(left, tree);
        let grown = shapes.join(nil, node);
        let next = shapes.widen(tree, grown);
        if next == tree {
            assert!(shapes.is_recursive(tree));
            return;
        }
        assert!(round < 10);
        tree = next;
    }
}

/// The arguments of `build`'s loop, a counter and the beginning of a vector, whose elements are such tuples.
#[test]
fn the_first_element_of_a_vector_is_no_growth() {
    let mut shapes = Shapes::new();
    let (real, nil) = (shapes.real(Fact::Unknown), shapes.nil());
    let inner = shapes.pair(real, nil);
    let element = shapes.pair(inner, inner);
    let [before, after] = [Shapes::BOTTOM, element].map(|element| {
        let beginning = shapes.make(Head::Beginning, &[element]);
        shapes.pair(real, beginning)
    });
    assert_eq!(shapes.widen(before, after), after);

    // Beginnings that are filled with beginnings grow.
    let nested = |shapes: &mut Shapes, depth: usize| {
        (0..depth).fold(Shapes::BOTTOM, |element, _| shapes.make(Head::Beginning, &[element]))
    };
    let mut widest = nested(&mut shapes, 1);
    for depth in 2..6 {
        let deeper = nested(&mut shapes, depth);
        widest = shapes.widen(widest, deeper);
    }
    assert!(shapes.is_recursive(widest));
}

/// A number of a kind, transformed any number of times: `T = {kind, (reverse T)}`.
fn transformed_without_end(shapes: &mut Shapes, number: Shape) -> Shape {
    let mut current = number;
    for _ in 0..3 {
        let reverse = shapes.make(Head::Reverse, &[current]);
        let more = shapes.join(number, reverse);
        current = shapes.widen(current, more);
    }
    assert!(shapes.is_recursive(current));
    current
}

#[test]
fn numbers_transformed_without_end_are_alike_or_not() {
    let mut shapes = Shapes::new();
    let real = shapes.real(Fact::Unknown);
    let bundle = shapes.make(Head::Bundle, &[real, real]);
    let reals = transformed_without_end(&mut shapes, real);
    let bundles = transformed_without_end(&mut shapes, bundle);
    assert!(shapes.alike(reals, reals));
    assert!(!shapes.alike(reals, bundles));
}

#[test]
fn operations_end_when_the_work_is_used_up() {
    let mut shapes = Shapes::new();
    let list = list_up_to(&mut shapes, 1000);
    let (truth, real) = (shapes.boolean(None), shapes.real(Fact::Unknown));
    let other = (0..1000).fold(truth, |tail, _| shapes.pair(real, tail));
    let before = shapes.steps();
    shapes.max_steps = before + 100;
    shapes.join(list, other);
    assert!(shapes.is_exhausted());
    assert!(shapes.steps() < before + 200, "{} steps", shapes.steps() - before);
}
