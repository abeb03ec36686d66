//! The families of programs that the law of growth is checked with, by counting (`tests/growth.rs`) and by the clock
//! (`benches/scale.rs`).
//!
//! A family is a file of `tests/growth`. It reads `n` and defines a function `f` with a number as value and its
//! argument `x`, data made of numbers:
//!
//! ```scheme
//! ; Every element of a matrix, row by row.
//! ; work: n^2
//! (define n (read-real))
//! (define x (build n (lambda (i) (build n (lambda (j) (sin (+ i j)))))))
//! (define (f m) ...)
//! ```
//!
//! The law: time of each derivative is in proportion to that of the function, whatever `n` is, and so is its memory,
//! because a tape may hold something for each operation. Words behind the first line say more:
//!
//! | | |
//! |---|---|
//! | `; work: n` | how the function's own time grows: `n`, `n log n`, `n^2` or `n^3` |
//! | `; tape: none` | no derivative in reverse mode needs a tape: memory is in proportion to that of the function |
//! | `; cost: log n` | derivatives in reverse mode take log n times as much, which is what they are for |
//! | `; from: 8` | the smallest `n`, whatever is measured |
//!
//! `tests/growth/open` names what does not obey the law yet: a line `FAMILY MIX` each.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The doublings that a check makes.
pub const DOUBLINGS: u32 = 3;

/// How the time of a function grows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Linear,
    LogLinear,
    Square,
    Cube,
}

impl Work {
    fn read(text: &str) -> Option<Work> {
        match text {
            "n" => Some(Work::Linear),
            "n log n" => Some(Work::LogLinear),
            "n^2" => Some(Work::Square),
            "n^3" => Some(Work::Cube),
            _ => None,
        }
    }

    /// In proportion to the time for `n`.
    pub fn of(self, n: u32) -> f64 {
        let n = f64::from(n);
        match self {
            Work::Linear => n,
            Work::LogLinear => n * n.log2(),
            Work::Square => n * n,
            Work::Cube => n * n * n,
        }
    }
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// The modes, the outer one first.
    pub name: &'static str,
    expression: &'static str,
    /// Mixes of the same order compute the same number.
    pub order: usize,
}

/// The function itself, its derivative in both modes, and the product of its second derivative with a vector in all
/// mixes of modes. The numbers are the changes of the value when the argument changes in proportion to itself.
pub const MIXES: [Mix; 7] = [
    Mix { name: "primal", expression: "(f x)", order: 0 },
    Mix { name: "F", expression: "(jvp-F f x x)", order: 1 },
    Mix { name: "R", expression: "(inner ((gradient-R f) x) x)", order: 1 },
    Mix { name: "FF", expression: "(jvp-F (lambda (y) (jvp-F f y x)) x x)", order: 2 },
    Mix { name: "FR", expression: "(inner (jvp-F (gradient-R f) x x) x)", order: 2 },
    Mix { name: "RF", expression: "(inner ((gradient-R (lambda (y) (jvp-F f y x))) x) x)", order: 2 },
    Mix { name: "RR", expression: "(inner (hvp-R f x x) x)", order: 2 },
];

/// The sum of the products of all numbers of two values.
const INNER: &str = "
(define (inner a b)
  (cond ((real? a) (* a b))
        ((pair? a) (+ (inner (car a) (car b)) (inner (cdr a) (cdr b))))
        ((vector? a)
         (let loop ((i 0) (s 0))
           (if (= i (vector-length a)) s (loop (+ i 1) (+ s (inner (vector-ref a i) (vector-ref b i)))))))
        (else 0)))
";

/// A family of programs.
pub struct Family {
    pub name: String,
    text: String,
    pub work: Work,
    pub has_tape: bool,
    /// Whether derivatives may take log n times the time of the function.
    pub is_logarithmic: bool,
    from: Option<u32>,
    /// Names of mixes that do not obey the law yet.
    pub open: BTreeSet<String>,
}

impl Family {
    fn read(path: &Path, open: &str) -> Result<Family, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let word = |key: &str| {
            text.lines().take_while(|line| line.starts_with("; ")).find_map(|line| line[2..].strip_prefix(key))
        };
        let work = word("work: ").and_then(Work::read).ok_or_else(|| format!("{}: how it grows?", path.display()))?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let marks = open.lines().filter_map(|line| line.strip_prefix(&name)?.strip_prefix(' '));
        let open = marks.map(|mix| mix.trim().to_string()).collect();
        let from = word("from: ").and_then(|from| from.parse().ok());
        let (has_tape, is_logarithmic) = (word("tape: ") != Some("none"), word("cost: ") == Some("log n"));
        Ok(Family { has_tape, is_logarithmic, from, work, open, name, text })
    }

    /// The program that computes a mix.
    pub fn program(&self, mix: Mix) -> String {
        format!("{}{INNER}{}\n", self.text, mix.expression)
    }

    /// How many times the time of the function for `n` a derivative may take, up to a factor.
    pub fn allowed(&self, n: u32) -> f64 {
        if self.is_logarithmic { f64::from(n).log2() } else { 1.0 }
    }

    /// Each twice the one before, from a number for functions whose work is linear, quadratic and cubic.
    pub fn sizes(&self, [linear, square, cube]: [u32; 3]) -> impl Iterator<Item = u32> {
        let first = self.from.unwrap_or(match self.work {
            Work::Linear | Work::LogLinear => linear,
            Work::Square => square,
            Work::Cube => cube,
        });
        (0..).map(move |doubling| first << doubling)
    }
}

/// All families, by name. Files that do not say how their work grows are programs of another kind.
pub fn families() -> Result<Vec<Family>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/growth");
    let open = fs::read_to_string(folder.join("open")).map_err(|error| format!("open: {error}"))?;
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "vlad"));
    paths.sort();
    paths.retain(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("\n; work: ")));
    let families: Vec<Family> = paths.iter().map(|path| Family::read(path, &open)).collect::<Result<_, _>>()?;
    let is_known = |line: &&str| match line.split_once(' ') {
        Some((name, mix)) => {
            families.iter().any(|family| family.name == name) && MIXES.iter().any(|other| other.name == mix)
        }
        None => false,
    };
    match open.lines().find(|line| !is_known(line)) {
        Some(line) => Err(format!("open: there is no `{line}`")),
        None => Ok(families),
    }
}
