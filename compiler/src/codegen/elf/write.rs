//! Everything that is known → the bytes of the file.

use crate::codegen::elf::Processor;
use crate::codegen::elf::debug;
use crate::codegen::elf::dynamic::{self, Linkage, symbol};
use crate::codegen::elf::input::{Files, text};
use crate::codegen::elf::layout::{HEADER, Layout, Name, SECTION, SEGMENT, Section};
use crate::codegen::elf::live::{Class, Live, Relocation, Target};
use crate::codegen::elf::relocate::{self, Addresses};
use crate::codegen::elf::unwind::Frames;
use object::{Object, ObjectSymbol, SymbolFlags, SymbolKind, elf};

/// Writes the file.
///
/// # Errors
///
/// When a distance is too large for an instruction.
pub fn file(
    processor: Processor,
    files: &Files,
    live: &Live,
    frames: &Frames,
    linkage: &Linkage,
    mut layout: Layout,
) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; layout.end as usize];
    for (number, part) in live.parts.iter().enumerate().filter(|(_, part)| part.class != Class::Zeros) {
        let section = &layout.sections[part.class.section() as usize];
        let start = (layout.parts[number] - section.address + section.offset) as usize;
        let place = &mut bytes[start..start + part.bytes.len()];
        place.copy_from_slice(part.bytes);
        fill_in(processor, live, &layout, &part.relocations, layout.parts[number], place)?;
    }
    let section = |name: Name| layout.sections[name as usize];
    let mut put = |name: Name, content: &[u8]| {
        let section = section(name);
        debug_assert!(content.len() as u64 == section.size, "{name:?}");
        bytes[section.offset as usize..][..content.len()].copy_from_slice(content);
    };
    put(Name::Loader, &linkage.loader);
    put(Name::Hash, &linkage.hash_table());
    put(Name::Symbols, &linkage.symbols(&layout));
    put(Name::Names, &linkage.names);
    let (relocations, own_addresses) = dynamic::relocations(processor, live, &layout);
    put(Name::Relocations, &relocations);
    let records = section(Name::Frames).address;
    put(Name::FrameTable, &frames.table(&layout.parts, section(Name::FrameTable).address, records));
    let mut unwinding = frames.bytes.clone();
    fill_in(processor, live, &layout, &frames.relocations, records, &mut unwinding)?;
    put(Name::Frames, &unwinding);
    let stubs = live.stubs.iter().enumerate().flat_map(|(number, import)| {
        let slot = live.slot(Target::Import(*import)).map_or(0, |slot| layout.slot(slot));
        relocate::stub(processor, layout.stub(number), slot)
    });
    put(Name::Stubs, &stubs.collect::<Vec<u8>>());
    put(Name::List, &linkage.list(&layout, own_addresses));

    let (symbols, names) = symbols(files, live, &layout)?;
    let described = debug::sections(processor, files, live, &layout)?;
    for (name, _) in &described {
        let (kind, link) = (elf::SHT_PROGBITS, Name::Nothing);
        let section = Section { name, kind, flags: 0, alignment: 1, row: 0, link, size: 0, address: 0, offset: 0 };
        layout.sections.push(section);
    }
    let mut section_names = Vec::new();
    let mut starts = Vec::new();
    for section in &layout.sections {
        starts.push(section_names.len() as u32);
        section_names.extend(section.name.as_bytes());
        section_names.push(0);
    }
    let usual = [(Name::AllSymbols, &symbols), (Name::AllNames, &names), (Name::SectionNames, &section_names)];
    let usual = usual.into_iter().map(|(name, content)| (name as usize, content));
    let described = described.iter().map(|(_, content)| content);
    for (number, content) in usual.chain((Name::SectionNames as usize + 1..).zip(described)) {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let section = &mut layout.sections[number];
        (section.offset, section.size) = (bytes.len() as u64, content.len() as u64);
        bytes.extend(content);
    }
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let section_table = bytes.len() as u64;
    for (section, start) in layout.sections.iter().zip(starts) {
        bytes.extend(section_row(section, start));
    }
    let head = head(processor, linkage, &layout, section_table);
    bytes[..head.len()].copy_from_slice(&head);
    Ok(bytes)
}

