//! Partition refinement: which members of a set are equal, where members are that have equal children.
//!
//! Classes are divided until they need not be. Where one is, its largest part keeps its name, and only the members with
//! children in the others are looked at again. So no member gets a new class more often than the logarithm of their
//! number says, however long the rows are along which differences show (Hopcroft, *An n log n Algorithm for Minimizing
//! States in a Finite Automaton*, 1971).

use rustc_hash::FxHashMap;

/// The coarsest partition that refines the given one (classes are numbered from 0 on, in the order of their first
/// members) and in which the children of members of a class are in equal classes, in order. Classes are numbered in the
/// order of their first members.
pub fn refine(given: &[usize], children: &[Vec<usize>]) -> Vec<usize> {
    let mut classes = Classes::default();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); given.len()];
    for (member, class) in given.iter().enumerate() {
        classes.add(member, *class);
        children[member].iter().for_each(|child| users[*child].push(member));
    }
    // At first all of them; then those whose children have got other classes.
    let mut waiting: Vec<usize> = (0..given.len()).collect();
    while !waiting.is_empty() {
        let moved = classes.divide(&waiting, children);
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
    use super::refine;

    /// A row along which a difference at the end shows at each member: rounds over all of them would never end.
    #[test]
    fn long_rows_are_told_apart() {
        let count = 200_000;
        let children: Vec<Vec<usize>> = (0..count).map(|member| vec![(member + 1).min(count - 1)]).collect();
        let given: Vec<usize> = (0..count).map(|member| usize::from(member == count - 1)).collect();
        assert_eq!(refine(&given, &children), (0..count).collect::<Vec<usize>>());
    }

    /// Two such rows are one.
    #[test]
    fn equal_rows_are_equal() {
        let children = vec![vec![1], vec![1], vec![3], vec![3], vec![0, 2]];
        assert_eq!(refine(&[0, 1, 0, 1, 2], &children), [0, 1, 0, 1, 2]);
    }
}
