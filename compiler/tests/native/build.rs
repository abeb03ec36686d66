//! A small builder for SSA functions, and running programs as executables.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use vlad::codegen::{self, Options, c};
use vlad::ssa::eval;
use vlad::ssa::ir::{
    Alternative, BlockId, Compare, FuncId, Function, Inst, Op, Program, Real1, Real2, SlotId, Stream, Sum, SumId,
    Target, Terminator, TextId, Type, Value,
};
use vlad::ssa::verify::{Stage, verify};

/// A program in the making.
#[derive(Default)]
pub struct Builder {
    pub program: Program,
}

/// A function in the making; instructions go to the current block.
pub struct Code {
    pub function: Function,
    pub block: BlockId,
}

impl Builder {
    pub fn text(&mut self, text: &str) -> TextId {
        self.program.texts.push(Arc::from(text))
    }
    pub fn slot(&mut self, ty: Type) -> SlotId {
        self.program.slots.push(ty)
    }
    pub fn sum(&mut self, alternatives: &[(&str, &[Type])]) -> SumId {
        let alternative =
            |(name, fields): &(&str, &[Type])| Alternative { name: Arc::from(*name), fields: fields.to_vec() };
        self.program.sums.push(Sum { alternatives: alternatives.iter().map(alternative).collect() })
    }
    /// A function that does not do anything yet, to be called by others.
    pub fn declare(&mut self, name: &str, params: &[Type], results: &[Type]) -> FuncId {
        self.program.functions.push(Function::new(Arc::from(name), params, results.to_vec()))
    }
    /// Gives a declared function its code.
    pub fn define(&mut self, id: FuncId, body: impl FnOnce(&mut Code, &[Value])) {
        let mut code = Code { function: self.program.functions[id].clone(), block: Function::ENTRY };
        let params = code.function.params().to_vec();
        body(&mut code, &params);
        self.program.functions[id] = code.function;
    }
    pub fn function(
        &mut self,
        name: &str,
        params: &[Type],
        results: &[Type],
        body: impl FnOnce(&mut Code, &[Value]),
    ) -> FuncId {
        let id = self.declare(name, params, results);
        self.define(id, body);
        id
    }
    pub fn main(&mut self, body: impl FnOnce(&mut Code)) {
        let main = self.function("main", &[], &[], |code, _| {
            body(code);
        });
        self.program.main = Some(main);
    }
}

impl Code {
    pub fn inst(&mut self, op: Op, args: &[Value], results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|ty| self.function.values.push(*ty)).collect();
        let inst = Inst { op, args: args.into(), results: results.clone().into(), span: None };
        self.function.blocks[self.block].insts.push(inst);
        results
    }
    pub fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.inst(op, args, &[ty])[0]
    }
    pub fn effect(&mut self, op: Op, args: &[Value]) {
        self.inst(op, args, &[]);
    }
    pub fn real(&mut self, x: f64) -> Value {
        self.value(Op::ConstReal(x.to_bits()), &[], Type::F64)
    }
    pub fn int(&mut self, n: i64) -> Value {
        self.value(Op::ConstInt(n), &[], Type::Int)
    }
    pub fn boolean(&mut self, b: bool) -> Value {
        self.value(Op::ConstBool(b), &[], Type::Bool)
    }
    pub fn real1(&mut self, op: Real1, x: Value) -> Value {
        self.value(Op::Real1(op), &[x], Type::F64)
    }
    pub fn real2(&mut self, op: Real2, x: Value, y: Value) -> Value {
        self.value(Op::Real2(op), &[x, y], Type::F64)
    }
    pub fn compare(&mut self, op: Compare, x: Value, y: Value) -> Value {
        self.value(Op::Compare(op), &[x, y], Type::Bool)
    }
    pub fn new_block(&mut self, params: &[Type]) -> (BlockId, Vec<Value>) {
        let block = self.function.new_block(params);
        (block, self.function.blocks[block].params.clone())
    }
    pub fn end(&mut self, terminator: Terminator) {
        self.function.blocks[self.block].terminator = terminator;
    }
    pub fn jump(&mut self, block: BlockId, args: &[Value]) {
        self.end(Terminator::Jump(target(block, args)));
    }
    pub fn branch(&mut self, condition: Value, yes: (BlockId, &[Value]), no: (BlockId, &[Value])) {
        self.end(Terminator::Branch(condition, target(yes.0, yes.1), target(no.0, no.1)));
    }
    pub fn ret(&mut self, values: &[Value]) {
        self.end(Terminator::Return(values.to_vec()));
    }
    pub fn go(&mut self, block: BlockId) {
        self.block = block;
    }
    /// Writes a real and a newline.
    pub fn print(&mut self, value: Value, newline: TextId) {
        self.effect(Op::WriteReal(Stream::Out), &[value]);
        self.effect(Op::WriteText(Stream::Out, newline), &[]);
    }
    /// Writes 1 or 0 and a newline.
    pub fn print_bool(&mut self, value: Value, newline: TextId) {
        let (one, zero) = (self.real(1.0), self.real(0.0));
        let number = self.value(Op::Select, &[value, one, zero], Type::F64);
        self.print(number, newline);
    }
}

