//! What names mean before anyone defines them: keywords, natively expanded calls, and reserved names.

use crate::core::prim::{self, Family, Prim};

/// The words that introduce forms. They cannot be defined or bound, but for those of [`may_be_defined`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    And,
    Begin,
    Cond,
    Define,
    DefineRecord,
    Else,
    If,
    Include,
    Lambda,
    Let,
    LetStar,
    Letrec,
    Match,
    Or,
    Quasiquote,
    Quote,
    Unless,
    Unquote,
    When,
}

/// All keywords.
pub const KEYWORDS: &[(&str, Keyword)] = &[
    ("and", Keyword::And),
    ("begin", Keyword::Begin),
    ("cond", Keyword::Cond),
    ("define", Keyword::Define),
    ("define-record", Keyword::DefineRecord),
    ("else", Keyword::Else),
    ("if", Keyword::If),
    ("include", Keyword::Include),
    ("lambda", Keyword::Lambda),
    ("let", Keyword::Let),
    ("let*", Keyword::LetStar),
    ("letrec", Keyword::Letrec),
    ("match", Keyword::Match),
    ("or", Keyword::Or),
    ("quasiquote", Keyword::Quasiquote),
    ("quote", Keyword::Quote),
    ("unless", Keyword::Unless),
    ("unquote", Keyword::Unquote),
    ("when", Keyword::When),
];

