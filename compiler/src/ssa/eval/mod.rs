//! The evaluator of SSA: runs a program directly, slowly, and watches it.
//!
//! It is the reference for the optimiser and the code generator. Calls keep their frames on a stack of its own, so
//! recursion is bounded by memory only. It counts operations (see [`Counts`]) and, on demand, checks explicit reference
//! counts: a program whose owners are counted ([`Stage::Counted`]) may use no box that was freed, free none twice, and
//! must have freed every box at its end except those that globals hold. Vectors are in [`vector`], operations on two
//! lanes in [`lanes`], texts in [`texts`], and what is remembered of calls in [`results`].

mod lanes;
mod results;
mod texts;
mod vector;

use crate::base::EntityVec;
use crate::core::input::{Numbers, Unread};
use crate::core::number;
use crate::ssa::arithmetic;
use crate::ssa::eval::results::Remembered;
use crate::ssa::ir::{
    BlockId, FuncId, Function, INPUT_FAULT, Inst, LANES, Op, Program, SlotId, Stream, Target, Terminator, TextId,
    Value, VectorId,
};
use crate::ssa::kinds::without_callers;
use crate::ssa::print::{REAL1, REAL2};
use crate::ssa::verify::Stage;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::rc::Rc;
use std::sync::Arc;

/// Where a program reads and writes.
pub struct Streams<'s> {
    /// Standard input.
    pub input: &'s mut dyn BufRead,
    /// Standard output.
    pub output: &'s mut dyn Write,
    /// Standard error.
    pub errors: &'s mut dyn Write,
}

/// How to run a program.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether reference counts are checked.
    pub stage: Stage,
    /// The number of instructions after which to give up.
    pub fuel: Option<u64>,
    /// What [`Op::TapeMemory`] says, in bytes.
    pub tape_memory: i64,
}

/// As much memory as there ever is: no loop runs again what its tape has forgotten.
pub const ALL_MEMORY: i64 = i64::MAX;

/// So little that loops of a few rounds do.
pub const LITTLE_MEMORY: i64 = 2048;

/// What [`Op::HeapBytes`] counts for a box.
const BOX_BYTES: i64 = 64;

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Operations on one real, in the order of [`REAL1`].
    pub real1: [u64; REAL1.len()],
    /// Operations on two reals, in the order of [`REAL2`].
    pub real2: [u64; REAL2.len()],
    /// Comparisons.
    pub compares: u64,
    /// Instructions and terminators of all kinds.
    pub steps: u64,
    /// Calls, those in tail position included.
    pub calls: u64,
    /// Boxes made.
    pub boxes: u64,
    /// The largest number of boxes that lived at once (counted where owners are).
    pub most_boxes: u64,
    /// The largest number of fields in boxes that lived at once, each box counted as one more (counted where owners
    /// are).
    pub most_fields: u64,
    /// Vectors that were copied because someone else owned what was to be changed (counted where owners are).
    pub copies: u64,
}

