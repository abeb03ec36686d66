//! The law of growth: derivatives take time and memory in proportion to their function, however large the data are.
//!
//! The programs of `tests/growth` (see [`families`]) are compiled and run by the SSA evaluator, which counts
//! instructions, with elements that are made or copied as so many, and the fields of boxes that are alive at once.
//! Counts for `n`, `2n`, `4n` and `8n` are compared with those of the function. Of the four mixes of modes for second
//! derivatives, which take most of the time, two are measured for each family, which its name says; `VLAD_GROWTH=all`
//! measures all. What `tests/growth/open` names is left out; `VLAD_GROWTH_OPEN=1` runs only that, and prints what obeys the
//! law by now.

#[path = "growth/families.rs"]
mod families;

use families::{DOUBLINGS, Family, MIXES, Mix, families};
use libtest_mimic::{Arguments, Failed, Trial};
use mimalloc::MiMalloc;
use std::path::Path;
use vlad::base::SourceMap;
use vlad::pipeline::passes::{RESULT, Settings as Optimisation, optimize};
use vlad::pipeline::{Pipeline, Settings};
use vlad::ssa::eval::{self, Options};
use vlad::ssa::ir::Program;

/// The compiler's own: most of the time is the compiler's, which makes and drops small vectors by the million.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// There are at least so many.
const FAMILIES: usize = 150;

/// The smallest sizes, for linear, quadratic and cubic work.
const SIZES: [u32; 3] = [64, 12, 4];

/// Three doublings may change a ratio to the primal by so much, and the last of them by so much. What is by one power
/// of `n` too dear makes it up to eight times as large.
const MOST: f64 = 1.5;
const MOST_OF_LAST: f64 = 1.12;

/// The fields that a doubling adds may grow by so much more than what bounds them; by one power of `n` too many they
/// grow twice as much more.
const MOST_OF_MEMORY: f64 = 1.7;

/// A doubling that takes fewer fields more takes none.
const FEW: f64 = 100.0;

/// Numbers that are equal up to rounding may differ by so much, relatively.
const TOLERANCE: f64 = 1e-6;

/// For what grows as it should, more than enough.
const FUEL: u64 = 50_000_000;

fn main() {
    let arguments = Arguments::from_args();
    let trials = match families() {
        Ok(families) if families.len() < FAMILIES => {
            vec![Trial::test("families", move || Err(format!("there are only {}", families.len()).into()))]
        }
        Ok(families) => families.into_iter().map(trial).chain(programs()).collect(),
        Err(message) => vec![Trial::test("families", move || Err(message.into()))],
    };
    libtest_mimic::run(&arguments, trials).exit();
}

/// Programs that read a length and print a number of a gradient: twice the length takes about twice the steps.
fn programs() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/growth");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let texts =
        entries.filter_map(|path| Some((path.file_stem()?.to_str()?.to_string(), std::fs::read_to_string(path).ok()?)));
    let others = texts.filter(|(name, text)| name != "open" && !text.contains("\n; work: "));
    others.map(|(name, text)| Trial::test(name, move || check_program(&text))).collect()
}

fn check_program(text: &str) -> Result<(), Failed> {
    let program = code(text)?;
    let [once, twice] = [run(&program, 400)?, run(&program, 800)?];
    match (twice.number == 0.0, twice.steps / once.steps) {
        (true, _) => Err("the gradient is zero, which says nothing".into()),
        (_, ratio) if ratio > 2.2 => Err(format!("twice the length takes {ratio:.2} times the work").into()),
        _ => Ok(()),
    }
}

fn trial(family: Family) -> Trial {
    Trial::test(family.name.clone(), move || match std::env::var_os("VLAD_GROWTH_OPEN") {
        Some(_) => {
            look(&family);
            Ok(())
        }
        None => check(&family, |mix| !family.open.contains(mix.name) && is_measured(&family, mix)),
    })
}

/// Both of a pair are there for a family, so that what they compute can be compared.
fn is_measured(family: &Family, mix: Mix) -> bool {
    let pair =
        if family.name.bytes().map(u32::from).sum::<u32>().is_multiple_of(2) { ["FF", "RR"] } else { ["FR", "RF"] };
    mix.order < 2 || pair.contains(&mix.name) || std::env::var("VLAD_GROWTH").is_ok_and(|which| which == "all")
}

/// Says what of the open parts of a family holds, and what does not.
fn look(family: &Family) {
    for name in &family.open {
        match check(family, |mix| mix.name == name || mix.order == 0) {
            Ok(()) => println!("{} {name}: holds", family.name),
            Err(failed) => println!("{} {name}: {}", family.name, failed.message().unwrap_or("fails")),
        }
    }
}

/// What a program did for one size.
struct Measured {
    number: f64,
    steps: f64,
    fields: f64,
}

