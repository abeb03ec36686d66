//! Input of the evaluators: numbers and arrays of numbers from any stream, read as compiled programs read them.

use crate::core::arguments::{Unreadable, Wrong, read_array};
use crate::core::reader::{Failure, Input, Item, Reader};
use crate::core::table::Table;
use std::collections::VecDeque;
use std::io::{self, BufRead};

/// A stream of numbers.
pub struct Numbers<'a> {
    bytes: Bytes<'a>,
    reader: Reader,
}

struct Bytes<'a> {
    input: &'a mut dyn BufRead,
    queue: VecDeque<f64>,
    /// The numbers of a row of which is not known yet whether they are wanted.
    held: Vec<f64>,
    error: Option<io::Error>,
}

/// Why nothing could be read.
#[derive(Debug)]
pub enum Unread {
    /// There is nothing left.
    End,
    /// Something else stands there, this.
    Malformed(String),
    /// The system says no.
    Failed(io::Error),
}

impl<'a> Numbers<'a> {
    /// The numbers of a stream of which nothing has been read.
    pub fn new(input: &'a mut dyn BufRead) -> Numbers<'a> {
        Numbers { bytes: Bytes { input, queue: VecDeque::new(), held: Vec::new(), error: None }, reader: Reader::new() }
    }

    /// The same, with some numbers in front of it.
    pub fn after(numbers: &[f64], input: &'a mut dyn BufRead) -> Numbers<'a> {
        let queue = numbers.iter().copied().collect();
        Numbers { bytes: Bytes { input, queue, held: Vec::new(), error: None }, reader: Reader::new() }
    }

    /// Reads an item. Nothing behind what ends it is consumed, so that reading from a terminal does not wait for more
    /// than it needs.
    pub fn read(&mut self, item: Item) -> Result<f64, Unread> {
        let result = self.reader.read(&mut self.bytes, item);
        if let Some(error) = self.bytes.error.take() {
            return Err(Unread::Failed(error));
        }
        result.map_err(|failure| match failure {
            Failure::End => Unread::End,
            Failure::Malformed(fault) => Unread::Malformed(self.reader.report(fault).to_string()),
        })
    }
}

/// Reads an array from a stream that holds nothing else: how many numbers, and each. What is wrong is given to
/// `complain`.
///
/// # Errors
///
/// When something was.
pub fn read_file(
    stream: &mut dyn BufRead,
    item: Item,
    table: &Table<'_>,
    push: impl FnMut(f64),
    complain: impl FnOnce(&dyn std::fmt::Display),
) -> Result<(), Unreadable> {
    let mut bytes = Bytes { input: stream, queue: VecDeque::new(), held: Vec::new(), error: None };
    let mut reader = Reader::new();
    let result = read_array(&mut bytes, &mut reader, (item, table), push);
    match (bytes.error, result) {
        (Some(error), _) => complain(&error),
        (None, Err(wrong)) => complain(&wrong as &Wrong<'_>),
        (None, Ok(())) => return Ok(()),
    }
    Err(Unreadable)
}

impl Input for Bytes<'_> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return bytes.first().copied(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
        }
    }
    fn advance(&mut self) {
        self.input.consume(1);
    }
    fn at_hand(&mut self) -> &[u8] {
        // What is at hand is asked for first, so that a failure is noted.
        if self.peek().is_none() {
            return &[];
        }
        self.input.fill_buf().unwrap_or(&[])
    }
    fn skip(&mut self, count: usize) {
        self.input.consume(count);
    }
    fn push(&mut self, number: f64) {
        self.queue.push_back(number);
    }
    fn pop(&mut self) -> Option<f64> {
        self.queue.pop_front()
    }
    fn replace_first(&mut self, number: f64) {
        if let Some(first) = self.queue.front_mut() {
            *first = number;
        }
    }
    fn hold(&mut self, number: f64) {
        self.held.push(number);
    }
    fn settle(&mut self, are_wanted: bool) {
        if are_wanted {
            self.queue.extend(self.held.iter());
        }
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one read gives, and the numbers that it reads in advance.
    fn read(numbers: &mut Numbers<'_>, item: Item) -> Result<(f64, Vec<f64>), String> {
        match numbers.read(item) {
            Ok(result) => Ok((result, numbers.bytes.queue.drain(..).collect())),
            Err(Unread::Malformed(report)) => Err(report),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    fn read_one(mut input: &[u8], item: Item) -> Result<(f64, Vec<f64>), String> {
        read(&mut Numbers::new(&mut input), item)
    }

    #[test]
    fn numbers_are_separated_by_white_space() {
        let mut input: &[u8] = b"  1 -2.5\n\t1/4 1e-5x 7";
        let mut numbers = Numbers::new(&mut input);
        let mut next = || read(&mut numbers, Item::Real).map(|(number, _)| number);
        assert_eq!(next(), Ok(1.0));
        assert_eq!(next(), Ok(-2.5));
        assert_eq!(next(), Ok(0.25));
        assert_eq!(next(), Err("line 2, column 6 of the input: `1e-5x` is not a number".into()));
        assert_eq!(next(), Ok(7.0));
        assert_eq!(next(), Err("End".into()));
    }

    #[test]
    fn arrays_end_with_an_empty_line() {
        let mut input: &[u8] = b"\n1 2\n3\n \t\n\n1, 2,3\r\n4,5 ,6\r\n\r\n7";
        let mut numbers = Numbers::new(&mut input);
        assert_eq!(read(&mut numbers, Item::Vector), Ok((3.0, vec![1.0, 2.0, 3.0])));
        assert_eq!(read(&mut numbers, Item::Matrix), Ok((2.0, vec![3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
        assert_eq!(read(&mut numbers, Item::Matrix), Ok((1.0, vec![1.0, 7.0])));
        assert_eq!(read(&mut numbers, Item::Matrix), Err("End".into()));
    }

    #[test]
    fn mistakes_in_arrays_have_a_place() {
        let fails = |input: &[u8], item, report: &str| assert_eq!(read_one(input, item), Err(report.into()));
        fails(b"1 2\n 3 x,\n", Item::Vector, "line 2, column 4 of the input: `x` is not a number");
        fails(b"1,,2", Item::Vector, "line 1, column 3 of the input: a number is missing");
        fails(b",1", Item::Vector, "line 1, column 1 of the input: a number is missing");
        fails(b"\n1 2\n3\n", Item::Matrix, "line 3, column 1 of the input: a row of length 1 after rows of length 2");
    }

    /// A `.npy` array of these numbers with that header.
    fn npy(header: &str, numbers: &[f64]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    #[test]
    fn arrays_of_numpy_are_read() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }   \n";
        let mut bytes = npy(header, &[1.0, 2.0, 3.0, 4.0, 5.0, 1e-300]);
        bytes.extend(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[10.0, 13.0]));
        bytes.extend(b"\n 3");
        let mut input = &*bytes;
        let mut numbers = Numbers::new(&mut input);
        assert_eq!(read(&mut numbers, Item::Matrix), Ok((2.0, vec![3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 1e-300])));
        assert_eq!(read(&mut numbers, Item::Vector), Ok((2.0, vec![10.0, 13.0])));
        assert_eq!(read(&mut numbers, Item::Real), Ok((3.0, vec![])));
        let fails = |header: &str, numbers: &[f64], report: &str| {
            assert_eq!(read_one(&npy(header, numbers), Item::Vector), Err(format!("byte 0 of the input: {report}")));
        };
        fails(header, &[], "a .npy array of 2 dimensions, where 1 are to be read");
        for kind in ["<c16", "<f2", "|f8", "<f16", "|S8", "<U4", "|O"] {
            let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (2,), }}");
            fails(
                &header,
                &[0.0],
                &format!("a .npy array has elements of type `{kind}`, not numbers of up to 8 bytes"),
            );
        }
        let header = "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,), }";
        let report = "a .npy array has elements of type `[('x', '<f8')],`, not numbers of up to 8 bytes";
        fails(header, &[0.0], report);
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
        fails(header, &[0.0], "the input ends within a .npy array");
        fails("{'descr': '<f8'}", &[0.0], "the header of a .npy array is not understood");
        let unknown = b"\x93NUMPY\x04\x00\x00\x00";
        let report = "byte 0 of the input: a .npy array is of a version that is not known";
        assert_eq!(read_one(unknown, Item::Vector), Err(report.into()));
    }

    #[test]
    fn elements_of_all_sizes_are_read_in_both_byte_orders() {
        let reads = |kind: &str, bytes: &[u8], number: f64| {
            let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (1,), }}");
            let array = [npy(&header, &[]), bytes.to_vec()].concat();
            assert_eq!(read_one(&array, Item::Vector), Ok((1.0, vec![number])), "{kind}");
        };
        reads("<f4", &0.1f32.to_le_bytes(), f64::from(0.1f32));
        reads(">f4", &(-2.5f32).to_be_bytes(), -2.5);
        reads(">f8", &1e-300f64.to_be_bytes(), 1e-300);
        reads("|b1", &[1], 1.0);
        reads("|i1", &[0xff], -1.0);
        reads("|u1", &[0xff], 255.0);
        reads("<i2", &[0xfe, 0xff], -2.0);
        reads(">i2", &[0xff, 0xfe], -2.0);
        reads("<u2", &[0xfe, 0xff], 65534.0);
        reads("<i4", &(-3i32).to_le_bytes(), -3.0);
        reads(">u4", &u32::MAX.to_be_bytes(), f64::from(u32::MAX));
        reads("<i8", &i64::MIN.to_le_bytes(), -(2f64.powi(63)));
        reads(">i8", &(-4i64).to_be_bytes(), -4.0);
        reads("<u8", &u64::MAX.to_le_bytes(), 2f64.powi(64));
    }

    #[test]
    fn columns_come_first_in_fortran_order() {
        let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }";
        let array = npy(header, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(read_one(&array, Item::Matrix), Ok((2.0, vec![-3.0, 1.0, 4.0, 2.0, 5.0, 3.0, 6.0])));
        let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }";
        assert_eq!(read_one(&npy(header, &[1.0, 4.0]), Item::Vector), Ok((2.0, vec![1.0, 4.0])));
    }

    #[test]
    fn numbers_that_other_programs_write_are_read() {
        let (_, numbers) = read_one(b"nan NaN -inf,Inf +INF infinity 1.0e+00 .5 5.", Item::Vector).expect("numbers");
        assert!(numbers[0].is_nan() && numbers[1].is_nan());
        let expected = [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY, f64::INFINITY, 1.0, 0.5, 5.0];
        assert_eq!(numbers[2..], expected);
        assert_eq!(
            read_one(b"nano", Item::Vector),
            Err("line 1, column 5 of the input: there is no row to read".into())
        );
    }
}
