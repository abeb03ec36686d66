//! Generators of programs of any length, one for each way in which programs become large.
//!
//! A number of lines → the text of a program of about so many. Each program reads what it computes with, so that
//! nothing of it is computed while it is compiled, and uses everything that it defines.

use std::fmt::Write as _;

/// A kind of program: its name, what grows, and the text of one of so many lines.
pub struct Kind {
    /// Its name on the command line.
    pub name: &'static str,
    /// What there is more of in longer programs.
    pub about: &'static str,
    /// The text.
    pub program: fn(usize) -> String,
}

const fn kind(name: &'static str, about: &'static str, program: fn(usize) -> String) -> Kind {
    Kind { name, about, program }
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    kind("functions", "functions with a loop in each", functions),
    kind("gradients", "the same, with the gradient of each", gradients),
    kind("hessians", "functions with their second derivatives", hessians),
    kind("calls", "functions that call the one before from two places, and the gradient of the last", calls),
    kind("chain", "functions that call the one before once, and the gradient of the last", chain),
    kind("states", "functions that hand on ten numbers, and the gradient of the last", states),
    kind("places", "numbers in one list that a loop hands on, each of which it reads by its place", places),
    kind("mutual", "functions that call each other in a circle", mutual),
    kind("lists", "functions on lists, with closures", lists),
    kind("body", "bindings of one function, with its gradient", body),
    kind("live", "numbers that one function needs until its end, with its gradient", live),
    kind(
        "nesting",
        "functions of fifty lines, in which conditionals, bindings and functions nest, and their gradients",
        nesting,
    ),
    kind("lets", "bindings that nest in each other, two hundred deep, and gradients", lets),
    kind("ifs", "the same with conditionals", ifs),
    kind("sums", "the same with operations", sums),
    kind("lambdas", "functions that nest in each other, thirty deep", lambdas),
    kind("curried", "functions of fifteen arguments, one at a time", curried),
    kind("conds", "conditionals of a hundred clauses, with gradients", conds),
    kind("clauses", "conditionals of a thousand clauses, with gradients", clauses),
    kind("clause-chain", "clauses of one conditional, with its gradient", clause_chain),
    kind("pick", "clauses that give a function each, and the gradient of what is done with it", pick),
    kind("circle", "functions that call one of two others last, and the gradient of the first", circle),
    kind("layers", "matrices in one list, that a vector goes through, and the gradient in all of them", layers),
    kind("closures", "functions in one list, called from one place", closures),
    kind("table", "functions in one vector, of which one is called, and its gradient", table),
    kind("captures", "the same with functions that capture what the gradient is in", captures),
    kind("sequence", "functions in one vector, each applied to what the one before gave, and the gradient", sequence),
    kind("rest", "functions in one list, of which run time leaves the first ones out, and the gradient", rest),
    kind("tests", "tests of one `or`, with the gradient of what it decides", tests),
    kind("parts", "numbers that a vector is made of, and the gradient of a sum over it", parts_of_vector),
    kind("vector", "elements of a vector that the program mentions, and the gradient of a sum over them", vector),
    kind("globals", "global numbers that depend on those before", globals),
    kind("literal", "elements of a list that the program mentions", literal),
    kind("weights", "numbers that a list known in length holds, with the gradient in all of them", weights),
    kind("matrix", "rows of a matrix that the program mentions, and the gradient in a number of each", matrix),
    kind("network", "dense layers of three numbers, one after the other, and the gradient", network),
    kind("choices", "pairs of which tests choose one", choices),
    kind("record", "fields of a record, of which a fourth is looked up, and the gradient", record),
    kind("updates", "conditional updates of a pair, and the gradient", updates),
    kind(
        "states-of-closures",
        "local functions that call one of two others last, and the gradient",
        states_of_closures,
    ),
    kind("roots", "searches for a root in what another one looks at, and the gradient", roots),
    kind("interpreter", "a function that a pattern for each kind of term leads back to, and the gradient", interpreter),
    kind("kinds", "kinds of records in a tree, taken apart by patterns, and the gradient", kinds),
    kind("continuations", "functions that hand on two continuations each, and the gradient", continuations),
    kind("letrec", "groups of a hundred local functions that see each other", letrec),
];

