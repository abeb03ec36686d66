//! One SSA function → one C function: values, blocks and terminators.
//!
//! Blocks become labels and jumps become `goto`, after the parameters of the target have been assigned as if at once. A
//! value is a variable; constants are written where they are used. A block stands behind those that dominate it, so
//! each variable is declared before its uses.

use crate::base::{EntityVec, Span};
use crate::codegen::Error;
use crate::codegen::c::literal::{self, type_name};
use crate::codegen::c::unit::Unit;
use crate::codegen::constants::Constants;
use crate::codegen::decisions::adjacent::adjacent;
use crate::codegen::decisions::ownership::{Facts, Plan};
use crate::codegen::decisions::reuse::Reuse;
use crate::codegen::function::sines_and_cosines;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{BlockId, FuncId, Function, Op, Program, Target, Terminator, Type, Value};
use crate::ssa::sole_owners::sole_owners;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The state of the translation of one function.
pub(super) struct Writer<'u, 'p> {
    pub(super) unit: &'u mut Unit<'p>,
    pub(super) function: &'p Function,
    id: FuncId,
    /// What names of values and labels begin with, so that several functions can share one of C.
    prefix: String,
    pub(super) out: String,
    /// Where in the source the instruction stands that is being translated.
    pub(super) span: Option<Span>,
    /// The place that the last comment names.
    place: String,
    /// Constants, as they are written.
    literals: FxHashMap<Value, String>,
    /// Reals that are vacant: no program sees them.
    pub(super) vacant: FxHashSet<Value>,
    /// Values that have been defined with another one.
    defined: FxHashSet<Value>,
    /// Vectors that nobody else owns.
    pub(super) sole_owners: EntityVec<Value, bool>,
    /// Vectors whose elements stand behind their headers.
    pub(super) adjacent: EntityVec<Value, bool>,
    constants: Constants,
    reuse: Reuse,
    plans: EntityVec<BlockId, Plan>,
    order: Vec<BlockId>,
}

/// The head of a function, its own name or that with a prefix for its parameters.
pub fn heading(program: &Program, id: FuncId, prefix: &str) -> String {
    let function = &program.functions[id];
    let params: Vec<String> = function
        .params()
        .iter()
        .map(|param| format!("{} {prefix}{param}", type_name(function.values[*param])))
        .collect();
    let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
    let cold = if program.reporters.contains(&id) { "COLD " } else { "" };
    format!("{cold}static {} {}({params})", literal::results_name(&function.results), literal::function(program, id))
}

/// What names begin with in a function that shares one of C with others. No function has such a name.
fn prefix_of(id: FuncId) -> String {
    format!("g{}_", id.0)
}

