//! Commands about the text of programs, and about this program itself.
//!
//! | file | |
//! |---|---|
//! | [`check`] | `vlad check` |
//! | [`test`] | `vlad test` |
//! | [`gradcheck`] | `vlad gradcheck` |
//! | [`fmt`] | `vlad fmt` |
//! | [`doc`] | `vlad doc` |
//! | [`emit`] | `vlad emit` |
//! | [`manual`] | `vlad completions` and `vlad man` |

pub(super) mod check;
pub(super) mod doc;
pub(super) mod emit;
pub(super) mod fmt;
pub(super) mod gradcheck;
pub(super) mod manual;
pub(super) mod test;
