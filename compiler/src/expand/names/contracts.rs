//! What functions of the library take, and how they are called: names → [`Contract`]s.
//!
//! The table groups functions whose parameters take the same. A function without a row, or a parameter of which it
//! says `any`, takes values of several kinds, or says itself what is wrong with them. How a function is called, and
//! what it does, stands in the comment in front of its definition.

use crate::core::operands::contract::{Contract, Wanted};
use crate::expand::names::basis::{self, Native};
use crate::expand::stdlib;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What parameters take, in order (three dots: and so do all further ones), and functions with such parameters.
const KINDS: &[(&str, &str)] = &[
    ("any count", "random-permutation"),
    ("any list", "assoc member refill"),
    ("count", "iota identity-matrix gauss-legendre"),
    ("count any", "make-vector"),
    ("count count", "in-batches"),
    ("count count any", "sparse-matrix"),
    ("count function", "build vector-unfold"),
    ("count function any", "iterate checkpointed-iterate"),
    ("count function any any", "iterate-with-progress"),
    ("count number", "bessel-j"),
    ("function", "with-output-to-string"),
    ("function any", "sort sort-by check-gradient jacobian-plan hessian-plan solve-equations argmin argmax tree-map"),
    (
        "function any any",
        "vjp vjp-R vjp-F jvp jvp-R jvp-F hvp hvp-R hvp-F directional-derivative directional-derivative-R \
         directional-derivative-F jvps backtracking",
    ),
    ("function any count", "taylor taylor-F"),
    ("function any list", "reduce fold-left fold-right"),
    ("function any number", "newton-root newton-minimum bfgs lbfgs nonlinear-conjugate-gradients"),
    ("function any number function number", "rk45-until"),
    ("function any number number", "gradient-descent"),
    ("function any number number count", "rk4"),
    ("function any number number number", "rk45 rk45-adjoint stiff"),
    ("function any numbers number", "rk45-at"),
    ("function any vector", "vector-fold vector-scan"),
    ("function count", "map-n"),
    ("function function any", "fixed-point"),
    ("function list", "filter remove-if"),
    ("function list ...", "map for-each"),
    ("function number number number", "bisection secant integrate golden-section"),
    ("function vector", "vector-filter vector-index vector-count vector-sort"),
    ("function vector ...", "vector-map vector-for-each vector-any vector-every"),
    ("function vector vector", "vector-map2"),
    ("list", "length reverse list->vector"),
    ("list any", "append"),
    ("list count", "list-tail list-ref"),
    (
        "matrix",
        "transpose inverse lu determinant log-determinant cholesky qr eigen-symmetric singular-value-decomposition \
         pseudo-inverse condition-number matrix-exponential diagonal trace dense->sparse write-matrix write-matrix-csv \
         write-matrix-npy",
    ),
    ("matrix any", "matmul linear-solve cholesky-solve triangular-solve triangular-solve-upper least-squares"),
    ("matrix count count", "matrix-ref"),
    ("matrix count count function", "matrix-update"),
    ("matrix matrix", "kronecker"),
    (
        "number",
        "zero? positive? negative? erf erfc gamma log-gamma digamma erf-inverse softplus sigmoid logit random-key \
         l1-penalty",
    ),
    ("number ...", "max min"),
    ("number any", "k*v"),
    ("number count", "write-fixed"),
    (
        "number number",
        "quotient remainder modulo beta log-beta gamma-p gamma-q gamma-p-inverse gamma-q-inverse \
         exponential-log-density exponential-cdf exponential-quantile chi-squared-log-density chi-squared-cdf \
         chi-squared-quantile poisson-log-density poisson-cdf poisson-quantile bernoulli-log-density bernoulli-cdf \
         bernoulli-quantile geometric-log-density geometric-cdf geometric-quantile",
    ),
    ("number number count", "linspace"),
    (
        "number number number",
        "beta-i beta-i-inverse normal-log-density normal-cdf normal-quantile log-normal-log-density log-normal-cdf \
         log-normal-quantile uniform-log-density uniform-cdf uniform-quantile gamma-log-density gamma-cdf \
         gamma-quantile beta-log-density beta-cdf beta-quantile cauchy-log-density cauchy-cdf cauchy-quantile \
         laplace-log-density laplace-cdf laplace-quantile logistic-log-density logistic-cdf logistic-quantile \
         f-log-density f-cdf f-quantile weibull-log-density weibull-cdf weibull-quantile binomial-log-density \
         binomial-cdf binomial-quantile negative-binomial-log-density negative-binomial-cdf negative-binomial-quantile",
    ),
    ("number number number number", "student-t-log-density student-t-cdf student-t-quantile"),
    (
        "numbers",
        "vector-sum vector-product cumulative-sum index-of-largest index-of-smallest \
         vector-max vector-min mean variance arg-sort write-vector-npy",
    ),
    ("numbers numbers", "convolve"),
    ("numbers numbers matrix", "multivariate-normal-log-density"),
    ("numbers numbers number", "interpolate"),
    ("any numbers", "sparse-product sparse-product-transposed"),
    ("text ...", "string-append"),
    ("text any any", "plot plot-logarithmic"),
    ("text any matrix", "write-csv-file"),
    ("text function", "write-file"),
    ("text text", "string<?"),
    ("vector", "vector->list vector-reverse write-vector-csv"),
    ("vector count count", "vector-slice"),
    ("vector count function", "vector-update"),
    ("vector vector", "vector-append"),
];

/// What parameters take, and whether further arguments take the same as the last one.
type Kinds = (Vec<Wanted>, bool);

/// The kinds of the parameters of each function in the table.
fn table() -> &'static FxHashMap<&'static str, Kinds> {
    static TABLE: OnceLock<FxHashMap<&'static str, Kinds>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = KINDS.iter().flat_map(|(kinds, names)| {
            let wanted = |word: &str| Wanted::WORDS.iter().find(|row| row.0 == word).map(|row| row.1);
            let kinds: Kinds = (kinds.split(' ').filter_map(wanted).collect(), kinds.ends_with(" ..."));
            names.split(' ').map(move |name| (name, kinds.clone()))
        });
        rows.collect()
    })
}

/// The functions in the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    table().keys().copied()
}

/// The functions that calls of a function of the library become.
pub fn functions(name: &'static str) -> impl Iterator<Item = &'static str> {
    let helpers = match basis::native(name) {
        Some(Native::FoldCall(helper) | Native::Options(helper)) => [Some(helper), None],
        Some(Native::Lists(two, many)) => [two, Some(many)],
        _ => [None, None],
    };
    [name].into_iter().chain(helpers.into_iter().flatten())
}

/// What a function of the library takes.
pub fn contract(name: &str) -> Contract {
    let (wanted, takes_more) = table().get(name).cloned().unwrap_or_default();
    let (call, about) = stdlib::description(name);
    let is_folded = matches!(basis::native(name), Some(Native::FoldCall(_) | Native::FoldRight));
    Contract { name: name.into(), call, about, wanted: wanted.into(), takes_more, is_folded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;

    #[test]
    fn rows_have_known_words_and_functions() {
        let known: FxHashSet<&str> = stdlib::names().collect();
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for (kinds, functions) in KINDS {
            let words = kinds.split(' ').filter(|word| *word != "...").count();
            for name in functions.split(' ') {
                assert!(known.contains(name) && seen.insert(name), "`{name}` is unknown, or twice there");
                assert_eq!(contract(name).wanted.len(), words, "an unknown word in {kinds:?}");
            }
        }
    }
}
