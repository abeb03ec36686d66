//! Programs as a whole: their files, and what they declare beside definitions.
//!
//! | file | |
//! |---|---|
//! | [`load`] | files, with includes spliced |
//! | [`arguments`] | the arguments that a program declares |
//! | [`export`] | what a library offers its callers |
//! | [`documentation`] | comments, and what they say about definitions |
//! | [`outline`] | what a program defines, without expanding it |
//! | [`stalingrad`] | the language of the original compiler |
//! | [`bindings`] | what each name in a file stands for, for editors |
//! | [`measure`] | the calls that `vlad bench` measures |

pub(super) mod arguments;
pub mod bindings;
pub mod documentation;
pub(super) mod export;
pub(super) mod load;
pub mod measure;
pub mod outline;
pub mod stalingrad;