/// The keyword of that name.
pub fn keyword(name: &str) -> Option<Keyword> {
    KEYWORDS.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// Whether a program may define or bind a name that is a keyword: words that the language did not always have.
pub fn may_be_defined(name: &str) -> bool {
    name == "match" || name == "define-record"
}

/// How a call of a library function that shows its operands is expanded. Calls that do not match are ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// A primitive, with exactly its number of operands.
    Prim(Prim),
    /// Two or more operands, from the left.
    Fold(Prim),
    /// Two or more operands, each compared with its neighbour.
    Chain(Prim),
    /// Two or more operands, from the left, with a library function of two operands.
    FoldCall(&'static str),
    /// Three or more operands, from the right, with the function itself.
    FoldRight,
    /// A function and two or more lists, or trees: with two of them the first function, else the second on their list.
    Lists(Option<&'static str>, &'static str),
    /// Three operands and any number of options, which are handed to a library function as a list.
    Options(&'static str),
    /// One operand, negated.
    Not,
    /// All operands but the last in front of the last.
    ConsStar,
    /// A message and a value.
    Error,
}

/// How calls of the library function `name` are expanded.
pub fn native(name: &str) -> Option<Native> {
    Some(match name {
        "+" => Native::Fold(Prim::Add),
        "-" => Native::Fold(Prim::Sub),
        "*" => Native::Fold(Prim::Mul),
        "/" => Native::Fold(Prim::Div),
        "=" => Native::Chain(Prim::Eq),
        "<" => Native::Chain(Prim::Lt),
        ">" => Native::Chain(Prim::Gt),
        "<=" => Native::Chain(Prim::Le),
        ">=" => Native::Chain(Prim::Ge),
        "max" => Native::FoldCall("%max/2"),
        "min" => Native::FoldCall("%min/2"),
        "atan" => Native::Prim(Prim::Atan2),
        "append" => Native::FoldRight,
        "map" => Native::Lists(Some("%map/2"), "%map/n"),
        "for-each" => Native::Lists(None, "%for-each/n"),
        "tree-map" => Native::Lists(Some("%tree-map/2"), "%tree-map/n"),
        "minimise" => Native::Options("%minimise"),
        "not" => Native::Not,
        "cons*" => Native::ConsStar,
        "error" => Native::Error,
        _ => Native::Prim(primitive(name)?),
    })
}

/// The primitive that a function of `primitives.vlad` stands for.
pub fn primitive(name: &str) -> Option<Prim> {
    let hidden = [Prim::Neg, Prim::Sign, Prim::Scale, Prim::Unscale, Prim::Atan, Prim::Atan2, Prim::Opaque];
    let variadic = |prim: Prim, arity| arity == 2 && prim.family() == Family::Comparison && prim != Prim::IsSameString;
    prim::TABLE
        .iter()
        .find(|(prim, row, arity, _)| *row == name && !hidden.contains(prim) && !variadic(*prim, *arity))
        .map(|row| row.0)
        .filter(|prim| !matches!(prim, Prim::Add | Prim::Sub | Prim::Mul | Prim::Div))
}

/// Primitives that only the library can name, because their ordinary names mean a function of any number of operands
/// or nothing at all.
pub fn internal(name: &str) -> Option<Prim> {
    match name {
        "%neg" => Some(Prim::Neg),
        "%atan" => Some(Prim::Atan),
        "%opaque" => Some(Prim::Opaque),
        "%exchange" => Some(Prim::Exchange),
        "%catch" => Some(Prim::Catch),
        "%atan2" => Some(Prim::Atan2),
        "%sign" => Some(Prim::Sign),
        "%scale" => Some(Prim::Scale),
        "%unscale" => Some(Prim::Unscale),
        "%series" => Some(Prim::Series),
        "%series-parts" => Some(Prim::SeriesParts),
        "%series?" => Some(Prim::IsSeries),
        "%zero?" => Some(Prim::IsZero),
        "%lift" => Some(Prim::Lift),
        "%unlift" => Some(Prim::Unlift),
        "%lift-directions" => Some(Prim::LiftDirections),
        "%unlift-directions" => Some(Prim::UnliftDirections),
        "%transformed?" => Some(Prim::IsTransformed),
        "%new-vector" => Some(Prim::NewVector),
        "%fill" => Some(Prim::Fill),
        "%finish" => Some(Prim::Finish),
        "%filled" => Some(Prim::Filled),
        "%with-element" => Some(Prim::WithElement),
        "%read-vector" => Some(Prim::ReadVector),
        "%read-matrix" => Some(Prim::ReadMatrix),
        "%argument" => Some(Prim::Argument),
        "%argument-array" => Some(Prim::ArgumentArray),
        "%argument-elements" => Some(Prim::ArgumentElements),
        "%result" => Some(Prim::Result),
        "%result-array" => Some(Prim::ResultArray),
        "%result-elements" => Some(Prim::ResultElements),
        "%write-byte" => Some(Prim::WriteByte),
        "%begin-file" => Some(Prim::BeginFile),
        "%end-file" => Some(Prim::EndFile),
        "%begin-text" => Some(Prim::BeginText),
        "%end-text" => Some(Prim::EndText),
        "%text-byte" => Some(Prim::TextByte),
        "%ask" => Some(Prim::Ask),
        "%check-number" => Some(Prim::CheckNumber),
        "%warn" => Some(Prim::Warn),
        "%write-double" => Some(Prim::WriteDouble),
        "%record" => Some(Prim::Record),
        "%record-parts" => Some(Prim::RecordParts),
        "%record?" => Some(Prim::IsRecord),
        "%of-kind?" => Some(Prim::IsOfKind),
        "%environment" => Some(Prim::Environment),
        "%with-environment" => Some(Prim::WithEnvironment),
        "%erf" => Some(Prim::Erf),
        "%erfc" => Some(Prim::Erfc),
        "%gamma" => Some(Prim::Gamma),
        "%log-gamma" => Some(Prim::LogGamma),
        _ => prim::TABLE.iter().find(|row| row.1 == name && row.3 == Family::Kernel).map(|row| row.0),
    }
}

/// Library functions whose transforms the library gives: the reverse and the forward one, that on power series, and the
/// forward one in several directions.
const GIVEN: [(&str, [&str; 4]); 16] = [
    ("%custom", ["%custom-reverse", "%custom-forward", "%custom-series", "%custom-directions"]),
    ("%recompute", ["%recompute-reverse", "%recompute-forward", "%recompute-series", "%recompute-directions"]),
    (
        "stop-gradient",
        ["%stop-gradient-reverse", "%stop-gradient-forward", "%stop-gradient-series", "%stop-gradient-directions"],
    ),
    ("%decide", ["%decide-reverse", "%decide-forward", "%decide-series", "%decide-directions"]),
    ("%require", ["%require-reverse", "%require-forward", "%require-series", "%require-directions"]),
    (
        "%check-given",
        ["%check-given-reverse", "%check-given-forward", "%check-given-series", "%check-given-directions"],
    ),
    (
        "%custom-push",
        ["%custom-push-reverse", "%custom-push-forward", "%custom-push-series", "%custom-push-directions"],
    ),
    (
        "%apply-linear",
        ["%apply-linear-reverse", "%apply-linear-forward", "%apply-linear-series", "%apply-linear-directions"],
    ),
    ("%on-numbers", ["%on-numbers-reverse", "%on-numbers-forward", "%on-numbers-series", "%on-numbers-directions"]),
    ("%root", ["%root-reverse", "%root-forward", "%root-series", "%root-directions"]),
    ("%valued", ["%valued-reverse", "%valued-forward", "%valued-series", "%valued-directions"]),
    ("%summed", ["%summed-reverse", "%summed-forward", "%summed-series", "%summed-directions"]),
    ("%same", ["%same-reverse", "%same-forward", "%same-series", "%same-directions"]),
    ("%attempt", ["%attempt-reverse", "%attempt-forward", "%attempt-series", "%attempt-directions"]),
    ("%map-shards", ["%map-shards-reverse", "%map-shards-forward", "%map-shards-series", "%map-shards-directions"]),
    ("%sum-shards", ["%sum-shards-reverse", "%sum-shards-forward", "%sum-shards-series", "%sum-shards-directions"]),
];

/// What stands in their place where given derivatives are checked.
const CHECKED_TRANSFORMS: [(&str, &str); 4] = [
    ("%custom-reverse", "%checked-custom-reverse"),
    ("%custom-forward", "%checked-custom-forward"),
    ("%custom-push-reverse", "%checked-push-reverse"),
    ("%custom-push-forward", "%checked-push-forward"),
];

/// The given transforms of library functions, with those that check what a program gives or those that do not.
pub fn given(checked: bool) -> impl Iterator<Item = (&'static str, [&'static str; 4])> {
    let stands = move |name: &'static str| {
        let by = CHECKED_TRANSFORMS.iter().find(|(plain, _)| checked && *plain == name);
        by.map_or(name, |(_, by)| *by)
    };
    GIVEN.iter().map(move |(name, transforms)| (*name, transforms.map(stands)))
}

