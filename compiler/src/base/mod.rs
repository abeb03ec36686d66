//! What every stage shares: source positions, the source map, which functions are where in it, entity ids, diagnostics,
//! work on all processors, the refinement of partitions, and likeness of names.

pub mod definitions;
pub mod diagnostic;
pub mod entity;
pub mod parallel;
pub mod partition;
pub mod source;
pub mod spelling;

pub use definitions::Definitions;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use entity::{EntityVec, entity_id};
pub use source::{FileId, SourceFile, SourceMap, Span};

#[cfg(test)]
pub mod random;
