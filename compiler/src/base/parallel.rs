//! Work on many items at a time, on all processors.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Cranelift and some passes recurse over large functions; only what is used takes memory.
const STACK: usize = 256 << 20;

/// The results of `work` on all items, in their order. Where the system refuses threads, one after another.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build().ok()).flatten()
    });
    match pool {
        Some(pool) if items.len() > 1 => pool.install(|| items.into_par_iter().with_max_len(1).map(work).collect()),
        _ => items.into_iter().map(work).collect(),
    }
}
