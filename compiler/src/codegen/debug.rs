//! What debuggers and profilers are told of the machine code: DWARF, version 4.
//!
//! ```text
//! .debug_line     address → file, line, and whether a derivative is computed there (the discriminator)
//! .debug_info     functions: names, places, addresses; what of others is inlined in them
//! .debug_frame    where callers go on and what their registers are, at each address
//! ```
//!
//! Files have the names that the compiler was given, and there is no folder of the compilation, so that the same source
//! gives the same bytes everywhere. What the library does stands at the line of the program that called it: the files
//! of the library are nowhere.
//!
//! The functions that inlined code is from are those of the source around its place, up to the one that it is inlined
//! into; where these were called is not said, which line 0 says.
//!
//! What holds: the code is the same with and without all this.
//!
//! Deliberately not done: variables. Most are in no place by the time that code is made.
//!
//! Tests: `compiler/tests/debugging.rs`.

use crate::base::definitions::{Definition, Definitions};
use crate::base::entity::Entity;
use crate::base::{FileId, SourceMap, Span};
use crate::codegen::callers::Places;
use crate::ssa::ir::{FuncId, Phase, Program, Source};
use cranelift_codegen::ir::SourceLoc;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::isa::unwind::{UnwindInfo, systemv};
use cranelift_codegen::{CodegenResult, CompiledCode};
use cranelift_module::FuncId as Symbol;
use cranelift_object::ObjectProduct;
use gimli::write::{
    Address, AttributeValue, CommonInformationEntry, DebugFrame, DwarfUnit, EndianVec, FileId as File, FrameTable,
    LineProgram, LineString, RelocateWriter, Relocation, RelocationTarget, Sections, UnitEntryId, Writer,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, SectionId};
use object::SectionKind;
use object::write::{Object, RelocationFlags as Flags, SectionId as ObjectSection, StandardSection};
use rustc_hash::FxHashMap;

/// A line of the source, and what of it code belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    file: FileId,
    line: u64,
    phase: Phase,
    /// The function of the source that it is in.
    definition: Option<usize>,
}

/// The code of a function, for this module.
pub struct Code {
    /// Its length.
    size: u64,
    /// Where code of another place begins.
    places: Vec<(u64, SourceLoc)>,
    /// How to find its caller.
    frame: Option<systemv::UnwindInfo>,
}

impl Code {
    /// What is to be known of compiled code, if debuggers are told of it.
    ///
    /// # Errors
    ///
    /// When Cranelift cannot say how to find its caller.
    pub fn of(compiled: &CompiledCode, isa: &dyn TargetIsa) -> CodegenResult<Option<Code>> {
        if !isa.flags().unwind_info() {
            return Ok(None);
        }
        let size = compiled.buffer.data().len() as u64;
        let places =
            compiled.buffer.get_srclocs_sorted().iter().map(|part| (u64::from(part.start), part.loc)).collect();
        let frame = match compiled.create_unwind_info(isa)? {
            Some(UnwindInfo::SystemV(frame)) => Some(frame),
            _ => None,
        };
        Ok(Some(Code { size, places, frame }))
    }
}

/// What is known about places.
pub struct Debug {
    /// What the program is called.
    name: String,
    /// The first file of the program.
    main: FileId,
    /// The names of all files.
    files: Vec<String>,
    /// By the numbers of places.
    places: Vec<Place>,
    definitions: Definitions,
    /// The lines that these begin at.
    begins: Vec<u64>,
    /// Those of functions.
    lines: FxHashMap<FuncId, (FileId, u64)>,
    /// The functions, once they are compiled.
    pub codes: FxHashMap<Symbol, Code>,
    /// What all functions have in common for who looks for callers.
    pub frames: Option<CommonInformationEntry>,
}

impl Debug {
    /// Those of a program.
    pub fn new(program: &Program, sources: &SourceMap, places: &Places) -> Debug {
        let line = |span: Span| sources.file(span.file).line(span.start as usize) as u64;
        let definitions = Definitions::new(program.definitions.iter().cloned());
        let begins = definitions.all().iter().map(|definition| line(definition.span)).collect();
        let main = sources.files().position(|file| !file.is_library).unwrap_or_default();
        let main = FileId(u32::try_from(main).unwrap_or_default());
        let mut debug = Debug {
            name: sources.file(main).name.clone(),
            main,
            files: sources.files().map(|file| file.name.clone()).collect(),
            places: Vec::new(),
            definitions,
            begins,
            lines: FxHashMap::default(),
            codes: FxHashMap::default(),
            frames: None,
        };
        for (id, function) in program.functions.iter() {
            let own = function.span.filter(|span| !sources.is_library(*span));
            debug.lines.extend(own.map(|span| (id, (span.file, line(span)))));
        }
        for Source { span, phase, .. } in &places.all {
            let definition = debug.definitions.innermost(*span);
            debug.places.push(Place { file: span.file, line: line(*span), phase: *phase, definition });
        }
        debug
    }

