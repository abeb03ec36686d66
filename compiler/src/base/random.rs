//! Numbers for tests on random graphs: the same ones in every run.

/// Gives numbers from 0 up to those that it is asked for, which are left out (Knuth's MMIX generator).
pub fn numbers() -> impl FnMut(usize) -> usize {
    let mut state: usize = 1;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}
