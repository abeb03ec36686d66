//! Forms: datums → core, form by form.
//!
//! | file | |
//! |---|---|
//! | [`keywords`] | expressions and the forms that keywords introduce |
//! | [`call`] | calls |
//! | [`define`] | definitions and expressions at top level |
//! | [`recursion`] | local definitions that see each other |
//! | [`delayed`] | local values that need each other, but not at once |
//! | [`pattern`] | patterns: what binds variables |
//! | [`matching`] | `match` |
//! | [`records`] | `define-record` |
//! | [`quote`] | quotation and quasi-quotation |

pub(super) mod call;
pub(super) mod define;
pub(super) mod delayed;
pub(super) mod keywords;
pub(super) mod matching;
pub(super) mod pattern;
pub(super) mod quote;
pub(super) mod records;
pub(super) mod recursion;
