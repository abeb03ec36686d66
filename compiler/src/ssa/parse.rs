//! Reads the textual form of SSA that [`crate::ssa::print`] writes.
//!
//! Sums, vectors, texts, slots, functions and blocks are declared in the order of their numbers, starting from 0;
//! values may have any numbers and get new ones in order of appearance. The result has the right types by construction,
//! except for what only [`crate::ssa::verify`] checks: operands, arities of jumps and dominance.

use crate::base::entity::Entity;
use crate::base::{EntityVec, Span};
use crate::ssa::ir::{
    Alternative, Block, BlockId, Form, FuncId, Function, Inst, Item, Lanewise, Op, Phase, Piece, Program, Real1, Real2,
    SlotId, Source, Stream, Sum, SumId, Target, Terminator, TextId, Type, Value, Values, VectorId, VectorLayout, Walk,
};
use crate::ssa::print::{COMPARE, INT_COMPARE, INT2, PARTS, REAL1, REAL2, WALKS};
use crate::ssa::signature::signature;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// One-based line.
    pub line: usize,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads a program.
pub fn program(text: &str) -> Result<Program, Error> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, program: Program::default() };
    parser.program()?;
    Ok(parser.program)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// Names, numbers, and names with dots.
    Word(String),
    Text(String),
    Mark(&'static str),
    End,
}

const MARKS: &[&str] = &["->", "(", ")", "{", "}", ",", ":", "=", "|"];

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Error> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        line_tokens(line, index + 1, &mut found)?;
    }
    found.push((Token::End, text.lines().count()));
    Ok(found)
}

fn line_tokens(text: &str, line: usize, found: &mut Vec<(Token, usize)>) -> Result<(), Error> {
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with(';') {
        let length;
        if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            found.push((Token::Mark(mark), line));
            length = mark.len();
        } else if rest.starts_with('"') {
            let (value, size) =
                quoted(rest).ok_or_else(|| Error { line, message: "a text without closing quote".to_owned() })?;
            found.push((Token::Text(value), line));
            length = size;
        } else {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.+-".contains(c))).unwrap_or(rest.len());
            if end == 0 {
                return Err(Error { line, message: format!("unexpected character in `{rest}`") });
            }
            found.push((Token::Word(rest[..end].to_owned()), line));
            length = end;
        }
        rest = rest[length..].trim_start();
    }
    Ok(())
}

