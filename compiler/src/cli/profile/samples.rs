//! The samples that a program has written down → time by line, by function and by stack.
//!
//! A sample belongs to the innermost line of the program on its stack, and to the innermost function: what the run time
//! and the C library do is done for these.

use super::executable::{Executable, Line};
use crate::codegen::layout::{PROFILE_BASE, PROFILE_BYTES, PROFILE_FIRST, PROFILE_LOST, PROFILE_ORIGIN, PROFILE_USED};
use crate::ssa::ir::Phase;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::Hash;
use std::io::{self, Read};
use std::rc::Rc;

/// Nanoseconds: of values, of derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Of values.
    pub value: u64,
    /// Of derivatives.
    pub derivative: u64,
}

impl Time {
    /// Both.
    pub fn sum(self) -> u64 {
        self.value + self.derivative
    }

    fn add(&mut self, phase: Phase, time: u64) {
        match phase {
            Phase::Value => self.value += time,
            Phase::Derivative => self.derivative += time,
        }
    }
}

/// A function on stacks, with those that it calls.
#[derive(Debug, Default)]
pub struct Node {
    /// The time in it and in these.
    pub time: Time,
    /// These, by their names.
    pub callees: BTreeMap<Rc<str>, Node>,
}

/// Where a program spends its time.
#[derive(Debug, Default)]
pub struct Profile {
    /// How many samples there are.
    pub samples: usize,
    /// How many there was no room for.
    pub lost: u64,
    /// All time.
    pub time: Time,
    /// What no line of the program is on the stack of.
    pub elsewhere: u64,
    /// By lines.
    pub lines: Vec<(Line, Time)>,
    /// By functions.
    pub functions: Vec<(Rc<str>, Time)>,
    /// By stacks.
    pub stacks: Node,
}

/// What is in the file of a profile, in words.
pub fn read(mut file: File) -> io::Result<Vec<u64>> {
    let mut words = Vec::new();
    let mut take = |count: usize| {
        let mut bytes = vec![0; count * size_of::<u64>()];
        file.read_exact(&mut bytes)?;
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("words have eight bytes"));
        words.extend(bytes.chunks_exact(size_of::<u64>()).map(word));
        io::Result::Ok(words[PROFILE_USED])
    };
    let used = usize::try_from(take(PROFILE_FIRST)?).unwrap_or(usize::MAX);
    take(used.min(PROFILE_BYTES / size_of::<u64>() - PROFILE_FIRST))?;
    Ok(words)
}

impl Profile {
    /// What words in a file say about an executable.
    pub fn new(executable: &Executable, words: &[u64]) -> Profile {
        let mut profile = Profile { lost: words[PROFILE_LOST], ..Profile::default() };
        let origin = executable.address(PROFILE_ORIGIN).unwrap_or_default();
        let base = words[PROFILE_BASE].wrapping_sub(origin);
        let mut names: FxHashMap<u64, Rc<[Rc<str>]>> = FxHashMap::default();
        let (mut lines, mut functions) = (FxHashMap::default(), FxHashMap::default());
        let mut rest = &words[PROFILE_FIRST..];
        while let [head, address, more @ ..] = rest {
            let (time, near, callers) = (head >> 32, (head >> 16) as usize & 0xffff, *head as usize & 0xffff);
            // What is missing has had no room.
            let (Some(near), Some(callers)) = (more.get(..near), more.get(near..near + callers)) else { break };
            if *head == 0 {
                break;
            }
            rest = &more[near.len() + callers.len()..];
            profile.samples += 1;
            let address = address.wrapping_sub(base);
            let addresses = stack(executable, address, near, callers, base);
            let stack: Vec<Rc<[Rc<str>]>> = addresses
                .iter()
                .map(|at| Rc::clone(names.entry(*at).or_insert_with(|| executable.functions(*at).cloned().collect())))
                .collect();
            let Some((line, phase)) = addresses.iter().find_map(|at| executable.line(*at)) else {
                profile.elsewhere += time;
                continue;
            };
            profile.time.add(phase, time);
            add(&mut lines, line, phase, time);
            if let Some(function) = stack.iter().find_map(|names| names.last()) {
                add(&mut functions, function, phase, time);
            }
            let mut bars: Vec<Rc<str>> = stack.iter().rev().flat_map(|names| names.iter().cloned()).collect();
            bars.push(format!("{}:{}", line.file, line.number).into());
            if !executable.is_own(address) {
                bars.push(outside(executable.symbol(address)));
            }
            // What calls itself is one.
            bars.dedup();
            profile.stacks.add(bars, phase, time);
        }
        profile.lines = ordered(lines);
        profile.functions = ordered(functions);
        profile
    }

    /// All time, that elsewhere too.
    pub fn total(&self) -> u64 {
        self.time.sum() + self.elsewhere
    }
}

impl Node {
    /// Adds a stack, from the outermost function on.
    fn add(&mut self, names: Vec<Rc<str>>, phase: Phase, time: u64) {
        self.time.add(phase, time);
        let mut node = self;
        for name in names {
            node = node.callees.entry(name).or_default();
            node.time.add(phase, time);
        }
    }
}

/// The addresses in the program that a sample has on its stack, innermost first.
fn stack(executable: &Executable, address: u64, near: &[u64], callers: &[u64], base: u64) -> Vec<u64> {
    // Functions go on behind their calls, which may be on another line.
    let call = |place: &u64| place.wrapping_sub(base).wrapping_sub(1);
    let is_own = |place: &u64| executable.is_own(*place);
    let hidden =
        if is_own(&address) || executable.has_frame(address) { None } else { near.iter().map(call).find(is_own) };
    [address].into_iter().chain(hidden).chain(callers.iter().map(call)).filter(is_own).collect()
}

fn add<K: Clone + Eq + Hash>(times: &mut FxHashMap<K, Time>, key: &K, phase: Phase, time: u64) {
    match times.get_mut(key) {
        Some(known) => known.add(phase, time),
        None => times.entry(key.clone()).or_default().add(phase, time),
    }
}

/// The longest time first.
fn ordered<K: Ord>(times: FxHashMap<K, Time>) -> Vec<(K, Time)> {
    let mut times: Vec<(K, Time)> = times.into_iter().collect();
    times.sort_by(|a, b| b.1.sum().cmp(&a.1.sum()).then_with(|| a.0.cmp(&b.0)));
    times
}

/// What code is called that is not the program's.
fn outside(symbol: Option<&Rc<str>>) -> Rc<str> {
    let Some(symbol) = symbol else { return "C library".into() };
    let name = symbol.trim_start_matches("fma_");
    match name.strip_prefix("cr_").or_else(|| name.strip_prefix("vlad_")) {
        Some(function) => function.trim_end_matches(".slow").into(),
        // Functions of the run time have names as Rust makes them.
        None if name.starts_with('_') => "run time".into(),
        None => name.into(),
    }
}