/// Functions with a loop in each, called from the top level.
fn functions(lines: usize) -> String {
    repeated(lines, 6, |text, i| {
        let _ = write!(
            text,
            "(define (f{i} x y)\n  (let loop ((k 0) (x x))\n    (if (< k y)\n        \
             (loop (+ k 1) (+ (* x 0.5) (sin (+ x {i}))))\n        x)))\n(f{i} a a)\n"
        );
    })
}

fn gradients(lines: usize) -> String {
    let text = functions(lines);
    let call =
        |line: &str| line.strip_suffix(" a a)")?.strip_prefix('(').map(|name| format!("((gradient {name}) a a)\n"));
    text.lines().map(|line| call(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

fn hessians(lines: usize) -> String {
    repeated(lines, 5, |text, i| {
        let _ = write!(
            text,
            "(define (f{i} x)\n  (let* ((y (* x (sin (+ x {i}))))\n         (z (if (< y x) (* y y) (exp y))))\n    \
             (/ z (+ 1 (* x y)))))\n((derivative (gradient f{i})) a)\n"
        );
    })
}

fn calls(lines: usize) -> String {
    let mut text = repeated(lines, 5, |text, i| {
        let before = if i == 0 { "sin".to_string() } else { format!("f{}", i - 1) };
        let _ = write!(
            text,
            "(define (f{i} x)\n  (let ((y (* x x)))\n    (if (< x {i})\n        (+ y ({before} (* x 0.5)))\n        \
             (- ({before} (+ x 1)) y))))\n"
        );
    });
    let _ = writeln!(text, "((gradient f{}) a)", parts(lines, 5) - 1);
    text
}

fn chain(lines: usize) -> String {
    let mut text = repeated(lines, 4, |text, i| {
        let before = if i == 0 { "sin".to_string() } else { format!("f{}", i - 1) };
        let _ = write!(
            text,
            "(define (f{i} x)\n  (let ((y (* x x)))\n    (if (< x {i}) (+ y x)\n        (* y ({before} (+ x 1))))))\n"
        );
    });
    let _ = writeln!(text, "((gradient f{}) a)", parts(lines, 4) - 1);
    text
}

fn states(lines: usize) -> String {
    const WIDTH: usize = 10;
    let names = |prefix: &str| (0..WIDTH).map(|k| format!(" {prefix}{k}")).collect::<String>();
    let mut text = repeated(lines, WIDTH + 1, |text, i| {
        let _ = writeln!(text, "(define (f{i}{})", names("x"));
        for k in 0..WIDTH {
            let open = if k == 0 { format!("  (f{} ", i + 1) } else { " ".repeat(6) };
            let close = if k == WIDTH - 1 { "))" } else { "" };
            let _ = writeln!(text, "{open}(+ x{k} (* x{} (sin (+ x{k} {i})))){close}", (k + 1) % WIDTH);
        }
    });
    let _ = write!(text, "(define (f{}{})\n  (+{}))\n", parts(lines, WIDTH + 1), names("x"), names("x"));
    let _ = writeln!(text, "((gradient f0){})", " a".repeat(WIDTH));
    text
}

fn mutual(lines: usize) -> String {
    let count = parts(lines, 4);
    let mut text = repeated(lines, 4, |text, i| {
        let _ = write!(
            text,
            "(define (f{i} n x)\n  (cond ((< n 1) x)\n        ((< x {i}) (f{} (- n 1) (+ x (sin x))))\n        \
             (else (f{} (- n 1) (* x 0.5)))))\n",
            (i + 1) % count,
            (i + 7) % count,
        );
    });
    text += "((gradient (lambda (x) (f0 a x))) a)\n";
    text
}

fn lists(lines: usize) -> String {
    repeated(lines, 5, |text, i| {
        let _ = write!(
            text,
            "(define (f{i} scale l)\n  (let* ((scaled (map (lambda (x) (* x (+ scale {i}))) l))\n         \
             (sum (fold-left + 0 scaled)))\n    (/ sum (length l))))\n(f{i} a data)\n"
        );
    })
}

fn body(lines: usize) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    text += "(define (f v0)\n  (let* (\n";
    for i in 1..lines {
        let _ = writeln!(text, "    (v{i} (+ (* v{} 0.5) (sin v{})))", i - 1, i / 2);
    }
    let _ = write!(text, "    )\n    v{}))\n((gradient f) a)\n", lines - 1);
    text
}

fn live(lines: usize) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    text += "(define (f x)\n  (let* (\n";
    let half = lines / 2;
    for i in 0..half {
        let _ = writeln!(text, "    (v{i} (sin (+ x {i})))");
    }
    text += "    (s0 0)\n";
    for i in 0..half {
        let _ = writeln!(text, "    (s{} (+ (* s{i} 0.5) v{i}))", i + 1);
    }
    let _ = write!(text, "    )\n    s{half}))\n(f a)\n((gradient f) a)\n");
    text
}

fn nesting(lines: usize) -> String {
    const DEPTH: usize = 16;
    repeated(lines, 3 * DEPTH + 2, |text, i| {
        let _ = writeln!(text, "(define (f{i} x0)");
        for depth in 0..DEPTH {
            let inner = depth + 1;
            let _ = write!(
                text,
                "(let ((g (lambda (y) (* y (+ x{depth} {i})))))\n(if (< x{depth} {depth})\n    (g (sin x{depth}))\n    \
                 (let ((x{inner} (g (+ x{depth} 1))))"
            );
        }
        let _ = write!(text, "x{DEPTH}{})\n((gradient f{i}) a)\n", ")))".repeat(DEPTH));
    })
}

fn lets(lines: usize) -> String {
    nested(lines, |i| (format!("(let ((x{} (+ (* x{i} 0.5) (sin x{}))))", i + 1, i / 2), ")".to_string()))
}

fn ifs(lines: usize) -> String {
    nested(lines, |i| (format!("(if (< x0 {i}) (sin (+ x0 {i})) (let ((x{} (* x{i} x0)))", i + 1), "))".to_string()))
}

fn sums(lines: usize) -> String {
    nested(lines, |i| (format!("(let ((x{} x{i})) (+ {i} (* x{i} ", i + 1), ")))".to_string()))
}

/// Functions of two hundred lines that nest in each other, and their gradients. Line `i` of a function may use `x0` to
/// `xi` and binds the next.
fn nested(lines: usize, line: impl Fn(usize) -> (String, String)) -> String {
    const DEPTH: usize = 200;
    repeated(lines, DEPTH + 2, |text, i| {
        let _ = writeln!(text, "(define (f{i} x0)");
        let mut ends = Vec::new();
        for depth in 0..DEPTH {
            let (start, end) = line(depth);
            let _ = writeln!(text, "{start}");
            ends.push(end);
        }
        ends.reverse();
        let _ = write!(text, "(* x{DEPTH} {i}){})\n((gradient f{i}) a)\n", ends.concat());
    })
}

fn lambdas(lines: usize) -> String {
    const DEPTH: usize = 30;
    repeated(lines, DEPTH + 2, |text, i| {
        let _ = writeln!(text, "(define (f{i} x0)");
        for depth in 0..DEPTH {
            let _ = writeln!(text, "((lambda (x{}) (+ (sin x{}) x{depth}", depth + 1, depth / 2);
        }
        let ends: String = (0..DEPTH).rev().map(|depth| format!(")) (* x{depth} {i}))")).collect();
        let _ = write!(text, "{ends})\n((gradient f{i}) a)\n");
    })
}

fn curried(lines: usize) -> String {
    const DEPTH: usize = 15;
    repeated(lines, DEPTH + 2, |text, i| {
        let params: String = (1..DEPTH).map(|k| format!(" x{k})")).collect();
        let _ = writeln!(text, "(define {}f{i} x0){params}", "(".repeat(DEPTH));
        for k in 0..DEPTH {
            let _ = writeln!(text, "(+ (* x{k} x{}) ", k / 2);
        }
        let args: String = (0..DEPTH).map(|k| if k % 2 == 0 { " a)".to_string() } else { format!(" {k})") }).collect();
        let _ = write!(text, "{i}{})\n{}f{i}{args}\n", ")".repeat(DEPTH), "(".repeat(DEPTH));
    })
}

fn conds(lines: usize) -> String {
    wide(lines, 100)
}

fn clauses(lines: usize) -> String {
    wide(lines, 1000)
}

/// Functions of so many clauses, and their gradients.
fn wide(lines: usize, clauses: usize) -> String {
    repeated(lines, clauses, |text, i| {
        let _ = writeln!(text, "(define (f{i} x) (cond");
        for k in 0..clauses - 3 {
            let _ = writeln!(text, "  ((< x {k}) (sin (* x (+ x {i}.{k}))))");
        }
        let _ = write!(text, "  (else x)))\n((gradient f{i}) a)\n");
    })
}

fn clause_chain(lines: usize) -> String {
    listed(
        "(define (f x) (cond",
        lines,
        |k| format!("  ((< x {k}) (sin (* x (+ x {k}))))"),
        "  (else x)))\n((gradient f) a)",
    )
}

fn pick(lines: usize) -> String {
    listed(
        "(define (pick i x) (cond",
        lines,
        |k| format!("  ((= i {k}) (lambda (y) (* x (sin (+ y {k})))))"),
        "  (else (lambda (y) y))))\n((gradient (lambda (x) ((pick a x) x))) a)",
    )
}

fn circle(lines: usize) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    for i in 0..lines {
        let (next, other) = ((i + 1) % lines, (i + 7) % lines);
        let _ = writeln!(
            text,
            "(define (f{i} n x)\n  (cond ((< n 1) x) ((< x {i}) (f{next} (- n 1) (+ x (sin x)))) \
             (else (f{other} (- n 1) (* x 0.5)))))"
        );
    }
    text += "((gradient (lambda (x) (f0 a x))) a)\n";
    text
}

