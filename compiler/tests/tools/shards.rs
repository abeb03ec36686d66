//! Work that processes share (`map-over`, `sum-over`, rounds of loops): the same bits, texts and exit codes with any number of workers
//! as in the evaluator; what workers cannot do; workers that die.

use crate::{Outcome, folder, run, vlad};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vlad::base::parallel;

fn compiled(program: &str) -> TempDir {
    let folder = folder(&[("program.vlad", program)]);
    let (code, _, message) = vlad(&folder, &["build", "--native", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    folder
}

/// The program, with so many workers whatever they cost.
fn shared(folder: &TempDir, workers: usize) -> Command {
    let mut command = Command::new(folder.path().join("program"));
    command.current_dir(folder.path()).env("NO_COLOR", "1").env("VLAD_REPORT_MEMORY", "");
    command.env("VLAD_THREADS", workers.to_string()).env("VLAD_THREADS_FROM", "0");
    command
}

/// What the evaluator does, which the program does with all numbers of workers; no box is left behind.
fn alike(program: &str, input: &str) -> Outcome {
    let folder = compiled(program);
    let expected = vlad(&folder, &["eval", "program.vlad"], input);
    for workers in [1, 2, 3, 4, 8, 64] {
        let (code, output, messages) = run(shared(&folder, workers), input);
        let (message, memory) = messages.split_at(messages.rfind("memory: ").expect("a report"));
        assert_eq!((code, output, message.to_owned()), expected, "{workers}");
        assert!(code != Some(0) || memory.starts_with("memory: 0 boxes"), "{workers}: {memory}");
    }
    expected
}

#[test]
fn the_corpus_has_the_same_bits_with_any_number_of_workers() {
    let mut texts = Vec::new();
    for folder in ["shards", "rounds"] {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/run").join(folder);
        let files = fs::read_dir(corpus).expect("the folder");
        texts.extend(files.map(|entry| fs::read_to_string(entry.expect("a file").path()).expect("a text")));
    }
    parallel::map(texts, |text| assert_eq!(alike(&text, "").0, Some(0)));
}

#[test]
fn values_of_all_shapes_come_from_workers() {
    let (code, output, _) = alike(
        "(define (long n) (if (= n 0) '() (cons n (long (- n 1)))))
         (define (tree n) (if (= n 0) (real 1) (let ((t (tree (- n 1)))) (cons t t))))
         (define (leaves t) (if (pair? t) (+ (leaves (car t)) (leaves (cdr t))) t))
         (define shared (build 5 (lambda (i) (build 4 (lambda (j) (* i j))))))
         (map-over 6 (lambda (i) (let ((l (long (* 1000 i)))) (cons (length l) (fold-left + 0 l)))))
         (vector-map length (map-over 6 (lambda (i) (long (* i 300)))))
         (vector-map leaves (map-over 5 (lambda (i) (tree (* 3 i)))))
         (map-over 5 (lambda (i) (vector-slice (vector-ref shared i) 1 3)))
         (map-over 4 (lambda (i) (matmul shared (build 4 (lambda (j) (build (+ i 1) (lambda (k) (+ j k))))))))
         (map-over 4 (lambda (i) (list (= i 2) (if (= i 1) \"one\" \"other\") (if (= i 3) shared (list i)))))
         (map-over 4 (lambda (i) (if (= i 2) (long 3) (build i (lambda (j) (cons j '()))))))
         (define fs (map-over 4 (lambda (i) (let ((l (long i)) (v (build 3 (lambda (j) (* i j)))))
                                              (lambda (x) (list x i l v))))))
         (vector-map (lambda (f) (f 7)) fs)
         (define curves (map-over 3 (lambda (i) (if (= i 1) (lambda (x) (* x x)) (lambda (x) (+ x i))))))
         (vector-map (lambda (f) ((derivative f) 3)) curves)
         (vector-length (sum-over 5 (lambda (i) (build 100000 (lambda (j) (/ i (+ j 1)))))))
         (sum-over 5 (lambda (i) (map (lambda (x) (/ x (+ i 3))) (long 10))))
         (let ((v (map-over 20 (lambda (i) (map-over 20 (lambda (j) (list i j))))))) (vector-ref (vector-ref v 7) 9))",
        "",
    );
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("#(1 8 64 512 4096)"), "{output}");
}

/// Shards of which some fail, where something has been written before.
pub const FAILS: &str = "(define said (begin (write-string \"before \") (newline)))
    (define (shard i) (if (> i 3) (error \"no such shard\" i) (* i i)))";
/// What becomes of the errors of such shards where they are handled; at the end one is not.
pub const TRIES: &str = "(try (lambda () (map-over 9 shard)) (lambda (m x) (list m x)))
    (try (lambda () (sum-over 4 shard)) (lambda (m x) 0))
    (sum-over 4 (lambda (i) (try (lambda () (shard (* 2 i))) (lambda (m x) x))))
    (map-over 4 (lambda (i) (vector-ref #(1 2 3) i)))";

#[test]
fn errors_texts_and_outputs_are_those_of_a_program_that_works_alone() {
    let (code, output, message) = alike(&format!("{FAILS} (sum-over 9 shard)"), "");
    assert_eq!((code, output.as_str()), (Some(1), "before \n"));
    assert!(message.contains("no such shard: 4"), "{message}");
    let (code, output, _) = alike(&format!("{FAILS} {TRIES}"), "");
    assert_eq!((code, output.as_str()), (Some(1), "before \n(\"no such shard\" 4)\n14\n14\n"));
    // What shards write and read comes in their order; texts that they make are equal to others.
    let (code, output, _) = alike(
        "(map-over 5 (lambda (i) (begin (if (> i 1) (write (list i (read-real))) '()) i)))
         (define names (map-over 4 (lambda (i) (number->string (* i 10)))))
         names
         (string=? (vector-ref names 2) (number->string 20))
         (with-output-to-string (lambda () (map-over 3 (lambda (i) (begin (write i) i)))))
         (map-over 3 (lambda (i) (with-output-to-string (lambda () (write i)))))
         (read-real)",
        "7 8 9 10",
    );
    assert_eq!(
        (code, output.as_str()),
        (
            Some(0),
            "(2 7)(3 8)(4 9)#(0 1 2 3 4)\n#(\"0\" \"10\" \"20\" \"30\")\n#t\n\"012\"\n#(\"0\" \"1\" \"2\")\n10\n"
        )
    );
}

#[test]
fn rounds_that_fail_are_reported_as_by_a_program_that_works_alone() {
    let work = "(define (work a x) (let loop ((i 0) (s 0)) (if (< i 9) (loop (+ i 1) (+ s (sin (* a (+ x s))))) s)))
        (define n (read-real))
        (define v (build 700 (lambda (i) (/ i n))))";
    for fails in [
        "(vector-sum (build n (lambda (i) (+ (work 1 i) (vector-ref v i)))))",
        "(let loop ((i 0) (s 0)) (if (< i n) (loop (+ i 1) (+ s (work 1 (vector-ref v (- 800 i))))) s))",
        "((gradient-R (lambda (a) (vector-sum (build n (lambda (i) (if (> (+ i (* 1e-9 (work a i))) 800) (error \"high\" i) (* a i))))))) 1)",
    ] {
        let (code, _, message) = alike(&format!("{work} {fails}"), "1000");
        assert_eq!(code, Some(1), "{message}");
        assert!(message.starts_with("error[V03"), "{message}");
    }
}

#[test]
fn searches_in_shards_find_what_they_find_alone() {
    alike(
        "(define (lowest i)
           (found-place (minimise by-bfgs (lambda (x) (let ((d (- (vector-ref x 0) (* i i)))) (* d d))) #(1))))
         (map-over 6 lowest)
         (found-place (minimise by-bfgs (lambda (x) (sum-over 4 (lambda (i) (expt (- (vector-ref x 0) i) 2)))) #(9)))",
        "",
    );
}

const ENDLESS: &str = "(define (forever x) (if (> x 1e300) x (forever (+ x 1))))
    (map-over 4 (lambda (i) (if (= i 0) i (forever (real 0)))))";

const ENDLESS_ROUNDS: &str = "(define (forever x) (if (> x 1e300) x (forever (+ x 1))))
    (define (work x) (let loop ((k 0) (s x)) (if (< k 9) (loop (+ k 1) (sin s)) s)))
    (vector-sum (build 4000 (lambda (i) (if (< i 2000) (work i) (forever i)))))";

/// The processes that this one has started.
fn children(of: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("the system's folder").flatten();
    let processes = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |process: &u32| {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields = text.rsplit(") ").next().unwrap_or("").split(' ').map(str::to_owned).collect::<Vec<_>>();
        fields.get(1).is_some_and(|parent| *parent == of.to_string()) && fields[0] != "Z"
    };
    processes.filter(is_child).collect()
}

fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "too late");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill(process: u32, signal: i32) {
    // SAFETY: a system call on a process that this test has started.
    unsafe { libc::kill(process.cast_signed(), signal) };
}

fn is_gone(process: u32) -> Option<()> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    (text.is_empty() || text.contains(") Z ")).then_some(())
}

#[test]
fn a_worker_that_dies_ends_the_program_and_nobody_is_left() {
    let (shards, rounds) = (compiled(ENDLESS), compiled(ENDLESS_ROUNDS));
    let ways = [(false, libc::SIGKILL), (true, libc::SIGKILL), (true, libc::SIGINT)];
    for (folder, (kills_program, signal)) in
        [&shards, &rounds].into_iter().flat_map(|folder| ways.map(|way| (folder, way)))
    {
        let mut command = shared(folder, 3);
        let mut program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program is there");
        let workers = wait_for(|| Some(children(program.id())).filter(|workers| workers.len() == 3));
        kill(if kills_program { program.id() } else { workers[1] }, signal);
        let start = Instant::now();
        let code = wait_for(|| program.try_wait().expect("it is a child"));
        assert!(start.elapsed() < Duration::from_secs(5));
        workers.into_iter().for_each(|worker| wait_for(|| is_gone(worker)));
        let output = program.wait_with_output().expect("it has ended");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        match (kills_program, signal) {
            (false, _) => {
                assert_eq!(code.code(), Some(3), "{message}");
                assert!(message.contains("was killed by signal 9"), "{message}");
            }
            (true, libc::SIGINT) => assert_eq!(code.code(), Some(130), "{message}"),
            _ => assert_eq!(code.code(), None),
        }
    }
}

#[test]
fn memory_and_settings_have_their_exit_codes() {
    let folder = compiled(
        "(define (long n) (let loop ((n n) (l '())) (if (= n 0) l (loop (- n 1) (cons (sin n) l)))))
         (define (deep n) (if (= n 0) 0 (+ (sin n) (deep (- n 1)))))
         (map-over 4 (lambda (i) (let ((l (long (* i 2000000)))) (/ (fold-left + 0 l) (length l)))))
         (map-over 4 (lambda (i) (deep (* i 1000000))))",
    );
    let limited = |limit: &str| {
        let mut command = shared(&folder, 3);
        run(
            {
                command.env("VLAD_MAX_MEMORY", limit);
                command
            },
            "",
        )
    };
    let (code, output, message) = limited("100M");
    assert_eq!((code, output.as_str()), (Some(3), ""), "{message}");
    assert!(message.starts_with("error[V0311]: out of memory"), "{message}");
    // Each worker has a part of that only; what does not fit is computed by the program.
    let (code, output, message) = limited("500M");
    assert_eq!((code, output.lines().count()), (Some(0), 2), "{message}");
    let wrong = |name: &str, value: &str| {
        let mut command = shared(&folder, 3);
        run(
            {
                command.env(name, value);
                command
            },
            "",
        )
    };
    for (name, value) in [("VLAD_THREADS", "many"), ("VLAD_THREADS", "-1"), ("VLAD_THREADS_FROM", "soon")] {
        let (code, _, message) = wrong(name, value);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains(name) && message.contains(value), "{message}");
    }
}
