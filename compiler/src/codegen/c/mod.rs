//! The second back end: counted SSA → C.
//!
//! ```text
//! b1(v1: f64, v2: int):                     b1:;
//!     v4 = element.vec0.0 v3, v9, v2            // model.vlad:12
//!     v5 = mul v4, v4                           double v4 = ((double *)(v3 + 16))[v2];
//!     v6 = add v1, v5                           double v5 = v4 * v4;
//!     v7 = int_add v2, v8                       double v6 = v1 + v5;
//!     v10 = int_below v7, v9                    int64_t v7 = add(v2, 1);
//!     branch v10, b1(v6, v7), b2(v6)            bool v10 = (uint64_t)v7 < (uint64_t)v9;
//!                                               if (v10) { v1 = v6; v2 = v7; goto b1; } else { v11 = v6; goto b2; }
//! ```
//!
//! | module | task |
//! |---|---|
//! | [`unit`](mod@unit) | the file: types, data, what it needs of the run time, the order of all that |
//! | [`function`] | one SSA function → one C function: blocks and terminators |
//! | [`tail`] | functions that end in calls of each other |
//! | [`operations`] | one arm for each operation |
//! | [`memory`] | boxes and vectors |
//! | [`literal`] | numbers, texts and names in C |
//! | [`whole`] | the run time as C, for a file that stands alone |
//! | [`compiler`] | the C compiler that is called |
//!
//! What is decided about memory is decided once for both back ends ([`crate::codegen::decisions`], the constant boxes,
//! the layout of boxes); what a C compiler decides for itself is left to it: which values live in registers, which
//! operand comes first, which fields are read where they are needed. The file `prelude.c` has the operations that take
//! more than an expression.
//!
//! Arithmetic is that of IEEE 754 and stays so: nothing may be contracted (`-ffp-contract=off`), and no option that
//! changes numbers is used. So the bits are those of the other back end.
//!
//! A C compiler trusts that reals, integers and addresses in memory are not the same: a box gives its place to another
//! one by way of its first word only, which is read and written as any kind.

pub mod compiler;
pub mod function;
pub mod literal;
pub mod memory;
pub mod operations;
pub mod tail;
pub mod unit;
pub mod whole;

use crate::codegen::{Error, Options};
use crate::ssa::ir::Program;

/// A program in C.
#[derive(Debug)]
pub struct Source {
    /// The file.
    pub text: String,
    /// Whether it calls elementary functions, which then have to be linked.
    pub has_math: bool,
    /// Whether it calls kernels.
    pub has_kernels: bool,
}

/// What a file of C is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form<'n> {
    /// To be linked with the embedded run time.
    Linked,
    /// To stand alone, as far as there is C for what it uses of the run time; with the name of the program.
    Whole(&'n str),
}

/// The program in C.
///
/// # Errors
///
/// When a size exceeds what boxes can express.
pub fn source(program: &Program, options: &Options, form: Form) -> Result<Source, Error> {
    unit::program(program, options, form)
}
