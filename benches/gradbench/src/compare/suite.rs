//! The inputs of GradBench's own evals, as the evals themselves send them.
//!
//! ```text
//! run.py of an eval ── start, define, evaluate ──▶ here ── every answer: "not done" ──▶ run.py
//!                              │ input, description
//!                              ▼
//!                    PEERS/inputs/EVAL/NUMBER.json
//! ```
//!
//! An eval goes on when a tool cannot evaluate a function, and then validates nothing. So it needs none of the tools,
//! and no time but that of making its inputs. `lstm` reads a text of its own; what the text says does not
//! change what there is to do, so its inputs are made here, with the layers, lengths and widths of the eval.

use crate::Result;
use crate::inputs;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An input in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sized {
    /// What the eval calls it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// The inputs of an eval from small to large, made when they are first asked for.
pub fn sizes(eval: &str, peers: &Path) -> Result<Vec<Sized>> {
    let folder = peers.join("inputs").join(eval);
    let index = folder.join("index.json");
    if !index.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let names = if eval == "lstm" { make_lstm(&folder)? } else { ask(eval, peers, &folder)? };
        write(&index, &json!(names))?;
    }
    let names: Vec<String> = serde_json::from_value(read(&index)?).map_err(|error| error.to_string())?;
    Ok(names.into_iter().enumerate().map(|(at, name)| Sized { name, path: file(&folder, at) }).collect())
}

/// Which of so many sizes are measured: the smallest, one in the middle, and the largest that is no larger than the
/// last one that can be done in time.
pub fn choose(count: usize, mut in_time: impl FnMut(usize) -> Result<bool>) -> Result<Vec<usize>> {
    // Evals grow from one input to the next, and mostly all can be done.
    let (mut done, mut not_done) = (0, count);
    let mut next = count.saturating_sub(1);
    while done < not_done {
        if in_time(next)? {
            done = next + 1;
        } else {
            not_done = next;
        }
        next = (done + not_done) / 2;
    }
    let mut chosen: Vec<usize> = if done == 0 { Vec::new() } else { vec![0, (done - 1) / 2, done - 1] };
    chosen.dedup();
    Ok(chosen)
}

/// A JSON file.
pub fn read(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a JSON file.
pub fn write(path: &Path, value: &Value) -> Result<()> {
    std::fs::write(path, value.to_string()).map_err(|error| format!("{}: {error}", path.display()))
}

fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number}.json"))
}

fn make_lstm(folder: &Path) -> Result<Vec<String>> {
    /// The text of the eval has characters of so many bits.
    const BITS: usize = 14;
    let mut sizes: Vec<(usize, usize)> =
        [2, 4, 6].into_iter().flat_map(|l| [1024, 4096, 8192].map(|c| (l, c))).collect();
    sizes.sort_by_key(|(layers, length)| layers * length);
    for (at, (layers, length)) in sizes.iter().enumerate() {
        write(&file(folder, at), &inputs::network(*layers, *length, BITS))?;
    }
    Ok(sizes.iter().map(|(layers, length)| format!("l={layers},c={length}")).collect())
}

/// Lets an eval send its inputs.
fn ask(eval: &str, peers: &Path, folder: &Path) -> Result<Vec<String>> {
    let mut child = Command::new(peers.join("python/bin/python"))
        .arg(format!("python/gradbench/gradbench/evals/{eval}/run.py"))
        .current_dir(peers.join("gradbench"))
        .env("PYTHONPATH", peers.join("gradbench/python/gradbench"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("the eval {eval} does not start: {error}"))?;
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the eval has no streams".into());
    };
    let mut names: Vec<String> = Vec::new();
    for line in BufReader::new(from).lines() {
        let message: Value = line.map_err(|error| error.to_string()).and_then(|line| {
            serde_json::from_str(&line).map_err(|error| format!("the eval {eval} sends what is no message: {error}"))
        })?;
        // The functions of an eval get the same input one after the other.
        if let Some((name, input)) = sent(&message)
            && names.last().is_none_or(|last| last != name)
        {
            write(&file(folder, names.len()), input)?;
            names.push(name.into());
        }
        // An eval that ends does not read.
        let _ = writeln!(to, "{}", answer(&message)).and_then(|()| to.flush());
    }
    let _ = child.wait();
    // An eval that fails on its way has sent inputs that are as good as the others.
    if names.is_empty() { Err(format!("the eval {eval} sends no inputs")) } else { Ok(names) }
}

/// The description of a message and the input.
pub fn sent(message: &Value) -> Option<(&str, &Value)> {
    Some((message.get("description")?.as_str()?, message.get("input")?))
}

/// What keeps an eval going: functions can be defined, but not evaluated.
pub fn answer(message: &Value) -> Value {
    json!({ "id": message.get("id"), "success": message.get("kind").is_some_and(|kind| kind == "define") })
}
