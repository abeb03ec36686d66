//! What is needed → sections, segments and addresses.
//!
//! | segment | sections |
//! |---|---|
//! | read | loader, hash table, symbols, names, relocations, constants, unwind information |
//! | execute | code, stubs |
//! | write, until the loader has been there | constants with addresses, its list, the table of addresses |
//! | write | data, zeros |
//!
//! The last two are one segment, and the second of them begins with a page of its own. Between other segments nothing
//! is left free in the file: the page that has the end of one and the beginning of the next is mapped twice.

use crate::codegen::elf::Processor;
use crate::codegen::elf::dynamic::Linkage;
use crate::codegen::elf::live::{Class, Live, Target};
use crate::codegen::elf::relocate::{self, STUB};
use crate::codegen::elf::unwind::{self, Frames};
use object::elf;

/// The sections of the result, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The first one is always empty.
    Nothing,
    /// The name of the loader.
    Loader,
    /// The hash table of exported names.
    Hash,
    /// Imported and exported symbols.
    Symbols,
    /// Their names.
    Names,
    /// What the loader fills in.
    Relocations,
    /// Constants.
    Constants,
    /// The table of unwind information.
    FrameTable,
    /// Unwind information.
    Frames,
    /// Machine code.
    Code,
    /// Stubs for imported functions.
    Stubs,
    /// Constants with addresses.
    Relocated,
    /// What the loader is to do.
    List,
    /// The table of addresses.
    Slots,
    /// Data.
    Data,
    /// Data that are zeros at first.
    Zeros,
    /// That the stack is not executable.
    Stack,
    /// All symbols, for people.
    AllSymbols,
    /// Their names.
    AllNames,
    /// The names of sections.
    SectionNames,
}

/// A section of the result.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// What it is called.
    pub name: &'static str,
    /// What it is: the number that the format gives it.
    pub kind: u32,
    /// What may be done with it.
    pub flags: u32,
    /// Its address is a multiple of this.
    pub alignment: u64,
    /// The length of one of its rows, if it has rows.
    pub row: u64,
    /// The section that it refers to.
    pub link: Name,
    /// Its length.
    pub size: u64,
    /// Its address.
    pub address: u64,
    /// Where it is in the file.
    pub offset: u64,
}

const READ: u32 = elf::SHF_ALLOC;
const EXECUTE: u32 = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
const WRITE: u32 = elf::SHF_ALLOC | elf::SHF_WRITE;

/// The sections, in the order of [`Name`]: name, kind, flags, alignment, length of rows, what they refer to.
const SECTIONS: [(&str, u32, u32, u64, u64, Name); 20] = [
    ("", elf::SHT_NULL, 0, 1, 0, Name::Nothing),
    (".interp", elf::SHT_PROGBITS, READ, 1, 0, Name::Nothing),
    (".gnu.hash", elf::SHT_GNU_HASH, READ, 8, 0, Name::Symbols),
    (".dynsym", elf::SHT_DYNSYM, READ, 8, 24, Name::Names),
    (".dynstr", elf::SHT_STRTAB, READ, 1, 0, Name::Nothing),
    (".rela.dyn", elf::SHT_RELA, READ, 8, 24, Name::Symbols),
    (".rodata", elf::SHT_PROGBITS, READ, 1, 0, Name::Nothing),
    (".eh_frame_hdr", elf::SHT_PROGBITS, READ, 4, 0, Name::Nothing),
    (".eh_frame", unwind::KIND, READ, unwind::ALIGNMENT, 0, Name::Nothing),
    (".text", elf::SHT_PROGBITS, EXECUTE, 16, 0, Name::Nothing),
    (".plt", elf::SHT_PROGBITS, EXECUTE, STUB, 0, Name::Nothing),
    (".data.rel.ro", elf::SHT_PROGBITS, WRITE, 8, 0, Name::Nothing),
    (".dynamic", elf::SHT_DYNAMIC, WRITE, 8, 16, Name::Names),
    (".got", elf::SHT_PROGBITS, WRITE, 8, 8, Name::Nothing),
    (".data", elf::SHT_PROGBITS, WRITE, 8, 0, Name::Nothing),
    (".bss", elf::SHT_NOBITS, WRITE, 8, 0, Name::Nothing),
    (".note.GNU-stack", elf::SHT_PROGBITS, 0, 1, 0, Name::Nothing),
    (".symtab", elf::SHT_SYMTAB, 0, 8, 24, Name::AllNames),
    (".strtab", elf::SHT_STRTAB, 0, 1, 0, Name::Nothing),
    (".shstrtab", elf::SHT_STRTAB, 0, 1, 0, Name::Nothing),
];

