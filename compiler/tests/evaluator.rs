//! The reference evaluator on core programs built by hand: what it promises independently of the front end.

use vlad::base::{FileId, SourceMap, Span};
use vlad::core::ir::{Binding, Body, Const, Definition, Global, GlobalId, Item, Lambda, LambdaId, Origin};
use vlad::core::ir::{Part, Program, Rhs, Var};
use vlad::core::prim::Prim;
use vlad::eval::{Counts, Failure, Limits, Options, run};

/// A program under construction; everything has the same span.
struct Build {
    program: Program,
    sources: SourceMap,
    file: FileId,
}

/// A body under construction.
#[derive(Default)]
struct Block {
    bindings: Vec<Binding>,
}

impl Build {
    fn new() -> Build {
        let mut sources = SourceMap::new();
        let file = sources.add("test.vlad", "(test)\n", false);
        Build { program: Program::default(), sources, file }
    }
    fn span(&self) -> Span {
        Span::new(self.file, 0, 6)
    }
    fn var(&mut self, name: &str) -> Var {
        let span = self.span();
        self.program.new_var(name, span)
    }
    fn bind(&mut self, block: &mut Block, rhs: Rhs) -> Var {
        let var = self.var("t");
        block.bindings.push(Binding { var, rhs, span: self.span() });
        var
    }
    fn number(&mut self, block: &mut Block, number: f64) -> Var {
        self.bind(block, Rhs::Const(Const::Real(number)))
    }
    fn prim(&mut self, block: &mut Block, prim: Prim, operands: &[Var]) -> Var {
        self.bind(block, Rhs::Prim(prim, operands.to_vec()))
    }
    fn lambda(&mut self, name: &str, param: Var, captures: Vec<Var>, body: Body) -> LambdaId {
        let (name, span) = (name.into(), self.span());
        self.program.lambdas.push(Lambda { name, span, origin: Origin::Source, param, captures, body })
    }
    /// A global whose λ is made later, so that it can be recursive.
    fn global(&mut self, name: &str) -> GlobalId {
        let span = self.span();
        self.program.globals.push(Global { name: name.into(), span, definition: Definition::Value })
    }
    fn define(&mut self, global: GlobalId, name: &str, param: Var, body: Body) {
        let lambda = self.lambda(name, param, Vec::new(), body);
        self.program.globals[global].definition = Definition::Function(lambda);
    }
    fn print(&mut self, block: Block, result: Var) {
        let span = self.span();
        self.program.items.push(Item::Print(block.body(result), span));
    }
    fn run(mut self, memory: usize) -> Result<(String, Counts), Failure> {
        let mut output = Vec::new();
        let options = Options { limits: Limits { memory }, ..Options::default() };
        let counts = run(&mut self.program, &self.sources, &options, &mut [].as_slice(), &mut output)?;
        Ok((String::from_utf8_lossy(&output).into_owned(), counts))
    }
    /// `(define (f n) (if (= n 0) 0 (+ 1 (f (- n 1)))))`, or with `f` in tail position.
    fn countdown(&mut self, tail: bool) -> GlobalId {
        let global = self.global("f");
        let n = self.var("n");
        let mut block = Block::default();
        let zero = self.number(&mut block, 0.0);
        let done = self.prim(&mut block, Prim::Eq, &[n, zero]);
        let mut recursive = Block::default();
        let one = self.number(&mut recursive, 1.0);
        let less = self.prim(&mut recursive, Prim::Sub, &[n, one]);
        let f = self.bind(&mut recursive, Rhs::Global(global));
        let mut value = self.bind(&mut recursive, Rhs::Apply(f, less));
        if !tail {
            value = self.prim(&mut recursive, Prim::Add, &[one, value]);
        }
        let branches = (Box::new(Block::default().body(zero)), Box::new(recursive.body(value)));
        let result = self.bind(&mut block, Rhs::If(done, branches.0, branches.1));
        self.define(global, "f", n, block.body(result));
        global
    }
    fn print_call(&mut self, function: GlobalId, argument: f64) {
        let mut block = Block::default();
        let f = self.bind(&mut block, Rhs::Global(function));
        let x = self.number(&mut block, argument);
        let value = self.bind(&mut block, Rhs::Apply(f, x));
        self.print(block, value);
    }
}

impl Block {
    fn body(self, result: Var) -> Body {
        Body { bindings: self.bindings, result }
    }
}

#[test]
fn recursion_is_ten_million_deep() {
    let mut build = Build::new();
    let f = build.countdown(false);
    build.print_call(f, 1e7);
    let (output, counts) = build.run(4 << 30).expect("memory suffices");
    assert_eq!(output, "10000000\n");
    assert_eq!(counts.total(), 20_000_000);
}

