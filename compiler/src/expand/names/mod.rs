//! Names: what they mean, where they can be seen, and what to say about those that mean nothing.
//!
//! | file | |
//! |---|---|
//! | [`scope`] | names in scope |
//! | [`modules`] | the top-level names of each file, and which of them others see |
//! | [`basis`] | what names mean before anyone defines them |
//! | [`constructors`] | functions that only make closures or data |
//! | [`known_functions`] | functions that are made again where they are used |
//! | [`records`] | the names that a definition of records defines |
//! | [`unbound`] | names that nothing defines |

pub(super) mod basis;
pub(super) mod constructors;
pub(super) mod contracts;
pub(super) mod known_functions;
pub(super) mod modules;
pub(super) mod records;
pub(super) mod scope;
pub(super) mod unbound;
