//! What is decided before a function is translated: facts about its values that [`super::operations`] looks up, most of
//! them about memory.
//!
//! | file | |
//! |---|---|
//! | [`ownership`] | releases that need no help of the run time |
//! | [`reuse`] | new boxes in the place of those that have just died |
//! | [`adjacent`] | vectors whose elements stand behind their headers |
//! | [`in_place`] | vectors that are changed in place |
//! | [`operands`] | fields that are read where they are needed |
//! | [`loop_values`] | names of their own for what inner loops use |
//! | [`ranks`] | programs whose work several processes share |

pub mod adjacent;
pub mod in_place;
pub mod loop_values;
pub mod operands;
pub mod ownership;
pub mod ranks;
pub mod reuse;
