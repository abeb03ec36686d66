//! The compiler for VLAD, stage by stage in the order in which a program passes through them.
//!
//! | stage | from | to |
//! |---|---|---|
//! | [`syntax`] | source text | datums with positions |
//! | [`projects`] | the packages that a program may import from | |
//! | [`expand`] | datums | core |
//! | [`core`] | the core language: representation, printer, verifier | |
//! | [`eval`] | core | values: the reference evaluator |
//! | [`ad`] | core λ | its reverse transform, a core λ |
//! | [`shape`] | the abstract values of the analysis | |
//! | [`flow`] | core | shapes: which functions at which shapes, which value has which shape |
//! | [`success`] | core | what can never succeed in functions that nobody calls |
//! | [`specialize`] | core and shapes | first-order SSA |
//! | [`ssa`] | the SSA language: representation, printer, parser, verifier, evaluator | |
//! | [`opt`] | SSA | better SSA |
//! | [`memory`] | SSA | SSA with reference counts |
//! | [`codegen`] | SSA | object code, executable |
//!
//! [`pipeline`] strings the stages together; [`cli`] is the program that users call. [`promises`] reads what programs
//! say about themselves.

#[macro_use]
pub mod base;

pub mod syntax;

pub mod projects;

pub mod expand;

pub mod core;

pub mod ad;

pub mod eval;

pub mod shape;

pub mod flow;

pub mod success;

pub mod foreign;

pub mod notation;

pub mod specialize;

pub mod ssa;

pub mod opt;

pub mod memory;

pub mod codegen;

pub mod pipeline;

pub mod promises;

pub mod cli;
