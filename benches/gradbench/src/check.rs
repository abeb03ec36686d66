//! Whether derivatives are right: compared with differences of what the primal computes.

use crate::Result;
use crate::build;
use crate::encode::Language;
use crate::evals::Eval;
use crate::session::Session;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How far a derivative may be from differences, relative to numbers above 1.
const TOLERANCE: f64 = 1e-5;
const STEP: f64 = 1e-5;
/// For second differences.
const LONG_STEP: f64 = 1e-3;

/// The functions of an eval, compiled, with an input.
pub struct Subject<'a> {
    eval: &'static Eval,
    input: &'a Value,
    primal: PathBuf,
    /// What the other functions compute.
    derivatives: Vec<Vec<f64>>,
}

impl<'a> Subject<'a> {
    /// Compiles the functions and calls those that take derivatives.
    pub fn new(eval: &'static Eval, input: &'a Value, directory: &Path) -> Result<Subject<'a>> {
        let [primal, others @ ..] = eval.functions else { return Err("an eval has functions".into()) };
        let primal = build::vlad(eval, primal, directory)?;
        let compute = |function| numbers(eval, &build::vlad(eval, function, directory)?, input);
        let derivatives = others.iter().map(compute).collect::<Result<_>>()?;
        Ok(Subject { eval, input, primal, derivatives })
    }

    /// Compares the derivatives of the eval with differences, or with what is known of them.
    pub fn check(&self) -> Result<()> {
        match self.eval.name {
            "hello" => self.check_gradient(&[""]),
            "gmm" => self.check_gradient(&["/alpha", "/mu", "/q", "/l"]),
            "lstm" => self.check_gradient(&["/main_params", "/extra_params"]),
            "det" => self.check_gradient(&["/A"]),
            "kmeans" => self.check_newton_step(),
            "ba" => self.check_blocks(),
            "ht" => self.check_hand(),
            "saddle" => self.check_nested(&[8.246_324_826_140_356e-6; 4]),
            "particle" => self.check_nested(&[0.207_191_874_648_611_6]),
            _ => self.check_gradient(&["/x"]),
        }
    }

    fn derivative(&self) -> Result<&[f64]> {
        self.derivatives.first().map(Vec::as_slice).ok_or_else(|| "an eval has a derivative".into())
    }

    /// What the primal computes for another input.
    fn values(&self, input: &Value) -> Result<Vec<f64>> {
        numbers(self.eval, &self.primal, input)
    }

    /// What the primal changes by for each unit of a change of the input.
    fn slope(&self, change: &dyn Fn(&mut Value, f64) -> Option<()>) -> Result<Vec<f64>> {
        let [less, more] = [-STEP, STEP].map(|step| {
            let mut input = self.input.clone();
            change(&mut input, step).ok_or("the input cannot be changed")?;
            self.values(&input)
        });
        Ok(more?.iter().zip(less?).map(|(more, less)| (more - less) / (2.0 * STEP)).collect())
    }

    /// The last number of the primal's value, differentiated by every number of these parts of the input, in order.
    fn check_gradient(&self, parts: &[&str]) -> Result<()> {
        let mut expected = Vec::new();
        for place in self.places(parts) {
            let slope = self.slope(&|input, step| add(input, &place, step))?;
            expected.push(slope.last().copied().unwrap_or(f64::NAN));
        }
        compare(self.derivative()?, &expected)
    }

    /// The numbers in these parts of the input.
    fn places(&self, parts: &[&str]) -> Vec<String> {
        let mut places = Vec::new();
        for part in parts {
            find_numbers(self.input.pointer(part).unwrap_or(&Value::Null), part, &mut places);
        }
        places
    }

    /// First differences divided by second ones.
    fn check_newton_step(&self) -> Result<()> {
        let at = |place: &str, step| {
            let mut input = self.input.clone();
            add(&mut input, place, step).ok_or("the input cannot be changed")?;
            Ok::<f64, String>(self.values(&input)?.first().copied().unwrap_or(f64::NAN))
        };
        let mut expected = Vec::new();
        for place in self.places(&["/centroids"]) {
            let [less, here, more] = [at(&place, -LONG_STEP)?, at(&place, 0.0)?, at(&place, LONG_STEP)?];
            expected.push((more - less) * LONG_STEP / 2.0 / (more - 2.0 * here + less));
        }
        compare(self.derivative()?, &expected)
    }

    /// The block of the first observation: eleven numbers of the camera, three of the point, and the weight.
    fn check_blocks(&self) -> Result<()> {
        let found = self.derivative()?.get(62..).ok_or("there are values behind the rows and columns")?;
        let (mut expected, mut of_weight) = (vec![0.0; 31], f64::NAN);
        for (column, place) in self.places(&["/cam", "/x", "/w"]).iter().enumerate() {
            let slope = self.slope(&|input, step| add(input, place, step))?;
            let [x, y, weight] = slope[..] else { return Err("an observation has three errors".into()) };
            (expected[column], expected[15 + column], of_weight) = (x, y, weight);
        }
        expected[30] = of_weight;
        compare(found, &expected)
    }

    /// The columns of the Jacobian. A point's place on its triangle moves no other point, so all move at once.
    fn check_hand(&self) -> Result<()> {
        let points = self.input.pointer("/us").and_then(Value::as_array).map_or(0, Vec::len);
        let mut columns = Vec::new();
        for of_place in 0..if points > 0 { 2 } else { 0 } {
            let all = |input: &mut Value, step: f64| {
                (0..points).try_for_each(|point| add(input, &format!("/us/{point}/{of_place}"), step))
            };
            columns.push(self.slope(&all)?);
        }
        for place in self.places(&["/theta"]) {
            columns.push(self.slope(&|input, step| add(input, &place, step))?);
        }
        let rows = columns.first().map_or(0, Vec::len);
        let expected: Vec<f64> = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        compare(self.derivative()?, &expected)
    }

    /// Every combination of modes finds what is known.
    fn check_nested(&self, known: &[f64]) -> Result<()> {
        compare(&self.values(self.input)?, known)?;
        self.derivatives.iter().try_for_each(|found| compare(found, known))
    }
}

/// What an executable computes.
pub fn numbers(eval: &Eval, executable: &Path, input: &Value) -> Result<Vec<f64>> {
    let (session, numbers) = Session::of(executable, Language::Vlad, &Language::Vlad.input(eval.fields, input)?)?;
    session.end()?;
    Ok(numbers)
}

fn find_numbers(value: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::Array(parts) => {
            parts.iter().enumerate().for_each(|(at, part)| find_numbers(part, &format!("{place}/{at}"), places));
        }
        _ => places.push(place.into()),
    }
}

fn add(input: &mut Value, place: &str, step: f64) -> Option<()> {
    let number = input.pointer_mut(place)?;
    *number = json!(number.as_f64()? + step);
    Some(())
}

/// Complains where numbers are not about those that are expected.
pub fn compare(found: &[f64], expected: &[f64]) -> Result<()> {
    if found.len() != expected.len() {
        return Err(format!("{} numbers, where {} are expected", found.len(), expected.len()));
    }
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let close = (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0);
        if !close {
            return Err(format!("number {at} is {found}, where {expected} is expected"));
        }
    }
    Ok(())
}