#[test]
fn tail_calls_need_no_memory() {
    let mut build = Build::new();
    let f = build.countdown(true);
    build.print_call(f, 1e6);
    assert_eq!(build.run(10_000).map(|done| done.0), Ok("0\n".into()));
}

#[test]
fn recursion_without_end_exhausts_memory() {
    let mut build = Build::new();
    let f = build.countdown(false);
    build.print_call(f, -1.0);
    let failure = build.run(10_000_000).expect_err("the recursion never ends");
    assert_eq!((failure.exit_code, failure.diagnostic.code), (3, "V0311"));
}

#[test]
fn the_gradient_of_a_square() {
    let mut build = Build::new();
    let global = build.global("square");
    let x = build.var("x");
    let mut block = Block::default();
    let square = build.prim(&mut block, Prim::Mul, &[x, x]);
    build.define(global, "square", x, block.body(square));
    // (cdr ((cdr ((*j square) (*j 3))) 1))
    let mut block = Block::default();
    let f = build.bind(&mut block, Rhs::Global(global));
    let f = build.prim(&mut block, Prim::J, &[f]);
    let x = build.number(&mut block, 3.0);
    let x = build.prim(&mut block, Prim::J, &[x]);
    let pair = build.bind(&mut block, Rhs::Apply(f, x));
    let backpropagator = build.prim(&mut block, Prim::Cdr, &[pair]);
    let one = build.number(&mut block, 1.0);
    let sensitivities = build.bind(&mut block, Rhs::Apply(backpropagator, one));
    let value = build.prim(&mut block, Prim::Car, &[pair]);
    let both = build.prim(&mut block, Prim::Cons, &[value, sensitivities]);
    build.print(block, both);
    let (output, counts) = build.run(1 << 20).expect("the program is right");
    assert_eq!(output, "((reverse 9) () . 6)\n");
    // x·x forwards; x·1 twice and their sum backwards.
    assert_eq!(counts.kinds().collect::<Vec<_>>(), [(Prim::Add, 1), (Prim::Mul, 3)]);
}

#[test]
fn mistakes_are_reported_with_their_codes() {
    let mistake = |prepare: &dyn Fn(&mut Build, &mut Block) -> Var| {
        let mut build = Build::new();
        let mut block = Block::default();
        let result = prepare(&mut build, &mut block);
        build.print(block, result);
        let failure = build.run(1 << 20).expect_err("the program is wrong");
        (failure.exit_code, failure.diagnostic.code, failure.diagnostic.notes)
    };
    let of_prim = |prim: Prim| {
        mistake(&move |build: &mut Build, block: &mut Block| {
            let operands: Vec<Var> =
                (0..prim.arity()).map(|i| build.bind(block, Rhs::Const(Const::Bool(i == 0)))).collect();
            build.prim(block, prim, &operands)
        })
    };
    let notes = |texts: &[&str]| texts.iter().map(|text| String::from(*text)).collect::<Vec<_>>();
    let found_true = notes(&["expected a real number, found a boolean", "the value is #t"]);
    assert_eq!(of_prim(Prim::Add), (1, "V0302", found_true));
    assert_eq!(of_prim(Prim::Car).1, "V0303");
    assert_eq!(of_prim(Prim::Plus).1, "V0305");
    for prim in [Prim::ReadReal, Prim::ReadVector, Prim::ReadMatrix] {
        assert_eq!(of_prim(prim).1, "V0307");
    }
    assert_eq!(of_prim(Prim::Error).1, "V0309");
    assert_eq!(of_prim(Prim::WriteString).1, "V0312");
    let call = mistake(&|build, block| {
        let f = build.number(block, 5.0);
        build.bind(block, Rhs::Apply(f, f))
    });
    assert_eq!(call, (1, "V0301", notes(&["expected a procedure, found a real number", "the value is 5"])));
    let pattern = mistake(&|build, block| {
        let x = build.number(block, 5.0);
        build.bind(block, Rhs::Destructure(Part::Cdr, x))
    });
    assert_eq!(pattern.1, "V0304");
    let inverse = mistake(&|build, block| {
        let x = build.number(block, 5.0);
        build.prim(block, Prim::JInverse, &[x])
    });
    assert_eq!(inverse.1, "V0306");
    let undefined = mistake(&|build, block| {
        let global = build.global("later");
        build.bind(block, Rhs::Global(global))
    });
    assert_eq!(undefined.1, "V0310");
}