/// Translates functions that end in calls of each other, or a single one.
pub fn group(unit: &mut Unit, members: &[FuncId], out: &mut String) -> Result<(), Error> {
    let program = unit.program;
    if let [id] = members {
        let mut writer = Writer::new(unit, *id, String::new());
        let _ = write!(out, "\n// {}\n", literal::comment(&writer.function.name));
        let _ = writeln!(out, "{} {{", heading(program, *id, ""));
        writer.body()?;
        out.push_str(&writer.out);
        out.push_str("}\n");
        return Ok(());
    }
    let first = literal::function(program, members[0]);
    let results = literal::results_name(&program.functions[members[0]].results);
    let (mut entries, mut bodies, mut doors) = (String::new(), String::new(), String::new());
    for (number, id) in members.iter().enumerate() {
        let (name, function) = (literal::function(program, *id), &program.functions[*id]);
        let prefix = prefix_of(*id);
        let params = function.params();
        let heading = heading(program, *id, "");
        let give = if function.results.is_empty() { "" } else { "return " };
        let mut argument = "0".to_string();
        let _ = writeln!(entries, "    case {number}:");
        if !params.is_empty() {
            let fields: Vec<String> =
                params.iter().map(|param| format!("{} {param};", type_name(function.values[*param]))).collect();
            let _ = writeln!(out, "\nstruct of_{name} {{ {} }};", fields.join(" "));
            for param in params {
                let _ = writeln!(entries, "        {prefix}{param} = ((const struct of_{name} *)arguments)->{param};");
            }
            let given: Vec<String> = params.iter().map(Value::to_string).collect();
            argument = format!("&(struct of_{name}){{{}}}", given.join(", "));
        }
        let _ = writeln!(entries, "        goto {prefix}entry;");
        let _ = writeln!(doors, "\n{heading} {{\n    {give}{first}_group({number}, {argument});\n}}");
        let mut writer = Writer::new(unit, *id, prefix);
        writer.body()?;
        let _ = writeln!(bodies, "\n    // {}", literal::comment(&function.name));
        bodies.push_str(&writer.out);
    }
    let _ = writeln!(
        out,
        "\n// Functions that end in calls of each other.\n\
         static {results} {first}_group(int entry, const void *arguments) {{"
    );
    for id in members {
        let function = &program.functions[*id];
        for param in function.params() {
            let _ = writeln!(out, "    {} {}{param};", type_name(function.values[*param]), prefix_of(*id));
        }
    }
    let _ = writeln!(out, "    switch (entry) {{\n{entries}    }}\n    __builtin_unreachable();\n{bodies}}}");
    out.push_str(&doors);
    Ok(())
}

