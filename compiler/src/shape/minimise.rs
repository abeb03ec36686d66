//! Which nodes of a strongly connected component of shapes under construction are the same shape, as one minimises an
//! automaton: the coarsest partition in which members of a class have equal heads and children in equal classes.

use super::lattice::{Head, NewNode, Ref, Shape};
use crate::base::partition::refine;
use rustc_hash::FxHashMap;

/// A child of a node, where those inside the component are told apart by nothing yet.
#[derive(PartialEq, Eq, Hash)]
enum Child {
    Outside(Shape),
    Inside,
}

/// The class of each member of a component. Classes are numbered in the order of their first members.
pub fn minimise(graph: &[NewNode], component: &[usize], done: &[Option<Shape>]) -> Vec<usize> {
    let places: FxHashMap<usize, usize> = component.iter().enumerate().map(|(place, node)| (*node, place)).collect();
    let mut inside: Vec<Vec<usize>> = Vec::with_capacity(component.len());
    let mut by_signature: FxHashMap<Vec<(Head, Vec<Child>)>, usize> = FxHashMap::default();
    let mut classes = Vec::with_capacity(component.len());
    for node in component {
        let mut children_inside = Vec::new();
        let mut child = |reference: &Ref| match reference {
            Ref::Done(shape) => Child::Outside(*shape),
            Ref::New(node) => match (places.get(node), done[*node]) {
                (Some(child), _) => {
                    children_inside.push(*child);
                    Child::Inside
                }
                (None, Some(shape)) => Child::Outside(shape),
                (None, None) => unreachable!("components are finished in dependency order"),
            },
        };
        let parts = graph[*node].iter();
        let signature = parts.map(|(head, children)| (*head, children.iter().map(&mut child).collect())).collect();
        let fresh = by_signature.len();
        classes.push(*by_signature.entry(signature).or_insert(fresh));
        inside.push(children_inside);
    }
    refine(&classes, &inside)
}

#[cfg(test)]
mod tests {
    use super::{Head, NewNode, Ref, minimise};
    use crate::base::random;
    use crate::shape::lattice::Fact;
    use rustc_hash::FxHashMap;

    /// The classes of nodes that cannot be told apart by looking so many levels down.
    fn classes(graph: &[NewNode], levels: usize) -> Vec<usize> {
        let mut classes = vec![0; graph.len()];
        for _ in 0..levels {
            let mut names = FxHashMap::default();
            let below = |child: &Ref| if let Ref::New(node) = child { classes[*node] } else { 0 };
            let signature = |node: &NewNode| -> Vec<(Head, Vec<usize>)> {
                node.iter().map(|(head, children)| (*head, children.iter().map(below).collect())).collect()
            };
            let signatures: Vec<_> = graph.iter().map(signature).collect();
            let name = |signature| {
                let next = names.len();
                *names.entry(signature).or_insert(next)
            };
            classes = signatures.into_iter().map(name).collect();
        }
        classes
    }

    /// Rows of pairs that lead back, with differences here and there.
    #[test]
    fn classes_are_what_cannot_be_told_apart() {
        let mut random = random::numbers();
        for _ in 0..300 {
            let count = 1 + random(24);
            let graph: Vec<NewNode> = (0..count)
                .map(|node| {
                    let head = if random(8) == 0 { Head::Bundle } else { Head::Pair(None) };
                    let children = vec![Ref::New((node + 1) % count), Ref::New(random(count))];
                    let leaf = (Head::Real(Fact::Unknown), Vec::new());
                    let pair = (head, children);
                    if random(3) == 0 { vec![leaf, pair] } else { vec![pair] }
                })
                .collect();
            let component: Vec<usize> = (0..count).collect();
            let found = minimise(&graph, &component, &vec![None; count]);
            assert_eq!(found, classes(&graph, count), "{graph:?}");
        }
    }
}