fn check(family: &Family, wanted: impl Fn(Mix) -> bool) -> Result<(), Failed> {
    let (mut primal, mut wrong): (Vec<Measured>, Vec<String>) = (Vec::new(), Vec::new());
    let mut numbers: [Option<(Mix, f64)>; 3] = [None; 3];
    for mix in MIXES.into_iter().filter(|mix| wanted(*mix)) {
        let measured = match measure(family, mix) {
            Ok(measured) => measured,
            Err(error) => {
                wrong.push(format!("{}: {error}", mix.name));
                continue;
            }
        };
        let number = measured.last().map_or(f64::NAN, |last| last.number);
        let (other, expected) = *numbers[mix.order].get_or_insert((mix, number));
        let is_close = (number - expected).abs() <= TOLERANCE * expected.abs().max(1e-3);
        if !is_close {
            wrong.push(format!("{} is {number}, but {} is {expected}", mix.name, other.name));
        }
        let complaints = match mix.order {
            0 => growth_of_primal(family, &measured),
            _ => growth(family, &primal, &measured),
        };
        wrong.extend(complaints.into_iter().map(|text| format!("{}: {text}", mix.name)));
        if mix.order == 0 {
            primal = measured;
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

fn measure(family: &Family, mix: Mix) -> Result<Vec<Measured>, String> {
    let program = code(&family.program(mix))?;
    family.sizes(SIZES).take(DOUBLINGS as usize + 1).map(|size| run(&program, size)).collect()
}

fn code(text: &str) -> Result<Program, String> {
    const NAME: &str = "program.vlad";
    let mut pipeline = Pipeline::new(Settings::default());
    pipeline.sources = SourceMap::carrying([(NAME.to_string(), text.to_string())]);
    let program = pipeline.expand(Path::new(NAME)).map_err(|_| "the program has mistakes")?;
    let mut program = pipeline.first_order(&program).map_err(|_| "the program cannot be compiled")?;
    optimize(&mut program, &Optimisation::default());
    Ok(program)
}

fn run(program: &Program, size: u32) -> Result<Measured, String> {
    let options = Options { stage: RESULT, fuel: Some(FUEL), tape_memory: eval::ALL_MEMORY };
    let found = eval::run_on(program, &format!("{size}\n"), options);
    let (outcome, output, errors) = found.map_err(|error| format!("{error} for {size}"))?;
    if outcome.exit_code != 0 {
        return Err(errors);
    }
    let number = output.trim().parse().map_err(|_| format!("`{output}` is no number"))?;
    let counts = outcome.counts;
    Ok(Measured { number, steps: counts.steps as f64, fields: counts.most_fields as f64 })
}

/// What is wrong with how the function itself grows. What it does may depend on its data, and short loops may be made
/// otherwise than long ones, so only the largest size says much.
fn growth_of_primal(family: &Family, measured: &[Measured]) -> Vec<String> {
    let steps = measured.iter().zip(family.sizes(SIZES)).map(|(measured, size)| measured.steps / family.work.of(size));
    let ratios: Vec<f64> = steps.collect();
    let (last, smaller) = ratios.split_last().expect("there are sizes");
    let grows = *last > MOST * smaller.iter().copied().fold(0.0, f64::max);
    grows.then(|| said("steps", &ratios)).into_iter().collect()
}

/// What is wrong with how a derivative grows, beside the function.
fn growth(family: &Family, primal: &[Measured], derivative: &[Measured]) -> Vec<String> {
    let allowed: Vec<f64> = family.sizes(SIZES).take(derivative.len()).map(|size| family.allowed(size)).collect();
    let both = || derivative.iter().zip(primal).zip(&allowed);
    let steps: Vec<f64> =
        both().map(|((derivative, primal), allowed)| derivative.steps / primal.steps / allowed).collect();
    let most = both().map(|((_, primal), allowed)| match family.has_tape {
        true => primal.steps.max(primal.fields) * allowed,
        false => primal.fields * allowed,
    });
    let fields = derivative.iter().map(|derivative| derivative.fields).collect();
    complain("steps", &steps).into_iter().chain(complain_of_memory(fields, most.collect())).collect()
}

/// Whether the last doubling adds more to the fields than the one before did, beside what each adds to what bounds
/// them. What is constant plays no part in that.
fn complain_of_memory(fields: Vec<f64>, most: Vec<f64>) -> Option<String> {
    let added = |counts: &[f64]| match *counts {
        [.., first, second, third] => (second - first, third - second),
        _ => (0.0, 0.0),
    };
    let ((before, last), (most_before, most_last)) = (added(&fields), added(&most));
    let allowed = if most_before > 0.0 { (most_last / most_before).max(1.0) } else { 1.0 };
    let grows = last > FEW && last / before.max(1.0) > MOST_OF_MEMORY * allowed;
    grows.then(|| format!("the number of fields grows: {fields:?}, beside {most:?}"))
}

/// Whether ratios grow: by more than [`MOST`] in all, or by more than [`MOST_OF_LAST`] in the last doubling.
fn complain(what: &str, ratios: &[f64]) -> Option<String> {
    let [first, .., before, last] = *ratios else { return Some("there are too few sizes".to_string()) };
    (last > MOST * first || last > MOST_OF_LAST * before).then(|| said(what, ratios))
}

fn said(what: &str, ratios: &[f64]) -> String {
    let texts: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    format!("the ratio of {what} grows: {}", texts.join(", "))
}
