//! Passes within functions, other than those over loops: values, tests and control flow.
//!
//! | file | |
//! |---|---|
//! | [`simplify_cfg`] | branches on constants, blocks that are not needed |
//! | [`fold`] | constant folding and exact algebra, operation by operation ([`gvn`] applies the same rules) |
//! | [`gvn`] | global value numbering, known outcomes of tests |
//! | [`jump_threading`] | decisions that the way there has made already |
//! | [`block_params`] | parameters of blocks that are always the same |
//! | [`unused`] | values that nobody needs, for passes that leave such |
//! | [`dce`] | aggressive dead code elimination |
//! | [`replaced_elements`] | changes of vectors that nobody sees |
//! | [`if_convert`] | selections instead of branches |
//! | [`sink`] | what only errors need |
//! | [`schedule`] | the order of instructions |
//! | [`early_boxes`] | large boxes before what they hold |
//! | [`watch`] | checks that numbers stay finite, where that is asked for |

pub mod block_params;
pub mod dce;
mod early_boxes;
pub mod fold;
pub mod gvn;
pub mod if_convert;
pub mod jump_threading;
pub mod replaced_elements;
pub mod schedule;
pub mod simplify_cfg;
pub mod sink;
pub mod unused;
pub mod watch;
