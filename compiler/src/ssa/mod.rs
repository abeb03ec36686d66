//! First-order SSA: its representation, printer, parser, verifier and evaluator.

pub mod forms;

pub mod types;

pub mod kinds;

pub mod ir;

pub mod signature;

pub mod arithmetic;

pub mod builder;

pub mod print;

pub mod parse;

pub mod graph;

pub mod call_graph;

pub mod sole_owners;

pub mod verify;

pub mod eval;
