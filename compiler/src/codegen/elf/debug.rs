//! What debuggers are told of the program → sections that are in the file, but not in memory.
//!
//! Their relocations are those of data: whole addresses of what is linked, and distances from where a section of this
//! kind begins. Only one of the files that are linked describes itself, so sections are taken as they are.

use crate::codegen::elf::Processor;
use crate::codegen::elf::input::{Files, text};
use crate::codegen::elf::layout::Layout;
use crate::codegen::elf::live::Live;
use object::elf::{R_AARCH64_ABS32, R_AARCH64_ABS64, R_X86_64_32, R_X86_64_64};
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};

/// The sections that there may be.
const NAMES: [&str; 6] =
    [".debug_abbrev", ".debug_aranges", ".debug_frame", ".debug_info", ".debug_line", ".debug_str"];

/// Those of the first file, with their contents.
///
/// # Errors
///
/// When a relocation is of a kind that is not expected.
pub fn sections(
    processor: Processor,
    files: &Files,
    live: &Live,
    layout: &Layout,
) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let mut sections = Vec::new();
    let Some(file) = files.files.first() else { return Ok(sections) };
    for name in NAMES {
        let Some(section) = file.section_by_name(name) else { continue };
        let mut bytes = section.data().map_err(text)?.to_vec();
        for (offset, relocation) in section.relocations() {
            let (RelocationFlags::Elf { r_type: kind }, RelocationTarget::Symbol(symbol)) =
                (relocation.flags(), relocation.target())
            else {
                return Err(format!("a relocation in `{name}` refers to no symbol"));
            };
            let symbol = file.symbol_by_index(symbol).map_err(text)?;
            // What has been left out, and sections that have no addresses, begin at 0.
            let part = symbol.section_index().and_then(|section| live.number(0, section));
            let start = part.map_or(0, |part| layout.parts[part]).wrapping_add(symbol.address());
            let value = start.wrapping_add_signed(relocation.addend()).to_le_bytes();
            let size = match (processor, kind) {
                (Processor::X86_64, R_X86_64_64) | (Processor::Aarch64, R_AARCH64_ABS64) => 8,
                (Processor::X86_64, R_X86_64_32) | (Processor::Aarch64, R_AARCH64_ABS32) => 4,
                _ => return Err(format!("the relocation {kind} in `{name}` is not known")),
            };
            let place = (offset as usize..).take(size).zip(value);
            for (at, byte) in place {
                *bytes.get_mut(at).ok_or("a relocation outside of its section")? = byte;
            }
        }
        sections.push((name, bytes));
    }
    Ok(sections)
}
