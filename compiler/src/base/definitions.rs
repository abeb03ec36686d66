//! The functions of the source: which one is around a place.

use crate::base::Span;
use std::sync::Arc;

/// A function of the source.
#[derive(Clone, Debug)]
pub struct Definition {
    /// All of it.
    pub span: Span,
    /// What it is called.
    pub name: Arc<str>,
    /// The function around it.
    pub around: Option<usize>,
}

/// Functions, those around others first.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    all: Vec<Definition>,
}

impl Definitions {
    /// Those of a program.
    pub fn new(found: impl IntoIterator<Item = (Span, Arc<str>)>) -> Definitions {
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(span, _)| (span.file, span.start, std::cmp::Reverse(span.end)));
        found.dedup_by_key(|(span, _)| *span);
        let mut all: Vec<Definition> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (span, name) in found {
            let is_around = |around: &Span| around.file == span.file && span.end <= around.end;
            while open.last().is_some_and(|last| !is_around(&all[*last].span)) {
                open.pop();
            }
            let around = open.last().copied();
            open.push(all.len());
            all.push(Definition { span, name, around });
        }
        Definitions { all }
    }

    /// All of them.
    pub fn all(&self) -> &[Definition] {
        &self.all
    }

    /// The position of the innermost function that a place is in.
    pub fn innermost(&self, span: Span) -> Option<usize> {
        let begins = |definition: &Definition| (definition.span.file, definition.span.start);
        let begun = self.all.partition_point(|definition| begins(definition) <= (span.file, span.start));
        let mut found = begun.checked_sub(1);
        while let Some(definition) = found.map(|found| &self.all[found]) {
            if definition.span.file == span.file && span.start < definition.span.end {
                return found;
            }
            found = definition.around;
        }
        None
    }

    /// What the innermost function is called that a place is in; nothing outside of functions.
    pub fn name(&self, span: Span) -> &str {
        self.innermost(span).map_or("", |found| &self.all[found].name)
    }
}
