//! The page about a run that `--report` asks for: alike in the evaluator and in compiled programs, whole however the
//! program ends, and sound HTML with sound SVG in it.

use crate::options::{both, compiled, ways};
use crate::run;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;

const FIT: &str = "\
(arguments
  \"Fits a <decay> & more.\"
  (rate real 0.5 \"how fast\")
  (names (choice \"a&b\" \"c\") \"a&b\"))
(define (valley (list x y)) (+ (* (- 1 x) (- 1 x)) (* 100 (- y (* x x)) (- y (* x x)))))
(define found (minimise by-bfgs valley (list (- rate) 1)))
(found-status found)
(define drawn (plot \"way.svg\" (list \"a way\" \"\" \"\") (list (plot-line \"\" #(0 1) #(0 1)))))
(define small (minimise by-gradient-descent (lambda (x) (- (* (- x 0.3) (- x 0.3)) 7)) 3))
(found-value small)
";

/// The page without the time that the program took.
fn page(folder: &Path) -> String {
    let page = fs::read_to_string(folder.join("page.html")).expect("it is there");
    fs::remove_file(folder.join("page.html")).expect("it is there");
    assert!(!folder.join("page.html.part").exists());
    demand_sound(&page);
    let (before, after) = page.split_once("; took ").expect("it says so");
    let (_, after) = after.split_once(" s.").expect("it says so");
    format!("{before}{after}")
}

/// Tags are closed as they have to be; pictures are XML; nothing comes from elsewhere.
fn demand_sound(page: &str) {
    const ALONE: [&str; 6] = ["meta", "img", "path", "rect", "td", "th"];
    let mut open = Vec::new();
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("it begins so");
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("tags end");
        assert!(!text.contains('>'), "{text}");
        let name = tag.split([' ', '\n']).next().expect("there is one");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{piece}"),
            None if ALONE.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!page.contains("NaN"));
    assert_eq!(page.matches("http").count(), page.matches("xmlns").count());
}

fn report(folder: &TempDir, arguments: &str) -> (Option<i32>, String) {
    let arguments = format!("--report page.html {arguments}");
    let mut pages = Vec::new();
    let mut codes = Vec::new();
    for command in ways(folder.path(), &arguments) {
        codes.push(run(command, "").0);
        pages.push(page(folder.path()));
    }
    assert_eq!(codes[0], codes[1]);
    let compiled = pages.pop().expect("there are two");
    assert_eq!(compiled, pages[0]);
    (codes[0], compiled)
}

#[test]
fn a_page_tells_of_arguments_searches_output_and_plots() {
    let folder = compiled(FIT, &[("some.toml", "names = \"c\"\n")]);
    let (code, page) = report(&folder, "--config some.toml");
    assert_eq!(code, Some(0));
    for part in [
        "<h1>program</h1>\n<p>Fits a &lt;decay&gt; &amp; more.</p>",
        "The program has ended as it should.",
        "<tr><th>rate<td class=\"n\">0.5<td>default</tr>",
        "<tr><th>names<td class=\"n\">c<td>some.toml</tr>",
        "<h2>Search 1</h2>\n<table>\n<tr><th>status<td class=\"good\">converged: the gradient is small</tr>",
        "<text x=\"70\" y=\"18\">value</text>",
        "<text x=\"70\" y=\"18\">gradient norm</text>",
        ">1e-5</text>",
        "<tr><td>the start<td class=\"n\">",
        "<h2>Search 2</h2>",
        "value, above the least one",
        "<h2>Output</h2>\n<pre>&quot;converged: the gradient is small&quot;\n",
        "<figcaption>way.svg</figcaption>\n<img alt=\"\" src=\"data:image/svg+xml,%3Csvg xmlns=",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("differ<") && page.matches(">agree<").count() == 2 * (2 + 1), "{page}");
    // The same search as without the page.
    assert_eq!(both(&folder, ""), both(&folder, "--report page.html"));
}

/// A derivative that is wrong differs from differences.
#[test]
fn wrong_derivatives_are_seen() {
    let wrong = "\
(define f (with-derivative (lambda (x) (* x x)) (lambda (x) (* 3 x))))
(found-value (minimise by-gradient-descent f 1 (at-most-steps 5)))
";
    let (code, page) = report(&compiled(wrong, &[]), "");
    assert_eq!(code, Some(0));
    assert!(page.contains("<td class=\"bad\">differ</tr>"), "{page}");
}

#[test]
fn a_program_without_a_search_has_a_page() {
    let (code, page) = report(&compiled("(arguments (x real 2))\n(* x 3)\n", &[]), "--x 5");
    assert_eq!(code, Some(0));
    assert!(page.contains("<tr><th>x<td class=\"n\">5<td>command line</tr>"), "{page}");
    assert!(page.contains("<pre>15\n</pre>") && !page.contains("Search"), "{page}");
}

/// Loops that tell how far they have come are drawn.
#[test]
fn loops_are_drawn() {
    let program = "\
(define (sum i total) (begin (progress i total (/ 1 (+ i 1))) (if (= i 9) total (sum (+ i 1) (* 2 total)))))
(sum 0 1)
";
    let (_, page) = report(&compiled(program, &[]), "");
    assert!(page.contains("<h2>Loop 1</h2>"), "{page}");
    assert!(page.contains("<tr><th>value<td class=\"n\">512</tr>"), "{page}");
}

#[test]
fn a_page_says_what_failed() {
    let program = "\
(arguments (x real 1))
x
(define (f y) (* y y))
(found-value (minimise by-bfgs f 1))
(if (> x 1) (error \"too <large>:\" x) (log (- x)))
";
    let folder = compiled(program, &[]);
    let (code, page) = report(&folder, "--x 2");
    assert_eq!(code, Some(1));
    assert!(page.contains("The program has failed, with exit code 1."), "{page}");
    assert!(page.contains("too &lt;large&gt;:: 2"), "{page}");
    assert!(page.contains("<h2>Search 1</h2>"), "{page}");
    let (code, page) = report(&folder, "");
    assert_eq!(code, Some(1));
    assert!(page.contains("error: result 3 is not a number: +nan.0"), "{page}");
}

/// What was interrupted says so.
#[test]
fn interrupted_programs_have_a_page() {
    let program = "\
(define (f (list x y)) (+ (* (- 1 x) (- 1 x)) (* 100 (- y (* x x)) (- y (* x x)))))
(define many 1000000000)
(found-value
  (minimise by-gradient-descent f '(-1 1) (learning-rate 1e-9) (at-most-steps many) (at-most-evaluations many)))
";
    let folder = compiled(program, &[]);
    for mut command in ways(folder.path(), "--report page.html --log log") {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        while fs::read_to_string(folder.path().join("log")).map_or(0, |log| log.lines().count()) < 9 {
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::remove_file(folder.path().join("log")).expect("it is there");
        // SAFETY: the process is our child and has not been waited for.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
        assert_eq!(child.wait_with_output().expect("it was started").status.code(), Some(143));
        let page = page(folder.path());
        assert!(page.contains("The program was interrupted."), "{page}");
        assert!(page.contains("<td class=\"bad\">not ended</tr>") && page.contains("class=\"curve\""), "{page}");
    }
}

/// A page that cannot be written is wrong usage, before anything is computed.
#[test]
fn pages_that_cannot_be_written_are_refused() {
    let folder = compiled("(write-string \"computed\")\n", &[]);
    for (file, reason) in [(".", "Is a directory"), ("/dev/null", "it is no regular file")] {
        let (code, output, message) = both(&folder, &format!("--report {file}"));
        assert_eq!((code, output.as_str()), (Some(2), ""));
        assert!(message.starts_with(&format!("error: cannot write `{file}`: {reason}\n")), "{message}");
    }
}

/// A page is no larger for a long run: of many points some are drawn, and of many searches the first.
#[test]
fn pages_of_long_runs_are_short() {
    let program = "\
(define (f x) (* x x))
(define (search i) (found-steps (minimise by-gradient-descent f i (learning-rate 1e-4) (at-most-steps 3000))))
(vector-length (build 30 (lambda (i) (search (+ i 1)))))
(define (say i) (if (= i 20000) i (begin (write-string \"123456789\") (newline) (say (+ i 1)))))
(say 0)
";
    let (_, page) = report(&compiled(program, &[]), "");
    assert!(page.contains("<p>And 10 more searches.</p>") && page.contains("<h2>Search 20</h2>"), "{page}");
    assert!(page.contains("more bytes.</p>") && page.len() < 500_000, "{}", page.len());
}

/// The texts of the page for how searches end are those of the library.
#[test]
fn statuses_are_those_of_the_library() {
    let library = include_str!("../../../stdlib/minimise.vlad");
    for (code, status) in vlad::core::report::STATUSES.iter().enumerate().skip(1) {
        assert!(library.contains(&format!("\"{status}\"")), "{status}");
        let name = library.lines().find_map(|line| {
            let (name, number) = line.strip_prefix("(define %")?.strip_suffix(')')?.split_once(' ')?;
            (number == code.to_string()).then_some(name)
        });
        let name = name.expect("each code has a name");
        let (_, texts) = library.split_once("(define (%status code)").expect("it is there");
        let (texts, _) = texts.split_once("\n\n").expect("it ends");
        let texts = texts.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = texts.split_once(&format!("(= code %{name})")).map_or(texts.as_str(), |(_, after)| after);
        assert!(text.split_once('"').is_some_and(|(_, text)| text.starts_with(status)) || name == "in-conflict");
    }
}