/// The value and the length of the quoted text that `text` starts with, escaped as Rust does.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((position, c)) = chars.next() {
        match c {
            '"' => return Some((value, position + 1)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '0' => value.push('\0'),
                'u' => {
                    let digits: String = chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    value.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    program: Program,
}

/// Where a function's body starts, and the values named so far.
struct Body {
    function: FuncId,
    start: usize,
    names: FxHashMap<String, Value>,
}

type Parsed<T> = Result<T, Error>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        if token != Token::End {
            self.next += 1;
        }
        token
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Error { line: self.tokens[self.next.saturating_sub(1)].1, message: message.into() })
    }

    fn accept(&mut self, mark: &'static str) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &'static str) -> Parsed<()> {
        if self.accept(mark) {
            return Ok(());
        }
        self.next += 1;
        self.error(format!("expected `{mark}`"))
    }

    fn word(&mut self) -> Parsed<String> {
        match self.advance() {
            Token::Word(word) => Ok(word),
            other => self.error(format!("expected a name, found {other:?}")),
        }
    }

    fn text(&mut self) -> Parsed<Arc<str>> {
        match self.advance() {
            Token::Text(text) => Ok(Arc::from(text)),
            other => self.error(format!("expected a quoted text, found {other:?}")),
        }
    }

    /// Checks that the entity declared next is `prefix` followed by its number.
    fn declared(&mut self, prefix: &str, index: usize) -> Parsed<()> {
        let word = self.word()?;
        if word == format!("{prefix}{index}") { Ok(()) } else { self.error(format!("expected `{prefix}{index}`")) }
    }

    /// The number behind `prefix` in `word`.
    fn entity<K: Entity>(&self, word: Option<&str>, prefix: &str) -> Parsed<K> {
        let index = word.and_then(|w| w.strip_prefix(prefix)).and_then(|digits| digits.parse::<u32>().ok());
        match index {
            Some(index) => Ok(K::from_index(index as usize)),
            None => self.error(format!("expected `{prefix}` and a number")),
        }
    }

    fn ty(&mut self) -> Parsed<Type> {
        let word = self.word()?;
        self.type_named(&word)
    }

    fn type_named(&self, word: &str) -> Parsed<Type> {
        match [Type::F64, Type::Bool, Type::Int, Type::Ptr, Type::F64x2, Type::Boolx2]
            .into_iter()
            .find(|ty| ty.to_string() == word)
        {
            Some(ty) => Ok(ty),
            None => self.error(format!("`{word}` is not a type")),
        }
    }

    /// The items of a list in parentheses, or nothing when there is no parenthesis.
    fn list<T>(&mut self, item: impl Fn(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        if !self.accept("(") || self.accept(")") {
            return Ok(Vec::new());
        }
        let items = self.items(item)?;
        self.expect(")")?;
        Ok(items)
    }

    fn items<T>(&mut self, item: impl Fn(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn program(&mut self) -> Parsed<()> {
        let mut bodies = Vec::new();
        while *self.peek() != Token::End {
            match self.word()?.as_str() {
                "sum" => self.sum()?,
                "vec" => self.vector()?,
                "text" => {
                    self.declared("text", self.program.texts.len())?;
                    let text = self.text()?;
                    self.program.texts.push(text);
                }
                "slot" => {
                    self.declared("slot", self.program.slots.len())?;
                    self.expect(":")?;
                    let ty = self.ty()?;
                    self.program.slots.push(ty);
                }
                "watched" => {
                    let texts = self.items(|p| {
                        let word = p.word()?;
                        p.entity(Some(&word), "text")
                    })?;
                    match texts[..] {
                        [a, b, c] => self.program.watched.push([a, b, c]),
                        _ => return self.error("expected three texts"),
                    }
                }
                "main" => {
                    let word = self.word()?;
                    self.program.main = Some(self.entity(Some(&word), "fn")?);
                }
                "fn" => bodies.push(self.header()?),
                other => return self.error(format!("`{other}` does not start a declaration")),
            }
        }
        bodies.into_iter().try_for_each(|body| self.body(body))
    }

    fn sum(&mut self) -> Parsed<()> {
        self.declared("sum", self.program.sums.len())?;
        self.expect("=")?;
        let mut sum = Sum::default();
        loop {
            let name = self.text()?;
            let fields = self.list(Parser::ty)?;
            sum.alternatives.push(Alternative { name, fields });
            if !self.accept("|") {
                break;
            }
        }
        self.program.sums.push(sum);
        Ok(())
    }

    fn vector(&mut self) -> Parsed<()> {
        self.declared("vec", self.program.vectors.len())?;
        self.expect("=")?;
        let name = self.text()?;
        let fields = self.list(Parser::ty)?;
        self.program.vectors.push(VectorLayout { name, fields });
        Ok(())
    }

    fn typed_value(&mut self) -> Parsed<(String, Type)> {
        let name = self.word()?;
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    /// Reads up to the body, which can be understood only when all functions are declared.
    fn header(&mut self) -> Parsed<Body> {
        self.declared("fn", self.program.functions.len())?;
        let name = self.text()?;
        let params = self.list(Parser::typed_value)?;
        let results = if self.accept("->") { self.items(Parser::ty)? } else { Vec::new() };
        let mut walk = Walk::None;
        if let Token::Word(word) = self.peek() {
            match WALKS.iter().find(|row| row.1 == word) {
                Some(row) => walk = row.0,
                None => return self.error("expected `{`"),
            }
            self.advance();
        }
        let mut function =
            Function { name, span: None, walk, results, values: EntityVec::new(), blocks: EntityVec::new() };
        let mut names = FxHashMap::default();
        let params = self.define(&mut function, &mut names, params)?;
        function.blocks.push(Block { params, insts: Vec::new(), terminator: Terminator::Unreachable });
        self.expect("{")?;
        let start = self.next;
        while !self.accept("}") {
            if self.advance() == Token::End {
                return self.error("a function without closing brace");
            }
        }
        Ok(Body { function: self.program.functions.push(function), start, names })
    }

    fn define(
        &self,
        function: &mut Function,
        names: &mut FxHashMap<String, Value>,
        values: Vec<(String, Type)>,
    ) -> Parsed<Vec<Value>> {
        let mut defined = Vec::with_capacity(values.len());
        for (name, ty) in values {
            let value = function.values.push(ty);
            if names.insert(name.clone(), value).is_some() {
                return self.error(format!("`{name}` is defined twice"));
            }
            defined.push(value);
        }
        Ok(defined)
    }

    /// Reads a body twice: first the definitions, whose types follow from the operations, then the uses.
    fn body(&mut self, body: Body) -> Parsed<()> {
        let mut function = self.program.functions[body.function].clone();
        let mut names = body.names;
        for definitions in [true, false] {
            self.next = body.start;
            let mut index = 0;
            while !self.accept("}") {
                self.declared("b", index)?;
                let id = BlockId::from_index(index);
                let params = self.list(Parser::typed_value)?;
                self.expect(":")?;
                if definitions && id != Function::ENTRY {
                    let params = self.define(&mut function, &mut names, params)?;
                    function.blocks.push(Block { params, insts: Vec::new(), terminator: Terminator::Unreachable });
                }
                self.block(&mut function, id, &mut names, definitions)?;
                index += 1;
            }
        }
        self.program.functions[body.function] = function;
        Ok(())
    }

    fn block(
        &mut self,
        function: &mut Function,
        block: BlockId,
        names: &mut FxHashMap<String, Value>,
        definitions: bool,
    ) -> Parsed<()> {
        let mut position = 0;
        loop {
            let has_results = matches!(self.tokens.get(self.next + 1), Some((Token::Mark("," | "="), _)));
            let results = if has_results { self.items(Parser::word)? } else { Vec::new() };
            if has_results {
                self.expect("=")?;
            }
            let word = self.word()?;
            if !has_results && let Some(terminator) = self.terminator(&word, names, definitions)? {
                function.blocks[block].terminator = terminator;
                return Ok(());
            }
            let (op, chosen) = self.op(&word)?;
            let args = self.operands(op, names, definitions)?;
            let watched = self.watched();
            if definitions {
                let inst = Inst { span: watched, ..self.defining(function, names, op, chosen, results)? };
                function.blocks[block].insts.push(inst);
            } else {
                function.blocks[block].insts[position].args = args.into();
                position += 1;
            }
        }
    }

    /// The number of an operation that is watched, in place of its source.
    fn watched(&mut self) -> Option<Source> {
        let Token::Word(word) = self.peek() else { return None };
        let number = word.strip_prefix("watched.")?;
        let (number, is_later) = match number.strip_suffix(".later") {
            Some(number) => (number, true),
            None => (number, false),
        };
        let span = Span::numbered(number.parse().ok()?);
        self.advance();
        let span = if is_later { span.marked() } else { span };
        Some(Source { span, phase: Phase::Value, is_in_library: false, within: None })
    }

    fn defining(
        &self,
        function: &mut Function,
        names: &mut FxHashMap<String, Value>,
        op: Op,
        chosen: Type,
        results: Vec<String>,
    ) -> Parsed<Inst> {
        let Some(signature) = signature(&self.program, op, chosen) else {
            return self.error(format!("`{op}` names something that was not declared"));
        };
        if signature.results.len() != results.len() {
            return self.error(format!("`{op}` has {} results", signature.results.len()));
        }
        let results = self.define(function, names, results.into_iter().zip(signature.results).collect())?;
        Ok(Inst { op, args: Values::new(), results: results.into(), span: None })
    }

    fn operands(&mut self, op: Op, names: &FxHashMap<String, Value>, definitions: bool) -> Parsed<Vec<Value>> {
        if matches!(op, Op::Call(_)) {
            return self.list(|p| p.use_of(names, definitions));
        }
        let starts = matches!(self.peek(), Token::Word(w) if is_value(w));
        // A value that an `=` or `,` and `=` follow belongs to the next instruction.
        let mut ahead = self.next + 1;
        while matches!(self.tokens[ahead].0, Token::Mark(",")) {
            ahead += 2;
        }
        if !starts || self.tokens[ahead].0 == Token::Mark("=") {
            return Ok(Vec::new());
        }
        self.items(|p| p.use_of(names, definitions))
    }

    fn use_of(&mut self, names: &FxHashMap<String, Value>, definitions: bool) -> Parsed<Value> {
        let word = self.word()?;
        match names.get(&word) {
            Some(value) => Ok(*value),
            None if definitions => Ok(Value(0)),
            None => self.error(format!("`{word}` is not defined")),
        }
    }

    fn terminator(
        &mut self,
        word: &str,
        names: &FxHashMap<String, Value>,
        definitions: bool,
    ) -> Parsed<Option<Terminator>> {
        let value = |p: &mut Parser| p.use_of(names, definitions);
        let target = |p: &mut Parser| {
            let word = p.word()?;
            Ok(Target { block: p.entity(Some(&word), "b")?, args: p.list(value)? })
        };
        Ok(Some(match word {
            "jump" => Terminator::Jump(target(self)?),
            "branch" => {
                let condition = value(self)?;
                self.expect(",")?;
                let yes = target(self)?;
                self.expect(",")?;
                Terminator::Branch(condition, yes, target(self)?)
            }
            "switch" => {
                let tag = value(self)?;
                let targets = if self.accept(",") { self.items(target)? } else { Vec::new() };
                Terminator::Switch(tag, targets)
            }
            "return" => {
                let any = matches!(self.peek(), Token::Word(w) if is_value(w));
                Terminator::Return(if any { self.items(value)? } else { Vec::new() })
            }
            "tail_call" => {
                let callee = self.word()?;
                Terminator::TailCall(self.entity(Some(&callee), "fn")?, self.list(value)?)
            }
            "fail" => {
                let text = self.word()?;
                Terminator::Fail(self.entity(Some(&text), "text")?, None)
            }
            "unreachable" => Terminator::Unreachable,
            _ => return Ok(None),
        }))
    }

    /// The operation with this name, and the type that a selection chooses.
    fn op(&mut self, word: &str) -> Parsed<(Op, Type)> {
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or("");
        let (a, b, c) = (parts.next(), parts.next(), parts.next());
        let sum = |p: &Parser| p.entity::<SumId>(a, "sum");
        let vector = |p: &Parser| p.entity::<VectorId>(a, "vec");
        let number = |p: &Parser, part: Option<&str>| match part.and_then(|digits| digits.parse::<u32>().ok()) {
            Some(n) => Ok(n),
            None => p.error("expected a number behind a dot"),
        };
        let mut chosen = Type::F64;
        let op = match name {
            "real" => Op::ConstReal(self.real()?),
            "bool" => Op::ConstBool(self.word()? == "true"),
            "int" => Op::ConstInt(self.int()?),
            "immediate" => Op::Immediate(sum(self)?, number(self, b)?),
            "not" => Op::Not,
            "and" => Op::And,
            "or" => Op::Or,
            "real_is" => match a.and_then(|digits| digits.parse().ok()) {
                Some(bits) => Op::RealIs(bits),
                None => return self.error("expected a number behind `real_is.`"),
            },
            "int_is" => match a.and_then(|digits| digits.parse().ok()) {
                Some(value) => Op::IntIs(value),
                None => return self.error("expected a number behind `int_is.`"),
            },
            "select" => {
                chosen = self.type_named(a.unwrap_or(""))?;
                Op::Select
            }
            "opaque" => {
                chosen = self.type_named(a.unwrap_or(""))?;
                Op::Opaque
            }
            "exchange" => {
                chosen = self.type_named(a.unwrap_or(""))?;
                Op::Exchange
            }
            "call" => {
                let callee = self.word()?;
                Op::Call(self.entity(Some(&callee), "fn")?)
            }
            "box" => Op::Box(sum(self)?, number(self, b)?),
            "tag" => Op::Tag(sum(self)?),
            "has_tag" => Op::HasTag(sum(self)?, number(self, b)?),
            "field" => Op::Field(sum(self)?, number(self, b)?, number(self, c)?),
            "new_vector" => Op::NewVector(vector(self)?),
            "kernel" => {
                let name = a.unwrap_or_default().replace('_', "-");
                let Some(row) = vlad_kernels::TABLE.iter().find(|row| row.1 == name) else {
                    return self.error(format!("`{name}` is no kernel"));
                };
                Op::Kernel(row.0, self.entity::<VectorId>(b, "vec")?)
            }
            "new_rows" => Op::NewRows(vector(self)?),
            "new_row" => Op::NewRow(vector(self)?),
            "element" => Op::Element(vector(self)?, number(self, b)?),
            "take_element" => Op::TakeElement(vector(self)?, number(self, b)?),
            "with_element" => Op::WithElement(vector(self)?),
            "int_of" => Op::IntOf,
            "real_of" => Op::RealOf,
            "lanes" => Op::Lanes(match (a, b) {
                (Some("not"), _) => Lanewise::Not,
                (Some("and"), _) => Lanewise::And,
                (Some("or"), _) => Lanewise::Or,
                (Some("select"), _) => Lanewise::Select,
                (Some("real_is"), bits) => match bits.and_then(|digits| digits.parse().ok()) {
                    Some(bits) => Lanewise::RealIs(bits),
                    None => return self.error("expected a number behind `lanes.real_is.`"),
                },
                (name, _) => match name.and_then(arithmetic) {
                    Some(Op::Real1(op)) => Lanewise::Real1(op),
                    Some(Op::Real2(op)) => Lanewise::Real2(op),
                    Some(Op::Compare(op)) => Lanewise::Compare(op),
                    _ => return self.error(format!("`{word}` is not an operation")),
                },
            }),
            "splat" => Op::Splat,
            "pair" => Op::Pair,
            "lane" => Op::Lane(a == Some("1")),
            "any_lane" => Op::AnyLane,
            "elements" => Op::Elements(vector(self)?, number(self, b)?),
            "with_elements" => Op::WithElements(vector(self)?),
            "get" => Op::GlobalGet(self.entity::<SlotId>(a, "slot")?),
            "set" => Op::GlobalSet(self.entity::<SlotId>(a, "slot")?),
            "is_set" => Op::IsSet(self.entity::<SlotId>(a, "slot")?),
            "read_real" => Op::Read(Item::Real, self.entity::<TextId>(a, "text")?),
            "read_vector" => Op::Read(Item::Vector, self.entity::<TextId>(a, "text")?),
            "read_matrix" => Op::Read(Item::Matrix, self.entity::<TextId>(a, "text")?),
            "own" => Op::Own(vector(self)?),
            "of_each" => {
                let function = REAL1.iter().find(|row| Some(row.1) == a);
                let Some((function, _)) = function else { return self.error("expected a function behind `of_each.`") };
                Op::OfEach(*function, self.entity(b, "vec")?)
            }
            "argument_elements" => Op::ArgumentElements(vector(self)?),
            "result_elements" => Op::ResultElements(vector(self)?),
            "argument" => Op::Argument(self.part(a)?),
            "result" => Op::Result(self.part(a)?),
            "write_real" => Op::WriteReal(self.stream(a)?),
            "write_byte" => Op::WriteByte,
            "write_double" => Op::WriteDouble,
            "heap_bytes" => Op::HeapBytes,
            "tape_memory" => Op::TapeMemory,
            "ask" => Op::Ask,
            "write_text" => Op::WriteText(self.stream(a)?, self.entity::<TextId>(b, "text")?),
            "begin_file" => Op::BeginFile(self.entity::<TextId>(a, "text")?),
            "end_file" => Op::EndFile(self.entity::<TextId>(a, "text")?),
            "write_text_of" => Op::WriteTextOf(self.stream(a)?, Form::Plain),
            "write_quoted" => Op::WriteTextOf(self.stream(a)?, Form::Quoted),
            "begin_text" => Op::BeginText,
            "end_text" => Op::EndText,
            "text_byte" => Op::TextByte,
            "vacant" => Op::Vacant(self.type_named(a.unwrap_or(""))?),
            "hole" => Op::Hole(sum(self)?, number(self, b)?, number(self, c)?),
            "fill" => Op::Fill(self.type_named(a.unwrap_or(""))?),
            "is_shared" => Op::IsShared(self.entity(a, "fn")?),
            "recall" => Op::Recall(self.entity(a, "fn")?),
            "remember" => Op::Remember(self.entity(a, "fn")?),
            "forget" => Op::Forget,
            "retain" => Op::Retain,
            "release" => Op::Release,
            _ => match arithmetic(name) {
                Some(op) => op,
                None => return self.error(format!("`{word}` is not an operation")),
            },
        };
        Ok((op, chosen))
    }

    fn part(&self, name: Option<&str>) -> Parsed<Piece> {
        match PARTS.iter().find(|row| Some(row.1) == name) {
            Some((part, _)) => Ok(*part),
            None => self.error("expected `number`, `array` or `element`"),
        }
    }

    fn stream(&self, part: Option<&str>) -> Parsed<Stream> {
        match part {
            Some("out") => Ok(Stream::Out),
            Some("err") => Ok(Stream::Err),
            Some("result") => Ok(Stream::Result),
            _ => self.error("expected `out` or `err`"),
        }
    }

    fn real(&mut self) -> Parsed<u64> {
        let word = self.word()?;
        if let Some(digits) = word.strip_prefix("nan.0x") {
            return u64::from_str_radix(digits, 16).or_else(|_| self.error("expected the bits of a number"));
        }
        word.parse::<f64>().map(f64::to_bits).or_else(|_| self.error(format!("`{word}` is not a number")))
    }

    fn int(&mut self) -> Parsed<i64> {
        let word = self.word()?;
        word.parse().or_else(|_| self.error(format!("`{word}` is not a whole number")))
    }
}

fn is_value(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn arithmetic(name: &str) -> Option<Op> {
    let real1 = |row: &(Real1, &str)| (row.1 == name).then_some(Op::Real1(row.0));
    let real2 = |row: &(Real2, &str)| (row.1 == name).then_some(Op::Real2(row.0));
    let compare = || COMPARE.iter().find(|row| row.1 == name).map(|row| Op::Compare(row.0));
    let int2 = || INT2.iter().find(|row| row.1 == name).map(|row| Op::Int2(row.0));
    let int_compare = || INT_COMPARE.iter().find(|row| row.1 == name).map(|row| Op::IntCompare(row.0));
    let real = REAL1.iter().find_map(real1).or_else(|| REAL2.iter().find_map(real2)).or_else(compare);
    real.or_else(int2).or_else(int_compare)
}
