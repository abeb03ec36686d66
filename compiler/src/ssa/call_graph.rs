//! The call graph.

use crate::base::EntityVec;
use crate::ssa::ir::{FuncId, Function, Op, Program, Terminator};

/// The functions that `function` calls, tail calls included, once for each place.
pub fn callees(function: &Function) -> Vec<FuncId> {
    let mut found = Vec::new();
    for block in function.blocks.values() {
        found.extend(block.insts.iter().filter_map(|inst| match inst.op {
            Op::Call(callee) => Some(callee),
            _ => None,
        }));
        if let Terminator::TailCall(callee, _) = block.terminator {
            found.push(callee);
        }
    }
    found
}

/// The callers of each function, each once.
pub fn callers(program: &Program) -> EntityVec<FuncId, Vec<FuncId>> {
    callers_by(&program.functions.values().map(callees).collect())
}

/// The same, given the callees of each function.
pub fn callers_by<C: AsRef<[FuncId]>>(callees: &EntityVec<FuncId, C>) -> EntityVec<FuncId, Vec<FuncId>> {
    let mut callers: EntityVec<FuncId, Vec<FuncId>> = callees.same_ids(Vec::new());
    for (caller, callees) in callees.iter() {
        for callee in callees.as_ref() {
            // The calls of one function follow each other.
            if callers[*callee].last() != Some(&caller) {
                callers[*callee].push(caller);
            }
        }
    }
    callers
}

/// The functions that the main function can reach.
pub fn reachable(program: &Program) -> EntityVec<FuncId, bool> {
    let mut seen = program.functions.same_ids(false);
    let mut waiting: Vec<FuncId> = program.main.into_iter().collect();
    while let Some(id) = waiting.pop() {
        if !std::mem::replace(&mut seen[id], true) {
            waiting.extend(callees(&program.functions[id]));
        }
    }
    seen
}

/// The strongly connected components of a graph over functions, each after those that it has edges to.
pub fn components<E: AsRef<[FuncId]>>(edges: &EntityVec<FuncId, E>) -> Vec<Vec<FuncId>> {
    let mut search = Search {
        edges,
        index: edges.same_ids(None),
        low: edges.same_ids(0),
        open: edges.same_ids(false),
        stack: Vec::new(),
        next: 0,
        found: Vec::new(),
    };
    for id in edges.ids() {
        if search.index[id].is_none() {
            search.from(id);
        }
    }
    search.found
}

/// Tarjan's algorithm with an explicit stack.
struct Search<'e, E> {
    edges: &'e EntityVec<FuncId, E>,
    index: EntityVec<FuncId, Option<u32>>,
    low: EntityVec<FuncId, u32>,
    open: EntityVec<FuncId, bool>,
    stack: Vec<FuncId>,
    next: u32,
    found: Vec<Vec<FuncId>>,
}

impl<E: AsRef<[FuncId]>> Search<'_, E> {
    fn from(&mut self, root: FuncId) {
        let mut path = vec![(self.visit(root), 0)];
        while let Some((id, edge)) = path.last_mut() {
            let id = *id;
            let Some(next) = self.edges[id].as_ref().get(*edge).copied() else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[id]);
                }
                self.close(id);
                continue;
            };
            *edge += 1;
            match self.index[next] {
                None => path.push((self.visit(next), 0)),
                Some(index) if self.open[next] => self.low[id] = self.low[id].min(index),
                Some(_) => {}
            }
        }
    }

    fn visit(&mut self, id: FuncId) -> FuncId {
        self.index[id] = Some(self.next);
        self.low[id] = self.next;
        self.next += 1;
        self.open[id] = true;
        self.stack.push(id);
        id
    }

    fn close(&mut self, id: FuncId) {
        if Some(self.low[id]) != self.index[id] {
            return;
        }
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.open[member] = false;
            component.push(member);
            if member == id {
                break;
            }
        }
        self.found.push(component);
    }
}
