//! The core language: its representation, printer and verifier.

pub mod ir;

pub mod prim;

pub mod arithmetic;

pub mod kinks;

pub mod interface;

// Compiled programs print and read numbers with the same code, which therefore lives with the run time: this file and
// the next.
#[path = "../../../runtime/src/number.rs"]
pub mod number;

#[path = "../../../runtime/src/reader.rs"]
pub mod reader;

#[path = "../../../runtime/src/table.rs"]
pub mod table;

// What programs can be told, and what they ask and tell: the same.
#[path = "../../../runtime/src/declaration.rs"]
pub mod declaration;

#[path = "../../../runtime/src/config.rs"]
pub mod config;

#[path = "../../../runtime/src/help.rs"]
pub mod help;

#[path = "../../../runtime/src/arguments.rs"]
pub mod arguments;

#[path = "../../../runtime/src/progress.rs"]
pub mod progress;

#[path = "../../../runtime/src/check.rs"]
pub mod check;

#[path = "../../../runtime/src/question.rs"]
pub mod question;

#[path = "../../../runtime/src/report.rs"]
pub mod report;

#[path = "../../../runtime/src/chart.rs"]
pub mod chart;

#[path = "../../../runtime/src/finite.rs"]
pub mod finite;

pub mod input;

pub mod print;

pub mod verify;

pub mod callers;

pub mod errors;

pub mod place;

pub mod operands;

pub mod mismatch;
