//! Shrinking a program that shows a mistake.
//!
//! Works on the text's tree and knows nothing of its meaning: a change that makes the program ill-formed makes every
//! engine refuse it, so the mistake does not show any more and the change is taken back.

use super::sexp::{Sexp, atom};

/// A smaller program that still shows the mistake, found with at most `budget` trials.
pub fn reduce(program: &[Sexp], budget: usize, shows: &mut dyn FnMut(&[Sexp]) -> bool) -> Vec<Sexp> {
    let mut best = program.to_vec();
    let mut trials = 0;
    loop {
        let before = best.clone();
        let mut position = 0;
        // Each candidate is derived from the best program so far; when one succeeds the same position is tried again.
        while let Some(candidates) = candidates(&best, position) {
            let better = candidates.into_iter().find(|candidate| {
                trials += 1;
                trials <= budget && shows(candidate)
            });
            match better {
                Some(candidate) => best = candidate,
                None => position += 1,
            }
            if trials > budget {
                return best;
            }
        }
        if best == before {
            return best;
        }
    }
}

/// The smaller programs that differ at the given position (in preorder); `None` behind the end.
fn candidates(program: &[Sexp], position: usize) -> Option<Vec<Vec<Sexp>>> {
    let whole = Sexp::List(program.to_vec());
    let mut remaining = position + 1;
    let path = path_to(&whole, &mut remaining)?;
    let mut changed = Vec::new();
    if path.len() == 1 {
        changed.push(without(&whole, &path));
    }
    let node = at(&whole, &path);
    for replacement in replacements(node) {
        changed.push(with(&whole, &path, replacement));
    }
    if path.len() > 1 && matches!(node, Sexp::List(_)) {
        changed.push(without(&whole, &path));
    }
    let size = whole.size();
    changed.retain(|candidate| candidate.size() < size || (candidate.size() == size && simpler(candidate, &whole)));
    let programs = changed.into_iter().filter_map(|candidate| match candidate {
        Sexp::List(items) => Some(items),
        Sexp::Atom(_) => None,
    });
    Some(programs.collect())
}

/// Shorter text for the same number of nodes: simpler literals.
fn simpler(candidate: &Sexp, whole: &Sexp) -> bool {
    candidate.to_string().len() < whole.to_string().len()
}

fn path_to(node: &Sexp, remaining: &mut usize) -> Option<Vec<usize>> {
    if *remaining == 0 {
        return Some(Vec::new());
    }
    *remaining -= 1;
    let Sexp::List(items) = node else {
        return None;
    };
    items.iter().enumerate().find_map(|(index, item)| {
        let mut path = path_to(item, remaining)?;
        path.insert(0, index);
        Some(path)
    })
}

fn at<'a>(node: &'a Sexp, path: &[usize]) -> &'a Sexp {
    match (node, path) {
        (Sexp::List(items), [first, rest @ ..]) => at(&items[*first], rest),
        _ => node,
    }
}

fn with(node: &Sexp, path: &[usize], replacement: Sexp) -> Sexp {
    match (node, path) {
        (Sexp::List(items), [first, rest @ ..]) => {
            let mut items = items.clone();
            items[*first] = with(&items[*first], rest, replacement);
            Sexp::List(items)
        }
        _ => replacement,
    }
}

fn without(node: &Sexp, path: &[usize]) -> Sexp {
    match (node, path) {
        (Sexp::List(items), [last]) => {
            let mut items = items.clone();
            items.remove(*last);
            Sexp::List(items)
        }
        (Sexp::List(items), [first, rest @ ..]) => {
            let mut items = items.clone();
            items[*first] = without(&items[*first], rest);
            Sexp::List(items)
        }
        _ => node.clone(),
    }
}

/// What may stand in a node's place: a simple constant, or one of its parts.
fn replacements(node: &Sexp) -> Vec<Sexp> {
    match node {
        Sexp::Atom(text) if text.parse::<f64>().is_ok() && text != "1" && text != "0" => vec![atom("1"), atom("0")],
        Sexp::Atom(_) => Vec::new(),
        Sexp::List(items) => {
            let mut all = vec![atom("1"), atom("'()")];
            all.extend(items.iter().rev().cloned());
            // `(let ((x e)) body)` also shrinks to `e`, `(lambda (x) body)` to `body`, one level further down.
            for item in items {
                if let Sexp::List(parts) = item {
                    all.extend(parts.iter().filter(|part| matches!(part, Sexp::List(_))).cloned());
                }
            }
            all
        }
    }
}
