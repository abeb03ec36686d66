//! Which nodes of a strongly connected component of shapes under construction are the same shape, as one minimises an
//! automaton: the coarsest partition in which members of a class have equal heads and children in equal classes.
//!
//! Classes are divided until they need not be. Where one is, its largest part keeps its name, and only the nodes with
//! children in the others are looked at again. So no node gets a new class more often than the logarithm of their
//! number says, however long the rows are along which differences show (Hopcroft, *An n log n Algorithm for Minimizing
//! States in a Finite Automaton*, 1971).

use super::lattice::{Head, NewNode, Ref, Shape};
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
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); component.len()];
    let mut by_signature: FxHashMap<Vec<(Head, Vec<Child>)>, usize> = FxHashMap::default();
    let mut classes = Classes::default();
    for (place, node) in component.iter().enumerate() {
        let mut children_inside = Vec::new();
        let mut child = |reference: &Ref| match reference {
            Ref::Done(shape) => Child::Outside(*shape),
            Ref::New(node) => match (places.get(node), done[*node]) {
                (Some(child), _) => {
                    children_inside.push(*child);
                    users[*child].push(place);
                    Child::Inside
                }
                (None, Some(shape)) => Child::Outside(shape),
                (None, None) => unreachable!("components are finished in dependency order"),
            },
        };
        let parts = graph[*node].iter();
        let signature = parts.map(|(head, children)| (*head, children.iter().map(&mut child).collect())).collect();
        let fresh = by_signature.len();
        classes.add(place, *by_signature.entry(signature).or_insert(fresh));
        inside.push(children_inside);
    }
    // At first all of them; then those whose children have got other classes.
    let mut waiting: Vec<usize> = (0..component.len()).collect();
    while !waiting.is_empty() {
        let moved = classes.divide(&waiting, &inside);
        waiting = moved.into_iter().flat_map(|member| users[member].iter().copied()).collect();
        waiting.sort_unstable();
        waiting.dedup();
    }
    let mut names = FxHashMap::default();
    let name = |class: &usize| {
        let next = names.len();
        *names.entry(*class).or_insert(next)
    };
    classes.of.iter().map(name).collect()
}

#[derive(Default)]
struct Classes {
    of: Vec<usize>,
    sizes: Vec<usize>,
    /// The members of each class, and some that have left it.
    members: Vec<Vec<usize>>,
}

impl Classes {
    /// Adds a member to a class, which may be the next one.
    fn add(&mut self, member: usize, class: usize) {
        if class == self.members.len() {
            self.members.push(Vec::new());
            self.sizes.push(0);
        }
        self.of.push(class);
        self.sizes[class] += 1;
        self.members[class].push(member);
    }

    /// Divides classes so that of these members those with children in different classes are in different classes. All
    /// whose children have got other classes are among them. The result are those that have got another class.
    fn divide(&mut self, members: &[usize], children: &[Vec<usize>]) -> Vec<usize> {
        let mut groups: FxHashMap<(usize, Vec<usize>), Vec<usize>> = FxHashMap::default();
        for member in members {
            let signature = children[*member].iter().map(|child| self.of[*child]).collect();
            groups.entry((self.of[*member], signature)).or_default().push(*member);
        }
        let mut parts_of: FxHashMap<usize, Vec<Vec<usize>>> = FxHashMap::default();
        for ((class, _), group) in groups {
            parts_of.entry(class).or_default().push(group);
        }
        let mut moved = Vec::new();
        for (class, mut parts) in parts_of {
            parts.sort_unstable_by_key(Vec::len);
            let rest = self.sizes[class] - parts.iter().map(Vec::len).sum::<usize>();
            // Those of the class that are not asked about are equal to each other, and to none of these.
            if parts.last().is_some_and(|largest| largest.len() > rest) {
                let kept = parts.pop().unwrap_or_default();
                let mut others = std::mem::take(&mut self.members[class]);
                if rest > 0 {
                    others.retain(|member| self.of[*member] == class && members.binary_search(member).is_err());
                    parts.push(others);
                }
                self.members[class] = kept;
            }
            for part in parts {
                let fresh = self.members.len();
                part.iter().for_each(|member| self.of[*member] = fresh);
                self.sizes[class] -= part.len();
                self.sizes.push(part.len());
                moved.extend_from_slice(&part);
                self.members.push(part);
            }
        }
        moved
    }
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
