//! Files that were damaged on their way: each is refused with its name, and a line, a column or a byte of it, or it is
//! read as what it still is. Nothing crashes or hangs, and the evaluator and compiled programs agree.

use crate::{Outcome, folder, run, vlad};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const PROGRAM: &str = "\
(arguments (data (matrix (missing drop))) (v vector #(1 2 3)) (rate real 0.1) (steps integer 3)
           (method (choice \"slow\" \"quick\") \"slow\") (loud boolean #f))
(list data v rate steps method loud)
";

/// How many damaged files the compiled program gets, and every so many the evaluator, too.
const FILES: usize = 600;
const EVALUATED: usize = 12;

/// Pseudo-random numbers, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }
    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What NumPy writes.
fn npy(kind: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 > 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("headers are short").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

/// Files as they should be, with the endings of their names.
fn whole() -> Vec<(&'static str, Vec<u8>)> {
    let doubles: Vec<u8> = (1..=6).flat_map(|x| f64::from(x).to_le_bytes()).collect();
    let integers: Vec<u8> = (1..=4).flat_map(i32::to_be_bytes).collect();
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("csv", text("x,y\n1,2\n3,4.5\n-1e-3,7\n")),
        ("csv", text("# measured\ntime;\"x\";y\n0;1,5;2\n1;\"2,5\";NA\n")),
        ("csv", text("\u{feff}\"x\",\"a \"\"b\"\"\"\r\n1,2\r\n3,4\r\n")),
        ("csv", text("1 2 3\n4 5 6\n")),
        ("npy", npy("<f8", "False", "(3, 2)", &doubles)),
        ("npy", npy(">i4", "True", "(2, 2)", &integers)),
        ("toml", text("rate = 0.5 # fast\ndata = [[1, 2],\n [3, 4]]\nmethod = 'quick'\nloud = true\n")),
        ("json", text("{\"rate\": 0.5, \"data\": [[1, 2], [3, 4]],\n \"v\": [1, 2], \"method\": \"\\u0073low\"}\n")),
    ]
}

/// Does something to some bytes of a file.
fn damage(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let long = "9".repeat(400);
    let longer = "x".repeat(5000);
    let pieces: [&[u8]; 24] = [
        b"\xff\xfe",
        b"\xc3",
        b"\0",
        b"\xed\xa0\x80",
        b"\"",
        b"'",
        b"\"\"",
        b",",
        b";",
        b"\n",
        b"\r",
        b"\t",
        b"[",
        b"}",
        b"#",
        b"\\",
        b"\\uD800",
        b"1e400",
        b"nan",
        b"1/0",
        b"-",
        b"18446744073709551616",
        long.as_bytes(),
        longer.as_bytes(),
    ];
    for _ in 0..chance.of(&[1, 1, 1, 2, 5]) {
        let at = chance.below(bytes.len());
        let end = (at + chance.of(&[1, 2, 9])).min(bytes.len());
        match chance.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << chance.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..end)),
            3 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            4 => bytes.extend_from_within(..at),
            _ => drop(bytes.splice(at..at, chance.of(&pieces).to_vec())),
        }
    }
}

fn compiled() -> TempDir {
    let folder = folder(&[("program.vlad", PROGRAM)]);
    let (code, _, message) = vlad(&folder, &["build", "--native", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    folder
}

fn execute(folder: &TempDir, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(folder.path().join("program"));
    command.args(arguments).current_dir(folder);
    run(command, "")
}

#[test]
fn damaged_files_are_refused_with_a_place_or_read() {
    let folder = compiled();
    let mut chance = Chance(1);
    let (mut refused, mut read) = (0, 0);
    for number in 0..FILES {
        let (ending, mut bytes) = whole().swap_remove(number % whole().len());
        damage(&mut bytes, &mut chance);
        let name = format!("damaged.{ending}");
        fs::write(folder.path().join(&name), &bytes).expect("files can be written");
        let option = if matches!(ending, "csv" | "npy") { "--data" } else { "--config" };
        let arguments = [option, &name, "--no-finite"];
        let outcome = execute(&folder, &arguments);
        let (code, output, message) = &outcome;
        let about = || format!("{}\n{outcome:?}", bytes.escape_ascii());
        match code {
            Some(0) => {
                assert!(output.starts_with("(#(#(") && message.is_empty(), "{}", about());
                read += 1;
            }
            Some(2) => {
                // What is not in the file, or names another one that is not there, has no place in it.
                let elsewhere = ["error: `--data` is missing", "error: cannot read ", "error: `--config`"];
                let in_file = format!("error: `{name}`: ");
                let place = message
                    .strip_prefix(&in_file)
                    .is_some_and(|rest| ["line ", "byte ", "it holds"].iter().any(|place| rest.starts_with(place)));
                assert!(place || elsewhere.iter().any(|start| message.starts_with(start)), "{}", about());
                assert!(output.is_empty() && message.len() < 1500, "{}", about());
                refused += 1;
            }
            _ => panic!("{}", about()),
        }
        if number % EVALUATED == 0 {
            let evaluated = vlad(&folder, &[&["eval", "program.vlad", "--"], &arguments[..]].concat(), "");
            assert_eq!(outcome, evaluated, "{}", bytes.escape_ascii());
        }
    }
    // Damage is neither never seen nor always fatal.
    assert!(refused > FILES / 4 && read > FILES / 50, "{refused} refused, {read} read");
}

#[test]
fn numbers_beyond_all_doubles_are_refused_wherever_they_are_read() {
    let folder = compiled();
    let digits = "9".repeat(400);
    for number in ["1e400", "-1e400", &digits] {
        fs::write(folder.path().join("large.csv"), format!("1,2\n3,{number}\n")).expect("files can be written");
        fs::write(folder.path().join("large.json"), format!("{{\"rate\": 1,\n \"v\": [1, {number}]}}"))
            .expect("files can be written");
        let shown = if number.len() > 200 { format!("{}...", &number[..200]) } else { number.to_string() };
        let too_large = format!("`{shown}` is too large: numbers go up to 1.7976931348623157e308\n");
        let rate = format!("--rate={number}");
        for (arguments, start) in [
            (["large.csv", "--no-finite"], "error: `large.csv`: line 2, column 3 of the input: "),
            (["--config=large.json", "--data=1,2"], "error: `large.json`: line 2: `v`: "),
            (["--data=1,2", &rate], "error: `--rate`: expected a number, "),
        ] {
            let outcome = execute(&folder, &arguments);
            assert_eq!((outcome.0, outcome.1.as_str()), (Some(2), ""), "{outcome:?}");
            assert!(outcome.2.starts_with(start) && outcome.2.contains(&too_large), "{outcome:?}");
            assert_eq!(vlad(&folder, &[&["eval", "program.vlad", "--"], &arguments[..]].concat(), ""), outcome);
        }
    }
    // What is written as infinite is.
    fs::write(folder.path().join("infinite.csv"), "1,inf\n3,-Infinity\n").expect("files can be written");
    let (code, output, _) = execute(&folder, &["infinite.csv", "--no-finite"]);
    assert_eq!((code, output.starts_with("(#(#(1 +inf.0) #(3 -inf.0))")), (Some(0), true), "{output}");
}
