//! The table: what each tool took for each function, ours beside the best of the others.

use std::fmt::Write;

/// What came of a tool on an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The time of a call in milliseconds, and the most memory of the process in megabytes.
    Took(f64, f64),
    /// Why there is no time, in a few words.
    Not(String),
}

impl Cell {
    /// The milliseconds.
    pub fn time(&self) -> Option<f64> {
        if let Cell::Took(milliseconds, _) = self { Some(*milliseconds) } else { None }
    }
}

/// A function of an eval on an input of some size.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The eval.
    pub eval: &'static str,
    /// What the eval calls the input.
    pub size: String,
    /// The function.
    pub function: &'static str,
    /// Whether it is the primal.
    pub primal: bool,
    /// What came of ours.
    pub ours: Cell,
    /// What came of each peer, in the order of their names.
    pub peers: Vec<Cell>,
}

impl Row {
    /// The peer that took least, and what it took.
    pub fn best(&self) -> Option<(usize, f64)> {
        let times = self.peers.iter().enumerate().filter_map(|(at, cell)| Some((at, cell.time()?)));
        times.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Ours over the best peer.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.ours.time()? / self.best()?.1)
    }

    /// Ours over one of the peers.
    fn ratio_to(&self, peer: usize) -> Option<f64> {
        Some(self.ours.time()? / self.peers.get(peer)?.time()?)
    }
}

/// What was measured, by whom and where.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The peers' names.
    pub peers: Vec<&'static str>,
    /// What the table says about machine, versions and settings, an item each.
    pub about: Vec<String>,
    /// The rows, eval by eval.
    pub rows: Vec<Row>,
    /// What went wrong, an item each.
    pub remarks: Vec<String>,
}

/// The geometric mean of some ratios.
pub fn mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    if logarithms.is_empty() { None } else { Some((logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()) }
}

/// A number with three digits that count.
pub fn digits(number: f64) -> String {
    let before = if number > 0.0 { number.log10().floor() as i32 } else { 0 };
    format!("{number:.*}", (2 - before).clamp(0, 6) as usize)
}

/// What a tool gets that takes too long, or too much.
pub const LIMITS: [&str; 3] = ["out of time", "out of memory", "> "];

impl Report {
    /// Why a peer needs not try a larger input than those before.
    pub fn late(&self, eval: &str, function: &str, peer: usize) -> Option<String> {
        let rows = self.rows.iter().filter(|row| row.eval == eval && row.function == function);
        let mut why = rows.filter_map(|row| match &row.peers[peer] {
            Cell::Not(why) => Some(why),
            Cell::Took(..) => None,
        });
        why.rfind(|why| LIMITS.iter().any(|limit| why.starts_with(limit))).cloned()
    }

    /// The whole page, in Markdown.
    pub fn page(&self) -> String {
        let mut page = "# VLAD beside other tools in GradBench\n\nWritten by `vlad-gradbench compare`.\n\n".to_owned();
        self.about.iter().for_each(|item| line(&mut page, &format!("- {item}")));
        page += "\n## Time\n\nMilliseconds of a call, and ours over the best of the others: above 1 we lose.\n\n";
        page += &self.times();
        page += "\n## Means\n\nGeometric means of ours over the best of the others, and over each one.\n\n";
        page += &self.means();
        page +=
            "\n## Memory\n\nThe most that a process had, in MB. The others' processes read JSON themselves, or are ";
        page += "an interpreter.\n\n";
        page += &self.memory();
        if !self.remarks.is_empty() {
            page += "\n## What went wrong\n\n";
            self.remarks.iter().for_each(|item| line(&mut page, &format!("- {item}")));
        }
        page
    }

    /// A row for each function on each input.
    pub fn times(&self) -> String {
        let mut table = self.head(&["eval", "size", "function", "vlad"], &["ours / best", "best"]);
        for row in &self.rows {
            let mut cells = vec![row.eval.to_owned(), row.size.clone(), row.function.into(), time(&row.ours)];
            cells.extend(row.peers.iter().map(time));
            match (row.best(), row.ratio()) {
                (Some((best, _)), Some(ratio)) => cells.extend([digits(ratio), self.peers[best].into()]),
                _ => cells.extend(["-".into(), "-".into()]),
            }
            line(&mut table, &format!("| {} |", cells.join(" | ")));
        }
        table
    }

    /// Geometric means for all evals and for each.
    pub fn means(&self) -> String {
        let mut table = self.head(&["eval", "functions", "ours / best"], &[]);
        let mut add = |name: &str, functions: &str, rows: &[&Row]| {
            let shown = |ratio: Option<f64>| ratio.map_or("-".into(), digits);
            let mut cells = vec![name.to_owned(), functions.into()];
            cells.push(shown(mean(rows.iter().filter_map(|row| row.ratio()))));
            for peer in 0..self.peers.len() {
                cells.push(shown(mean(rows.iter().filter_map(|row| row.ratio_to(peer)))));
            }
            line(&mut table, &format!("| {} |", cells.join(" | ")));
        };
        let mut evals: Vec<&str> = self.rows.iter().map(|row| row.eval).collect();
        evals.dedup();
        for (functions, primal) in [("primal", true), ("derivative", false)] {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.primal == primal).collect();
            for eval in &evals {
                add(eval, functions, &rows.iter().copied().filter(|row| row.eval == *eval).collect::<Vec<_>>());
            }
            add("**all**", functions, &rows);
        }
        table
    }

    fn memory(&self) -> String {
        let mut table = self.head(&["eval", "size", "function", "vlad"], &[]);
        for row in &self.rows {
            let mut cells = vec![row.eval.to_owned(), row.size.clone(), row.function.into(), memory(&row.ours)];
            cells.extend(row.peers.iter().map(memory));
            line(&mut table, &format!("| {} |", cells.join(" | ")));
        }
        table
    }

    /// The first two lines of a table with a column for each peer.
    fn head(&self, before: &[&str], after: &[&str]) -> String {
        let names = [before, &self.peers, after].concat();
        format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()))
    }
}

fn line(text: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

fn time(cell: &Cell) -> String {
    match cell {
        Cell::Took(milliseconds, _) => digits(*milliseconds),
        Cell::Not(why) => why.clone(),
    }
}

fn memory(cell: &Cell) -> String {
    match cell {
        Cell::Took(_, megabytes) if megabytes.is_finite() => digits(*megabytes),
        _ => "-".into(),
    }
}
