//! Objectives, their gradients, and C that computes the same values: benches/objectives/*.vlad, *.c → a table.
//!
//! `NAME.vlad` reads from its input (`NAME.in`) a place `x`, and then what else it needs, and defines a function `f`.
//! The files in `shared` compute the value of `f` at `x`, or its gradient, as often as the input says; each is a
//! program of its own with the objective. What a row says is the time of many computations less that of one, divided by
//! how many more there were: so neither starting the process nor reading counts.
//!
//! The values must be those of C, and the gradient that of forward mode and of central differences, for every number of
//! the place.

use crate::common::{Result, boxes, median, run};
use crate::contender::Contender;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The least processor time of a run, so that neither clock nor start disturb it.
const LEAST_TIME: Duration = Duration::from_millis(100);

/// Values and derivatives may differ by so much, relative to the largest: sums are summed in different orders.
const TOLERANCE: f64 = 1e-10;

/// The same for differences, and their step.
const DIFFERENCES_TOLERANCE: f64 = 1e-6;
const STEP: f64 = 1e-5;

/// Prints the table; returns what is wrong with the answers.
pub fn table(programs: &[PathBuf], runs: usize, scratch: &Path) -> Result<Vec<String>> {
    println!(
        "processor time of the value and its ratio to C, of the gradient and its ratio to the value; what boxes take;\n\
         peak memory; compile time and size of programs that compute one of them"
    );
    println!(
        "{:<11} {:>9} {:>5} {:>9} {:>5} {:>10} {:>5} {:>6} {:>14} {:>12} {:>11} {:>9}",
        "objective",
        "value ns",
        "±%",
        "C ns",
        "ratio",
        "gradient ns",
        "±%",
        "ratio",
        "boxes kB",
        "peak kB",
        "compile ms",
        "size kB"
    );
    let mut wrong = Vec::new();
    for program in programs {
        wrong.extend(Objective::build(program, scratch)?.measure(runs)?);
    }
    Ok(wrong)
}

/// The programs that are made of one objective.
struct Objective {
    name: String,
    input: String,
    value: Contender,
    gradient: Contender,
    forward: Contender,
    c: Contender,
}

impl Objective {
    fn build(program: &Path, scratch: &Path) -> Result<Objective> {
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = program.parent().ok_or("a program is in a folder")?;
        let vlad = |kind: &str| {
            let main = scratch.join(format!("{name}-{kind}.vlad"));
            fs::write(&main, format!("(include \"{name}\")\n(include \"shared/{kind}\")\n"))?;
            Contender::vlad(&main, folder, main.with_extension(""))
        };
        Ok(Objective {
            value: vlad("value")?,
            gradient: vlad("gradient")?,
            forward: vlad("forward")?,
            c: Contender::c(&program.with_extension("c"), scratch.join(format!("{name}-c")))?.ok_or("C is missing")?,
            input: fs::read_to_string(program.with_extension("in"))?,
            name,
        })
    }

    /// Runs everything, prints the row, and returns what is wrong with the answers.
    fn measure(&mut self, runs: usize) -> Result<Vec<String>> {
        let mut contenders = [&mut self.value, &mut self.c, &mut self.gradient];
        let mut rounds = Vec::new();
        for contender in &contenders {
            rounds.push(enough_rounds(&contender.executable, &self.input)?);
        }
        let mut once = [const { Vec::new() }; 3];
        for _ in 0..runs {
            for ((contender, once), rounds) in contenders.iter_mut().zip(&mut once).zip(&rounds) {
                once.push(run(&contender.executable, &format!("{} 1", self.input))?.time);
                contender.run(&format!("{} {}", self.input, rounds + 1))?;
            }
        }
        let nanoseconds = [0, 1, 2].map(|i| {
            let anyway = median(once[i].iter().copied()).unwrap_or_default();
            contenders[i].times(anyway).scaled(1e9 / rounds[i] as f64)
        });
        let [value, c, gradient] = nanoseconds;
        let beside = |value: u64, gradient: u64| format!("{value}/{gradient}");
        let allocated = |contender: &Contender| boxes(&contender.executable, &format!("{} 1", self.input));
        println!(
            "{:<11} {:>9.1} {:>5.1} {:>9.1} {:>5.2} {:>10.1} {:>5.1} {:>6.2} {:>14} {:>12} {:>11} {:>9}",
            self.name,
            value.median,
            value.percent(),
            c.median,
            value.median / c.median,
            gradient.median,
            gradient.percent(),
            gradient.median / value.median,
            format!("{:.1}/{:.1}", allocated(&self.value)? / 1024.0, allocated(&self.gradient)? / 1024.0),
            beside(self.value.peak(), self.gradient.peak()),
            format!("{:.0}/{:.0}", self.value.build_time * 1e3, self.gradient.build_time * 1e3),
            beside(self.value.size()?, self.gradient.size()?),
        );
        self.check()
    }

    /// What is wrong with the answers.
    fn check(&self) -> Result<Vec<String>> {
        let values =
            [&self.value, &self.c].map(|contender| number(&contender.executable, &format!("{} 1", self.input)));
        let [value, c] = [values[0].as_ref(), values[1].as_ref()].map(|value| value.copied().unwrap_or(f64::NAN));
        let mut wrong = Vec::new();
        if !close(value, c, TOLERANCE * c.abs()) {
            wrong.push(format!("{}: the value is {value}, in C {c}", self.name));
        }
        let gradient = numbers(&run(&self.gradient.executable, &format!("{} 1", self.input))?.output)?;
        let largest = gradient.iter().fold(0f64, |largest, part| largest.max(part.abs()));
        for (i, part) in gradient.iter().enumerate() {
            let direction = gradient.iter().enumerate().map(|(j, _)| if i == j { "1 " } else { "0 " });
            let forward =
                number(&self.forward.executable, &format!("{} {}", self.input, direction.collect::<String>()))?;
            let differences = (self.beside(i, STEP)? - self.beside(i, -STEP)?) / (2.0 * STEP);
            if !close(*part, forward, TOLERANCE * largest)
                || !close(*part, differences, DIFFERENCES_TOLERANCE * largest.max(value.abs()))
            {
                wrong.push(format!(
                    "{}: derivative {i} is {part}, in forward mode {forward}, by differences {differences}",
                    self.name
                ));
            }
        }
        Ok(wrong)
    }

    /// The value a step away from the place, in the direction of one of its numbers, which come first in the input.
    fn beside(&self, index: usize, step: f64) -> Result<f64> {
        let mut numbers: Vec<String> = self.input.split_whitespace().map(str::to_string).collect();
        let moved = numbers.get_mut(index).ok_or("the place is in the input")?;
        *moved = (moved.parse::<f64>()? + step).to_string();
        number(&self.value.executable, &format!("{} 1", numbers.join(" ")))
    }
}

/// How many rounds take long enough to be measured.
fn enough_rounds(executable: &Path, input: &str) -> Result<u64> {
    let mut rounds = 1;
    while run(executable, &format!("{input} {rounds}"))?.time < LEAST_TIME {
        rounds *= 2;
    }
    Ok(rounds)
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// The number that a program prints.
fn number(executable: &Path, input: &str) -> Result<f64> {
    Ok(run(executable, input)?.output.trim().parse()?)
}

/// All numbers of a printed value.
fn numbers(text: &str) -> Result<Vec<f64>> {
    let words = text.split(['(', ')', ' ', '\n']).filter(|word| !word.is_empty() && *word != ".");
    Ok(words.map(str::parse).collect::<std::result::Result<_, _>>()?)
}
