//! Signatures of compiled functions.
//!
//! Cranelift's `Tail` convention returns up to eight integers (six on AArch64, where it keeps two registers for itself)
//! and eight floats in registers. Functions with more
//! results get a pointer to memory for the rest as their first parameter. A tail call passes its own pointer on: its
//! results have the same types, so they have the same places.

use crate::ssa::ir::{Function, Type};
use cranelift_codegen::ir::{self, AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;
use target_lexicon::Architecture;

/// Floats that are returned in registers.
const FLOATS: usize = 8;

/// Integers, addresses and lanes that are returned in registers.
fn integer_registers(architecture: Architecture) -> usize {
    if matches!(architecture, Architecture::Aarch64(_)) { 6 } else { 8 }
}

/// Where a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the next return register of its kind.
    Register,
    /// In memory, this many bytes after the address that the caller passed.
    Memory(i32),
}

/// How to call a function.
#[derive(Clone, Debug)]
pub struct Abi {
    /// For Cranelift.
    pub signature: Signature,
    /// Where the results are.
    pub results: Vec<Place>,
    /// Bytes of memory for results; if there are any, the first parameter is its address.
    pub result_bytes: u32,
}

/// The machine type of a value.
pub fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::F64 => types::F64,
        Type::Bool => types::I8,
        Type::Int | Type::Ptr => types::I64,
        Type::F64x2 => types::F64X2,
        // All bits of a lane are set, or none.
        Type::Boolx2 => types::I64X2,
    }
}

/// How to call `function` on that machine.
pub fn abi(function: &Function, architecture: Architecture) -> Abi {
    let registers = integer_registers(architecture);
    let (mut integers, mut floats, mut bytes) = (0, 0, 0);
    let places = function.results.iter().map(|ty| {
        let (used, most) = if *ty == Type::F64 { (&mut floats, FLOATS) } else { (&mut integers, registers) };
        *used += 1;
        if *used <= most {
            return Place::Register;
        }
        bytes += 8;
        Place::Memory(bytes - 8)
    });
    let results: Vec<Place> = places.collect();
    let mut signature = Signature::new(CallConv::Tail);
    if bytes > 0 {
        signature.params.push(AbiParam::new(types::I64));
    }
    signature.params.extend(function.param_types().into_iter().map(|ty| AbiParam::new(clif_type(ty))));
    let returned = function.results.iter().zip(&results).filter(|(_, place)| **place == Place::Register);
    signature.returns.extend(returned.map(|(ty, _)| AbiParam::new(clif_type(*ty))));
    Abi { signature, results, result_bytes: bytes as u32 }
}
