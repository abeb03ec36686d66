//! `compare` without its peers: what tools print is understood, sizes are chosen, and table and picture made, all from
//! made-up figures. Nothing is fetched and nothing measured.

use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use vlad_gradbench::compare::Options;
use vlad_gradbench::compare::contest::{Answer, Limits, Of, Said, calls, ending, peer};
use vlad_gradbench::compare::peers::{PEERS, Start};
use vlad_gradbench::compare::plot::{plot, range};
use vlad_gradbench::compare::suite::{answer, choose, sent, sizes};
use vlad_gradbench::compare::table::{Cell, Report, Row, digits, mean};

#[test]
fn what_tools_print_is_understood() {
    let text =
        "[0.5,0.5]\n{\"name\": \"prepare\", \"nanoseconds\": 7}\n{\"name\": \"evaluate\", \"nanoseconds\": 12}\n";
    assert_eq!(Said::parse(text), Ok(Said { output: json!([0.5, 0.5]), timings: vec![12.0] }));
    assert_eq!(Said::parse(""), Err("it prints nothing".into()));
    assert_eq!(Said::parse("1\n"), Err("it prints no timings".into()));
    assert!(Said::parse("usage\n").is_err_and(|error| error.starts_with("its output is no JSON")));
}

#[test]
fn responses_are_understood() {
    let timings = json!([{ "name": "evaluate", "nanoseconds": 3 }, { "name": "evaluate", "nanoseconds": 4 }]);
    let response = json!({ "id": 1, "success": true, "output": 2.0, "timings": timings });
    assert_eq!(Said::of_response(&response), Ok(Said { output: json!(2.0), timings: vec![3.0, 4.0] }));
    let failure = json!({ "id": 1, "success": false, "error": "Traceback\nValueError: no" });
    assert_eq!(Said::of_response(&failure), Err("ValueError: no".into()));
}

#[test]
fn the_end_of_a_process_is_told_shortly() {
    let killed = ExitStatus::from_raw(9);
    assert_eq!(ending(killed, ""), "out of time");
    assert_eq!(ending(ExitStatus::from_raw(6), "terminate called\n  what():  std::bad_alloc\n"), "out of memory");
    assert_eq!(ending(ExitStatus::from_raw(1 << 8), "warning\nno such file\n"), "no such file");
    assert_eq!(ending(ExitStatus::from_raw(1 << 8), ""), "exit status: 1");
}

#[test]
fn the_median_or_the_least_time_counts() {
    assert_eq!([Of::Median, Of::Least].map(|of| of.times(&[3.0, 1.0, 9.0])), [3.0, 1.0]);
}

#[test]
fn short_functions_are_called_more_often() {
    assert_eq!(calls(0.001), 20);
    assert_eq!(calls(50.0), 4);
    assert_eq!(calls(10_000.0), 2);
}

/// The sizes that are chosen of so many, when so many can be done.
fn chosen(count: usize, in_time: usize) -> Vec<usize> {
    choose(count, |at| Ok(at < in_time)).expect("nothing fails")
}

#[test]
fn the_smallest_a_middle_and_the_largest_size_are_chosen() {
    assert_eq!(chosen(25, 25), [0, 12, 24]);
    assert_eq!(chosen(11, 4), [0, 1, 3]);
    assert_eq!(chosen(10, 1), [0]);
    assert_eq!(chosen(2, 2), [0, 1]);
    assert!(chosen(10, 0).is_empty() && chosen(0, 0).is_empty());
    assert_eq!(choose(3, |_| Err("it fails".into())), Err("it fails".into()));
}

#[test]
fn evals_are_kept_going() {
    let evaluate = json!({ "id": 2, "kind": "evaluate", "description": "n=1", "input": { "x": [1] } });
    assert_eq!(sent(&evaluate), Some(("n=1", &json!({ "x": [1] }))));
    assert_eq!(answer(&evaluate), json!({ "id": 2, "success": false }));
    let define = json!({ "id": 1, "kind": "define", "module": "lse" });
    assert_eq!(sent(&define), None);
    assert_eq!(answer(&define), json!({ "id": 1, "success": true }));
}

