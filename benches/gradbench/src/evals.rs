//! The evals: the fields of their inputs in the order in which their programs read them, and the shapes of their
//! outputs.
//!
//! ```text
//! input (JSON) ── fields ──▶ numbers and arrays        numbers ── output ──▶ output (JSON)
//! ```
//!
//! What the functions compute is described in GradBench's `evals`, one page each. The program of an eval is
//! `programs/NAME.vlad`; it defines `NAME/read` and each function as `NAME/FUNCTION`.

use crate::Result;
use serde_json::{Map, Value, json};

/// A part of an input, named by a JSON pointer.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// A number.
    Number(&'static str),
    /// A truth value, which is 1 or 0 to programs.
    Flag(&'static str),
    /// An array of numbers.
    Vector(&'static str),
    /// An array of rows.
    Matrix(&'static str),
    /// An array of matrices, the rows of which follow each other.
    Matrices(&'static str),
}

/// A function of an eval.
pub struct Function {
    /// Its name in messages.
    pub name: &'static str,
    /// What is taken of its value as output, an expression in VLAD.
    pub show: &'static str,
    /// The output that the numbers stand for, given the input.
    output: fn(&Value, &[f64]) -> Option<Value>,
}

impl Function {
    const fn new(name: &'static str, output: fn(&Value, &[f64]) -> Option<Value>) -> Function {
        Function { name, show: "(lambda (x) x)", output }
    }

    /// The output that the numbers stand for, given the input.
    pub fn output(&self, input: &Value, numbers: &[f64]) -> Result<Value> {
        (self.output)(input, numbers).ok_or_else(|| format!("{} numbers are no output of {}", numbers.len(), self.name))
    }
}

/// An eval.
pub struct Eval {
    /// Its name, which is that of its module.
    pub name: &'static str,
    /// The parts of an input.
    pub fields: &'static [Field],
    /// Its functions; the first one computes the primal.
    pub functions: &'static [Function],
}

impl Eval {
    /// One of the evals.
    pub fn find(name: &str) -> Result<&'static Eval> {
        EVALS.iter().find(|eval| eval.name == name).ok_or_else(|| format!("there is no eval `{name}`"))
    }

    /// One of its functions.
    pub fn function(&self, name: &str) -> Result<&'static Function> {
        let found = self.functions.iter().find(|function| function.name == name);
        found.ok_or_else(|| format!("the eval `{}` has no function `{name}`", self.name))
    }
}

const NESTED: &[Function] = &[
    Function::new("ff", vector_or_number),
    Function::new("fr", vector_or_number),
    Function::new("rf", vector_or_number),
    Function::new("rr", vector_or_number),
];

/// All evals.
pub const EVALS: &[Eval] = &[
    Eval {
        name: "hello",
        fields: &[Field::Number("")],
        functions: &[Function::new("square", number), Function::new("double", number)],
    },
    Eval {
        name: "gmm",
        fields: &[
            Field::Vector("/alpha"),
            Field::Matrix("/mu"),
            Field::Matrix("/q"),
            Field::Matrix("/l"),
            Field::Matrix("/x"),
            Field::Number("/m"),
            Field::Number("/gamma"),
        ],
        functions: &[Function::new("objective", number), Function::new("jacobian", gmm_jacobian)],
    },
    Eval {
        name: "ba",
        fields: &[
            Field::Number("/n"),
            Field::Number("/m"),
            Field::Number("/p"),
            Field::Vector("/cam"),
            Field::Vector("/x"),
            Field::Number("/w"),
            Field::Vector("/feat"),
        ],
        functions: &[
            Function { show: "ba/first-errors", ..Function::new("objective", ba_objective) },
            Function { show: "ba/ends-of-jacobian", ..Function::new("jacobian", ba_jacobian) },
        ],
    },
    Eval {
        name: "kmeans",
        fields: &[Field::Matrix("/points"), Field::Matrix("/centroids")],
        functions: &[Function::new("cost", number), Function::new("dir", kmeans_direction)],
    },
    Eval {
        name: "lse",
        fields: &[Field::Vector("/x")],
        functions: &[Function::new("primal", number), Function::new("gradient", vector)],
    },
    Eval {
        name: "llsq",
        fields: &[Field::Vector("/x"), Field::Number("/n")],
        functions: &[Function::new("primal", number), Function::new("gradient", vector)],
    },
    Eval {
        name: "lstm",
        fields: &[
            Field::Matrix("/main_params"),
            Field::Matrix("/extra_params"),
            Field::Matrix("/state"),
            Field::Matrix("/sequence"),
        ],
        functions: &[Function::new("objective", number), Function::new("jacobian", vector)],
    },
    Eval {
        name: "ht",
        fields: &[
            Field::Vector("/theta"),
            Field::Vector("/data/model/parents"),
            Field::Matrices("/data/model/base_relatives"),
            Field::Matrices("/data/model/inverse_base_absolutes"),
            Field::Matrix("/data/model/base_positions"),
            Field::Matrix("/data/model/weights"),
            Field::Matrix("/data/model/triangles"),
            Field::Flag("/data/model/is_mirrored"),
            Field::Vector("/data/correspondences"),
            Field::Matrix("/data/points"),
            Field::Matrix("/us"),
        ],
        functions: &[Function::new("objective", vector), Function::new("jacobian", ht_jacobian)],
    },
    Eval {
        name: "ode",
        fields: &[Field::Vector("/x"), Field::Number("/s")],
        functions: &[Function::new("primal", vector), Function::new("gradient", vector)],
    },
    Eval {
        name: "det",
        fields: &[Field::Vector("/A"), Field::Number("/ell")],
        functions: &[Function::new("primal", number), Function::new("gradient", vector)],
    },
    Eval { name: "saddle", fields: &[Field::Vector("/start")], functions: NESTED },
    Eval { name: "particle", fields: &[Field::Number("/w")], functions: NESTED },
];

fn number(_: &Value, numbers: &[f64]) -> Option<Value> {
    let [number] = numbers else { return None };
    Some(json!(number))
}

fn vector(_: &Value, numbers: &[f64]) -> Option<Value> {
    Some(json!(numbers))
}

/// What nested derivatives find: one number or several.
fn vector_or_number(input: &Value, numbers: &[f64]) -> Option<Value> {
    number(input, numbers).or_else(|| vector(input, numbers))
}

fn rows(numbers: &[f64], width: usize) -> Option<Value> {
    match width {
        0 => None,
        _ if numbers.len().is_multiple_of(width) => Some(numbers.chunks(width).map(|row| json!(row)).collect()),
        _ => None,
    }
}

fn kmeans_direction(input: &Value, numbers: &[f64]) -> Option<Value> {
    rows(numbers, input.pointer("/centroids/0")?.as_array()?.len())
}

fn ht_jacobian(input: &Value, numbers: &[f64]) -> Option<Value> {
    let of_place = if input.pointer("/us")?.as_array()?.is_empty() { 0 } else { 2 };
    rows(numbers, input.pointer("/theta")?.as_array()?.len() + of_place)
}

/// A value of the shape of another, with the first of the numbers.
fn like(shape: &Value, numbers: &mut impl Iterator<Item = f64>) -> Option<Value> {
    match shape {
        Value::Array(parts) => parts.iter().map(|part| like(part, numbers)).collect(),
        _ => numbers.next().map(|number| json!(number)),
    }
}

fn gmm_jacobian(input: &Value, numbers: &[f64]) -> Option<Value> {
    let mut numbers = numbers.iter().copied();
    let mut output = Map::new();
    for name in ["alpha", "mu", "q", "l"] {
        output.insert(name.into(), like(input.get(name)?, &mut numbers)?);
    }
    numbers.next().is_none().then_some(Value::Object(output))
}

/// All observations are the same, so that one stands for all.
fn ba_objective(input: &Value, numbers: &[f64]) -> Option<Value> {
    let [x, y, weight] = numbers else { return None };
    let repeated = input.get("p")?;
    Some(json!({
        "reproj_error": { "elements": [x, y], "repeated": repeated },
        "w_err": { "element": weight, "repeated": repeated },
    }))
}

/// The first thirty and the last of each of three arrays.
fn ba_jacobian(_: &Value, numbers: &[f64]) -> Option<Value> {
    let mut parts = numbers.chunks_exact(31);
    let whole = |part: &[f64]| part.iter().map(|number| json!(*number as i64)).collect::<Value>();
    let output = json!({ "rows": whole(parts.next()?), "cols": whole(parts.next()?), "vals": parts.next()? });
    (numbers.len() == 93).then_some(output)
}
