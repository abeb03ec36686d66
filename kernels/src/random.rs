//! Random bits from counters: Philox 4x32 with ten rounds.
//!
//! Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).

use crate::wide::wide;

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const BUMPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: usize = 10;

/// Counters that are treated side by side.
const SIDE: usize = 16;

/// The four words for each of the counters `first`, `first` + 1 ..., whose upper halves are `domain`.
#[inline(always)]
fn words(key: [u32; 2], domain: u64, first: u64) -> [[u32; SIDE]; 4] {
    let counters: [u64; SIDE] = core::array::from_fn(|lane| first.wrapping_add(lane as u64));
    let mut x0 = counters.map(|counter| counter as u32);
    let mut x1 = counters.map(|counter| (counter >> 32) as u32);
    let mut x2 = [domain as u32; SIDE];
    let mut x3 = [(domain >> 32) as u32; SIDE];
    let mut key = key;
    for round in 0..ROUNDS {
        if round > 0 {
            key = [key[0].wrapping_add(BUMPS[0]), key[1].wrapping_add(BUMPS[1])];
        }
        for (((x0, x1), x2), x3) in x0.iter_mut().zip(&mut x1).zip(&mut x2).zip(&mut x3) {
            let [a, b] = [u64::from(MULTIPLIERS[0]) * u64::from(*x0), u64::from(MULTIPLIERS[1]) * u64::from(*x2)];
            *x0 = (b >> 32) as u32 ^ *x1 ^ key[0];
            *x1 = b as u32;
            *x2 = (a >> 32) as u32 ^ *x3 ^ key[1];
            *x3 = a as u32;
        }
    }
    [x0, x1, x2, x3]
}

/// The words of the counters from 0 on, four for each, as whole numbers below 2^32.
pub fn bits(key: [u32; 2], domain: u64, result: &mut [f64]) {
    fill_words(key, domain, result);
}

/// Numbers of equal probability from 0 to 1, without 1: multiples of 2^-53, two for each of the counters from 0 on.
pub fn uniforms(key: [u32; 2], domain: u64, result: &mut [f64]) {
    fill_uniforms(key, domain, result);
}

wide! {
    fn fill_words / fill_words_in(key: [u32; 2], domain: u64, result: &mut [f64]) {
        for (block, to) in result.chunks_mut(4 * SIDE).enumerate() {
            let words = words(key, domain, (block * SIDE) as u64);
            for (i, x) in to.iter_mut().enumerate() {
                *x = f64::from(words[i % 4][i / 4]);
            }
        }
    }
}

wide! {
    fn fill_uniforms / fill_uniforms_in(key: [u32; 2], domain: u64, result: &mut [f64]) {
        for (block, to) in result.chunks_mut(2 * SIDE).enumerate() {
            let words = words(key, domain, (block * SIDE) as u64);
            let mut numbers = [[0.0; SIDE]; 2];
            for half in 0..2 {
                for lane in 0..SIDE {
                    let (high, low) = (words[2 * half][lane], words[2 * half + 1][lane] >> 11);
                    numbers[half][lane] = f64::from(high) * HIGH + f64::from(low as i32) * LOW;
                }
            }
            for (i, x) in to.iter_mut().enumerate() {
                *x = numbers[i % 2][i / 2];
            }
        }
    }
}

/// The values of the last bits of the two parts of a number: 2^-32 and 2^-53.
const HIGH: f64 = 1.0 / 4_294_967_296.0;
const LOW: f64 = 1.0 / 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_were_published() {
        let first = |key, counter, domain| words(key, domain, counter).map(|lanes| lanes[0]);
        assert_eq!(first([0, 0], 0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(first([u32::MAX; 2], u64::MAX, u64::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            first([0xa409_3822, 0x299f_31d0], 0x85a3_08d3_243f_6a88, 0x0370_7344_1319_8a2e),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn every_length_begins_in_the_same_way() {
        let mut long = [0.0; 100];
        uniforms([1, 2], 3, &mut long);
        for length in 0..long.len() {
            let mut short = [0.0; 100];
            uniforms([1, 2], 3, &mut short[..length]);
            assert_eq!(short[..length], long[..length]);
        }
        assert!(long.iter().all(|x| (0.0..1.0).contains(x)));
    }
}