impl<'u, 'p> Writer<'u, 'p> {
    fn new(unit: &'u mut Unit<'p>, id: FuncId, prefix: String) -> Writer<'u, 'p> {
        let function = &unit.program.functions[id];
        let order = reverse_postorder(function);
        let facts = Facts::new(function);
        let constants = Constants::new(function, &unit.sums, &mut unit.constant_boxes);
        let plans: EntityVec<BlockId, Plan> = function.blocks.ids().map(|block| facts.plan(function, block)).collect();
        let reuse = Reuse::new(function, &order, &plans, &unit.sums, &constants);
        let (mut literals, mut vacant) = (FxHashMap::default(), FxHashSet::default());
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Op::Vacant(ty) = inst.op {
                let zero = if ty == Type::Ptr { "(box)0" } else { "0" };
                literals.insert(inst.results[0], zero.to_string());
                if ty == Type::F64 {
                    vacant.insert(inst.results[0]);
                }
            } else if let Some(text) = literal::constant(inst.op) {
                literals.insert(inst.results[0], text);
            }
        }
        Writer {
            function,
            id,
            prefix,
            out: String::new(),
            span: None,
            place: String::new(),
            literals,
            vacant,
            defined: FxHashSet::default(),
            sole_owners: sole_owners(function),
            adjacent: adjacent(function),
            constants,
            reuse,
            plans,
            order,
            unit,
        }
    }

    /// A value, as it is written.
    pub(super) fn value(&self, value: Value) -> String {
        self.literals.get(&value).cloned().unwrap_or_else(|| self.name(value))
    }

    /// The variable of a value.
    pub(super) fn name(&self, value: Value) -> String {
        format!("{}{value}", self.prefix)
    }

    /// Several values, as arguments.
    fn values(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    /// A statement on a line of its own.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "    {}", text.as_ref());
    }

    /// Declares a value.
    pub(super) fn define(&mut self, value: Value, expression: impl AsRef<str>) {
        let line =
            format!("{} {} = {};", type_name(self.function.values[value]), self.name(value), expression.as_ref());
        self.line(line);
    }

    /// The variable for boxes of a class that are kept aside.
    pub(super) fn kept(&self, class: usize) -> Option<String> {
        self.reuse.classes().any(|kept| kept == class).then(|| format!("{}kept{class}", self.prefix))
    }

    fn body(&mut self) -> Result<(), Error> {
        let function = self.function;
        for id in self.order.clone() {
            if id != Function::ENTRY {
                for param in &function.blocks[id].params {
                    self.line(format!("{} {};", type_name(function.values[*param]), self.name(*param)));
                }
            }
        }
        for class in self.reuse.classes().collect::<Vec<_>>() {
            self.line(format!("box {}kept{class};", self.prefix));
        }
        let calls_itself = |end: &Terminator| matches!(end, Terminator::TailCall(callee, _) if *callee == self.id);
        if !self.prefix.is_empty() || function.blocks.values().any(|block| calls_itself(&block.terminator)) {
            let _ = writeln!(self.out, "{}entry:;", self.prefix);
        }
        for class in self.reuse.classes().collect::<Vec<_>>() {
            self.line(format!("{}kept{class} = 0;", self.prefix));
        }
        for (position, id) in self.order.clone().into_iter().enumerate() {
            self.block(id, position)?;
        }
        Ok(())
    }

    fn block(&mut self, id: BlockId, place: usize) -> Result<(), Error> {
        let source = &self.function.blocks[id];
        if id != Function::ENTRY {
            let _ = writeln!(self.out, "{}{id}:;", self.prefix);
        }
        let pairs = sines_and_cosines(source);
        for (position, inst) in source.insts.iter().enumerate() {
            if self.constants.needs_no_code(inst) || inst.results.iter().any(|value| self.literals.contains_key(value))
            {
                continue;
            }
            self.span = inst.span.map(|source| source.span);
            self.comment(self.span);
            let reuses = self.reuse.is_at(id, position);
            if let Some(place) = self.constants.place(inst) {
                let given: Vec<Value> = self.constants.given(inst).collect();
                self.constant_box(inst.results[0], place, &given);
            } else if let Some(known) = self.plans[id].releases.get(&position).cloned() {
                self.release_known(inst.args[0], &known, reuses);
            } else if let Op::Box(sum, tag) = inst.op {
                self.new_box(inst, sum, tag, reuses);
            } else if let Some((sine, cosine)) = pairs.get(&position) {
                self.sin_cos(inst.args[0], *sine, *cosine);
            } else if let Op::Call(callee) = inst.op {
                self.call(callee, &inst.args, &inst.results);
            } else if !self.plans[id].skipped.contains(&position)
                && !inst.results.iter().any(|result| self.defined.contains(result))
            {
                self.instruction(inst)?;
            }
        }
        let next = self.order.get(place + 1).copied();
        self.terminator(&source.terminator, next);
        Ok(())
    }

    /// Names the line of the source, unless the last comment does.
    fn comment(&mut self, span: Option<Span>) {
        let (Some(sources), Some(span)) = (self.unit.sources, span) else { return };
        if span.number().is_some() {
            return;
        }
        let place = format!("{}:{}", sources.file(span.file).name, sources.line_column(span).0);
        if place != self.place {
            self.line(format!("// {}", literal::comment(&place)));
            self.place = place;
        }
    }

    /// Sine and cosine of one number: most of the work is the same.
    fn sin_cos(&mut self, x: Value, sine: Value, cosine: Value) {
        let name = self.unit.needs("vlad_sin_cos");
        let both = format!("{}_{cosine}", self.name(sine));
        self.line(format!("lanes {both} = {name}({});", self.value(x)));
        for (lane, result) in [sine, cosine].into_iter().enumerate() {
            self.define(result, format!("{both}[{lane}]"));
            self.defined.insert(result);
        }
    }

    fn call(&mut self, callee: FuncId, args: &[Value], results: &[Value]) {
        let call = format!("{}({})", literal::function(self.unit.program, callee), self.values(args));
        match results {
            [] => self.line(format!("{call};")),
            [result] => self.define(*result, call),
            [first, ..] => {
                let all = format!("{}_all", self.name(*first));
                let of = literal::results_name(&self.unit.program.functions[callee].results);
                self.line(format!("{of} {all} = {call};"));
                for (index, result) in results.iter().enumerate() {
                    self.define(*result, format!("{all}.r{index}"));
                }
            }
        }
    }

    /// Assigns variables as if at once.
    fn assign(&self, pairs: &[(String, String, Type)]) -> String {
        let pairs: Vec<_> = pairs.iter().filter(|(to, from, _)| to != from).collect();
        let mut text = String::new();
        let mut assigned = FxHashSet::default();
        let is_read_later: Vec<bool> = pairs
            .iter()
            .map(|(to, from, _)| {
                assigned.insert(to);
                assigned.contains(from)
            })
            .collect();
        for (at, (_, from, ty)) in pairs.iter().enumerate().filter(|(at, _)| is_read_later[*at]) {
            let _ = write!(text, "{} next{at} = {from}; ", type_name(*ty));
        }
        for (at, (to, from, _)) in pairs.iter().enumerate() {
            let _ = if is_read_later[at] { write!(text, "{to} = next{at}; ") } else { write!(text, "{to} = {from}; ") };
        }
        text
    }

    /// A jump, in one line.
    fn jump(&self, target: &Target) -> String {
        let params = &self.function.blocks[target.block].params;
        let pairs: Vec<_> = params
            .iter()
            .zip(&target.args)
            .map(|(param, arg)| (self.name(*param), self.value(*arg), self.function.values[*param]))
            .collect();
        format!("{{ {}goto {}{}; }}", self.assign(&pairs), self.prefix, target.block)
    }

    fn terminator(&mut self, terminator: &Terminator, next: Option<BlockId>) {
        match terminator {
            Terminator::Jump(target) if target.args.is_empty() && Some(target.block) == next => {}
            Terminator::Jump(target) => self.line(self.jump(target)),
            Terminator::Branch(condition, yes, no) => {
                let condition = self.value(*condition);
                let line = format!("if ({condition}) {} else {}", self.jump(yes), self.jump(no));
                self.line(line);
            }
            Terminator::Switch(value, targets) => self.switch(*value, targets),
            Terminator::Return(values) => {
                let values = self.values(values);
                let results = &self.function.results;
                self.line(match results.len() {
                    0 => "return;".to_string(),
                    1 => format!("return {values};"),
                    _ => format!("return ({}){{{values}}};", literal::results_name(results)),
                });
            }
            Terminator::TailCall(callee, args) => self.tail_call(*callee, args),
            Terminator::Fail(text, _) => {
                let name = self.unit.needs("vlad_fail");
                let text = self.unit.text(*text);
                self.line(format!("{name}({text});"));
            }
            Terminator::Unreachable => self.line("__builtin_trap();"),
        }
    }

    fn switch(&mut self, value: Value, targets: &[Target]) {
        let Some((last, others)) = targets.split_last() else { return self.line("__builtin_trap();") };
        self.line(format!("switch ({}) {{", self.value(value)));
        for (index, target) in others.iter().enumerate() {
            self.line(format!("case {index}: {}", self.jump(target)));
        }
        // The value is always in range.
        self.line(format!("default: {}", self.jump(last)));
        self.line("}");
    }

    fn tail_call(&mut self, callee: FuncId, args: &[Value]) {
        if self.unit.group_of[callee] != self.unit.group_of[self.id] {
            let call = format!("{}({})", literal::function(self.unit.program, callee), self.values(args));
            let is_void = self.function.results.is_empty();
            return self.line(if is_void { format!("{call}; return;") } else { format!("return {call};") });
        }
        let other = &self.unit.program.functions[callee];
        let prefix = if self.prefix.is_empty() { String::new() } else { prefix_of(callee) };
        let params = other.params().iter().zip(args);
        let pairs: Vec<_> =
            params.map(|(param, arg)| (format!("{prefix}{param}"), self.value(*arg), other.values[*param])).collect();
        let line = format!("{{ {}goto {prefix}entry; }}", self.assign(&pairs));
        self.line(line);
    }
}
