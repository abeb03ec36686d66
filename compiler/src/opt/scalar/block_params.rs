//! Simplification of block parameters, a part of [`crate::opt::scalar::simplify_cfg`].
//!
//! ```text
//! jump b1(v0, v1, v1)                            jump b1(v1)
//! b1(v2: f64, v3: f64, v4: f64):            →    b1(v3: f64):
//!     v5 = add v3, v4                                v5 = add v3, v3
//!     branch v6, b1(v2, v5, v5), b2                  branch v6, b1(v5), b2
//! ```
//!
//! A parameter that receives, besides itself, only one value is that value. Parameters of one block that always receive
//! the same values are one: this is assumed of all of them and then refuted edge by edge, so that parameters which are
//! equal around a loop because they were equal before are found.
//!
//! Requires that no reachable block has stale parameters. Tests: `tests/opt/simplify-cfg/params-*`.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::{KeptParams, Replacements, keep_params};
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{BlockId, Function, Value};
use rustc_hash::FxHashMap;

/// Simplifies one function.
pub fn simplify(function: &mut Function) -> bool {
    let order = reverse_postorder(function);
    if order.iter().all(|block| *block == Function::ENTRY || function.blocks[*block].params.is_empty()) {
        return false;
    }
    let edges = incoming(function, &order);
    let mut replacements = Replacements::new(function);
    let mut kept: KeptParams = function.blocks.same_ids(None);
    let mut again = true;
    while again {
        again = false;
        for block in &order {
            if *block != Function::ENTRY && !function.blocks[*block].params.is_empty() {
                again |= merge(function, *block, &edges, &mut replacements, &mut kept);
            }
        }
    }
    let changed = replacements.any();
    replacements.apply(function);
    keep_params(function, &kept);
    changed
}

/// The edges into each block: the block they come from and their position among its targets.
fn incoming(function: &Function, order: &[BlockId]) -> EntityVec<BlockId, Vec<(BlockId, usize)>> {
    let mut edges = function.blocks.same_ids(Vec::new());
    for block in order {
        for (position, target) in function.blocks[*block].terminator.targets().iter().enumerate() {
            edges[target.block].push((*block, position));
        }
    }
    edges
}

/// Replaces parameters of one block; those replaced are marked in `kept`.
fn merge(
    function: &Function,
    block: BlockId,
    edges: &EntityVec<BlockId, Vec<(BlockId, usize)>>,
    replacements: &mut Replacements,
    kept: &mut KeptParams,
) -> bool {
    let params = &function.blocks[block].params;
    let kept = kept[block].get_or_insert_with(|| vec![true; params.len()]);
    let open: Vec<usize> = (0..params.len()).filter(|position| kept[*position]).collect();
    if open.is_empty() {
        return false;
    }
    let rows: Vec<Vec<Value>> = edges[block]
        .iter()
        .map(|(from, position)| function.blocks[*from].terminator.target(*position))
        .map(|target| open.iter().map(|column| replacements.resolve(target.args[*column])).collect())
        .collect();
    let mut changed = false;
    let leaders = classes(function, params, &open, &rows);
    let leader_of: FxHashMap<Value, Value> = open.iter().map(|column| params[*column]).zip(leaders).collect();
    for (index, column) in open.iter().enumerate() {
        let param = params[*column];
        let leader = leader_of[&param];
        let by = if leader != param { Some(leader) } else { only_value(param, index, &rows, &leader_of) };
        if let Some(by) = by.map(|by| replacements.resolve(by)).filter(|by| *by != param) {
            replacements.replace(param, by);
            kept[*column] = false;
            changed = true;
        }
    }
    changed
}

/// The value that a parameter always has, if it receives one only besides itself.
fn only_value(param: Value, index: usize, rows: &[Vec<Value>], leaders: &FxHashMap<Value, Value>) -> Option<Value> {
    let received = rows.iter().map(|row| leaders.get(&row[index]).copied().unwrap_or(row[index]));
    let mut others = received.filter(|value| *value != param);
    let first = others.next()?;
    others.all(|value| value == first).then_some(first)
}

/// For each open parameter, the first of those that always have the same value.
fn classes(function: &Function, params: &[Value], open: &[usize], rows: &[Vec<Value>]) -> Vec<Value> {
    // Start with one class for each type and split until every row agrees.
    let mut class: FxHashMap<Value, u32> = FxHashMap::default();
    for column in open {
        class.insert(params[*column], function.values[params[*column]] as u32);
    }
    let mut count = 0;
    loop {
        let mut numbers: FxHashMap<(u32, Vec<Result<u32, Value>>), u32> = FxHashMap::default();
        let mut next: FxHashMap<Value, u32> = FxHashMap::default();
        for (index, column) in open.iter().enumerate() {
            let param = params[*column];
            let seen = rows.iter().map(|row| class.get(&row[index]).copied().ok_or(row[index])).collect();
            let fresh = u32::try_from(numbers.len()).expect("few parameters");
            next.insert(param, *numbers.entry((class[&param], seen)).or_insert(fresh));
        }
        let found = numbers.len();
        class = next;
        if found == count {
            break;
        }
        count = found;
    }
    let mut leaders: FxHashMap<u32, Value> = FxHashMap::default();
    open.iter().map(|column| *leaders.entry(class[&params[*column]]).or_insert(params[*column])).collect()
}
