//! VLAD beside other tools on GradBench's own inputs: `vlad-gradbench compare`.
//!
//! | module | |
//! |---|---|
//! | [`peers`] | the other tools: how each is had and started |
//! | [`suite`] | the inputs, and which sizes are measured |
//! | [`contest`] | one run of a tool |
//! | [`agree`] | whether tools compute the same |
//! | [`table`], [`plot`] | what is written |
//!
//! The tools take turns: in every round each one computes the function on the same input once, in a process of its own.
//! So what else happens on the machine happens to all, and ratios mean something though times vary.

pub mod agree;

pub mod contest;

pub mod peers;

pub mod plot;

pub mod suite;

pub mod table;

use crate::Result;
use crate::build;
use crate::evals::{Eval, Function};
use crate::runs::median;
use contest::{Answer, Limits, Of};
use peers::{PEERS, Peer, Start};
use serde_json::Value;
use std::path::{Path, PathBuf};
use suite::Sized;
use table::{Cell, Report, Row};

/// The evals that some peer has; `hello` takes no time that could be measured.
const EVALS: [&str; 9] = ["gmm", "ba", "kmeans", "lse", "llsq", "lstm", "ht", "ode", "det"];

/// Who has taken so many times what the best has taken has lost.
const LOST: f64 = 10.0;

/// It computes the gradient of the solution that the method approximates, from a formula, and takes no steps.
const CLOSED_FORM: (&str, &str, &str) = ("manual", "ode", "gradient");

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The evals.
    pub evals: Vec<String>,
    /// The peers.
    pub only: Vec<String>,
    /// How often each tool has its turn.
    pub runs: usize,
    /// How long a call may take.
    pub seconds: f64,
    /// How much memory a process may take, in gigabytes.
    pub memory: f64,
    /// Which of several times counts.
    pub of_times: Of,
    /// Where the peers are.
    pub peers: PathBuf,
    /// Where table and picture are written; by default only if everything is asked for.
    pub results: Option<PathBuf>,
}

impl Options {
    /// Understands the arguments.
    pub fn parse(arguments: &[&str]) -> Result<Options> {
        let mut options = Options {
            evals: Vec::new(),
            only: PEERS.iter().map(|peer| peer.name.to_owned()).collect(),
            runs: 5,
            seconds: 10.0,
            memory: 8.0,
            of_times: Of::Median,
            peers: build::folder().join("../../target/gradbench-peers"),
            results: None,
        };
        let mut rest = arguments.iter();
        let mut whole = true;
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().copied().ok_or_else(|| format!("`{argument}` needs a value"));
            match *argument {
                "--only" => {
                    options.only = value()?.split(',').map(str::to_owned).collect();
                    options.only.iter().try_for_each(|name| Peer::find(name).map(drop))?;
                    whole = false;
                }
                "--runs" => options.runs = positive(value()?)? as usize,
                "--seconds" => options.seconds = positive(value()?)?,
                "--memory" => options.memory = positive(value()?)?,
                "--least" => options.of_times = Of::Least,
                "--peers" => options.peers = PathBuf::from(value()?),
                "--results" => options.results = Some(PathBuf::from(value()?)),
                eval if EVALS.contains(&eval) => options.evals.push(eval.to_owned()),
                other => return Err(format!("`compare` knows no eval and no option `{other}`")),
            }
        }
        if options.evals.is_empty() {
            options.evals = EVALS.map(str::to_owned).to_vec();
            options.results = options.results.or_else(|| whole.then(|| build::folder().join("results")));
        }
        Ok(options)
    }

    fn limits(&self) -> Limits {
        Limits { seconds: self.seconds, memory: (self.memory * 1e9) as u64, of_times: self.of_times }
    }
}

fn positive(text: &str) -> Result<f64> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|number| *number > 0.0 && number.is_finite()).ok_or_else(|| format!("`{text}` is no positive number"))
}