#[test]
fn inputs_of_lstm_are_made_here() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let sizes = sizes("lstm", folder.path()).expect("inputs can be made");
    let names: Vec<&str> = sizes.iter().map(|size| size.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[8]), (9, "l=2,c=1024", "l=6,c=8192"));
    let text = std::fs::read_to_string(&sizes[8].path).expect("there is a file");
    let input: Value = serde_json::from_str(&text).expect("it is JSON");
    let length = |part: &str| input.pointer(part).and_then(Value::as_array).map(Vec::len);
    assert_eq!([length("/main_params"), length("/main_params/0")], [Some(12), Some(56)]);
    assert_eq!([length("/sequence"), length("/sequence/0")], [Some(8192), Some(14)]);
}

/// Lets a script stand for a tool.
fn tool(script: &str, module: Option<&str>) -> Result<Answer, String> {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let path = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("there is room");
        path
    };
    let input = path("input.json", r#"{"x":[1]}"#);
    let start = Start {
        program: "sh".into(),
        arguments: vec![path("tool", script)],
        environment: vec![("WORD".into(), "7".into())],
        module: module.map(str::to_owned),
    };
    let limits = Limits { seconds: 10.0, memory: 4_000_000_000, of_times: Of::Median };
    peer(&start, "gradient", &input, limits, folder.path())
}

