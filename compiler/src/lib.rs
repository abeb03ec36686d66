//! The compiler for VLAD, stage by stage in the order in which a program passes through them.
//!
//! | stage | from | to |
//! |---|---|---|
//! | [`syntax`] | source text | datums with positions |
//! | [`expand`] | datums | core |
//! | [`core`] | the core language: representation, printer, verifier, reference evaluator | |
//! | [`ad`] | core λ | its reverse transform, a core λ |
//! | [`flow`] | core | shapes: which functions at which shapes, which value has which shape |
//! | [`specialize`] | core and shapes | first-order SSA |
//! | [`ssa`] | the SSA language: representation, printer, parser, verifier, evaluator | |
//! | [`opt`] | SSA | better SSA |
//! | [`codegen`] | SSA | object code, executable |
//!
//! [`pipeline`] strings the stages together; [`cli`] is the program that users call. [`promises`] reads what programs say
//! about themselves.

#[macro_use]
pub mod base;

pub mod syntax;

pub mod expand;

pub mod core;

pub mod ad;

pub mod flow;

pub mod foreign;

pub mod specialize;

pub mod ssa;

pub mod opt;

pub mod codegen;

pub mod pipeline;

pub mod promises;

pub mod cli;
