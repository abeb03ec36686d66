//! Programs that a launcher of MPI has started several times: the bits, texts, files and exit codes of one process;
//! ranks that die; wrong usage.
//!
//! The library of MPI is one for tests (`tests/ranks/mpi.c`); `docs/distributed.md` is tested with MPICH. This module
//! is the launcher: like all of them, it ends the other ranks when one has failed.

use crate::shards::{FAILS, TRIES};
use crate::{Outcome, folder, run, vlad};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vlad::base::parallel;

fn library() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let folder = folder(&[]);
        let path = folder.path().join("libmpi_abi.so.1");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ranks/mpi.c");
        let mut command = Command::new("cc");
        command.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).args([&path, &source]);
        assert_eq!(run(command, ""), (Some(0), String::new(), String::new()));
        (folder, path)
    });
    path
}

fn compiled(program: &str) -> TempDir {
    let folder = folder(&[("program.vlad", program)]);
    let (code, _, message) = vlad(&folder, &["build", "--native", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    folder
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Ranks that run, and the folder that they communicate through.
struct Ranks {
    ranks: Vec<Child>,
    streams: Vec<[JoinHandle<String>; 2]>,
    _mail: TempDir,
}

/// Starts a program as so many ranks, which divide all shards that they can; `change` may change what they are given.
fn start(folder: &TempDir, count: usize, arguments: &str, input: &str, change: impl Fn(&mut Command)) -> Ranks {
    let mail = crate::folder(&[]);
    let begin = |rank: usize| {
        let mut command = Command::new(folder.path().join("program"));
        command.args(arguments.split_whitespace()).current_dir(folder.path());
        command.env("NO_COLOR", "1").env("VLAD_THREADS_FROM", "0").env("VLAD_MPI", library());
        command.env("PMI_SIZE", count.to_string()).env("PMI_RANK", rank.to_string());
        command.env("MPI_LOCALRANKID", rank.to_string()).env("MPI_FOLDER", mail.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().expect("the program is there");
        if let Some(mut stdin) = child.stdin.take().filter(|_| rank == 0) {
            let _ = stdin.write_all(input.as_bytes());
        }
        child
    };
    let mut ranks: Vec<Child> = (0..count).map(begin).collect();
    let streams = ranks.iter_mut().map(|rank| {
        [collect(rank.stdout.take().expect("it is piped")), collect(rank.stderr.take().expect("it is piped"))]
    });
    let streams = streams.collect();
    Ranks { ranks, streams, _mail: mail }
}

impl Ranks {
    /// Waits until all have ended; one that fails ends the others, soon. The exit code is that of the first that
    /// failed.
    fn end(mut self) -> Outcome {
        let begun = Instant::now();
        let mut failed = None;
        while !self.ranks.iter_mut().all(|rank| matches!(rank.try_wait(), Ok(Some(_)))) {
            let ended = self.ranks.iter_mut().filter_map(|rank| rank.try_wait().ok()?);
            failed = failed.or_else(|| ended.into_iter().find(|status| !status.success()));
            if failed.is_some() {
                // Rank 0 is ended last: what it says may come late.
                thread::sleep(Duration::from_millis(50));
                self.ranks.iter_mut().rev().for_each(|rank| _ = rank.kill());
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "they do not end");
            thread::sleep(Duration::from_millis(2));
        }
        let statuses = self.ranks.iter_mut().map(|rank| rank.wait().expect("it has ended"));
        let statuses: Vec<_> = statuses.collect();
        let status = failed.or_else(|| statuses.into_iter().find(|status| !status.success()));
        let [mut output, mut messages] = [String::new(), String::new()];
        for [out, error] in self.streams {
            output += &out.join().expect("it can be read");
            messages += &error.join().expect("it can be read");
        }
        (status.map_or(Some(0), |status| status.code()), output, messages)
    }
}

/// What the evaluator does, which all numbers of ranks do together.
fn alike(program: &str, input: &str) -> Outcome {
    let folder = compiled(program);
    let expected = vlad(&folder, &["eval", "program.vlad"], input);
    for count in [1, 2, 3, 4] {
        assert_eq!(start(&folder, count, "", input, |_| ()).end(), expected, "{count}");
    }
    let several = |command: &mut Command| _ = command.env("VLAD_THREADS", "3");
    assert_eq!(start(&folder, 2, "", input, several).end(), expected);
    let at_will = |command: &mut Command| _ = command.env_remove("VLAD_THREADS_FROM");
    assert_eq!(start(&folder, 3, "", input, at_will).end(), expected);
    expected
}

#[test]
fn the_corpus_has_the_same_bits_on_any_number_of_ranks() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/run/shards");
    let files = fs::read_dir(corpus).expect("the folder").map(|file| file.expect("a file").path());
    let texts = files.map(|file| fs::read_to_string(file).expect("a text")).collect();
    parallel::map(texts, |text: String| assert_eq!(alike(&text, "").0, Some(0)));
}

#[test]
fn values_of_all_shapes_and_numbers_come_from_ranks() {
    let (code, output, _) = alike(
        "(define (long n) (if (= n 0) '() (cons n (long (- n 1)))))
         (define (tree n) (if (= n 0) (real 1) (let ((t (tree (- n 1)))) (cons t t))))
         (define (leaves t) (if (pair? t) (+ (leaves (car t)) (leaves (cdr t))) t))
         (define-record point x y)
         (define constant '(1 (2 #(3 4)) \"text\"))
         (define shared (build 5 (lambda (i) (build 4 (lambda (j) (* i j))))))
         (vector-map length (map-over 6 (lambda (i) (long (* i 300)))))
         (vector-map leaves (map-over 5 (lambda (i) (tree (* 3 i)))))
         (map-over 5 (lambda (i) (vector-slice (vector-ref shared i) 1 3)))
         (map-over 4 (lambda (i) (list (= i 2) (if (= i 1) \"one\" \"other\") (if (= i 3) constant (list i)))))
         (map-over 4 (lambda (i) (if (= i 2) constant (point i constant))))
         (vector-map (lambda (f) (f 7))
                     (map-over 4 (lambda (i) (let ((v (build 3 (lambda (j) (* i j))))) (lambda (x) (list x i v))))))
         (vector-length (sum-over 5 (lambda (i) (build 100000 (lambda (j) (/ i (+ j 1)))))))
         (sum-over 5 (lambda (i) (map (lambda (x) (/ x (+ i 3))) (long 10))))
         (vector-ref (map-over 20 (lambda (i) (map-over 5 (lambda (j) (list i j))))) 7)
         (map-over 0 (lambda (i) i))
         (map-over 1 (lambda (i) i))
         (map-over 2 (lambda (i) i))
         (sum-over 10000 (lambda (i) (/ 1 (+ i 1))))
         (vector-length (map-over 10000 (lambda (i) (list i i))))
         (define names (map-over 4 (lambda (i) (number->string (* i 10)))))
         names
         (map-over names (lambda (name) (list name (string=? name \"20\"))))",
        "",
    );
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("#(1 8 64 512 4096)"), "{output}");
}

#[test]
fn derivatives_of_all_orders_are_divided_among_ranks() {
    let (code, output, _) = alike(
        "(define data (build 200 (lambda (k) (sin (* k k)))))
         (define ((surprise m l) shard)
           (let loop ((k 0) (sum 0))
             (if (< k 10)
                 (let ((z (/ (- (vector-ref data (+ (* 10 shard) k)) m) (exp l)))) (loop (+ k 1) (+ sum l (* 0.5 z z))))
                 sum)))
         (define (objective (vector m l)) (sum-over 20 (surprise m l)))
         (define (along t) (objective (vector t (sin t))))
         (objective #(0.1 0))
         ((gradient-R objective) #(0.1 0))
         ((gradient-F objective) #(0.1 0))
         ((derivative along) 0.3)
         ((derivative (derivative along)) 0.3)
         ((gradient (lambda (v) (vector-ref ((gradient objective) v) 1))) #(0.1 0.2))
         (found-place (minimise by-bfgs objective #(0.5 0.5)))
         (map-over 4 (lambda (i) ((derivative (lambda (x) (sum-over 3 (lambda (j) (* x x i j))))) 2)))",
        "",
    );
    assert_eq!(code, Some(0), "{output}");
}

#[test]
fn errors_texts_and_outputs_are_those_of_one_process() {
    let (code, output, message) = alike(&format!("{FAILS} (sum-over 9 shard)"), "");
    assert_eq!((code, output.as_str()), (Some(1), "before \n"));
    assert!(message.contains("no such shard: 4"), "{message}");
    let (code, output, _) = alike(&format!("{FAILS} {TRIES}"), "");
    assert_eq!((code, output.as_str()), (Some(1), "before \n(\"no such shard\" 4)\n14\n14\n"));
    let (code, output, _) = alike(
        "(define first (read-real))
         (map-over 5 (lambda (i) (begin (if (> i 1) (write (list i (read-real))) '()) i)))
         (define names (map-over 4 (lambda (i) (number->string (* i first)))))
         names
         (string=? (vector-ref names 2) (number->string 20))
         (read-real)
         (read-real)",
        "10 7 8 9 11",
    );
    assert_eq!(
        (code, output.as_str()),
        (Some(1), "(2 7)(3 8)(4 9)#(0 1 2 3 4)\n#(\"0\" \"10\" \"20\" \"30\")\n#t\n11\n")
    );
}

/// A search whose objective takes some milliseconds.
const SEARCH: &str =
    "(define (work x i) (let loop ((k 0) (s x)) (if (< k 20000) (loop (+ k 1) (+ (sin s) (* 1e-3 i))) s)))
    (define (objective v)
      (let ((a (vector-ref v 0)) (b (vector-ref v 1)))
        (+ (expt (- 1 a) 2) (* 100 (expt (- b (* a a)) 2)) (* 1e-6 (sum-over 8 (lambda (i) (work (+ a b) i)))))))
    (define found (minimise by-bfgs objective #(-1.2 1)))
    (found-place found)
    (found-value found)";

#[test]
fn files_logs_and_states_are_written_once_and_searches_go_on_on_other_ranks() {
    let folder = compiled(SEARCH);
    let whole = run(Command::new(folder.path().join("program")), "");
    assert_eq!(whole.0, Some(0), "{}", whole.2);
    assert_eq!(start(&folder, 3, "--log log", "", |_| ()).end(), whole);
    let log = fs::read_to_string(folder.path().join("log")).expect("the log is there");
    assert_eq!(log.matches("seconds,").count(), 1, "{log}");
    let state = folder.path().join("state");
    for (signal, ends_all) in [(libc::SIGTERM, true), (libc::SIGINT, true), (libc::SIGKILL, false)] {
        let _ = fs::remove_file(&state);
        let (mut stops, mut wait) = (0, 40);
        let end = loop {
            let resume = if state.exists() { "--resume state" } else { "" };
            let arguments = format!("--checkpoint state --checkpoint-every 0s {resume}");
            let ranks = start(&folder, 1 + stops % 4, &arguments, "", |_| ());
            thread::sleep(Duration::from_millis(wait));
            let killed = if ends_all { &ranks.ranks[..] } else { &ranks.ranks[stops % ranks.ranks.len()..][..1] };
            for rank in killed {
                // SAFETY: the process is our child and has not been waited for.
                unsafe { libc::kill(rank.id().cast_signed(), signal) };
            }
            let (code, output, messages) = ranks.end();
            match code {
                Some(0) => break (code, output, messages),
                None => assert_eq!(signal, libc::SIGKILL),
                Some(code) => assert_eq!((code, messages.as_str()), (128 + signal, "")),
            }
            (stops, wait) = (stops + 1, wait + wait / 4);
            assert!(stops < 60);
        };
        assert!(stops > 0);
        assert_eq!(end, whole);
        assert!(signal == libc::SIGKILL || !folder.path().join("state.part").exists());
    }
}

const ENDLESS: &str = "(define (forever x) (if (= x -1) x (forever (+ x 1))))
    (map-over 4 (lambda (i) (if (= i 0) i (forever (real 0)))))";

/// The processes that this one has started.
fn children(of: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    let threads = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let of_threads = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let all: Vec<String> = of_threads.chain([text]).collect();
    let mut found: Vec<u32> = all.iter().flat_map(|text| text.split_whitespace()).flat_map(str::parse).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "too late");
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_gone(process: u32) -> Option<()> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    (text.is_empty() || text.contains(") Z ")).then_some(())
}

#[test]
fn a_rank_or_a_worker_that_dies_ends_all_and_says_so() {
    let folder = compiled(ENDLESS);
    for (rank, kills_worker) in [(0, false), (2, false), (0, true), (1, true)] {
        let ranks = start(&folder, 3, "", "", |_| ());
        let workers: Vec<u32> =
            ranks.ranks.iter().map(|rank| wait_for(|| children(rank.id()).first().copied())).collect();
        let killed = if kills_worker { workers[rank] } else { ranks.ranks[rank].id() };
        // SAFETY: a system call on a process that this test has started.
        unsafe { libc::kill(killed.cast_signed(), libc::SIGKILL) };
        let begun = Instant::now();
        let (code, output, message) = ranks.end();
        assert!(begun.elapsed() < Duration::from_secs(8));
        workers.into_iter().for_each(|worker| wait_for(|| is_gone(worker)));
        assert_eq!((code, output.as_str()), (kills_worker.then_some(3), ""), "{message}");
        assert_eq!(message.contains("was killed by signal 9"), kills_worker, "{message}");
        assert_eq!(message.contains("rank 1 of this program says"), kills_worker && rank == 1, "{message}");
    }
}

#[test]
fn memory_that_is_exhausted_and_other_faults_of_one_rank_end_all() {
    let folder = compiled(
        "(arguments (n integer 0) (data vector))
         (define (long n) (let loop ((n n) (l '())) (if (= n 0) l (loop (- n 1) (cons (sin n) l)))))
         (map-over 4 (lambda (i) (length (long n))))
         (vector-length (map-over data sin))
         (fold-left + 0 (long (* 100 n)))",
    );
    fs::write(folder.path().join("data"), "1 2 3").expect("it can be written");
    let (code, output, message) = start(&folder, 3, "--n 300000 --data data", "", |command| {
        command.env("VLAD_MAX_MEMORY", "200M");
    })
    .end();
    assert_eq!((code, output.as_str()), (Some(3), "#(300000 300000 300000 300000)\n3\n"), "{message}");
    assert!(message.starts_with("error[V0311]: out of memory"), "{message}");
    // One rank has another file.
    let (code, _, message) = start(&folder, 3, "--n 3 --data data", "", |command| {
        if command.get_envs().any(|(name, value)| name == "PMI_RANK" && value.is_some_and(|value| value == "1")) {
            command.current_dir("/");
        }
    })
    .end();
    assert_eq!(code, Some(2), "{message}");
    assert!(message.starts_with("note: rank 1 of this program says:\nerror: cannot read `data`"), "{message}");
    fs::create_dir(folder.path().join("other")).expect("it can be made");
    fs::write(folder.path().join("other/data"), "1 2 3 4").expect("it can be written");
    let (code, output, message) = start(&folder, 3, "--n 3 --data data", "", |command| {
        if command.get_envs().any(|(name, value)| name == "PMI_RANK" && value.is_some_and(|value| value == "1")) {
            command.current_dir(folder.path().join("other"));
        }
    })
    .end();
    assert_eq!((code, output.as_str()), (Some(3), "#(3 3 3 3)\n"), "{message}");
    assert!(message.starts_with("error: rank 1 does not compute what rank 0 does\nhelp: "), "{message}");
    let (code, _, message) = start(&folder, 2, "--wrong", "", |_| ()).end();
    assert_eq!((code, message.matches("error").count()), (Some(2), 1), "{message}");
}

#[test]
fn launchers_without_a_library_are_refused_and_programs_without_shards_are_copies() {
    let folder = compiled("(sum-over 4 (lambda (i) (* i i)))");
    for (path, reason) in [("/no/libmpi_abi.so.1", "/no/libmpi_abi.so.1"), ("libc.so.6", "has no function MPI_Init")] {
        let (code, output, message) = start(&folder, 3, "", "", |command| _ = command.env("VLAD_MPI", path)).end();
        assert_eq!((code, output.as_str()), (Some(2), ""), "{message}");
        assert!(message.contains(reason) && message.contains("help: VLAD_MPI="), "{message}");
        assert_eq!(message.matches("error").count(), 1, "{message}");
    }
    let (code, output, message) = start(&folder, 2, "", "", |command| _ = command.env("MPI_SIZE", "1")).end();
    assert_eq!((code, output.as_str()), (Some(2), ""), "{message}");
    assert!(message.contains("2 processes") && message.contains("knows 1"), "{message}");
    let (code, output, _) = start(&folder, 2, "", "", |command| _ = command.env("VLAD_MPI", "none")).end();
    assert_eq!((code, output.as_str()), (Some(0), "14\n14\n"));
    // What the optimiser makes of shards is nobody's business.
    let few = compiled("(map-over 0 (lambda (i) i)) (sum-over 1 (lambda (i) 7))");
    assert_eq!(start(&few, 3, "", "", |_| ()).end(), (Some(0), "#()\n7\n".to_owned(), String::new()));
    let alone = compiled("(* 6 7)");
    let (code, output, _) = start(&alone, 2, "", "", |command| _ = command.env("VLAD_MPI", "/no/library")).end();
    assert_eq!((code, output.as_str()), (Some(0), "42\n42\n"));
}