/// Measures, prints the table, and writes table and picture.
pub fn compare(arguments: &[&str]) -> Result<()> {
    let mut options = Options::parse(arguments)?;
    std::fs::create_dir_all(&options.peers).map_err(|error| format!("{}: {error}", options.peers.display()))?;
    // Peers are started in other folders.
    options.peers = options.peers.canonicalize().map_err(|error| error.to_string())?;
    peers::prepare(&options.peers)?;
    let mut report = Report::default();
    let mut had = Vec::new();
    for name in &options.only {
        let peer = Peer::find(name)?;
        eprintln!("{name}: fetching and building what is not there yet");
        let had_it = peer.have(&options.peers);
        report.about.push(match &had_it {
            Ok(version) => format!("{name}: {version}"),
            Err(error) => format!("{name}: could not be had ({error})"),
        });
        report.peers.push(peer.name);
        had.push((peer, had_it.is_ok()));
    }
    report.about.push(format!(
        "vlad: {}; {}; {}; the C++ tools by {}",
        env!("CARGO_PKG_VERSION"),
        machine(),
        std::env::consts::ARCH,
        compiler()
    ));
    report.about.push(format!(
        "{} rounds, in which each tool has its turn, and the {} of the times; a call may take {} s and a process {} GB",
        options.runs,
        if options.of_times == Of::Median { "median" } else { "least" },
        options.seconds,
        options.memory
    ));
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    for name in &options.evals {
        let eval = Eval::find(name)?;
        let mut match_up = Match { eval, options: &options, directory: directory.path(), peers: &had, report };
        let result = match_up.all_sizes();
        report = match_up.report;
        if let Err(error) = result {
            report.remarks.push(format!("{name}: {error}"));
        }
        // What has been measured is not lost if the rest is.
        if let Some(results) = &options.results {
            write(&report, results)?;
        }
    }
    println!("{}", report.page());
    Ok(())
}

fn write(report: &Report, folder: &Path) -> Result<()> {
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(error)?;
    std::fs::write(folder.join("compare.md"), report.page()).map_err(error)?;
    std::fs::write(folder.join("compare.svg"), plot::plot(report)).map_err(error)
}

/// The processor's name, where the system tells, and how many can be used.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", name.map_or("unknown processor", |(_, name)| name))
}

fn compiler() -> String {
    let output = std::process::Command::new("c++").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("no compiler").into()
}

/// An eval, in which the tools meet.
struct Match<'a> {
    eval: &'static Eval,
    options: &'a Options,
    directory: &'a Path,
    /// The peers, and whether they could be had.
    peers: &'a [(&'static Peer, bool)],
    report: Report,
}

/// A tool in one row.
#[derive(Default)]
struct Contestant {
    times: Vec<f64>,
    megabytes: Vec<f64>,
    /// Why it takes no turns any more.
    out: Option<String>,
}

impl Contestant {
    /// Lets it run once more, if it has not failed yet; what it computes.
    fn turn(&mut self, run: impl FnOnce() -> Result<Answer>) -> Option<Value> {
        if self.out.is_some() {
            return None;
        }
        match run() {
            Ok(answer) => {
                self.times.push(answer.milliseconds);
                self.megabytes.push(answer.megabytes);
                Some(answer.output)
            }
            Err(error) => {
                self.out = Some(error);
                None
            }
        }
    }

    /// The shortest time so far, unless it is out.
    fn best(&self) -> Option<f64> {
        let times = self.times.iter().copied().filter(|_| self.out.is_none());
        times.reduce(f64::min)
    }

    fn cell(self, of_times: Of) -> Cell {
        match self.out {
            Some(why) => Cell::Not(why),
            None => Cell::Took(of_times.times(&self.times), median(&self.megabytes)),
        }
    }
}

