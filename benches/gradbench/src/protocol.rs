//! GradBench's protocol: messages in, responses out, one JSON object in each line.
//!
//! | message | what is done | response |
//! |---|---|---|
//! | `start` | | `tool` |
//! | `define` | the functions of a module are compiled | `success`, `timings` |
//! | `evaluate` | a function is called as often as asked | `success`, `output`, `timings` |
//! | others | | |
//!
//! Every response has the `id` of its message. What fails has `success` false and an `error`.

use crate::Result;
use crate::build;
use crate::encode::Language;
use crate::evals::Eval;
use crate::runs::Runs;
use crate::session::Session;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

/// The tool: what it has compiled so far.
pub struct Tool {
    directory: tempfile::TempDir,
    executables: HashMap<(&'static str, &'static str), PathBuf>,
}

impl Tool {
    /// A tool that has compiled nothing.
    pub fn new() -> Result<Tool> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Tool { directory, executables: HashMap::new() })
    }

    /// Answers messages until there are no more.
    pub fn run(&mut self, input: impl BufRead, mut output: impl Write) -> Result<()> {
        for line in input.lines() {
            let line = line.map_err(|error| error.to_string())?;
            if line.trim().is_empty() {
                continue;
            }
            let message = serde_json::from_str(&line).map_err(|error| format!("not a message: {error}"))?;
            let response = self.respond(&message);
            writeln!(output, "{response}").and_then(|()| output.flush()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The response to a message.
    pub fn respond(&mut self, message: &Value) -> Value {
        let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        let result = match text("kind") {
            "start" => Ok(json!({ "tool": "vlad" })),
            "define" => self.define(text("module")),
            "evaluate" => {
                let input = message.get("input").unwrap_or(&Value::Null);
                self.evaluate(text("module"), text("function"), input)
            }
            _ => Ok(json!({})),
        };
        let mut response = result.unwrap_or_else(|error| json!({ "success": false, "error": error }));
        response["id"] = message.get("id").cloned().unwrap_or(Value::Null);
        response
    }

    fn define(&mut self, module: &str) -> Result<Value> {
        let eval = Eval::find(module)?;
        let mut timings = Vec::new();
        for function in eval.functions {
            let start = Instant::now();
            self.executable(eval, function.name)?;
            timings.push(json!({ "name": "compile", "nanoseconds": start.elapsed().as_nanos() as u64 }));
        }
        Ok(json!({ "success": true, "timings": timings }))
    }

    fn executable(&mut self, eval: &'static Eval, function: &str) -> Result<PathBuf> {
        let function = eval.function(function)?;
        let key = (eval.name, function.name);
        if let Some(path) = self.executables.get(&key) {
            return Ok(path.clone());
        }
        let path = build::vlad(eval, function, self.directory.path())?;
        self.executables.insert(key, path.clone());
        Ok(path)
    }

    /// Calls a function on an input as often as that asks for.
    pub fn evaluate(&mut self, module: &str, function: &str, input: &Value) -> Result<Value> {
        let eval = Eval::find(module)?;
        let executable = self.executable(eval, function)?;
        let bytes = Language::Vlad.input(eval.fields, input)?;
        let (mut session, numbers) = Session::of(&executable, Language::Vlad, &bytes)?;
        let output = eval.function(function)?.output(input, &numbers)?;
        let timings = Runs::of(input).measure(&mut session)?;
        session.end()?;
        let timings: Vec<Value> =
            timings.iter().map(|time| json!({ "name": "evaluate", "nanoseconds": time.round() as u64 })).collect();
        Ok(json!({ "success": true, "output": output, "timings": timings }))
    }
}