fn layers(lines: usize) -> String {
    listed(
        "(define layers (list",
        lines,
        |i| format!("  (list (list (+ a {i}) a 2) (list 3 1 a) (list 1 a {i}.5))"),
        "))\n(define (through rows v) (map (lambda (row) (tanh (dot row v))) rows))\n\
         (define (loss layers) (fold-left + 0 (fold-left (lambda (v rows) (through rows v)) (list a 1 2) layers)))\n\
         ((gradient loss) layers)",
    )
}

fn table(lines: usize) -> String {
    listed(
        "(define functions (vector",
        lines,
        |i| format!("  (lambda (x) (+ (* a x) (sin (+ x {i}))))"),
        "))\n(define (f x) ((vector-ref functions a) x))\n((gradient f) a)",
    )
}

fn sequence(lines: usize) -> String {
    listed(
        "(define (f y) (vector-fold (lambda (x function) (function x)) y (vector",
        lines,
        |i| format!("  (lambda (x) (sin (* x {i} y)))"),
        ")))\n((gradient f) a)",
    )
}

fn captures(lines: usize) -> String {
    listed(
        "(define (f y i) (let ((functions (vector",
        lines,
        |i| format!("  (lambda (x) (+ (* y x) (sin (+ x {i}))))"),
        "  ))) ((vector-ref functions i) y)))\n((gradient (lambda (y) (f y a))) a)",
    )
}