impl Match<'_> {
    fn all_sizes(&mut self) -> Result<()> {
        let eval = self.eval;
        let mut executables = Vec::new();
        for function in eval.functions {
            executables.push((function, build::vlad(eval, function, self.directory)?));
        }
        let sizes = suite::sizes(eval.name, &self.options.peers)?;
        let chosen = suite::choose(sizes.len(), |at| {
            let input = suite::read(&sizes[at].path)?;
            let limits = self.options.limits();
            Ok(executables.iter().all(|(function, path)| contest::ours(eval, function, path, &input, limits).is_ok()))
        })?;
        match (chosen.last(), sizes.last()) {
            (Some(last), Some(largest)) if last + 1 < sizes.len() => {
                let largest = &largest.name;
                self.report.remarks.push(format!("{}: ours does not do sizes up to {largest}", eval.name));
            }
            (None, _) => return Err("ours does no size".into()),
            _ => {}
        }
        let starts: Vec<Result<Start>> = self
            .peers
            .iter()
            .map(|(peer, had)| if *had { peer.start(eval.name, &self.options.peers) } else { Err("-".into()) })
            .collect();
        for at in chosen {
            for (function, executable) in &executables {
                let row = self.row(&sizes[at], function, executable, &starts)?;
                let ratio = row.ratio().map_or("-".into(), table::digits);
                eprintln!("{} {} {}: {ratio}", row.eval, row.size, row.function);
                self.report.rows.push(row);
            }
        }
        Ok(())
    }

    /// All tools on one input.
    fn row(
        &mut self,
        size: &Sized,
        function: &'static Function,
        executable: &Path,
        starts: &[Result<Start>],
    ) -> Result<Row> {
        let eval = self.eval;
        let mut input = suite::read(&size.path)?;
        let limits = self.options.limits();
        let mut us = Contestant::default();
        us.turn(|| contest::ours(eval, function, executable, &input, limits));
        input["min_runs"] = contest::calls(us.best().unwrap_or(f64::INFINITY)).into();
        input["min_seconds"] = contest::RUNS.time.as_secs_f64().into();
        let file = self.directory.join("input.json");
        suite::write(&file, &input)?;
        // Who is not there, or was too slow on a smaller input, has no turn.
        let out = |(at, start): (usize, &Result<Start>)| match start {
            Ok(_) if (self.peers[at].0.name, eval.name, function.name) == CLOSED_FORM => Some("closed form".into()),
            Ok(_) => self.report.late(eval.name, function.name, at),
            Err(why) => Some(why.clone()),
        };
        let others = starts.iter().enumerate().map(|start| Contestant { out: out(start), ..Contestant::default() });
        let mut others: Vec<Contestant> = others.collect();
        let mut remarks = Vec::new();
        for _ in 0..self.options.runs {
            let expected = us.turn(|| contest::ours(eval, function, executable, &input, limits));
            // Who has lost needs no more turns: another one would not make it the best.
            let best = others.iter().filter_map(Contestant::best).fold(us.best().unwrap_or(f64::INFINITY), f64::min);
            for (at, other) in others.iter_mut().enumerate() {
                if other.best().is_some_and(|time| time > LOST * best) {
                    continue;
                }
                let Ok(start) = &starts[at] else { continue };
                let found = other.turn(|| contest::peer(start, function.name, &file, limits, self.directory));
                if let (Some(found), Some(expected)) = (found, &expected)
                    && let Err(error) = agree::agree(expected, &found)
                {
                    other.out = Some("**differs**".into());
                    let peer = self.peers[at].0.name;
                    remarks.push(format!("{} {} {}: ours and {peer}: {error}", eval.name, size.name, function.name));
                }
            }
        }
        self.report.remarks.extend(remarks);
        Ok(Row {
            eval: eval.name,
            size: size.name.clone(),
            function: function.name,
            primal: std::ptr::eq(function, &eval.functions[0]),
            ours: us.cell(limits.of_times),
            peers: others.into_iter().map(|other| other.cell(limits.of_times)).collect(),
        })
    }
}
