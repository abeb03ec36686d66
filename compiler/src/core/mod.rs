//! The core language: its representation, printer, verifier and the reference evaluator.

pub mod ir;

pub mod prim;

pub mod arithmetic;

pub mod kinks;

// Compiled programs print and read numbers with the same code, which therefore lives with the run time.
#[path = "../../../runtime/src/number.rs"]
pub mod number;

pub mod print;

pub mod verify;

pub mod errors;

pub mod eval;