fn rest(lines: usize) -> String {
    listed(
        "(define (f y n) (let ((functions (list",
        lines,
        |i| format!("  (lambda (x) (+ (* y x) (sin (+ x {i}))))"),
        "  ))) (fold-left + 0 (map (lambda (g) (g y)) (list-tail functions n)))))\n((gradient (lambda (y) (f y a))) a)",
    )
}

fn tests(lines: usize) -> String {
    listed(
        "(define (f x) (if (or",
        lines,
        |i| format!("  (and (< x {i}) (> (sin x) 0.{i}))"),
        "  ) (* x x) x))\n((gradient f) a)",
    )
}

fn parts_of_vector(lines: usize) -> String {
    listed(
        "(define (f x) (vector-sum (vector-map sin (vector",
        lines,
        |i| format!("  (* x {i}.5)"),
        "))))\n((gradient f) a)",
    )
}

fn vector(lines: usize) -> String {
    listed(
        "(define elements (vector",
        lines,
        |i| format!("  {}.5", i * 7 % 1000),
        "))\n(define (f x) (vector-sum (vector-map (lambda (y) (* x y)) elements)))\n((gradient f) a)",
    )
}

fn closures(lines: usize) -> String {
    listed(
        "(define functions (list",
        lines,
        |i| format!("  (lambda (x) (+ (* a x) (sin (+ x {i}))))"),
        "))\n(define (all x) (map (lambda (f) (f x)) (list-tail functions a)))\n(all a)",
    )
}

