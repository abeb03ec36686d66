//! Forms with bodies, as far as their layout goes: name → elements in front of the body.

/// The forms, and the number of elements between their names and their bodies.
const BODIES: &[(&str, usize)] = &[
    ("define", 1),
    ("define-record", 1),
    ("lambda", 1),
    ("let", 1),
    ("let*", 1),
    ("letrec", 1),
    ("match", 1),
    ("when", 1),
    ("unless", 1),
];

/// The number of elements between the name of a form and its body, if it has one.
pub fn front(name: &str) -> Option<usize> {
    BODIES.iter().find(|row| row.0 == name).map(|row| row.1)
}