pub fn target(block: BlockId, args: &[Value]) -> Target {
    Target { block, args: args.to_vec() }
}

/// The last `memory:` line of standard error.
pub fn live_boxes(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stderr);
    let line =
        text.lines().find(|line| line.starts_with("memory: ")).unwrap_or_else(|| panic!("no report in {text:?}"));
    line.split(' ').nth(1).and_then(|number| number.parse().ok()).expect("the report begins with a number")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles the program and runs it with the text as standard input, as executable and, if that does not take too
/// long, in the SSA evaluator, which must agree. Reports memory at its end.
pub fn run_with(program: &Program, input: &str, environment: &[(&str, &str)]) -> Output {
    verify(program, Stage::Counted).unwrap_or_else(|errors| panic!("{}\n{program}", errors[0]));
    let output = execute(program, &Options::default(), input, environment);
    by_way_of_c(program, input, environment, &output);
    let options = eval::Options { stage: Stage::Counted, fuel: Some(1_000_000), tape_memory: eval::LITTLE_MEMORY };
    match eval::run_on(program, input, options) {
        Ok((outcome, text, _)) => {
            assert_eq!(text, stdout(&output));
            assert_eq!(Some(i32::from(outcome.exit_code)), output.status.code());
        }
        Err(eval::Error::OutOfFuel) => {}
        Err(error) => panic!("{error}\n{program}"),
    }
    output
}

/// Runs an executable that uses all instructions of this machine.
pub fn run_on_this_cpu(program: &Program) -> Output {
    execute(program, &Options { native_cpu: true, ..Options::default() }, "", &[])
}

/// What the second back end makes of a program does the same, and leaves as many boxes.
fn by_way_of_c(program: &Program, input: &str, environment: &[(&str, &str)], expected: &Output) {
    let source = c::source(program, &Options::default(), c::Form::Linked).expect("the program compiles");
    let compiler = c::compiler::Compiler::named(Some("cc -O1")).expect("nothing changes numbers");
    let found = executed(input, environment, |path| {
        let made = compiler.executable(&source, path);
        made.unwrap_or_else(|error| panic!("{error:?}\n{program}\n{}", source.text));
    });
    assert_eq!(found.status.code(), expected.status.code(), "{program}\n{}", source.text);
    assert_eq!(stdout(&found), stdout(expected), "{program}\n{}", source.text);
    if found.status.code() == Some(0) {
        assert_eq!(live_boxes(&found), live_boxes(expected), "{program}\n{}", source.text);
    }
}

fn execute(program: &Program, options: &Options, input: &str, environment: &[(&str, &str)]) -> Output {
    executed(input, environment, |path| {
        let object = codegen::object(program, options).expect("the program compiles");
        codegen::link::executable(&object, path).expect("the program links");
    })
}

/// What an executable does that `make` writes to a path.
fn executed(input: &str, environment: &[(&str, &str)], make: impl FnOnce(&Path)) -> Output {
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let path = folder.path().join("program");
    make(&path);
    let input_path = folder.path().join("input");
    std::fs::write(&input_path, input).expect("temporary files can be written");
    let input = std::fs::File::open(&input_path).expect("the file was just written");
    let mut command = Command::new(&path);
    command.env("VLAD_REPORT_MEMORY", "1").envs(environment.iter().copied()).stdin(Stdio::from(input));
    command.output().expect("the executable runs")
}

pub fn run(program: &Program) -> Output {
    run_with(program, "", &[])
}
