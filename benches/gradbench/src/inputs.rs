//! Inputs of the evals, made up: small ones for tests, and those of the sizes that are measured.

use crate::Result;
use serde_json::{Value, json};

/// How large inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A few numbers.
    Small,
    /// What the harness measures.
    Standard,
}

/// Numbers that look random and are the same every time (the generator is SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
    /// Between 0 and 1.
    fn part(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.part()
    }
    fn below(&mut self, limit: usize) -> usize {
        (self.word() % limit as u64) as usize
    }
    fn vector(&mut self, length: usize, low: f64, high: f64) -> Value {
        (0..length).map(|_| json!(self.between(low, high))).collect()
    }
    fn matrix(&mut self, rows: usize, columns: usize, low: f64, high: f64) -> Value {
        (0..rows).map(|_| self.vector(columns, low, high)).collect()
    }
}

/// An input of an eval.
pub fn input(eval: &str, size: Size) -> Result<Value> {
    let mut numbers = Numbers(1);
    let of = |small: usize, standard: usize| if size == Size::Small { small } else { standard };
    Ok(match eval {
        "hello" => json!(3.0),
        "lse" => json!({ "x": numbers.vector(of(7, 100_000), -1.0, 1.0) }),
        "llsq" => json!({ "x": numbers.vector(of(4, 128), -1.0, 1.0), "n": of(9, 1024) }),
        "kmeans" => {
            let (n, k, d) = (of(12, 5000), of(3, 10), of(2, 8));
            let points: Vec<Value> = (0..n).map(|_| numbers.vector(d, 0.0, 1.0)).collect();
            // Centroids are points, so that none is without one that it is closest to.
            json!({ "centroids": points[..k], "points": points })
        }
        "ode" => json!({ "x": numbers.vector(of(4, 1000), 0.5, 1.5), "s": of(3, 10) }),
        "det" => {
            let size = of(4, 8);
            json!({ "A": numbers.vector(size * size, -1.0, 1.0), "ell": size })
        }
        "saddle" => json!({ "start": [1.0, 1.0] }),
        "particle" => json!({ "w": 0.0 }),
        "gmm" => gmm(&mut numbers, of(5, 1000), of(3, 10), of(2, 10)),
        "lstm" => lstm(&mut numbers, 2, of(4, 1024), of(2, 14)),
        "ba" => json!({
            "n": of(2, 49), "m": of(3, 7776), "p": of(4, 31843),
            "cam": numbers.vector(11, 0.1, 1.0), "x": numbers.vector(3, 1.0, 2.0), "w": numbers.part(),
            "feat": numbers.vector(2, 0.0, 1.0),
        }),
        "ht" => hand(&mut numbers, of(9, 544), of(3, 100), true),
        _ => return Err(format!("there are no inputs of `{eval}`")),
    })
}

/// An input of `lstm` with so many layers, steps and bits of a character.
pub fn network(layers: usize, length: usize, bits: usize) -> Value {
    lstm(&mut Numbers(1), layers, length, bits)
}

/// An input of the simple kind of `ht`, where points are beside vertices.
pub fn simple_hand() -> Value {
    hand(&mut Numbers(2), 9, 3, false)
}

fn gmm(numbers: &mut Numbers, n: usize, d: usize, k: usize) -> Value {
    json!({
        "d": d, "k": k, "n": n,
        "alpha": numbers.vector(k, -1.0, 1.0),
        "mu": numbers.matrix(k, d, 0.0, 1.0),
        "q": numbers.matrix(k, d, -1.0, 1.0),
        "l": numbers.matrix(k, d * (d - 1) / 2, -1.0, 1.0),
        "x": numbers.matrix(n, d, -1.0, 1.0),
        "m": 2, "gamma": 1.5,
    })
}

fn lstm(numbers: &mut Numbers, layers: usize, length: usize, width: usize) -> Value {
    json!({
        "main_params": numbers.matrix(2 * layers, 4 * width, -1.0, 1.0),
        "extra_params": numbers.matrix(3, width, -1.0, 1.0),
        "state": numbers.matrix(2 * layers, width, -1.0, 1.0),
        "sequence": numbers.matrix(length, width, 0.0, 1.0),
    })
}

/// A hand of two bones of the wrist and five fingers of four bones.
fn hand(numbers: &mut Numbers, vertices: usize, points: usize, on_triangles: bool) -> Value {
    let parents: Vec<i64> = [-1, 0].into_iter().chain((2..22).map(|i| if i % 4 == 2 { 1 } else { i - 1 })).collect();
    let mut transformations = || -> Value {
        let mut one = || {
            let mut rows: Vec<Value> = (0..3).map(|_| numbers.vector(4, -1.0, 1.0)).collect();
            rows.push(json!([0.0, 0.0, 0.0, 1.0]));
            rows
        };
        (0..22).map(|_| json!(one())).collect()
    };
    let (base_relatives, inverse_base_absolutes) = (transformations(), transformations());
    let mut indices = |count: usize| -> Vec<usize> { (0..count).map(|_| numbers.below(vertices)).collect() };
    let triangles: Vec<Vec<usize>> = (0..vertices).map(|_| indices(3)).collect();
    let correspondences = indices(points);
    let positions: Vec<Value> =
        (0..vertices).map(|_| json!([numbers.part(), numbers.part(), numbers.part(), 1.0])).collect();
    json!({
        "theta": numbers.vector(26, -0.5, 0.5),
        "us": numbers.matrix(if on_triangles { points } else { 0 }, 2, 0.0, 0.5),
        "data": {
            "model": {
                "bone_count": 22, "bone_names": vec![""; 22], "parents": parents,
                "base_relatives": base_relatives, "inverse_base_absolutes": inverse_base_absolutes,
                "base_positions": positions, "weights": numbers.matrix(vertices, 22, 0.0, 0.1),
                "triangles": triangles, "is_mirrored": true,
            },
            "correspondences": correspondences,
            "points": numbers.matrix(points, 3, -1.0, 1.0),
        },
    })
}