/// Fills in what is known about a section or record at that address.
fn fill_in(
    processor: Processor,
    live: &Live,
    layout: &Layout,
    relocations: &[Relocation],
    address: u64,
    bytes: &mut [u8],
) -> Result<(), String> {
    for relocation in relocations {
        let target = match relocation.target {
            Target::Import(import) => live.stub(import).map_or(0, |stub| layout.stub(stub)),
            target => layout.address(target),
        };
        let slot = live.slot(relocation.target).map(|slot| layout.slot(slot));
        let addresses = Addresses { place: address + relocation.offset, target, slot };
        relocate::apply(processor, relocation, &addresses, bytes)?;
    }
    Ok(())
}

/// The table of all symbols, and their names.
fn symbols(files: &Files, live: &Live, layout: &Layout) -> Result<(Vec<u8>, Vec<u8>), String> {
    let (mut rows, mut names) = (vec![0; 24], vec![0]);
    for (number, file) in files.files.iter().enumerate() {
        for found in file.symbols() {
            let Some(part) = found.section_index().and_then(|section| live.number(number, section)) else { continue };
            let name = found.name_bytes().map_err(text)?;
            // Sections have no names of their own, and those of assemblers are for assemblers.
            if name.is_empty() || name.starts_with(b".L") || found.kind() == SymbolKind::Section {
                continue;
            }
            let SymbolFlags::Elf { st_info: info, .. } = found.flags() else { continue };
            let section = live.parts[part].class.section() as u16;
            let address = layout.parts[part].wrapping_add(found.address());
            rows.extend(symbol(names.len() as u32, info & 0xf, section, address, found.size()));
            names.extend(name);
            names.push(0);
        }
    }
    Ok((rows, names))
}

/// The headers of the file and of its segments.
fn head(processor: Processor, linkage: &Linkage, layout: &Layout, section_table: u64) -> Vec<u8> {
    let mut bytes = elf::ELFMAG.to_vec();
    bytes.extend([elf::ELFCLASS64, elf::ELFDATA2LSB, elf::EV_CURRENT, elf::ELFOSABI_NONE]);
    bytes.extend([0; 8]);
    let machine = match processor {
        Processor::X86_64 => elf::EM_X86_64,
        Processor::Aarch64 => elf::EM_AARCH64,
    };
    bytes.extend([elf::ET_DYN, machine].into_iter().flat_map(u16::to_le_bytes));
    bytes.extend(u32::from(elf::EV_CURRENT).to_le_bytes());
    let entry = linkage.entry.map_or(0, |entry| layout.address(entry));
    bytes.extend([entry, HEADER, section_table].into_iter().flat_map(u64::to_le_bytes));
    bytes.extend(0_u32.to_le_bytes());
    let counts = (layout.segments.len() as u16, layout.sections.len() as u16);
    let sizes = [HEADER as u16, SEGMENT as u16, counts.0, SECTION as u16, counts.1, Name::SectionNames as u16];
    bytes.extend(sizes.into_iter().flat_map(u16::to_le_bytes));
    for segment in &layout.segments {
        bytes.extend([segment.kind, segment.flags].into_iter().flat_map(u32::to_le_bytes));
        let places = [segment.offset, segment.address, segment.address];
        let sizes = [segment.file_size, segment.memory_size, segment.alignment];
        bytes.extend(places.into_iter().chain(sizes).flat_map(u64::to_le_bytes));
    }
    bytes
}

/// The description of a section.
fn section_row(section: &Section, name: u32) -> Vec<u8> {
    // Behind the last local symbol: all symbols are local, those for the loader are not.
    let info = match section.kind {
        elf::SHT_SYMTAB => (section.size / section.row) as u32,
        elf::SHT_DYNSYM => 1,
        _ => 0,
    };
    let mut row: Vec<u8> = [name, section.kind].into_iter().flat_map(u32::to_le_bytes).collect();
    let places = [u64::from(section.flags), section.address, section.offset, section.size];
    row.extend(places.into_iter().flat_map(u64::to_le_bytes));
    row.extend([section.link as u32, info].into_iter().flat_map(u32::to_le_bytes));
    row.extend([section.alignment, section.row].into_iter().flat_map(u64::to_le_bytes));
    row
}