/// The length of the file's header, and of that of a segment.
pub const HEADER: u64 = 64;
/// The length of the description of a segment.
pub const SEGMENT: u64 = 56;
/// The length of the description of a section.
pub const SECTION: u64 = 64;

/// The smallest page that a kernel has.
const SMALL_PAGE: u64 = 4096;

/// The largest page that a kernel may have: segments that may be used in different ways do not share one.
pub fn large_page(processor: Processor) -> u64 {
    match processor {
        Processor::X86_64 => SMALL_PAGE,
        Processor::Aarch64 => 1 << 16,
    }
}

/// A part of the file that is mapped, or that says something about the file.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// What it is: the number that the format gives it.
    pub kind: u32,
    /// What may be done with it.
    pub flags: u32,
    /// Where it begins, and how long it is: in the file, and in memory.
    pub offset: u64,
    /// Its address.
    pub address: u64,
    /// Its length in the file.
    pub file_size: u64,
    /// Its length in memory.
    pub memory_size: u64,
    /// Its alignment.
    pub alignment: u64,
}

/// Where everything is.
pub struct Layout {
    /// The sections, in the order of [`Name`].
    pub sections: Vec<Section>,
    /// The segments.
    pub segments: Vec<Segment>,
    /// The address of each part.
    pub parts: Vec<u64>,
    /// The end of what is mapped, in the file.
    pub end: u64,
}

impl Class {
    /// The section that parts of the class go to.
    pub fn section(self) -> Name {
        match self {
            Class::Constants => Name::Constants,
            Class::Code => Name::Code,
            Class::Relocated => Name::Relocated,
            Class::Data => Name::Data,
            Class::Zeros => Name::Zeros,
        }
    }
}

impl Layout {
    /// Finds places for everything.
    ///
    /// # Errors
    ///
    /// When the loader would have to fill something in that is not writable.
    pub fn new(processor: Processor, live: &Live, frames: &Frames, linkage: &Linkage) -> Result<Layout, String> {
        let mut sections: Vec<Section> = Vec::new();
        for (name, kind, flags, alignment, row, link) in SECTIONS {
            sections.push(Section { name, kind, flags, alignment, row, link, size: 0, address: 0, offset: 0 });
        }
        // Offsets in their sections, at first.
        let mut parts = vec![0; live.parts.len()];
        let mut filled_in = live.slots.iter().filter(|target| **target != Target::Nothing).count() as u64;
        for number in &live.order {
            let part = &live.parts[*number];
            let section = &mut sections[part.class.section() as usize];
            parts[*number] = section.size.next_multiple_of(part.alignment);
            section.size = parts[*number] + part.size;
            section.alignment = section.alignment.max(part.alignment);
            let addresses = part.relocations.iter().filter(|relocation| relocate::is_address(processor, relocation));
            let addresses = addresses.count() as u64;
            if addresses > 0 && matches!(part.class, Class::Constants | Class::Code) {
                return Err("an address in a section that is not writable".to_string());
            }
            filled_in += addresses;
        }
        let mut size = |name: Name, size: u64| sections[name as usize].size = size;
        size(Name::Loader, linkage.loader.len() as u64);
        size(Name::Hash, linkage.hash_size());
        size(Name::Symbols, linkage.symbol_count() * 24);
        size(Name::Names, linkage.names.len() as u64);
        size(Name::Relocations, filled_in * 24);
        size(Name::FrameTable, frames.table_size());
        size(Name::Frames, frames.bytes.len() as u64);
        size(Name::Stubs, live.stubs.len() as u64 * STUB);
        size(Name::List, linkage.list_size());
        size(Name::Slots, live.slots.len() as u64 * 8);
        let has_frames = !frames.bytes.is_empty();
        let segment_count = 6 + u64::from(linkage.is_executable) * 2 + u64::from(has_frames);
        let headers = HEADER + SEGMENT * segment_count;
        let (mut offset, mut address) = (headers, headers);
        let page = large_page(processor);
        let mut previous = READ;
        for name in Name::Loader as usize..=Name::Zeros as usize {
            if name == Name::Relocated as usize {
                // What the loader protects ends with a page.
                let protected = &sections[Name::Relocated as usize..Name::Data as usize];
                let protected =
                    protected.iter().fold(0_u64, |sum, section| sum.next_multiple_of(section.alignment) + section.size);
                let largest = sections[Name::Relocated as usize].alignment.max(64);
                let protected = protected.next_multiple_of(largest);
                offset += (SMALL_PAGE - (offset + protected) % SMALL_PAGE) % SMALL_PAGE;
            }
            let section = &mut sections[name];
            if section.flags != previous {
                address = address.next_multiple_of(page) + offset % page;
                previous = section.flags;
            }
            if name == Name::Data as usize {
                let rest = (SMALL_PAGE - offset % SMALL_PAGE) % SMALL_PAGE;
                (offset, address) = (offset + rest, address + rest);
            }
            let gap = address.next_multiple_of(section.alignment) - address;
            (offset, address) = (offset + gap, address + gap);
            (section.offset, section.address) = (offset, address);
            address += section.size;
            if name != Name::Zeros as usize {
                offset += section.size;
            }
        }
        for (number, part) in live.parts.iter().enumerate() {
            parts[number] += sections[part.class.section() as usize].address;
        }
        let end = sections[Name::Data as usize].offset + sections[Name::Data as usize].size;
        let mut layout = Layout { sections, segments: Vec::new(), parts, end };
        layout.add_segments(processor, linkage, headers, has_frames);
        debug_assert!(layout.segments.len() as u64 == segment_count);
        Ok(layout)
    }

