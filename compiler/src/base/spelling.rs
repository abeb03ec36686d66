//! Which name was meant by one that is misspelt.

/// The name that is spelled most like `name`, if any is close.
pub fn closest<N: AsRef<str> + Ord>(name: &str, candidates: impl Iterator<Item = N>) -> Option<N> {
    let limit = limit(name);
    candidates
        .filter_map(|candidate| Some((distance(name, candidate.as_ref(), limit)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The largest distance of a name that may have been meant.
pub fn limit(name: &str) -> usize {
    ((name.chars().count() + 1) / 3).min(3)
}

/// The number of letters to insert, delete, replace or swap with their neighbour to get from one name to the other,
/// if it is at most `limit` and less than the length of the names.
pub fn distance(from: &str, to: &str, limit: usize) -> Option<usize> {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    if from.len().abs_diff(to.len()) > limit {
        return None;
    }
    // Three rows of the table of distances between beginnings of the two names.
    let mut older = vec![0; to.len() + 1];
    let mut old: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = old[j - 1] + usize::from(!from[i - 1].eq_ignore_ascii_case(&to[j - 1]));
            let mut best = replaced.min(old[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(older[j - 2] + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut old, row);
    }
    let distance = old[to.len()];
    (distance <= limit && distance < from.len().max(to.len())).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("gradeint", "gradient", 3), Some(1));
        assert_eq!(distance("lenght", "length", 2), Some(1));
        assert_eq!(distance("sqr", "sqrt", 1), Some(1));
        assert_eq!(distance("x", "y", 1), None);
        assert_eq!(distance("foo", "gradient", 3), None);
    }
}
