//! Unwind information of the inputs (`.eh_frame`) → that of the sections that are needed, and a table by which it is
//! searched (`.eh_frame_hdr`).
//!
//! Records of functions refer to a common record in front of them. A common record that several files have is there
//! once.

use crate::codegen::elf::input::{Files, text};
use crate::codegen::elf::live::{Live, Relocation, Target};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex, SymbolSection, elf,
};
use rustc_hash::FxHashMap;

/// The records that are needed.
#[derive(Default)]
pub struct Frames {
    /// The records.
    pub bytes: Vec<u8>,
    /// What is filled in there.
    pub relocations: Vec<Relocation>,
    /// Each function, and where its record is.
    functions: Vec<(Target, u64)>,
}

/// Where the address of the function is in its record.
const FUNCTION: usize = 8;

/// How addresses in the table are given: four bytes with a sign, relative to the place, or to the table.
const RELATIVE_TO_PLACE: u8 = 0x1b;
const RELATIVE_TO_TABLE: u8 = 0x3b;
/// A number of four bytes.
const NUMBER: u8 = 0x03;

impl Frames {
    /// Those of all sections that are needed.
    ///
    /// # Errors
    ///
    /// When a record is not as it should be.
    pub fn of(files: &Files, live: &Live) -> Result<Frames, String> {
        let mut frames = Frames::default();
        let mut commons = FxHashMap::default();
        for file in 0..files.files.len() {
            let sections = files.files[file].sections().filter(|section| section.name() == Ok(".eh_frame"));
            for section in sections.map(|section| section.index()).collect::<Vec<_>>() {
                frames.add(files, live, file, section, &mut commons)?;
            }
        }
        if !frames.bytes.is_empty() {
            frames.bytes.extend([0; 4]);
        }
        Ok(frames)
    }

    fn add<'d>(
        &mut self,
        files: &Files<'d>,
        live: &Live,
        file: usize,
        section: SectionIndex,
        commons: &mut FxHashMap<&'d [u8], usize>,
    ) -> Result<(), String> {
        let wrong = || "unwind information is not as it should be".to_string();
        let section = files.files[file].section_by_index(section).map_err(text)?;
        let bytes = section.data().map_err(text)?;
        let mut relocations: Vec<Relocation> = Vec::new();
        for (offset, relocation) in section.relocations() {
            let (RelocationFlags::Elf { r_type: kind }, RelocationTarget::Symbol(symbol)) =
                (relocation.flags(), relocation.target())
            else {
                return Err(wrong());
            };
            let symbol = files.files[file].symbol_by_index(symbol).map_err(text)?;
            let SymbolSection::Section(section) = symbol.section() else { return Err(wrong()) };
            // What is not needed has no number.
            let part = live.number(file, section).unwrap_or(usize::MAX);
            let target = Target::Place(part, symbol.address());
            relocations.push(Relocation { offset, kind, target, addend: relocation.addend() });
        }
        relocations.sort_by_key(|relocation| relocation.offset);
        let word = |at: usize| -> Result<usize, String> {
            let bytes = bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).ok_or_else(wrong)?;
            Ok(u32::from_le_bytes(bytes) as usize)
        };
        let mut at = 0;
        while at + 4 <= bytes.len() {
            let end = at + 4 + word(at)?;
            if end == at + 4 {
                // The end of a list.
                at = end;
                continue;
            }
            let id = word(at + 4)?;
            let record = bytes.get(at..end).ok_or_else(wrong)?;
            let range = |offset: &Relocation| (at as u64..end as u64).contains(&offset.offset);
            let first = relocations.partition_point(|relocation| relocation.offset < at as u64);
            let own = relocations[first..].iter().take_while(|relocation| range(relocation));
            let function = relocations.get(first).filter(|relocation| relocation.offset == (at + FUNCTION) as u64);
            if let (Some(function), false) = (function, id == 0)
                && let Target::Place(part, place) = function.target
                && part != usize::MAX
            {
                let common = (at + 4).checked_sub(id).ok_or_else(wrong)?;
                let common = bytes.get(common..common + 4 + word(common)?).ok_or_else(wrong)?;
                let common = *commons.entry(common).or_insert_with(|| {
                    self.bytes.extend_from_slice(common);
                    self.bytes.len() - common.len()
                });
                let new = self.bytes.len();
                self.bytes.extend_from_slice(record);
                self.bytes[new + 4..new + 8].copy_from_slice(&((new + 4 - common) as u32).to_le_bytes());
                let moved = |own: &Relocation| Relocation { offset: own.offset - at as u64 + new as u64, ..*own };
                self.relocations.extend(own.map(moved));
                let place = place.wrapping_add_signed(function.addend);
                self.functions.push((Target::Place(part, place), new as u64));
            }
            at = end;
        }
        Ok(())
    }

    /// The length of the table.
    pub fn table_size(&self) -> u64 {
        if self.functions.is_empty() { 0 } else { 12 + 8 * self.functions.len() as u64 }
    }

    /// The table, which is at that address, of records that begin at another one.
    pub fn table(&self, live: &[u64], table: u64, records: u64) -> Vec<u8> {
        if self.functions.is_empty() {
            return Vec::new();
        }
        let relative = |address: u64, to: u64| (address.wrapping_sub(to) as i32).to_le_bytes();
        let mut rows: Vec<(u64, u64)> = Vec::new();
        for (function, record) in &self.functions {
            if let Target::Place(part, offset) = *function {
                rows.push((live[part] + offset, records + record));
            }
        }
        rows.sort_unstable();
        let mut bytes = vec![1, RELATIVE_TO_PLACE, NUMBER, RELATIVE_TO_TABLE];
        bytes.extend(relative(records, table + 4));
        bytes.extend((rows.len() as u32).to_le_bytes());
        for (function, record) in rows {
            bytes.extend(relative(function, table));
            bytes.extend(relative(record, table));
        }
        bytes
    }
}

/// The alignment of records.
pub const ALIGNMENT: u64 = 8;

/// The kind of section that records are in.
pub const KIND: u32 = elf::SHT_PROGBITS;
