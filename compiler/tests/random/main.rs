//! Random programs: evaluator and compiled program give the same answer, or fail in the same way.
//!
//! The reference evaluator is the oracle. A program that disagrees is shrunk before it is shown. Environment variables
//! choose what is run:
//!
//! | | |
//! |---|---|
//! | `VLAD_RANDOM` | how many programs |
//! | `VLAD_RANDOM_SEED` | the seed of the first |
//! | `VLAD_RANDOM_PROFILE` | `calm`, `wild`, `checked`, `lawful`, `library` or `steps`; otherwise some of the first 4 |
//! | `VLAD_RANDOM_SIZE` | how large they may be; otherwise 120 |
//! | `VLAD_RANDOM_JOBS` | how many at a time; otherwise one for each core |
//! | `VLAD_RANDOM_SHRINK` | how many seconds to spend on shrinking each program |
//! | `VLAD_RANDOM_LIMIT` | how many seconds compiling may take |
//! | `VLAD_RANDOM_KEEP` | a folder for the programs that disagree |
//! | `VLAD_RANDOM_IGNORE` | kinds of disagreement that do not count (see [`verdict`]) |
//! | `VLAD_RANDOM_SHOW` | set, prints the programs instead of running them |
//!
//! | file | |
//! |---|---|
//! | [`generate`], [`types`], [`special`], [`control`], [`sums`], [`mistakes`] | a seed → a program |
//! | [`calculus`], [`modes`], [`given`] | the derivatives in it |
//! | [`library`], [`calls`] | programs made of library calls, and their derivatives of high order |
//! | [`steps`] | loops whose rounds make vectors, and their derivatives |
//! | [`settings`] | what it is compiled with |
//! | [`examine`] | a program → what evaluator and compiled program do |
//! | [`worker`] | the processes in which all this happens |
//! | [`verdict`] | what they answer |
//! | [`differences`] | derivatives against finite differences |
//! | [`laws`] | derivatives against the laws that they obey |
//! | [`features`] | what the programs reach |
//! | [`reduce`] | shrinking |

#[path = "../common/mod.rs"]
mod common;

mod calculus;

mod calls;

mod control;

mod differences;

mod examine;

mod features;

mod generate;

mod given;

mod laws;

mod library;

mod mistakes;

mod modes;

mod reduce;

mod rng;

mod settings;

mod sexp;

mod special;

mod steps;

mod sums;

mod types;

mod vectors;

mod verdict;

mod worker;

use generate::{Profile, Program, generate};
use libtest_mimic::{Arguments, Failed, Trial};
use mimalloc::MiMalloc;
use sexp::{Sexp, print};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use verdict::{Kind, Verdict};
use worker::{Worker, last_panic};

/// The compiler's own. Half of the time of a worker is the compiler's, which makes and drops small vectors by the
/// million.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many smaller programs to try for each one that disagrees, and for how many seconds.
const TRIALS: usize = 5000;
const SHRINKING: u64 = 60;

/// Progress is told after so many programs.
const REPORT: u64 = 1000;

