//! Flow analysis: abstract interpretation over shapes, which is partial evaluation at compile time.
//!
//! | file | |
//! |---|---|
//! | [`analysis`] | the interpreter: specialised functions to a fixed point |
//! | [`print`] | shapes and results as text |

pub mod limits;

pub mod analysis;

pub mod print;

pub use analysis::{Analysis, Unsupported, analyze};
pub use limits::{Options, Precision};
