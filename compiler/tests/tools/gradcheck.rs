//! `vlad gradcheck`: what is checked, how often, and what is said.

use crate::{folder, vlad};

#[test]
fn derivatives_are_checked() {
    // How far an iteration goes is nothing that a derivative knows about.
    const RIGHT: &str = "(define (f x) (* x x))
((derivative f) 3)
((derivative (derivative f)) 3)
(define (close? x y) (< (abs (- x y)) 1e-8))
(round ((derivative (lambda (x) (fixed-point close? (lambda (y) (/ (+ x y) 2)) (* 3 x)))) 3))
";
    const WRONG: &str = "(define (square x) (* x x))
(define slope (with-derivative square (lambda (x) (* 3 x))))
((gradient (lambda (x y) (+ y (slope (* 2 x))))) 3 4)
";
    const CAPTURED: &str = "(define (times a)
  (custom-*j (lambda (x) (* a x))
             (lambda (rx) (let ((x (*j-inverse rx))) (cons (*j (* a x)) (lambda (s) (cons (list a) (* a s))))))))
((gradient (lambda (a) ((times a) 3))) 5)
";
    const VALUE: &str = "((gradient (custom-*j sin (lambda (rx) (cons (*j 3) (lambda (s) (cons '() 1)))))) 0)\n";
    const CUBIC: &str = "((derivative (with-vjp (lambda (x) (* x x)) (lambda (x y s) (* 2 s s s x)))) 3)\n";
    const KINK: &str = "((derivative (lambda (x) (/ x (+ 1 (sqrt x))))) 0)\n";
    const READ: &str = "((derivative (lambda (x) (* x (read-real)))) 3)\n";
    let programs =
        [("wrong", WRONG), ("captured", CAPTURED), ("value", VALUE), ("cubic", CUBIC), ("kink", KINK), ("read", READ)];
    let folder = folder(&[&programs[..], &[("right", RIGHT)]].concat());
    for engine in [&[][..], &["--eval"]] {
        let check = |name: &str| vlad(&folder, &[&["gradcheck", name], engine].concat(), "");
        let right = check("right");
        assert_eq!((right.1.as_str(), right.0), ("6\n2\n1\n", Some(0)), "{}", right.2);
        let wrong = programs.map(|(name, _)| check(name));
        assert!(wrong.iter().all(|outcome| outcome.0 == Some(1)));
        let name =
            if engine.is_empty() { "derivatives_are_checked" } else { "derivatives_are_checked_in_the_evaluator" };
        insta::assert_snapshot!(name, wrong.iter().map(|outcome| outcome.2.as_str()).collect::<String>());
    }
}

/// A search takes the derivative of one function again and again; not all of these are checked, and what checks compute
/// is not written.
#[test]
fn derivatives_are_sampled() {
    const SEARCH: &str = "(define (f v) (vector-sum (vector-map (lambda (x) (* x x (sin x))) v)))
(define (descend n v) (if (= n 0) v (descend (- n 1) (v- v (k*v 0.001 ((gradient f) v))))))
(define found (descend (read-real) (build 40 (lambda (i) (/ i 40)))))
(< (f found) (f (build 40 (lambda (i) (/ i 40)))))
";
    // The derivative is wrong behind the 100th step; the 128th is checked.
    const LATE: &str = "(define count (with-derivative (lambda (x) x) (lambda (x) (if (> x 100) 2 1))))
(define (f x) (count x))
(let loop ((i 1)) (when (<= i (read-real)) ((derivative f) i) (loop (+ i 1))))
";
    let folder = folder(&[("search", SEARCH), ("late", LATE)]);
    let check =
        |name: &str, input: &str, arguments: &[&str]| vlad(&folder, &[&["gradcheck", name], arguments].concat(), input);
    let (code, output, messages) = check("search", "20000", &["--directions", "9"]);
    assert_eq!((output.as_str(), code), ("#t\n", Some(0)), "{messages}");
    let steps = |n: usize| format!("{n} ").repeat(n + 1);
    assert_eq!(check("late", &steps(127), &[]).0, Some(0));
    for (steps, arguments) in [(steps(128), &[][..]), (steps(101), &["--calls", "1000"])] {
        let (code, _, messages) = check("late", &steps, arguments);
        assert!(code == Some(1) && messages.contains("derivative is wrong"), "{messages}");
    }
    for wrong in ["--directions=0", "--calls=0", "--directions=many", "--skip=nobody"] {
        assert_eq!(check("search", "1", &[wrong]).0, Some(2), "{wrong}");
    }
}

