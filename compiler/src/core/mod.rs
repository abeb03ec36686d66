//! The core language: its representation, printer, verifier and the reference evaluator.

pub mod ir;

pub mod prim;

pub mod arithmetic;