    /// The functions that code at a place is inlined from, outermost first, where the function at hand is made of
    /// `own`.
    fn inlined(&self, place: &Place, own: Option<usize>) -> Vec<usize> {
        let around = |definition: &usize| self.definitions.all()[*definition].around;
        let within = std::iter::successors(place.definition, around).take_while(|definition| Some(*definition) != own);
        let mut within: Vec<usize> = within.collect();
        within.reverse();
        within
    }

    /// The rows of a function's table: an offset, and the place there. Before the first operation that is from a place
    /// stands the function itself, or else, where the program begins, that operation.
    fn rows(&self, function: Option<(FileId, u64)>, is_main: bool, code: &Code) -> Vec<(u64, Option<Place>)> {
        let first = function.map(|(file, line)| Place { file, line, phase: Phase::Value, definition: None });
        let known = |(_, location): &(u64, SourceLoc)| self.places.get(Places::number(*location)).copied();
        let first = first.or_else(|| code.places.iter().find_map(known).filter(|_| is_main));
        let mut rows = vec![(0, first)];
        for (offset, location) in &code.places {
            let Some(place) = self.places.get(Places::number(*location)) else { continue };
            match rows.last_mut() {
                Some((_, Some(last))) if last == place => {}
                Some((at, last)) if *at == *offset => *last = Some(*place),
                _ => rows.push((*offset, Some(*place))),
            }
        }
        rows
    }

    /// Describes a compiled program in its object file.
    ///
    /// # Errors
    ///
    /// When something is too large for the format.
    pub fn write(&self, program: &Program, symbols: &[Symbol], product: &mut ObjectProduct) -> Result<(), String> {
        let mut description = Description::new(self, program);
        for (id, symbol) in program.functions.ids().zip(symbols) {
            if let Some(code) = self.codes.get(symbol) {
                let start = product.object.symbol(product.function_symbol(*symbol)).value;
                description.function(id, start, code);
            }
        }
        let mut frames = FrameTable::default();
        if let Some(common) = &self.frames {
            let common = frames.add_cie(common.clone());
            let mut codes: Vec<(u64, &Code)> = Vec::new();
            for (symbol, code) in &self.codes {
                codes.push((product.object.symbol(product.function_symbol(*symbol)).value, code));
            }
            codes.sort_by_key(|(start, _)| *start);
            for (start, code) in codes {
                if let Some(frame) = &code.frame {
                    frames.add_fde(common, frame.to_fde(address(start)));
                }
            }
        }
        let text = product.object.section_id(StandardSection::Text);
        let size = product.object.section(text).data().len() as u64;
        description.finish(size, &frames, &mut product.object, text).map_err(|error| error.to_string())
    }
}

/// An address in the code of the program.
fn address(offset: u64) -> Address {
    Address::Symbol { symbol: 0, addend: offset as i64 }
}

const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };

/// The description in the making.
struct Description<'d> {
    debug: &'d Debug,
    program: &'d Program,
    dwarf: DwarfUnit,
    files: FxHashMap<FileId, File>,
    /// The descriptions of functions that are inlined somewhere.
    inlined: FxHashMap<usize, UnitEntryId>,
}