fn globals(lines: usize) -> String {
    let mut text = repeated(lines, 1, |text, i| {
        let before = if i == 0 { "a".to_string() } else { format!("g{}", i - 1) };
        let _ = writeln!(text, "(define g{i} (+ (* {before} 0.5) (sin g{})))", i / 2);
    });
    text = text.replacen("(sin g0)", "(sin a)", 1);
    let _ = writeln!(text, "((derivative (lambda (x) (* x g{}))) a)", lines - 1);
    text
}

fn literal(lines: usize) -> String {
    listed(
        "(define table '(",
        lines,
        |i| format!("  ({i} . {}.5)", i * 7 % 1000),
        "))\n(assoc a table)\n(fold-left (lambda (sum entry) (+ sum (cdr entry))) a table)",
    )
}

fn weights(lines: usize) -> String {
    listed(
        "(define start (list",
        lines,
        |i| format!("  (* a {i})"),
        "))\n(define (loss w) (fold-left (lambda (sum x) (+ sum (* x (sin x)))) 0 w))\n((gradient loss) start)",
    )
}

fn matrix(lines: usize) -> String {
    listed(
        "(define (f x) (vector-sum (matvec (vector",
        lines,
        |i| format!("  (vector (* x {i}.5) (* x {}) 2 {i})", i * 7 % 97),
        "  ) (vector x 1 2 x))))\n((gradient f) a)",
    )
}

fn network(lines: usize) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    text += "(define (layer rows) (lambda (v) (vector-map tanh (matvec rows v))))\n";
    text += "(define (f x)\n  (let* ((v0 (vector x 1 2))\n";
    for i in 0..lines {
        let _ = writeln!(
            text,
            "    (v{} ((layer (vector (vector x {i} 1) (vector 1 x {i}) (vector {i} 2 x))) v{i}))",
            i + 1
        );
    }
    let _ = writeln!(text, "    )\n    (vector-sum v{lines})))\n((gradient f) a)");
    text
}

fn choices(lines: usize) -> String {
    listed(
        "(define (f x) (let ((chosen (cond",
        lines,
        |i| format!("  ((< a {i}) (cons {i} (* x {i})))"),
        "  (else (cons x x))))) (* (car chosen) (cdr chosen))))\n(f a)\n((gradient f) a)",
    )
}

fn record(lines: usize) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    text += "(define (f x)\n  (let ((fields (list\n";
    (0..lines).for_each(|i| text += &format!("    (cons {i} (* x {i}))\n"));
    text += "    )))\n    (+\n";
    (0..lines).step_by(4).for_each(|i| text += &format!("    (cdr (assoc {i} fields))\n"));
    text += "    )))\n((gradient f) a)\n";
    text
}

fn updates(lines: usize) -> String {
    listed(
        "(define (f x) (let* ((p (cons x x))",
        lines,
        |i| {
            let yes = format!("(cons (* x {i}) (cdr p))");
            format!("  (p (if (< (car p) {i}) {yes} (cons (car p) (+ (sin (cdr p)) {i}))))")
        },
        "  ) (* (car p) (cdr p))))\n((gradient f) a)",
    )
}

fn states_of_closures(lines: usize) -> String {
    let next = |i: usize, step: usize| (i + step) % lines;
    listed(
        "(define (f x) (letrec (",
        lines,
        |i| {
            let (one, other) = (next(i, 1), next(i, 7));
            let last = format!("(else (g{other} (- n 1) (* y x)))");
            format!(
                "  (g{i} (lambda (n y) (cond ((< n 1) (* x y)) ((< y {i}) (g{one} (- n 1) (+ (sin y) {i}))) {last})))"
            )
        },
        "  ) (g0 a x)))\n((gradient f) a)",
    )
}

fn letrec(lines: usize) -> String {
    const COUNT: usize = 100;
    repeated(lines, 3 * COUNT + 4, |text, i| {
        let _ = writeln!(text, "(define (f{i} x)\n  (letrec (");
        for k in 0..COUNT {
            let _ = write!(
                text,
                "    (g{k} (lambda (n y)\n      (if (< n 1) (* x y)\n          (g{} (- n 1) (+ (sin y) {k})))))\n",
                (k + 1) % COUNT
            );
        }
        let _ = write!(text, "    )\n    (g0 a x)))\n((gradient f{i}) a)\n");
    })
}

