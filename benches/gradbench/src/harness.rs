//! The harness: every eval's primal, derivatives and primal in C, measured beside each other on the inputs of
//! [`crate::inputs`], after the derivatives were compared with differences on small ones: time of a call, and the most
//! memory that the whole process has taken.

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
    println!("Times of one call in milliseconds, medians. d/p: derivative beside primal. v/C: primal beside C.");
    println!("MB: the most memory that the process has taken, with its input and what it does to read it.\n");
    let [eval, function, vlad, dp, mb] = ["eval", "function", "vlad", "d/p", "MB"];
    println!("{eval:<10} {function:<10} {vlad:>11} {mb:>8} {dp:>7} {:>11} {mb:>8} {:>7}", "C primal", "v/C");
    for eval in evals {
        measure_eval(eval, directory.path()).map_err(|error| format!("{}: {error}", eval.name))?;
    }
    Ok(())
}

fn measure_eval(eval: &'static Eval, directory: &Path) -> Result<()> {
    Subject::new(eval, &input(eval.name, Size::Small)?, directory)?.check()?;
    let input = input(eval.name, Size::Standard)?;
    let start = |language: Language, path: &Path| Session::of(path, language, &language.input(eval.fields, &input)?);
    let measure = |mut session: Session| {
        let timings = RUNS.measure(&mut session)?;
        let megabytes = session.peak_memory().map_or(f64::NAN, |bytes| bytes as f64 / 1e6);
        session.end()?;
        Ok::<(f64, f64), String>((median(&timings) / 1e6, megabytes))
    };
    let mut primal = None;
    for function in eval.functions {
        let (session, value) = start(Language::Vlad, &build::vlad(eval, function, directory)?)?;
        let (own, megabytes) = measure(session)?;
        print!("{:<10} {:<10} {own:>11.4} {megabytes:>8.1} ", eval.name, function.name);
        match primal {
            Some(primal) => println!("{:>7.2}", own / primal),
            None => match build::c(eval, directory)? {
                Some(executable) => {
                    let (session, expected) = start(Language::C, &executable)?;
                    compare(&value, &expected)?;
                    let (c, megabytes) = measure(session)?;
                    println!("{:>7} {c:>11.4} {megabytes:>8.1} {:>7.2}", "", own / c);
                }
                None => println!(),
            },
        }
        primal.get_or_insert(own);
    }
    Ok(())
}