impl Counts {
    /// The number of arithmetic operations.
    pub fn arithmetic(&self) -> u64 {
        self.real1.iter().chain(&self.real2).sum()
    }
    /// The kinds of arithmetic operations that occurred, with their numbers.
    pub fn by_kind(&self) -> Vec<(&'static str, u64)> {
        let real1 = REAL1.iter().zip(&self.real1).map(|(row, count)| (row.1, *count));
        let real2 = REAL2.iter().zip(&self.real2).map(|(row, count)| (row.1, *count));
        real1.chain(real2).filter(|row| row.1 > 0).collect()
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// 0, or 1 when the program failed.
    pub exit_code: u8,
    /// What it did.
    pub counts: Counts,
}

/// A mistake of the program in SSA, not of its user: a bug in the stage that produced it.
#[derive(Debug)]
pub enum Error {
    /// The law of SSA or of reference counts was broken.
    Broken(String),
    /// The fuel ran out.
    OutOfFuel,
    /// Output could not be written.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Broken(message) => f.write_str(message),
            Error::OutOfFuel => f.write_str("out of fuel"),
            Error::Io(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

fn broken<T>(message: impl Into<String>) -> Result<T, Error> {
    Err(Error::Broken(message.into()))
}

/// Runs a program that the verifier accepts.
pub fn run(program: &Program, streams: Streams, options: Options) -> Result<Outcome, Error> {
    let Some(main) = program.main else {
        return broken("there is no main function");
    };
    let globals = program.slots.same_ids(Datum::Unset);
    let mut machine = Machine {
        program,
        input: Numbers::new(streams.input),
        output: streams.output,
        in_file: false,
        texts_begun: Vec::new(),
        texts_made: Vec::new(),
        errors: streams.errors,
        options,
        values: Vec::new(),
        frames: Vec::new(),
        globals,
        counts: Counts::default(),
        live_boxes: 0,
        remembered: Remembered::default(),
        live_fields: 0,
    };
    machine.enter(main, Vec::new());
    let exit_code = loop {
        if let Some(exit_code) = machine.block()? {
            break exit_code;
        }
    };
    if exit_code == 0 && options.stage == Stage::Counted {
        machine.check_leaks()?;
    }
    machine.output.flush()?;
    Ok(Outcome { exit_code, counts: machine.counts })
}

/// Runs a program on a text and returns the outcome with what it wrote to standard output and standard error.
pub fn run_on(program: &Program, input: &str, options: Options) -> Result<(Outcome, String, String), Error> {
    let (mut input, mut output, mut errors) = (input.as_bytes(), Vec::new(), Vec::new());
    let streams = Streams { input: &mut input, output: &mut output, errors: &mut errors };
    let outcome = run(program, streams, options)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((outcome, text(output), text(errors)))
}

#[derive(Clone, Debug)]
enum Datum {
    /// A value that was not computed yet.
    Unset,
    Real(f64),
    Bool(bool),
    Int(i64),
    Immediate(u32),
    Box(Rc<BoxData>),
    /// A real in each lane.
    Reals([f64; LANES]),
    /// A truth value in each lane.
    Truths([bool; LANES]),
    /// What stands in a hole before it is filled.
    Vacant,
    /// A field of a box that is to be filled.
    Hole(Rc<BoxData>, u32),
}

/// What a box holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The fields of an alternative of a sum.
    Alternative(u32),
    /// The fields of the elements of a vector, one element after another.
    Elements(VectorId),
    /// For each row in the memory for the elements of vectors, whether it has been taken.
    Rows(VectorId),
}

/// A box. Its memory lives as long as something here refers to it; `owners` is what the program believes.
#[derive(Debug)]
struct BoxData {
    content: Content,
    fields: RefCell<Vec<Datum>>,
    owners: Cell<u32>,
}

impl Drop for BoxData {
    /// Frees chains of boxes in a loop instead of by recursion.
    fn drop(&mut self) {
        let mut dead = self.fields.take();
        while let Some(datum) = dead.pop() {
            if let Datum::Box(data) = datum
                && let Some(mut data) = Rc::into_inner(data)
            {
                dead.append(data.fields.get_mut());
            }
        }
    }
}

struct Frame {
    function: FuncId,
    block: BlockId,
    /// The next instruction.
    inst: usize,
    /// Where the function's values start.
    base: usize,
}

struct Machine<'p, 's> {
    program: &'p Program,
    input: Numbers<'s>,
    output: &'s mut dyn Write,
    /// What is written goes to a file.
    in_file: bool,
    /// What has been written to texts that have not ended, innermost last.
    texts_begun: Vec<Vec<u8>>,
    /// Texts that the program has made.
    texts_made: Vec<Arc<str>>,
    errors: &'s mut dyn Write,
    options: Options,
    /// The values of all active functions.
    values: Vec<Datum>,
    frames: Vec<Frame>,
    globals: EntityVec<SlotId, Datum>,
    counts: Counts,
    live_boxes: u64,
    remembered: Remembered,
    live_fields: u64,
}

impl<'p> Machine<'p, '_> {
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the program is running")
    }

    /// Starts a function.
    fn enter(&mut self, function: FuncId, args: Vec<Datum>) {
        let base = self.values.len();
        let code = &self.program.functions[function];
        self.values.resize(base + code.values.len(), Datum::Unset);
        for (param, arg) in code.params().iter().zip(args) {
            self.values[base + param.0 as usize] = arg;
        }
        self.frames.push(Frame { function, block: Function::ENTRY, inst: 0, base });
    }

    fn get(&self, base: usize, value: Value) -> Result<&Datum, Error> {
        match &self.values[base + value.0 as usize] {
            Datum::Unset => broken(format!("{value} is used before it is computed")),
            datum => Ok(datum),
        }
    }