    fn add_segments(&mut self, processor: Processor, linkage: &Linkage, headers: u64, has_frames: bool) {
        let page = large_page(processor);
        let (read, execute, write) = (elf::PF_R, elf::PF_R | elf::PF_X, elf::PF_R | elf::PF_W);
        let flat = |kind, flags, offset, address, size, alignment| Segment {
            kind,
            flags,
            offset,
            address,
            file_size: size,
            memory_size: size,
            alignment,
        };
        let section = |name: Name| self.sections[name as usize];
        let one = |kind, flags, name| {
            let section = section(name);
            flat(kind, flags, section.offset, section.address, section.size, section.alignment)
        };
        let through = |kind, flags, first: Name, last: Name, alignment| {
            let (first, last) = (section(first), section(last));
            let size = last.address + last.size - first.address;
            flat(kind, flags, first.offset, first.address, size, alignment)
        };
        let mut segments = Vec::new();
        if linkage.is_executable {
            segments.push(flat(elf::PT_PHDR, read, HEADER, HEADER, headers - HEADER, 8));
            segments.push(one(elf::PT_INTERP, read, Name::Loader));
        }
        let frames = section(Name::Frames);
        segments.push(flat(elf::PT_LOAD, read, 0, 0, frames.offset + frames.size, page));
        segments.push(through(elf::PT_LOAD, execute, Name::Code, Name::Stubs, page));
        let mut writable = through(elf::PT_LOAD, write, Name::Relocated, Name::Zeros, page);
        writable.file_size = self.end - writable.offset;
        segments.push(writable);
        segments.push(one(elf::PT_DYNAMIC, write, Name::List));
        if has_frames {
            segments.push(one(elf::PT_GNU_EH_FRAME, read, Name::FrameTable));
        }
        segments.push(flat(elf::PT_GNU_STACK, write, 0, 0, 0, 16));
        let mut protected = through(elf::PT_GNU_RELRO, read, Name::Relocated, Name::Slots, 1);
        // What is left of the last page is nobody's.
        protected.memory_size = section(Name::Data).address - protected.address;
        segments.push(protected);
        self.segments = segments;
    }

    /// The address of something in the result.
    pub fn address(&self, target: Target) -> u64 {
        match target {
            Target::Place(part, offset) => self.parts[part].wrapping_add(offset),
            Target::Import(_) | Target::Nothing => 0,
        }
    }

    /// The address of a slot in the table of addresses.
    pub fn slot(&self, number: usize) -> u64 {
        self.sections[Name::Slots as usize].address + 8 * number as u64
    }

    /// The address of a stub.
    pub fn stub(&self, number: usize) -> u64 {
        self.sections[Name::Stubs as usize].address + STUB * number as u64
    }
}