/// What primitives do on power series: functions of the file `series.vlad`.
pub const SERIES: &[(Prim, &str)] = &[
    (Prim::Neg, "%series-neg"),
    (Prim::Sqrt, "%series-sqrt"),
    (Prim::Exp, "%series-exp"),
    (Prim::Log, "%series-log"),
    (Prim::Sin, "%series-sin"),
    (Prim::Cos, "%series-cos"),
    (Prim::Tan, "%series-tan"),
    (Prim::Asin, "%series-asin"),
    (Prim::Acos, "%series-acos"),
    (Prim::Atan, "%series-atan"),
    (Prim::Sinh, "%series-sinh"),
    (Prim::Cosh, "%series-cosh"),
    (Prim::Tanh, "%series-tanh"),
    (Prim::Log1p, "%series-log1p"),
    (Prim::Expm1, "%series-expm1"),
    (Prim::Abs, "%series-abs"),
    (Prim::Floor, "%series-floor"),
    (Prim::Ceiling, "%series-ceiling"),
    (Prim::Round, "%series-round"),
    (Prim::Truncate, "%series-truncate"),
    (Prim::Sign, "%series-sign"),
    (Prim::Real, "%series-real"),
    (Prim::Add, "%series-add"),
    (Prim::Sub, "%series-sub"),
    (Prim::Mul, "%series-mul"),
    (Prim::Div, "%series-div"),
    (Prim::Atan2, "%series-atan2"),
    (Prim::Expt, "%series-expt"),
    (Prim::Scale, "%series-scale"),
    (Prim::Unscale, "%series-unscale"),
    (Prim::Plus, "%series-plus"),
    (Prim::Bundle, "%series-fit"),
];

/// Library functions of two numbers that have a kink where these are equal.
pub const KINKED: [&str; 2] = ["%max/2", "%min/2"];

/// Library functions that take derivatives. For each one there is one that also checks them: `%gradient/checked`.
pub const CHECKED: &[&str] = &[
    "derivative",
    "derivative-F",
    "derivative-R",
    "directional-derivative",
    "directional-derivative-F",
    "directional-derivative-R",
    "gradient",
    "gradient-F",
    "gradient-R",
    "hessian",
    "hessian-F",
    "hessian-R",
    "hvp",
    "hvp-F",
    "hvp-R",
    "jacobian",
    "jacobian-F",
    "jacobian-R",
    "jvp",
    "jvp-F",
    "jvp-R",
    "value-and-gradient",
    "value-and-gradient-F",
    "value-and-gradient-R",
    "vjp",
    "vjp-F",
    "vjp-R",
];

/// Library functions that check derivatives: those taken, those given, and the part of the former that calls functions.
pub const CHECKS: [&str; 3] = ["%require", "%check-given", "%probe"];

/// The word that introduces exports. A program may define it itself, and then has none.
pub const EXPORT: &str = "export";

/// The word that introduces imports of modules.
pub const IMPORT: &str = "import";

/// The word that introduces what a module provides.
pub const PROVIDE: &str = "provide";

/// Words of the top level that a program may define itself.
pub const RESERVED: [&str; 3] = [EXPORT, IMPORT, PROVIDE];