    fn get_all(&self, base: usize, values: &[Value]) -> Result<Vec<Datum>, Error> {
        values.iter().map(|v| self.get(base, *v).cloned()).collect()
    }

    fn real(&self, base: usize, value: Value) -> Result<f64, Error> {
        match self.get(base, value)? {
            Datum::Real(x) => Ok(*x),
            other => broken(format!("{value} is {other:?}, not a real")),
        }
    }

    fn boolean(&self, base: usize, value: Value) -> Result<bool, Error> {
        match self.get(base, value)? {
            Datum::Bool(x) => Ok(*x),
            other => broken(format!("{value} is {other:?}, not a truth value")),
        }
    }

    fn int(&self, base: usize, value: Value) -> Result<i64, Error> {
        match self.get(base, value)? {
            Datum::Int(x) => Ok(*x),
            other => broken(format!("{value} is {other:?}, not an integer")),
        }
    }

    /// The tag of a boxed sum.
    fn tag(&self, base: usize, value: Value) -> Result<u32, Error> {
        match self.get(base, value)? {
            Datum::Immediate(tag) => Ok(*tag),
            Datum::Box(data) => {
                self.check_alive(value, data)?;
                match data.content {
                    Content::Alternative(tag) => Ok(tag),
                    Content::Elements(vector) | Content::Rows(vector) => {
                        broken(format!("{value} is a {vector}, or memory for some, not a boxed sum"))
                    }
                }
            }
            other => broken(format!("{value} is {other:?}, not a boxed sum")),
        }
    }

    fn check_alive(&self, value: Value, data: &BoxData) -> Result<(), Error> {
        if self.options.stage == Stage::Counted && data.owners.get() == 0 {
            return broken(format!("{value} is used after it was freed"));
        }
        Ok(())
    }

    /// Like [`Machine::get_all`] for values that are handed on.
    fn hand_on(&self, base: usize, values: &[Value]) -> Result<Vec<Datum>, Error> {
        let data = self.get_all(base, values)?;
        for (value, datum) in values.iter().zip(&data) {
            if let Datum::Box(data) = datum {
                self.check_alive(*value, data)?;
            }
        }
        Ok(data)
    }

    /// Runs to the end of the current block; the exit code when the program has ended.
    fn block(&mut self) -> Result<Option<u8>, Error> {
        let program = self.program;
        loop {
            let &mut Frame { function, block, inst, base } = self.frame();
            let code = &program.functions[function].blocks[block];
            self.counts.steps += 1;
            if self.options.fuel.is_some_and(|fuel| self.counts.steps > fuel) {
                return Err(Error::OutOfFuel);
            }
            let Some(inst) = code.insts.get(inst) else {
                return self.terminator(&code.terminator, base);
            };
            self.frame().inst += 1;
            match inst.op {
                Op::Call(callee) => {
                    self.counts.calls += 1;
                    let args = self.hand_on(base, &inst.args)?;
                    self.enter(callee, args);
                }
                Op::Read(item, text) => match self.input.read(item) {
                    Ok(x) => self.set(base, inst, Datum::Real(x)),
                    Err(Unread::Failed(error)) => return Err(error.into()),
                    Err(Unread::Malformed(report)) => return self.fail_input(text, Some(&report)).map(Some),
                    Err(Unread::End) => return self.fail_input(text, None).map(Some),
                },
                Op::Recall(callee) => self.recall(callee, base, inst)?,
                _ => {
                    if let Some(datum) = self.inst(base, inst)? {
                        self.set(base, inst, datum);
                    }
                }
            }
        }
    }

    fn set(&mut self, base: usize, inst: &Inst, datum: Datum) {
        self.values[base + inst.results[0].0 as usize] = datum;
    }

