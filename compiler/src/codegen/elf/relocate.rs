//! What relocations need, and what they write.
//!
//! Their numbers, formulas and bit fields are those of the psABI of x86-64 and of AArch64. An instruction of x86-64
//! that loads an address from the table of addresses computes it instead, where the address is known.

use crate::codegen::elf::Processor;
use crate::codegen::elf::live::{Relocation, Target};
use object::elf::{
    R_AARCH64_ABS64, R_AARCH64_ADD_ABS_LO12_NC, R_AARCH64_ADR_GOT_PAGE, R_AARCH64_ADR_PREL_LO21,
    R_AARCH64_ADR_PREL_PG_HI21, R_AARCH64_CALL26, R_AARCH64_CONDBR19, R_AARCH64_JUMP26, R_AARCH64_LD64_GOT_LO12_NC,
    R_AARCH64_LDST8_ABS_LO12_NC, R_AARCH64_LDST16_ABS_LO12_NC, R_AARCH64_LDST32_ABS_LO12_NC,
    R_AARCH64_LDST64_ABS_LO12_NC, R_AARCH64_LDST128_ABS_LO12_NC, R_AARCH64_PREL32, R_AARCH64_PREL64,
    R_AARCH64_RELATIVE, R_AARCH64_TSTBR14, R_X86_64_64, R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_PC32,
    R_X86_64_PC64, R_X86_64_PLT32, R_X86_64_RELATIVE, R_X86_64_REX_GOTPCRELX,
};

/// What a relocation needs beside the address of what it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// A slot in the table of addresses.
    Slot,
    /// A stub that calls an imported function.
    Stub(usize),
    /// The loader, which knows addresses.
    Loader,
}

/// What a relocation at this place in the bytes of its section needs.
///
/// # Errors
///
/// When position independent code has no such relocation, or this linker does not know it.
pub fn need(processor: Processor, kind: u32, target: Target, offset: u64, bytes: &[u8]) -> Result<Need, String> {
    if kind == 0 {
        return Ok(Need::Nothing);
    }
    let call = |target| match target {
        Target::Import(import) => Ok(Need::Stub(import)),
        Target::Place(..) => Ok(Need::Nothing),
        Target::Nothing => Err("a call of what may be missing".to_string()),
    };
    let near = |target| match target {
        Target::Place(..) => Ok(Need::Nothing),
        _ => Err(format!("the relocation {kind} refers to what is elsewhere")),
    };
    match (processor, kind) {
        (Processor::X86_64, R_X86_64_64) | (Processor::Aarch64, R_AARCH64_ABS64) => {
            Ok(if target == Target::Nothing { Need::Nothing } else { Need::Loader })
        }
        // Older assemblers mark calls like other references.
        (Processor::X86_64, R_X86_64_PC32 | R_X86_64_PLT32)
        | (Processor::Aarch64, R_AARCH64_CALL26 | R_AARCH64_JUMP26) => call(target),
        (Processor::X86_64, R_X86_64_PC64) => near(target),
        (Processor::X86_64, R_X86_64_GOTPCREL | R_X86_64_GOTPCRELX | R_X86_64_REX_GOTPCRELX) => {
            Ok(if is_load_of_known(target, offset, bytes) { Need::Nothing } else { Need::Slot })
        }
        (Processor::Aarch64, R_AARCH64_ADR_GOT_PAGE | R_AARCH64_LD64_GOT_LO12_NC) => Ok(Need::Slot),
        (
            Processor::Aarch64,
            R_AARCH64_PREL32
            | R_AARCH64_PREL64
            | R_AARCH64_ADR_PREL_LO21
            | R_AARCH64_ADR_PREL_PG_HI21
            | R_AARCH64_ADD_ABS_LO12_NC
            | R_AARCH64_LDST8_ABS_LO12_NC
            | R_AARCH64_LDST16_ABS_LO12_NC
            | R_AARCH64_LDST32_ABS_LO12_NC
            | R_AARCH64_LDST64_ABS_LO12_NC
            | R_AARCH64_LDST128_ABS_LO12_NC
            | R_AARCH64_CONDBR19
            | R_AARCH64_TSTBR14,
        ) => near(target),
        _ => Err(format!("the relocation {kind} is not known")),
    }
}

/// The operation code of a load of 64 bits, and of the computation of an address.
const LOAD: u8 = 0x8b;
const ADDRESS: u8 = 0x8d;

/// Whether the instruction that has this relocation loads an address that is a place in the result.
fn is_load_of_known(target: Target, offset: u64, bytes: &[u8]) -> bool {
    let code = (offset as usize).checked_sub(2).and_then(|at| bytes.get(at));
    matches!(target, Target::Place(..)) && code == Some(&LOAD)
}

/// How the loader fills in an address of the result (with what is added to where it is loaded), and one of a library.
pub fn loader_kinds(processor: Processor) -> (u32, u32) {
    match processor {
        Processor::X86_64 => (R_X86_64_RELATIVE, R_X86_64_64),
        Processor::Aarch64 => (R_AARCH64_RELATIVE, R_AARCH64_ABS64),
    }
}

/// Whether the loader fills it in.
pub fn is_address(processor: Processor, relocation: &Relocation) -> bool {
    let kind = match processor {
        Processor::X86_64 => R_X86_64_64,
        Processor::Aarch64 => R_AARCH64_ABS64,
    };
    relocation.kind == kind && relocation.target != Target::Nothing
}

/// The addresses that a relocation may need.
pub struct Addresses {
    /// That of the place itself.
    pub place: u64,
    /// That of what it refers to, or of its stub.
    pub target: u64,
    /// That of its slot.
    pub slot: Option<u64>,
}

