//! The figures of `vlad bench` as JSON.

use super::{Group, Row, table};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// One object on one line.
pub fn report(file: &Path, least: Duration, groups: &[Group]) -> String {
    let groups: Vec<Value> = groups.iter().map(group).collect();
    let object = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "file": file.display().to_string(),
        "min_time": least.as_secs_f64(),
        "calls": groups,
    });
    format!("{object}\n")
}

fn group(group: &Group) -> Value {
    let rows: Vec<Value> = group.rows.iter().map(|row| self::row(row, &group.rows[0])).collect();
    json!({ "call": group.call, "place": group.place, "measured": rows })
}

fn row(row: &Row, value: &Row) -> Value {
    json!({
        "name": row.name,
        "seconds": {
            "median": row.time.median(),
            "quartiles": [row.time.quarter(1), row.time.quarter(3)],
            "runs": row.time.values(),
        },
        "ratio": table::ratio(row, value),
        "box_bytes": row.boxes,
        "memory_bytes": row.memory,
        "compile_seconds": row.compile_time,
        "executable_bytes": row.size,
    })
}
