//! First-order SSA: its representation, printer, parser, verifier and evaluator.

pub mod ir;