    /// An operation that stays in its function; its result, if it has one.
    fn inst(&mut self, base: usize, inst: &Inst) -> Result<Option<Datum>, Error> {
        let args = &inst.args;
        Ok(Some(match inst.op {
            Op::ConstReal(bits) => Datum::Real(f64::from_bits(bits)),
            Op::ConstBool(x) => Datum::Bool(x),
            Op::ConstInt(x) => Datum::Int(x),
            Op::Immediate(_, tag) => Datum::Immediate(tag),
            Op::Real1(op) => {
                self.counts.real1[op as usize] += 1;
                Datum::Real(arithmetic::real1(op, self.real(base, args[0])?))
            }
            Op::Real2(op) => {
                self.counts.real2[op as usize] += 1;
                Datum::Real(arithmetic::real2(op, self.real(base, args[0])?, self.real(base, args[1])?))
            }
            Op::Compare(op) => {
                self.counts.compares += 1;
                Datum::Bool(arithmetic::compare(op, self.real(base, args[0])?, self.real(base, args[1])?))
            }
            Op::Not => Datum::Bool(!self.boolean(base, args[0])?),
            Op::And => Datum::Bool(self.boolean(base, args[0])? & self.boolean(base, args[1])?),
            Op::Or => Datum::Bool(self.boolean(base, args[0])? | self.boolean(base, args[1])?),
            Op::RealIs(bits) => Datum::Bool(self.real(base, args[0])?.to_bits() == bits),
            Op::IntIs(x) => Datum::Bool(self.int(base, args[0])? == x),
            Op::Int2(op) => Datum::Int(arithmetic::int2(op, self.int(base, args[0])?, self.int(base, args[1])?)),
            Op::IntCompare(op) => {
                Datum::Bool(arithmetic::int_compare(op, self.int(base, args[0])?, self.int(base, args[1])?))
            }
            Op::IntOf => Datum::Int(arithmetic::int_of(self.real(base, args[0])?)),
            Op::RealOf => match arithmetic::real_of(self.int(base, args[0])?) {
                Some(x) => Datum::Real(x),
                None => return broken(format!("{} is an integer that no real is", args[0])),
            },
            Op::NewVector(vector) => self.new_vector(vector, base, args[0])?,
            Op::Kernel(kernel, vector) => self.kernel(kernel, vector, base, args)?,
            Op::NewRows(vector) => self.new_rows(vector, base, args[0])?,
            Op::NewRow(vector) => self.new_row(vector, base, args)?,
            Op::Element(vector, field) => self.element(vector, field, base, args)?,
            Op::Own(vector) => self.own(vector, base, args)?,
            Op::TakeElement(vector, field) => self.take_element(vector, field, base, args)?,
            Op::WithElement(vector) => self.with_element(vector, base, args)?,
            Op::Elements(vector, field) => self.elements(vector, field, base, args)?,
            Op::WithElements(vector) => self.with_elements(vector, base, args)?,
            Op::OfEach(function, vector) => self.of_each(function, vector, base, args)?,
            Op::Lanes(_) | Op::Splat | Op::Pair | Op::Lane(_) | Op::AnyLane => self.lanes(base, inst)?,
            Op::Select => {
                let chosen = if self.boolean(base, args[0])? { args[1] } else { args[2] };
                self.get(base, chosen)?.clone()
            }
            Op::Opaque | Op::Exchange => self.get(base, args[0])?.clone(),
            Op::HeapBytes => Datum::Int(self.counts.boxes as i64 * BOX_BYTES),
            Op::TapeMemory => Datum::Int(self.options.tape_memory),
            // Nobody is there to answer.
            Op::Ask => Datum::Real(0.0),
            Op::Box(_, tag) => self.make_box(Content::Alternative(tag), self.hand_on(base, args)?),
            Op::Vacant(_) => Datum::Vacant,
            Op::Hole(_, tag, field) => match self.get(base, args[0])? {
                Datum::Box(data) if data.content == Content::Alternative(tag) => Datum::Hole(data.clone(), field),
                other => return broken(format!("{} is {other:?}, not a box with tag {tag}", args[0])),
            },
            Op::Tag(_) => Datum::Int(i64::from(self.tag(base, args[0])?)),
            Op::HasTag(_, tag) => Datum::Bool(self.tag(base, args[0])? == tag),
            Op::Field(_, tag, field) => self.field(base, args[0], tag, field)?,
            Op::GlobalGet(slot) => match &self.globals[slot] {
                Datum::Unset => return broken(format!("{slot} is used before it is set")),
                datum => datum.clone(),
            },
            Op::IsSet(slot) => match &self.globals[slot] {
                Datum::Unset => Datum::Bool(false),
                datum => datum.clone(),
            },
            Op::IsShared(_) => self.is_shared(base, args)?,
            Op::EndText => self.end_text()?,
            Op::TextByte => self.text_byte(base, args)?,
            _ => return self.effect(base, inst).map(|()| None),
        }))
    }

