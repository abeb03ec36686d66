//! How values of a shape are represented in SSA.
//!
//! | file | |
//! |---|---|
//! | [`leaves`] | which SSA values represent a shape |
//! | [`cycles`] | which parts of data of any depth are boxes |
//! | [`boxes`] | boxed values: taking them apart, making them |

pub mod boxes;
pub mod cycles;
pub mod leaves;
