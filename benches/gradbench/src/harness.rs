//! The harness: every eval's primal, derivatives and primal in C, measured beside each other on the inputs of
//! [`crate::inputs`], after the derivatives were compared with differences on small ones.

use crate::Result;
use crate::build;
use crate::check::{Subject, compare};
use crate::encode::Language;
use crate::evals::{EVALS, Eval};
use crate::inputs::{Size, input};
use crate::runs::{Runs, median};
use crate::session::Session;
use std::path::Path;
use std::time::Duration;

/// How often each function is called, and how long.
const RUNS: Runs = Runs { runs: 5, time: Duration::from_millis(500) };

/// Measures these evals, or all, and prints a table.
pub fn measure(names: &[&str]) -> Result<()> {
    let evals: Vec<&Eval> = match names {
        [] => EVALS.iter().collect(),
        _ => names.iter().map(|name| Eval::find(name)).collect::<Result<_>>()?,
    };
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    println!("Times of one call in milliseconds, medians. d/p: derivative beside primal. v/C: primal beside C.\n");
    println!("{:<10} {:<10} {:>11} {:>7} {:>11} {:>7}", "eval", "function", "vlad", "d/p", "C primal", "v/C");
    for eval in evals {
        measure_eval(eval, directory.path()).map_err(|error| format!("{}: {error}", eval.name))?;
    }
    Ok(())
}

fn measure_eval(eval: &'static Eval, directory: &Path) -> Result<()> {
    Subject::new(eval, &input(eval.name, Size::Small)?, directory)?.check()?;
    let input = input(eval.name, Size::Standard)?;
    let start = |language: Language, path: &Path| Session::of(path, language, &language.input(eval.fields, &input)?);
    let time = |mut session: Session| {
        let timings = RUNS.measure(&mut session)?;
        session.end()?;
        Ok::<f64, String>(median(&timings) / 1e6)
    };
    let mut primal = None;
    for function in eval.functions {
        let (session, value) = start(Language::Vlad, &build::vlad(eval, function, directory)?)?;
        let own = time(session)?;
        print!("{:<10} {:<10} {own:>11.4} ", eval.name, function.name);
        match primal {
            Some(primal) => println!("{:>7.2}", own / primal),
            None => match build::c(eval, directory)? {
                Some(executable) => {
                    let (session, expected) = start(Language::C, &executable)?;
                    compare(&value, &expected)?;
                    let c = time(session)?;
                    println!("{:>7} {c:>11.4} {:>7.2}", "", own / c);
                }
                None => println!(),
            },
        }
        primal.get_or_insert(own);
    }
    Ok(())
}
