//! Inputs as bytes: JSON → what programs read from standard input.
//!
//! | | programs in VLAD | programs in C |
//! |---|---|---|
//! | number | its decimal digits, a line | the double, eight bytes |
//! | vector | a `.npy` array | its length and its elements, as doubles |
//! | matrix | a `.npy` array | numbers of rows and columns and the elements, as doubles |

use crate::Result;
use crate::evals::Field;
use serde_json::Value;

/// Whose bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Text and `.npy` arrays.
    Vlad,
    /// Doubles.
    C,
}

impl Language {
    /// The bytes of a whole input.
    pub fn input(self, fields: &[Field], input: &Value) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for field in fields {
            self.field(*field, input, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// The bytes of a number.
    pub fn number(self, number: f64) -> Vec<u8> {
        match self {
            Language::Vlad => format!("{}\n", vlad::core::number::format(number).as_str()).into_bytes(),
            Language::C => number.to_le_bytes().to_vec(),
        }
    }

    fn field(self, field: Field, input: &Value, bytes: &mut Vec<u8>) -> Result<()> {
        let (Field::Number(name)
        | Field::Flag(name)
        | Field::Vector(name)
        | Field::Matrix(name)
        | Field::Matrices(name)) = field;
        let missing = || format!("the input has no `{name}` of the right kind");
        let value = input.pointer(name).ok_or_else(missing)?;
        match field {
            Field::Number(_) => bytes.extend(self.number(value.as_f64().ok_or_else(missing)?)),
            Field::Flag(_) => bytes.extend(self.number(f64::from(u8::from(value.as_bool().ok_or_else(missing)?)))),
            Field::Vector(_) => {
                let numbers = numbers(value).ok_or_else(missing)?;
                self.array(&[numbers.len()], &numbers, bytes);
            }
            Field::Matrix(_) => self.matrix(items(value).ok_or_else(missing)?, bytes).ok_or_else(missing)?,
            Field::Matrices(_) => {
                let matrices = items(value).ok_or_else(missing)?;
                let rows = matrices.iter().map(items).collect::<Option<Vec<_>>>().ok_or_else(missing)?.concat();
                self.matrix(&rows, bytes).ok_or_else(missing)?;
            }
        }
        Ok(())
    }

    fn matrix(self, rows: &[Value], bytes: &mut Vec<u8>) -> Option<()> {
        let rows: Vec<Vec<f64>> = rows.iter().map(numbers).collect::<Option<_>>()?;
        let width = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != width) {
            return None;
        }
        self.array(&[rows.len(), width], &rows.concat(), bytes);
        Some(())
    }

    fn array(self, shape: &[usize], numbers: &[f64], bytes: &mut Vec<u8>) {
        match self {
            Language::Vlad => {
                let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
                let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes}), }}");
                bytes.extend(b"\x93NUMPY\x01\x00");
                bytes.extend((header.len() as u16).to_le_bytes());
                bytes.extend(header.bytes());
            }
            Language::C => bytes.extend(shape.iter().flat_map(|size| (*size as f64).to_le_bytes())),
        }
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
}

fn items(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice)
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}