#[test]
fn checks_warn_once_of_each_function_without_a_derivative() {
    const KINKS: &str = "(define (h x) (abs x))
((derivative h) 0)
((derivative h) 0)
((derivative (lambda (x) (log x))) -1)
((gradient (lambda (v) (vector-max v))) #(1 1 0))
";
    const LONG: &str = "(define f (with-vjp vector-sum (lambda (x y s) (k*v 2 x))))
((gradient f) (build 1000 (lambda (i) i)))
";
    // An error in a check ends the check, and what is written behind it is seen.
    const CAUGHT: &str = "(define (g x) (if (< x 0) (error \"negative\" x) (sqrt x)))
(define (f x) (try (lambda () ((derivative g) x)) (lambda (m v) (write-string m) -1)))
(f -4)
(write-string \"visible \")
(define broken (with-derivative g (lambda (x) 5)))
((derivative broken) 4)
";
    let folder = folder(&[("kinks", KINKS), ("caught", CAUGHT), ("five", "((gradient (real 5)) 3)\n"), ("long", LONG)]);
    let check = |name: &str| vlad(&folder, &["gradcheck", name], "");
    let (code, output, messages) = check("kinks");
    assert_eq!((output.as_str(), code), ("0\n0\n-1\n#(1 0 0)\n", Some(0)), "{messages}");
    let warnings: Vec<&str> = messages.lines().filter(|line| line.starts_with("warning")).collect();
    let kink = "warning[V0322]: a derivative is taken at a kink (function, argument, place, derivative, from the left, from \
                the right): ";
    assert_eq!(
        warnings,
        [
            format!("{kink}(#[procedure h] 0 \"number\" 0 0 -1 1)"),
            "warning[V0322]: a derivative is taken where the function has no value (function, argument): (#[procedure \
             lambda] -1)"
                .into(),
            format!("{kink}(#[procedure lambda] #(1 1 0) \"number\" 0 1 0 1)"),
        ]
    );
    let (code, output, messages) = check("caught");
    assert_eq!((output.as_str(), code), ("negative-1\nvisible ()\n", Some(1)));
    assert!(messages.contains("a given derivative is wrong"), "{messages}");
    let (code, _, messages) = check("five");
    assert!(code == Some(1) && messages.starts_with("error[V0301]"), "{messages}");
    // What is long is not shown in full.
    let (code, _, messages) = check("long");
    assert!(code == Some(1) && messages.contains("(0 2 \"...\" 1998 \"of\" 1000)"), "{messages}");
    assert!(messages.len() < 1000, "{messages}");
}

/// Every operator of the library that takes a derivative, in every mode.
#[test]
fn all_derivatives_are_checked() {
    let wrong = "(define wrong (with-derivative (lambda (x) (* x x)) (lambda (x) (* 3 x))))";
    let curried = ["derivative", "gradient", "value-and-gradient", "jacobian", "hessian"];
    let uncurried = ["vjp", "jvp", "hvp", "directional-derivative"];
    for mode in ["", "-R", "-F"] {
        let curried = curried.iter().map(|operator| format!("(({operator}{mode} wrong) 3)"));
        for expression in curried.chain(uncurried.iter().map(|operator| format!("({operator}{mode} wrong 3 1)"))) {
            let folder = folder(&[("wrong", &format!("{wrong}\n(write-string \"so far\")\n{expression}\n"))]);
            let (code, output, messages) = vlad(&folder, &["gradcheck", "wrong"], "");
            assert_eq!((output.as_str(), code), ("so far()\n", Some(1)), "{expression}");
            assert!(messages.contains("a given derivative is wrong"), "{expression}: {messages}");
        }
    }
}

/// Derivatives that differ on purpose, and functions that write.
#[test]
fn checks_can_be_left_out() {
    const ROUNDED: &str = "(define smooth (with-derivative round (lambda (x) 1)))
(define (loss x) (* x (write-real (smooth x))))
((derivative loss) 1.25)
";
    let folder = folder(&[("rounded", ROUNDED)]);
    let check = |skipped: &[&str]| {
        let skipped = skipped.iter().flat_map(|name| ["--skip", name]);
        vlad(&folder, &["gradcheck", "rounded"].into_iter().chain(skipped).collect::<Vec<_>>(), "")
    };
    assert_eq!(check(&[]).0, Some(1));
    assert_eq!(check(&["round"]).0, Some(1));
    let (code, output, messages) = check(&["round", "loss"]);
    assert_eq!((output.as_str(), code), ("1\n2.25\n", Some(0)), "{messages}");
    assert_eq!(check(&["round"]).1, "", "what a check computes is not written");
}