fn places(lines: usize) -> String {
    let next = |i: usize| format!("  (+ (list-ref r {i}) (sin (list-ref r {})))", (i + 1) % lines);
    let first = |i: usize| format!(" (* x {i})");
    let loop_of_steps = format!(
        "  ))\n(define (f x)\n  (let loop ((k 0) (r (list{})))\n    \
         (if (< k a) (loop (+ k 1) (step r)) (fold-left + 0 r))))\n((gradient-R f) a)",
        (0..lines).map(first).collect::<String>()
    );
    listed("(define (step r) (list", lines, next, &loop_of_steps)
}

/// Equations each of which has the solution of the one before in it.
fn roots(lines: usize) -> String {
    let mut text = "(define a (read-real))\n(define (f0 p) (* p p))\n".to_string();
    for i in 1..=lines {
        let before = i - 1;
        let equation = format!("(lambda (x) (- (+ x (f{before} (* 0.1 x))) p))");
        let _ = writeln!(text, "(define (f{i} p) (bisection {equation} 0 10 1e-6))");
    }
    let _ = writeln!(text, "(f{lines} a)\n((gradient-R f{lines}) a)");
    text
}

/// An interpreter with a clause for each kind of term, on a term that is made at run time.
fn kinds(lines: usize) -> String {
    let each = |write: &dyn Fn(usize) -> String| (0..lines).map(write).collect::<String>();
    let definitions = each(&|i| format!("(define-record k{i} l r)\n"));
    let made = each(&|i| format!("    ((= (modulo n {lines}) {i}) (k{i} (tree (- n 1)) (tree (- n 2))))\n"));
    let clauses = each(&|i| format!("    ((k{i} l r) (sin (+ {i} (* (value l x) (value r x)))))\n"));
    format!(
        "{definitions}(define (tree n)\n  (cond\n    ((< n 1) 1)\n{made}    (else 2)))\n\
         (define (value t x)\n  (match t\n{clauses}    (n (* n x))))\n\
         (define a (read-real))\n(define t (tree a))\n((gradient-R (lambda (x) (value t x))) a)\n"
    )
}

fn continuations(lines: usize) -> String {
    let mut text =
        "(define a (read-real))\n(define (f0 x yes no) (if (< x 0.1) (yes (sin x)) (no (* x x))))\n".to_string();
    for i in 1..lines {
        let _ = write!(
            text,
            "(define (f{i} x yes no)\n  (f{} (sin (* {i} x))\n      \
             (lambda (y) (if (< y 0.5) (yes (* x y)) (no (+ x y))))\n      \
             (lambda (y) (if (< y 0.1) (no (* y y)) (yes (cos y))))))\n",
            i - 1
        );
    }
    let last = lines.max(1) - 1;
    let _ = writeln!(text, "((gradient-R (lambda (x) (f{last} x (lambda (y) (* y x)) (lambda (y) (+ y x))))) a)");
    text
}

fn interpreter(lines: usize) -> String {
    let clauses = (0..lines).map(|i| format!("    ((list {i} a) (sin (* {i} (value a x))))\n"));
    let clauses: String = clauses.collect();
    format!(
        "(define (value e x)\n  (match e\n{clauses}    (_ x)))\n(define a (read-real))\n(define e\n  \
         (let loop ((i a) (e (real 1))) (if (< i 0) e (loop (- i 1) (list i e)))))\n(value e a)\n\
         ((gradient-R (lambda (x) (value e x))) a)\n"
    )
}

/// How many parts of so many lines there are: twice as many where there are twice as many thousands of lines.
fn parts(lines: usize, part: usize) -> usize {
    ((1000 / part).max(1) * lines / 1000).max(1)
}

/// A definition with one line for each of many parts, which stand between the lines `before` and `after`.
fn listed(before: &str, lines: usize, line: impl Fn(usize) -> String, after: &str) -> String {
    let mut text = repeated(0, 1, |_, _| {});
    let _ = writeln!(text, "{before}");
    (0..lines).for_each(|i| text += &(line(i) + "\n"));
    let _ = writeln!(text, "{after}");
    text
}

/// A program of parts with so many lines each.
fn repeated(lines: usize, part: usize, write: impl Fn(&mut String, usize)) -> String {
    let mut text = "(define a (read-real))\n(define data (map-n (lambda (i) (read-real)) a))\n".to_string();
    (0..parts(lines, part)).for_each(|i| write(&mut text, i));
    text
}