    /// An operation without result.
    fn effect(&mut self, base: usize, inst: &Inst) -> Result<(), Error> {
        let program = self.program;
        let args = &inst.args;
        match inst.op {
            Op::GlobalSet(slot) => {
                let datum = self.hand_on(base, args)?.swap_remove(0);
                self.globals[slot] = datum;
            }
            Op::Argument(_) | Op::ArgumentElements(_) | Op::Result(_) | Op::ResultElements(_) => {
                return broken("arguments and results are those of libraries, which are not evaluated");
            }
            Op::WriteReal(stream) => {
                let x = self.real(base, args[0])?;
                self.write(stream, number::format(x).as_str())?;
            }
            Op::WriteByte => {
                let x = self.real(base, args[0])?;
                self.put(&[x as u8])?;
            }
            Op::WriteDouble => {
                let x = self.real(base, args[0])?;
                self.put(&x.to_le_bytes())?;
            }
            Op::WriteText(stream, text) => self.write(stream, &program.texts[text])?,
            Op::WriteTextOf(stream, form) => self.write_text(stream, form, base, args[0])?,
            Op::BeginText => self.texts_begun.push(Vec::new()),
            // Files are not written: what goes there is nowhere.
            Op::BeginFile(_) => {
                self.int(base, args[0])?;
                self.in_file = true;
            }
            Op::EndFile(_) => {
                self.real(base, args[0])?;
                self.in_file = false;
            }
            Op::Fill(_) => self.fill(base, args[0], args[1])?,
            Op::Remember(callee) => self.remember(callee, base, args)?,
            Op::Forget => self.forget()?,
            Op::Retain => self.retain(base, args[0])?,
            Op::Release => self.release(base, args[0])?,
            op => return broken(format!("`{op}` is no effect")),
        }
        Ok(())
    }

