//! Arrays in NumPy's format, `.npy`: the bytes that programs write, and what they make of arrays that NumPy can write.
//!
//! The format is that of NumPy's documentation (`numpy.lib.format`): the six bytes `\x93NUMPY`, two of the version, the
//! length of the header in two bytes (four from version 2.0 on), the header (the text of a Python dictionary with the
//! keys `descr`, `fortran_order` and `shape`, padded with spaces and ended by a line feed, so that what follows begins
//! at a multiple of 64), the elements.

mod common;

use common::{EVALUATOR, Engine, NATIVE, folder, run_on_bytes, vlad};
use std::time::Duration;

const ENGINES: [Engine; 2] = [EVALUATOR, NATIVE];

/// What a program writes: exit code, standard output, standard error.
fn run(engine: Engine, program: &str, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let folder = folder(&[("program.vlad", program)]);
    let mut command = vlad(engine.arguments());
    command.arg(folder.path().join("program.vlad"));
    run_on_bytes(command, input, Duration::from_secs(60))
}

/// The header and the bytes of the elements of an array of version 1.0, which ends with the input.
fn parts(array: &[u8]) -> (&str, &[u8]) {
    assert_eq!(&array[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([array[8], array[9]]));
    assert_eq!((10 + length) % 64, 0);
    let header = std::str::from_utf8(&array[10..10 + length]).expect("headers are ASCII");
    assert!(header.is_ascii() && header.ends_with('\n'));
    (header.trim_end(), &array[10 + length..])
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// An array of version 1.0.
fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let padding = 64 - (10 + header.len() + 1) % 64;
    let header = format!("{header}{}\n", " ".repeat(padding));
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

#[test]
fn vectors_are_written_as_the_format_says() {
    let numbers = [1.0, -0.0, 0.1, 1e-300, f64::INFINITY, -1.5];
    let program = "(begin (write-vector-npy (vector 1 (- 0) 0.1 1e-300 (/ 1 0) -1.5)) (write-string \"\"))";
    for engine in ENGINES {
        let (code, output, messages) = run(engine, program, b"");
        assert_eq!(code, Some(0), "{messages}");
        // The value of the expression, `()`, follows.
        let output = output.strip_suffix(b"()\n").expect("the value is printed");
        let (header, elements) = parts(output);
        assert_eq!(header, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }");
        assert_eq!(elements, bytes(&numbers), "{}", engine.name);
    }
}

#[test]
fn matrices_of_any_size_are_written_as_the_format_says() {
    for (rows, columns) in [(0, 0), (1, 0), (2, 3), (12, 1), (3, 1234)] {
        let program = format!(
            "(define m (write-matrix-npy (build (read-real) (lambda (i) (build {columns} (lambda (j) (+ (* 10000 i) j)))))))"
        );
        let elements = (0..rows).flat_map(|i| (0..columns).map(move |j| f64::from(10000 * i + j)));
        let elements: Vec<f64> = elements.collect();
        for engine in ENGINES {
            let (code, output, messages) = run(engine, &program, format!("{rows}").as_bytes());
            assert_eq!(code, Some(0), "{messages}");
            let (header, found) = parts(&output);
            assert_eq!(header, format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"));
            assert!(found == bytes(&elements), "{rows} by {columns}, {}", engine.name);
        }
    }
}

/// What one engine has written the other reads, several arrays one after another, text among them.
#[test]
fn what_is_written_can_be_read_again() {
    let writes = "(define v (write-vector-npy (build 1000 (lambda (i) (/ 1 (+ 1 i))))))
        (define m (write-matrix-npy #(#(1 2 3) #(4 5 6))))
        (define n (write-matrix-csv #(#(0.1 -2) #(1e300 4))))
        (newline)";
    let reads = "(define v (read-vector))
        (equal? v (build 1000 (lambda (i) (/ 1 (+ 1 i)))))
        (read-matrix) (read-matrix)";
    for (writer, reader) in [(EVALUATOR, NATIVE), (NATIVE, EVALUATOR)] {
        let (code, array, messages) = run(writer, writes, b"");
        assert_eq!(code, Some(0), "{messages}");
        // The value of `(newline)`.
        let array = array.strip_suffix(b"()\n").expect("the value is printed");
        let (code, output, messages) = run(reader, reads, array);
        assert_eq!(code, Some(0), "{messages}");
        assert_eq!(String::from_utf8_lossy(&output), "#t\n#(#(1 2 3) #(4 5 6))\n#(#(0.1 -2) #(1e300 4))\n");
    }
}

/// A function that writes does so when it is differentiated, too, and what it writes are plain numbers.
#[test]
fn numbers_are_written_while_derivatives_are_taken() {
    let program = "(define (f v) (vector-sum (vector-map (lambda (x) (* x x)) (write-vector-npy v))))
        ((gradient-R f) #(1 2)) ((gradient-F f) #(1 2))";
    let array = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &bytes(&[1.0, 2.0]));
    // In forward mode both directions are taken at once.
    let expected = [&array[..], b"#(2 4)\n", &array, b"#(2 4)\n"].concat();
    for engine in ENGINES {
        let (code, output, messages) = run(engine, program, b"");
        assert_eq!(code, Some(0), "{messages}");
        assert!(output == expected, "{}: {}", engine.name, String::from_utf8_lossy(&output));
    }
}

#[test]
fn nothing_is_written_that_is_no_array() {
    let cases = [
        ("(write-matrix-npy #(#(1 2) #(3)))", "rows of a .npy array must have the same length, but have: (2 1)"),
        ("(write-vector-npy #(#t))", "the argument of `write-vector-npy` is not a vector of numbers"),
        ("(write-vector-npy '(1))", "the argument of `write-vector-npy` is not a vector"),
    ];
    for (program, message) in cases {
        for engine in ENGINES {
            let (code, _, messages) = run(engine, program, b"");
            assert_eq!(code, Some(1), "{program}");
            assert!(messages.contains(message), "{program}: {messages}");
        }
    }
}

#[test]
fn arrays_of_other_orders_and_types_are_read() {
    let fortran =
        npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", &bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let singles: Vec<u8> = [0.5f32, -2.0].iter().flat_map(|number| number.to_be_bytes()).collect();
    let singles = npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", &singles);
    let labels: Vec<u8> = [3i64, -1].iter().flat_map(|number| number.to_le_bytes()).collect();
    let labels = npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", &labels);
    let empty = npy("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3), }", &[]);
    let program = "(read-matrix) (read-vector) (read-vector) (read-matrix)";
    for engine in ENGINES {
        let input = [&fortran[..], &singles, &labels, &empty].concat();
        let (code, output, messages) = run(engine, program, &input);
        assert_eq!(code, Some(0), "{messages}");
        assert_eq!(String::from_utf8_lossy(&output), "#(#(1 2 3) #(4 5 6))\n#(0.5 -2)\n#(3 -1)\n#()\n");
    }
}

#[test]
fn arrays_that_cannot_be_read_are_named_with_their_place() {
    let complex = npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", &[0; 16]);
    for engine in ENGINES {
        let (code, _, messages) = run(engine, "(read-real) (read-vector)", &[b"1\n", &complex[..]].concat());
        assert_eq!(code, Some(1));
        let report = "byte 2 of the input: a .npy array has elements of type `<c16`, not numbers of up to 8 bytes";
        assert!(messages.contains(report), "{messages}");
    }
}