#[test]
fn tools_are_run() {
    let timing = |milliseconds: u32| format!(r#"echo '{{"name":"evaluate","nanoseconds":{milliseconds}000000}}'"#);
    let script = format!("sleep 0.1\necho [\\\"$2\\\", $WORD]\n{}\n{}\n{}\n", timing(90), timing(3), timing(4));
    let answer = tool(&script, None).expect("the script runs");
    assert_eq!(answer.output, json!(["gradient", 7]));
    // The first call does not count.
    assert_eq!(answer.milliseconds, 4.0);
    assert!(answer.megabytes > 0.0, "{answer:?}");
    let late = format!("echo 1\n{}\n", timing(11_000));
    assert_eq!(tool(&late, None).map(|answer| answer.output), Err("> 10 s".into()));
    assert_eq!(tool("echo 'no such function' >&2; exit 1", None).map(|_| ()), Err("no such function".into()));
}

#[test]
fn tools_that_answer_messages_are_run() {
    let script = "read define; echo '{\"id\":0,\"success\":true}'; read evaluate\n\
                  case $evaluate in *'\"x\":[1]'*) ;; *) exit 1;; esac\n\
                  echo '{\"id\":1,\"output\":5,\"timings\":[{\"name\":\"evaluate\",\"nanoseconds\":2000000}]}'\n";
    let answer = tool(script, Some("lse")).expect("the script runs");
    assert_eq!((answer.output, answer.milliseconds), (json!(5), 2.0));
}

#[test]
fn peers_that_are_not_there_are_told_from_those_that_do_not_build() {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let sources = folder.path().join("gradbench/tools/manual");
    std::fs::create_dir_all(&sources).expect("there is room");
    std::fs::write(sources.join("lse.cpp"), "").expect("there is room");
    let why = |eval| PEERS[0].start(eval, folder.path()).map(|_| ());
    assert_eq!(why("lse"), Err("not built".into()));
    assert_eq!(why("particle"), Err("-".into()));
}

#[test]
fn scripts_of_peers_are_there() {
    for (name, eval) in [("casadi", "ode"), ("enzyme-ad", "gmm")] {
        let peer = vlad_gradbench::compare::peers::Peer::find(name).expect("there is such a peer");
        let start = peer.start(eval, Path::new("peers")).expect("it has the eval");
        assert!(start.arguments[0].exists(), "{:?}", start.arguments);
    }
}

#[test]
fn options_are_understood() {
    let options = Options::parse(&["--only", "manual,jax", "--runs", "3", "--seconds", "2.5", "gmm"]);
    let options = options.expect("they are right");
    assert_eq!((options.evals, options.only), (vec!["gmm".to_owned()], vec!["manual".to_owned(), "jax".into()]));
    assert_eq!((options.runs, options.seconds, options.results), (3, 2.5, None));
    assert_eq!(Options::parse(&["--least"]).map(|options| options.of_times), Ok(Of::Least));
    // Only a whole table takes the place of the one that is there.
    assert!(Options::parse(&[]).is_ok_and(|options| options.results.is_some()));
    assert!(Options::parse(&["--only", "jax"]).is_ok_and(|options| options.results.is_none()));
    for (arguments, message) in [
        (&["nothing"][..], "`compare` knows no eval and no option `nothing`"),
        (&["--only", "him"][..], "there is no peer `him`"),
        (&["--runs", "0"][..], "`0` is no positive number"),
        (&["--runs"][..], "`--runs` needs a value"),
    ] {
        assert_eq!(Options::parse(arguments), Err(message.into()));
    }
}

fn report() -> Report {
    let row = |eval, size: &str, function, ours, peers: [Cell; 2]| Row {
        eval,
        size: size.into(),
        function,
        primal: function == "primal",
        ours,
        peers: peers.into(),
    };
    let took = |milliseconds| Cell::Took(milliseconds, 10.0 * milliseconds);
    let not = |why: &str| Cell::Not(why.into());
    Report {
        peers: vec!["manual", "jax"],
        about: vec!["a machine".into()],
        rows: vec![
            row("lse", "n=1", "primal", took(1.0), [took(2.0), took(4.0)]),
            row("lse", "n=1", "gradient", took(8.0), [took(8.0), took(2.0)]),
            row("lse", "n=<2>", "gradient", took(8.0), [not("> 10 s"), took(8.0)]),
            row("det", "5", "gradient", took(0.001234), [not("**differs**"), not("-")]),
        ],
        remarks: vec!["det 5 gradient: ours and manual: `/0` is 1, not 2".into()],
    }
}

#[test]
fn the_table_has_times_ratios_and_means() {
    let page = report().page();
    for line in [
        "- a machine",
        "| eval | size | function | vlad | manual | jax | ours / best | best |",
        "|---|---|---|---|---|---|---|---|",
        "| lse | n=1 | primal | 1.00 | 2.00 | 4.00 | 0.500 | manual |",
        "| lse | n=1 | gradient | 8.00 | 8.00 | 2.00 | 4.00 | jax |",
        "| lse | n=<2> | gradient | 8.00 | > 10 s | 8.00 | 1.00 | jax |",
        "| det | 5 | gradient | 0.00123 | **differs** | - | - | - |",
        "| eval | functions | ours / best | manual | jax |",
        "| lse | primal | 0.500 | 0.500 | 0.250 |",
        "| lse | derivative | 2.00 | 1.00 | 2.00 |",
        "| det | derivative | - | - | - |",
        "| **all** | derivative | 2.00 | 1.00 | 2.00 |",
        "| lse | n=1 | primal | 10.0 | 20.0 | 40.0 |",
        "- det 5 gradient: ours and manual: `/0` is 1, not 2",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
}

#[test]
fn a_peer_that_was_too_slow_is_not_asked_again() {
    let report = report();
    assert_eq!(report.late("lse", "gradient", 0), Some("> 10 s".into()));
    assert_eq!(report.late("lse", "primal", 0), None);
    // An error says nothing about other sizes.
    assert_eq!(report.late("det", "gradient", 0), None);
}

#[test]
fn numbers_are_shown_with_three_digits() {
    let shown = [0.0000016, 0.0123, 0.5, 1.234, 12.34, 123.4, 1234.0].map(digits);
    assert_eq!(shown, ["0.000002", "0.0123", "0.500", "1.23", "12.3", "123", "1234"]);
    assert!(mean([0.5, 8.0].into_iter()).is_some_and(|mean| (mean - 2.0).abs() < 1e-12));
    assert_eq!(mean([].into_iter()), None);
}

#[test]
fn the_picture_has_a_point_for_each_ratio() {
    assert_eq!(range(&[0.5, 4.1]), (-1, 3));
    assert_eq!(range(&[]), (-1, 1));
    let svg = plot(&report());
    // Two of the legend, three of rows; the row without a ratio has none.
    assert_eq!(svg.matches("<circle").count(), 5, "{svg}");
    assert_eq!(svg.matches(r#"stroke="black" stroke-width="1.5""#).count(), 1, "{svg}");
    assert!(svg.contains(">n=&lt;2&gt;</text>") || svg.contains(">n=&lt;2></text>"), "{svg}");
    assert!(svg.contains(">lse</text>") && !svg.contains(">det</text>"), "{svg}");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
}