    /// Writes to standard output, if what is written goes there.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(text) = self.texts_begun.last_mut() {
            text.extend_from_slice(bytes);
        } else if !self.in_file {
            self.output.write_all(bytes)?;
        }
        Ok(())
    }

    fn write(&mut self, stream: Stream, text: &str) -> Result<(), Error> {
        match stream {
            Stream::Out | Stream::Result => self.put(text.as_bytes())?,
            Stream::Err => self.errors.write_all(text.as_bytes())?,
        }
        Ok(())
    }

    fn make_box(&mut self, content: Content, fields: Vec<Datum>) -> Datum {
        self.counts.boxes += 1;
        self.live_boxes += 1;
        self.counts.most_boxes = self.counts.most_boxes.max(self.live_boxes);
        self.live_fields += 1 + fields.len() as u64;
        self.counts.most_fields = self.counts.most_fields.max(self.live_fields);
        Datum::Box(Rc::new(BoxData { content, fields: RefCell::new(fields), owners: Cell::new(1) }))
    }

    fn fill(&mut self, base: usize, hole: Value, value: Value) -> Result<(), Error> {
        let datum = self.hand_on(base, &[value])?.swap_remove(0);
        match self.get(base, hole)? {
            Datum::Hole(data, field) if matches!(data.fields.borrow()[*field as usize], Datum::Vacant) => {
                data.fields.borrow_mut()[*field as usize] = datum;
                Ok(())
            }
            other => broken(format!("{hole} is {other:?}, not a vacant field")),
        }
    }

    fn field(&mut self, base: usize, value: Value, tag: u32, field: u32) -> Result<Datum, Error> {
        match self.get(base, value)? {
            Datum::Box(data) if data.content == Content::Alternative(tag) => {
                self.check_alive(value, data)?;
                match &data.fields.borrow()[field as usize] {
                    Datum::Vacant => broken(format!("a field of {value} is read before it is filled")),
                    datum => Ok(datum.clone()),
                }
            }
            other => broken(format!("{value} is {other:?}, not a box with tag {tag}")),
        }
    }

    fn retain(&mut self, base: usize, value: Value) -> Result<(), Error> {
        match self.get(base, value)? {
            Datum::Box(data) => {
                self.check_alive(value, data)?;
                data.owners.set(data.owners.get() + 1);
            }
            Datum::Immediate(_) => {}
            other => return broken(format!("{value} is {other:?} and has no owners")),
        }
        Ok(())
    }

    fn release(&mut self, base: usize, value: Value) -> Result<(), Error> {
        let datum = self.get(base, value)?.clone();
        self.release_all(value, vec![datum])
    }

    /// Takes an owner from each of these, which are, or were in, `value`.
    fn release_all(&mut self, value: Value, mut waiting: Vec<Datum>) -> Result<(), Error> {
        while let Some(datum) = waiting.pop() {
            let Datum::Box(data) = datum else { continue };
            if data.owners.get() == 0 {
                return broken(format!("{value}, or a part of it, is released after it was freed"));
            }
            data.owners.set(data.owners.get() - 1);
            if data.owners.get() == 0 {
                self.live_boxes -= 1;
                self.live_fields -= 1 + data.fields.borrow().len() as u64;
                waiting.extend(data.fields.borrow().iter().cloned());
            }
        }
        Ok(())
    }

    fn terminator(&mut self, terminator: &'p Terminator, base: usize) -> Result<Option<u8>, Error> {
        match terminator {
            Terminator::Jump(target) => self.jump(base, target)?,
            Terminator::Branch(condition, yes, no) => {
                let target = if self.boolean(base, *condition)? { yes } else { no };
                self.jump(base, target)?;
            }
            Terminator::Switch(value, targets) => {
                let position = usize::try_from(self.int(base, *value)?).unwrap_or(usize::MAX);
                match targets.get(position) {
                    Some(target) => self.jump(base, target)?,
                    None => return broken(format!("{value} has no target in a switch")),
                }
            }
            Terminator::Return(values) => {
                let results = self.hand_on(base, values)?;
                return Ok(self.leave(base, results));
            }
            Terminator::TailCall(callee, args) => {
                self.counts.calls += 1;
                let args = self.hand_on(base, args)?;
                self.values.truncate(base);
                self.frames.pop();
                self.enter(*callee, args);
            }
            Terminator::Fail(text, _) => return self.fail(*text).map(Some),
            Terminator::Unreachable => return broken("unreachable code is reached"),
        }
        Ok(None)
    }

    fn jump(&mut self, base: usize, target: &Target) -> Result<(), Error> {
        let function = self.frame().function;
        let params = &self.program.functions[function].blocks[target.block].params;
        let args = self.get_all(base, &target.args)?;
        for (param, arg) in params.iter().zip(args) {
            self.values[base + param.0 as usize] = arg;
        }
        let frame = self.frame();
        (frame.block, frame.inst) = (target.block, 0);
        Ok(())
    }

    /// Gives results to the caller; the exit code when there is none.
    fn leave(&mut self, base: usize, results: Vec<Datum>) -> Option<u8> {
        self.values.truncate(base);
        self.frames.pop();
        let Some(&Frame { function, block, inst, base }) = self.frames.last() else {
            return Some(0);
        };
        let call = &self.program.functions[function].blocks[block].insts[inst - 1];
        for (value, result) in call.results.iter().zip(results) {
            self.values[base + value.0 as usize] = result;
        }
        None
    }

    fn fail(&mut self, text: TextId) -> Result<u8, Error> {
        self.output.flush()?;
        let (text, _) = without_callers(&self.program.texts[text]);
        self.errors.write_all(text.as_bytes())?;
        Ok(1)
    }

    /// The failure of a read that met what a report says, or the end of the input.
    fn fail_input(&mut self, text: TextId, report: Option<&str>) -> Result<u8, Error> {
        let text = &self.program.texts[text];
        let mut texts = text.splitn(3, '\0');
        let end = texts.next().unwrap_or(text);
        let malformed = texts.next().unwrap_or(end);
        let message = report.map_or(end.to_string(), |report| malformed.replace(INPUT_FAULT, report));
        self.output.flush()?;
        self.errors.write_all(message.as_bytes())?;
        Ok(1)
    }

    /// Every box that is alive at the end must be reachable from a global.
    fn check_leaks(&mut self) -> Result<(), Error> {
        let mut held = 0;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut waiting: Vec<Datum> = self.globals.values().cloned().collect();
        while let Some(datum) = waiting.pop() {
            if let Datum::Box(data) = datum
                && seen.insert(Rc::as_ptr(&data))
            {
                held += 1;
                waiting.extend(data.fields.borrow().iter().cloned());
            }
        }
        if held != self.live_boxes {
            return broken(format!("{} boxes are alive at the end, {held} of them held by globals", self.live_boxes));
        }
        Ok(())
    }
}