/// Fills in.
///
/// # Errors
///
/// When the distance is too large for the instruction.
pub fn apply(processor: Processor, relocation: &Relocation, at: &Addresses, bytes: &mut [u8]) -> Result<(), String> {
    match processor {
        Processor::X86_64 => apply_x86_64(relocation, at, bytes),
        Processor::Aarch64 => apply_aarch64(relocation, at, bytes),
    }
}

fn apply_x86_64(relocation: &Relocation, at: &Addresses, bytes: &mut [u8]) -> Result<(), String> {
    let offset = relocation.offset as usize;
    let distance = |to: u64| to.wrapping_add_signed(relocation.addend).wrapping_sub(at.place) as i64;
    let target = match relocation.kind {
        R_X86_64_64 => return Ok(()),
        R_X86_64_PC64 => return put(bytes, offset, &distance(at.target).to_le_bytes()),
        R_X86_64_GOTPCREL | R_X86_64_GOTPCRELX | R_X86_64_REX_GOTPCRELX => match at.slot {
            Some(slot) if !is_load_of_known(relocation.target, relocation.offset, bytes) => slot,
            _ => {
                put(bytes, offset - 2, &[ADDRESS])?;
                at.target
            }
        },
        _ => at.target,
    };
    let distance = i32::try_from(distance(target)).map_err(|_| "the program is too large".to_string())?;
    put(bytes, offset, &distance.to_le_bytes())
}

/// The page that an address is in.
fn page(address: u64) -> u64 {
    address & !0xfff
}

fn apply_aarch64(relocation: &Relocation, at: &Addresses, bytes: &mut [u8]) -> Result<(), String> {
    let offset = relocation.offset as usize;
    let far = |_| "the program is too large".to_string();
    let target = match relocation.kind {
        R_AARCH64_ADR_GOT_PAGE | R_AARCH64_LD64_GOT_LO12_NC => at.slot.unwrap_or(at.target),
        _ => at.target,
    }
    .wrapping_add_signed(relocation.addend);
    let distance = target.wrapping_sub(at.place) as i64;
    let low = (target & 0xfff) as u32;
    // Immediate operands: of `adr` in two fields, of loads and stores in units of what is moved.
    let split = |value: u32| (value & 3) << 29 | (value >> 2 & 0x7_ffff) << 5;
    let field = match relocation.kind {
        R_AARCH64_ABS64 => return Ok(()),
        R_AARCH64_PREL64 => return put(bytes, offset, &distance.to_le_bytes()),
        R_AARCH64_PREL32 => {
            return put(bytes, offset, &i32::try_from(distance).map_err(far)?.to_le_bytes());
        }
        R_AARCH64_CALL26 | R_AARCH64_JUMP26 => within(distance, 28)? >> 2 & 0x3ff_ffff,
        R_AARCH64_CONDBR19 => (within(distance, 21)? >> 2 & 0x7_ffff) << 5,
        R_AARCH64_TSTBR14 => (within(distance, 16)? >> 2 & 0x3fff) << 5,
        R_AARCH64_ADR_PREL_LO21 => split(within(distance, 21)?),
        R_AARCH64_ADR_PREL_PG_HI21 | R_AARCH64_ADR_GOT_PAGE => {
            let pages = (page(target).wrapping_sub(page(at.place)) as i64) >> 12;
            split(within(pages, 21)?)
        }
        R_AARCH64_ADD_ABS_LO12_NC | R_AARCH64_LDST8_ABS_LO12_NC => low << 10,
        R_AARCH64_LDST16_ABS_LO12_NC => low >> 1 << 10,
        R_AARCH64_LDST32_ABS_LO12_NC => low >> 2 << 10,
        R_AARCH64_LDST64_ABS_LO12_NC | R_AARCH64_LD64_GOT_LO12_NC => low >> 3 << 10,
        R_AARCH64_LDST128_ABS_LO12_NC => low >> 4 << 10,
        kind => return Err(format!("the relocation {kind} is not known")),
    };
    let word = bytes.get(offset..offset + 4).and_then(|word| word.try_into().ok());
    let word = u32::from_le_bytes(word.ok_or("a relocation outside of its section")?);
    put(bytes, offset, &(word | field).to_le_bytes())
}

/// A distance in so many bits.
fn within(distance: i64, bits: u32) -> Result<u32, String> {
    let limit = 1_i64 << (bits - 1);
    if (-limit..limit).contains(&distance) { Ok(distance as u32) } else { Err("the program is too large".to_string()) }
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) -> Result<(), String> {
    let place = bytes.get_mut(offset..offset + value.len()).ok_or("a relocation outside of its section")?;
    place.copy_from_slice(value);
    Ok(())
}

/// The length of a stub.
pub const STUB: u64 = 16;

/// The code at `place` that goes on where the slot says.
pub fn stub(processor: Processor, place: u64, slot: u64) -> [u8; STUB as usize] {
    let mut code = [0; STUB as usize];
    match processor {
        Processor::X86_64 => {
            // jmp *slot(%rip), and what must not be reached
            code = [0xcc; STUB as usize];
            let distance = slot.wrapping_sub(place + 6) as i32;
            code[..2].copy_from_slice(&[0xff, 0x25]);
            code[2..6].copy_from_slice(&distance.to_le_bytes());
        }
        Processor::Aarch64 => {
            // adrp x16, slot; ldr x17, [x16, slot]; br x17; nop
            let pages = (page(slot).wrapping_sub(page(place)) as i64 >> 12) as u32;
            let adrp = 0x9000_0010 | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5;
            let load = 0xf940_0211 | ((slot & 0xfff) as u32 >> 3) << 10;
            for (word, place) in [adrp, load, 0xd61f_0220, 0xd503_201f].into_iter().zip(code.chunks_exact_mut(4)) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
    }
    code
}