impl<'d> Description<'d> {
    fn new(debug: &'d Debug, program: &'d Program) -> Description<'d> {
        let mut dwarf = DwarfUnit::new(ENCODING);
        let name = LineString::String(debug.name.clone().into_bytes());
        // This version of the format does not write the folder out.
        let folder = LineString::String(b".".to_vec());
        dwarf.unit.line_program = LineProgram::new(ENCODING, LineEncoding::default(), folder, None, name, None);
        Description { debug, program, dwarf, files: FxHashMap::default(), inlined: FxHashMap::default() }
    }

    fn file(&mut self, id: FileId) -> File {
        let lines = &mut self.dwarf.unit.line_program;
        let name = &self.debug.files[id.index()];
        *self.files.entry(id).or_insert_with(|| {
            let folder = lines.default_directory();
            lines.add_file(LineString::String(name.as_bytes().to_vec()), folder, None)
        })
    }

    fn text(&mut self, text: &str) -> AttributeValue {
        AttributeValue::StringRef(self.dwarf.strings.add(text))
    }

    fn entry(
        &mut self,
        parent: UnitEntryId,
        tag: gimli::DwTag,
        attributes: Vec<(gimli::DwAt, AttributeValue)>,
    ) -> UnitEntryId {
        let entry = self.dwarf.unit.add(parent, tag);
        for (name, value) in attributes {
            self.dwarf.unit.get_mut(entry).set(name, value);
        }
        entry
    }

    /// A function, and its name and place.
    fn named(&mut self, name: &str, place: Option<(FileId, u64)>) -> UnitEntryId {
        let mut attributes = vec![(gimli::DW_AT_name, self.text(name))];
        if let Some((file, line)) = place {
            attributes.push((gimli::DW_AT_decl_file, AttributeValue::FileIndex(Some(self.file(file)))));
            attributes.push((gimli::DW_AT_decl_line, AttributeValue::Udata(line)));
        }
        self.entry(self.dwarf.unit.root(), gimli::DW_TAG_subprogram, attributes)
    }

    /// Sets the addresses of something.
    fn set_addresses(&mut self, entry: UnitEntryId, start: u64, end: u64) {
        let entry = self.dwarf.unit.get_mut(entry);
        entry.set(gimli::DW_AT_low_pc, AttributeValue::Address(address(start)));
        entry.set(gimli::DW_AT_high_pc, AttributeValue::Udata(end - start));
    }

    /// Describes a function whose code begins there.
    fn function(&mut self, id: FuncId, start: u64, code: &Code) {
        let function = &self.program.functions[id];
        let place = self.debug.lines.get(&id).copied();
        let rows = self.debug.rows(place, self.program.main == Some(id), code);
        self.add_lines(start, code.size, &rows);
        let entry = self.named(&function.name, place);
        self.set_addresses(entry, start, start + code.size);
        let definitions = &self.debug.definitions;
        let own = function
            .span
            .and_then(|span| definitions.innermost(span).filter(|found| definitions.all()[*found].span == span));
        // What is inlined where the code has come to: functions, and where their code begins.
        let mut open: Vec<(usize, UnitEntryId, u64)> = Vec::new();
        for (offset, place) in rows.iter().copied().chain([(code.size, None)]) {
            let within = place.map(|place| self.debug.inlined(&place, own)).unwrap_or_default();
            let common = open.iter().zip(&within).take_while(|(open, within)| open.0 == **within).count();
            for (_, part, first) in open.drain(common..) {
                self.set_addresses(part, first, start + offset);
            }
            for definition in &within[common..] {
                let parent = open.last().map_or(entry, |(_, part, _)| *part);
                open.push((*definition, self.inlined_part(parent, *definition), start + offset));
            }
        }
    }

    /// Describes code that is inlined.
    fn inlined_part(&mut self, parent: UnitEntryId, definition: usize) -> UnitEntryId {
        let origin = self.inlined_function(definition);
        let file = self.file(self.debug.definitions.all()[definition].span.file);
        let attributes = vec![
            (gimli::DW_AT_abstract_origin, AttributeValue::UnitRef(origin)),
            (gimli::DW_AT_call_file, AttributeValue::FileIndex(Some(file))),
            (gimli::DW_AT_call_line, AttributeValue::Udata(0)),
        ];
        self.entry(parent, gimli::DW_TAG_inlined_subroutine, attributes)
    }

    /// What inlined code refers to.
    fn inlined_function(&mut self, definition: usize) -> UnitEntryId {
        if let Some(entry) = self.inlined.get(&definition) {
            return *entry;
        }
        let Definition { span, name, .. } = &self.debug.definitions.all()[definition];
        let entry = self.named(name, Some((span.file, self.debug.begins[definition])));
        self.dwarf.unit.get_mut(entry).set(gimli::DW_AT_inline, AttributeValue::Inline(gimli::DW_INL_inlined));
        self.inlined.insert(definition, entry);
        entry
    }

    fn add_lines(&mut self, start: u64, size: u64, rows: &[(u64, Option<Place>)]) {
        self.dwarf.unit.line_program.begin_sequence(Some(address(start)));
        for (position, (offset, place)) in rows.iter().enumerate() {
            // Line 0 is none; a file has to be named all the same.
            let file = place.map_or(self.debug.main, |place| place.file);
            let file = self.file(file);
            let row = self.dwarf.unit.line_program.row();
            row.address_offset = *offset;
            row.file = file;
            row.line = place.map_or(0, |place| place.line);
            row.discriminator = u64::from(place.is_some_and(|place| place.phase == Phase::Derivative));
            row.prologue_end = position == 1;
            self.dwarf.unit.line_program.generate_row();
        }
        self.dwarf.unit.line_program.end_sequence(size);
    }

    /// Writes the sections into the object file, whose code is `size` bytes of that section.
    fn finish(
        mut self,
        size: u64,
        frames: &FrameTable,
        object: &mut Object<'static>,
        text: ObjectSection,
    ) -> gimli::write::Result<()> {
        let root = self.dwarf.unit.root();
        let name = self.text(&self.debug.name);
        let producer = self.text(concat!("vlad ", env!("CARGO_PKG_VERSION")));
        let attributes = [
            (gimli::DW_AT_producer, producer),
            // There is no number for the language. Debuggers read names and numbers as in this one.
            (gimli::DW_AT_language, AttributeValue::Language(gimli::DW_LANG_C99)),
            (gimli::DW_AT_name, name),
            (gimli::DW_AT_stmt_list, AttributeValue::LineProgramRef),
            (gimli::DW_AT_low_pc, AttributeValue::Address(address(0))),
            (gimli::DW_AT_high_pc, AttributeValue::Udata(size)),
        ];
        for (name, value) in attributes {
            self.dwarf.unit.get_mut(root).set(name, value);
        }
        let mut sections = Sections::new(Section::default());
        self.dwarf.write(&mut sections)?;
        let mut of_frames = DebugFrame(Section::default());
        frames.write_debug_frame(&mut of_frames)?;
        let mut written = vec![(SectionId::DebugAranges, aranges(size)?), (SectionId::DebugFrame, of_frames.0)];
        sections.for_each_mut(|id, section| -> gimli::write::Result<()> {
            written.push((id, std::mem::take(section)));
            Ok(())
        })?;
        add_sections(written, object, text);
        Ok(())
    }
}