fn main() {
    if let Some(folder) = std::env::var_os(worker::VARIABLE) {
        return worker::work(PathBuf::from(folder));
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("engines_agree_on_random_programs", || engines_agree(None, 300).map(drop)),
        Trial::test("derivatives_of_random_functions_obey_laws", laws_hold),
        Trial::test("derivatives_of_library_calls_agree", library_calls_agree),
        Trial::test("derivatives_of_steps_agree", || engines_agree(Some(Profile::Steps), 60).map(drop)),
        Trial::test("the_sign_of_a_zero_is_recognised", the_sign_of_a_zero_is_recognised),
        Trial::test("programs_are_the_same_for_the_same_seed", programs_are_the_same_for_the_same_seed),
        Trial::test("reduction_finds_the_cause", reduction_finds_the_cause),
        Trial::test("the_documented_command_works", the_documented_command_works),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The program of a seed. The environment may choose another profile.
fn program(seed: u64, profile: Option<Profile>) -> Program {
    let profile = match std::env::var("VLAD_RANDOM_PROFILE").as_deref() {
        Ok("calm") => Some(Profile::Calm),
        Ok("wild") => Some(Profile::Wild),
        Ok("checked") => Some(Profile::Checked),
        Ok("lawful") => Some(Profile::Lawful),
        Ok("library") => Some(Profile::Library),
        Ok("steps") => Some(Profile::Steps),
        _ => profile,
    };
    generate(seed, profile, setting("VLAD_RANDOM_SIZE", 120) as usize)
}

/// Input and settings of a program, for people.
fn circumstances(program: &Program) -> String {
    format!("input {}, settings {}", program.input.trim_end().replace('\n', " "), program.settings)
}

/// What has been found so far.
#[derive(Default)]
struct Tally {
    programs: u64,
    kinds: BTreeMap<Kind, usize>,
    features: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl Tally {
    fn summary(&self) -> String {
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let features: Vec<String> = self.features.iter().map(|(name, count)| format!("{name} {count}")).collect();
        format!("{} programs: {}\n  of these: {}", self.programs, kinds.join(", "), features.join(", "))
    }
}

fn engines_agree(profile: Option<Profile>, count: u64) -> Result<Tally, Failed> {
    let (first, count) = (setting("VLAD_RANDOM_SEED", 2001), setting("VLAD_RANDOM", count));
    if std::env::var_os("VLAD_RANDOM_SHOW").is_some() {
        for seed in first..first + count {
            let program = program(seed, profile);
            println!("; seed {seed}, {}\n{}", circumstances(&program), print(&program.forms));
        }
        return Ok(Tally::default());
    }
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let next = AtomicU64::new(first);
    let tally = Mutex::new(Tally::default());
    let jobs = setting("VLAD_RANDOM_JOBS", std::thread::available_parallelism().map_or(2, |n| n.get() as u64));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut worker = Worker::new(folder.path());
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let found = examine(seed, profile, &mut worker);
                    note(&mut tally.lock().expect("no thread panics"), found, start);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no thread panics");
    println!("{}, {:.0} s", tally.summary(), start.elapsed().as_secs_f64());
    match tally.complaints.len() {
        0 => Ok(tally),
        some => Err(format!("{some} of {count} programs disagree\n{}", tally.complaints.join("\n")).into()),
    }
}

/// Programs that check laws of derivatives; most of them do get to the laws.
fn laws_hold() -> Result<(), Failed> {
    let tally = engines_agree(Some(Profile::Lawful), 30)?;
    let checked = tally.features.get("laws-checked").copied().unwrap_or_default() as u64;
    match 2 * checked >= tally.programs {
        true => Ok(()),
        false => Err(format!("laws were checked in {checked} of {} programs", tally.programs).into()),
    }
}

/// Programs made of library calls; the derivatives of most of them are numbers.
fn library_calls_agree() -> Result<(), Failed> {
    let tally = engines_agree(Some(Profile::Library), 10)?;
    let words = ["orders-checked", "derivative-zero", "rough"];
    let compared: usize = words.iter().filter_map(|word| tally.features.get(*word)).sum();
    let compared = compared as u64;
    match 2 * compared >= tally.programs {
        true => Ok(()),
        false => Err(format!("derivatives were compared in {compared} of {} programs", tally.programs).into()),
    }
}

fn note(tally: &mut Tally, (verdict, complaint): (Verdict, Option<String>), start: Instant) {
    tally.programs += 1;
    *tally.kinds.entry(verdict.kind).or_default() += 1;
    for feature in verdict.features {
        *tally.features.entry(feature).or_default() += 1;
    }
    if let Some(complaint) = &complaint {
        println!("{complaint}");
    }
    tally.complaints.extend(complaint);
    if tally.programs.is_multiple_of(REPORT) {
        println!("after {:.0} s: {}", start.elapsed().as_secs_f64(), tally.summary());
    }
}

/// Runs the program of a seed; if the ways to run it disagree, shrinks it and says how.
fn examine(seed: u64, profile: Option<Profile>, worker: &mut Worker) -> (Verdict, Option<String>) {
    let program = program(seed, profile);
    let mut verdict = worker.examine(&print(&program.forms), &program.input, &program.settings);
    if matches!(verdict.kind, Kind::Killed | Kind::Crash | Kind::Hang) {
        // The machine may have been short of memory or time; a mistake comes again.
        verdict = worker.examine(&print(&program.forms), &program.input, &program.settings);
    }
    if !counts(verdict.kind) {
        if let (Kind::Endless | Kind::IllFormed | Kind::Tower, Ok(folder)) =
            (verdict.kind, std::env::var("VLAD_RANDOM_KEEP"))
        {
            let text = format!("; {}\n{}", circumstances(&program), print(&program.forms));
            let _ = std::fs::write(Path::new(&folder).join(format!("{}-{seed}.vlad", verdict.kind)), text);
        }
        verdict.features.extend(program.features.iter().map(|feature| feature.to_string()));
        return (verdict, None);
    }
    let (begin, limit) = (Instant::now(), Duration::from_secs(setting("VLAD_RANDOM_SHRINK", SHRINKING)));
    let mut how = verdict.text.clone();
    let mut same_kind = |forms: &[Sexp]| {
        // What compares a derivative with differences must stay what it is.
        let checks = !matches!(verdict.kind, Kind::Derivative | Kind::Fails) || forms.last() == program.forms.last();
        if !checks || begin.elapsed() >= limit {
            return false;
        }
        let other = worker.examine(&print(forms), &program.input, &program.settings);
        let same = other.kind == verdict.kind;
        if same {
            how = other.text;
        }
        same
    };
    let small = reduce::reduce(&program.forms, TRIALS, &mut same_kind);
    let kind = verdict.kind;
    let complaint = format!("; {kind}, seed {seed}, {}\n{}{how}\n", circumstances(&program), print(&small));
    if let Ok(folder) = std::env::var("VLAD_RANDOM_KEEP") {
        let _ = std::fs::write(Path::new(&folder).join(format!("{kind}-{seed}.vlad")), &complaint);
    }
    (verdict, Some(complaint))
}

/// Whether a verdict is a complaint.
fn counts(kind: Kind) -> bool {
    let ignored = std::env::var("VLAD_RANDOM_IGNORE").unwrap_or_default();
    kind.is_failure() && !ignored.split(',').any(|name| name.parse() == Ok(kind))
}

fn the_sign_of_a_zero_is_recognised() -> Result<(), Failed> {
    assert_eq!(examine::normal("(-0 . -0)\n-0.5 1e-05 -0"), "(0 . 0)\n-0.5 1e-05 0");
    Ok(())
}

fn programs_are_the_same_for_the_same_seed() -> Result<(), Failed> {
    assert_eq!(print(&program(7, None).forms), print(&program(7, None).forms));
    Ok(())
}

fn reduction_finds_the_cause() -> Result<(), Failed> {
    let program = sexp::parse("(define a (+ 1 2)) (list (f 3) (car (cdr (list a 4 (bad 5 6)))))");
    let mut shows = |forms: &[Sexp]| print(forms).contains("bad");
    assert_eq!(print(&reduce::reduce(&program, 1000, &mut shows)), "bad\n");
    Ok(())
}

/// The command of CONTRIBUTING.md, with fewer programs, by this process's own program instead of one that cargo builds.
fn the_documented_command_works() -> Result<(), Failed> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../CONTRIBUTING.md");
    let text = std::fs::read_to_string(page)?.replace("\\\n", " ");
    let command = text.lines().find(|line| line.starts_with("VLAD_RANDOM=")).ok_or("there is no such command")?;
    let (settings, rest) = command.split_once("cargo test --release -p vlad --test random ").ok_or(command)?;
    let arguments: Vec<&str> = rest.split_whitespace().filter(|word| *word != "--").collect();
    let folder = tempfile::tempdir()?;
    let mut own = std::process::Command::new(std::env::current_exe()?);
    for setting in settings.split_whitespace() {
        let (name, value) = setting.split_once('=').ok_or(setting)?;
        match name {
            "VLAD_RANDOM" => own.env(name, "12"),
            "VLAD_RANDOM_KEEP" => own.env(name, folder.path()),
            _ => own.env(name, value),
        };
    }
    own.args(arguments);
    let outcome = common::run_command(own, "", Duration::from_secs(600));
    match outcome.code == Some(0) && outcome.output.contains("12 programs: ") {
        true => Ok(()),
        false => Err(format!("{command}\n{}{}", outcome.output, outcome.messages).into()),
    }
}