/// Which unit an address belongs to: some tools ask nothing else.
fn aranges(size: u64) -> gimli::write::Result<Section> {
    let mut section = Section::default();
    section.write_u32(44)?;
    section.write_u16(2)?;
    section.write_offset(0, SectionId::DebugInfo, 4)?;
    section.write_u8(8)?;
    section.write_u8(0)?;
    // Rows begin at a multiple of their length.
    section.write_u32(0)?;
    section.write_address(address(0), 8)?;
    section.write_u64(size)?;
    section.write_u64(0)?;
    section.write_u64(0)?;
    Ok(section)
}

fn add_sections(written: Vec<(SectionId, Section)>, object: &mut Object<'static>, text: ObjectSection) {
    let mut ids = Vec::new();
    for (id, section) in written.into_iter().filter(|(_, section)| section.writer.len() > 0) {
        let added = object.add_section(Vec::new(), id.name().as_bytes().to_vec(), SectionKind::Debug);
        object.append_section_data(added, section.writer.slice(), 1);
        ids.push((id, added, section.relocations));
    }
    let place = |wanted: SectionId| ids.iter().find(|(id, ..)| *id == wanted).map(|(_, added, _)| *added);
    for (_, added, relocations) in &ids {
        for relocation in relocations {
            let target = match relocation.target {
                RelocationTarget::Symbol(_) => Some(text),
                RelocationTarget::Section(id) => place(id),
            };
            let symbol = object.section_symbol(target.expect("what is referred to is not empty"));
            let flags = Flags::Generic {
                kind: object::RelocationKind::Absolute,
                encoding: object::RelocationEncoding::Generic,
                size: relocation.size * 8,
            };
            let offset = relocation.offset as u64;
            let relocation = object::write::Relocation { offset, symbol, addend: relocation.addend, flags };
            object.add_relocation(*added, relocation).expect("object files have such relocations");
        }
    }
}

/// A section in the making.
#[derive(Clone)]
struct Section {
    writer: EndianVec<LittleEndian>,
    relocations: Vec<Relocation>,
}

impl Default for Section {
    fn default() -> Section {
        Section { writer: EndianVec::new(LittleEndian), relocations: Vec::new() }
    }
}

impl RelocateWriter for Section {
    type Writer = EndianVec<LittleEndian>;

    fn writer(&self) -> &EndianVec<LittleEndian> {
        &self.writer
    }

    fn writer_mut(&mut self) -> &mut EndianVec<LittleEndian> {
        &mut self.writer
    }

    fn relocate(&mut self, relocation: Relocation) {
        self.relocations.push(relocation);
    }
}
