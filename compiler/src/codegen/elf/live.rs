//! Files, the names that the result is for → the sections that it needs.
//!
//! From the sections of these names on, each relocation leads to further ones. What it refers to is looked up once:
//! behind this stage there are no files, symbols and names any more, but places in sections, and imported functions.

use crate::codegen::elf::Processor;
use crate::codegen::elf::input::{Files, Symbol, text};
use crate::codegen::elf::relocate::{self, Need};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex, SectionKind,
    SymbolSection, elf,
};
use rustc_hash::FxHashMap;

/// Where a section goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Constants without addresses.
    Constants,
    /// Machine code.
    Code,
    /// Constants with addresses, which the loader fills in.
    Relocated,
    /// Data that change.
    Data,
    /// Data that change and are zeros at first.
    Zeros,
}

/// A section that is needed.
pub struct Part<'d> {
    /// Its file, and its index there.
    pub origin: (usize, SectionIndex),
    /// What it contains; nothing if that is zeros.
    pub bytes: &'d [u8],
    /// Its length.
    pub size: u64,
    /// Its address is a multiple of this.
    pub alignment: u64,
    /// Where it goes to.
    pub class: Class,
    /// What is filled in.
    pub relocations: Vec<Relocation>,
}

/// Something to fill in.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// Where, in the section.
    pub offset: u64,
    /// How: the number that the machine's convention gives it.
    pub kind: u32,
    /// What.
    pub target: Target,
    /// What is added to it.
    pub addend: i64,
}

/// What a relocation refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A place in the part of that number.
    Place(usize, u64),
    /// The imported name of that number.
    Import(usize),
    /// A name that nobody defines, and nobody has to.
    Nothing,
}

/// What the result needs.
pub struct Live<'d> {
    /// The sections, in the order in which they were found.
    pub parts: Vec<Part<'d>>,
    /// The numbers of the parts, in the order of the result.
    pub order: Vec<usize>,
    /// Names that shared libraries define.
    pub imports: Vec<&'d str>,
    /// What has a slot in the table of addresses.
    pub slots: Vec<Target>,
    /// The imported functions that are called, by way of stubs.
    pub stubs: Vec<usize>,
    /// Where the roots are.
    pub roots: Vec<Target>,
    numbers: FxHashMap<(usize, SectionIndex), usize>,
    import_numbers: FxHashMap<&'d str, usize>,
    slot_numbers: FxHashMap<Target, usize>,
    stub_numbers: FxHashMap<usize, usize>,
}

impl<'d> Live<'d> {
    /// Finds what the roots need.
    ///
    /// # Errors
    ///
    /// When a root is not there, or a section or relocation is of a kind that this linker does not know.
    pub fn find(processor: Processor, files: &Files<'d>, roots: &[&str]) -> Result<Live<'d>, String> {
        let mut live = Live {
            parts: Vec::new(),
            order: Vec::new(),
            imports: Vec::new(),
            slots: Vec::new(),
            stubs: Vec::new(),
            roots: Vec::new(),
            numbers: FxHashMap::default(),
            import_numbers: FxHashMap::default(),
            slot_numbers: FxHashMap::default(),
            stub_numbers: FxHashMap::default(),
        };
        for root in roots {
            let symbol = files.definition(root).ok_or_else(|| format!("there is no `{root}`"))?;
            let target = live.target(files, symbol)?;
            live.roots.push(target);
        }
        let mut done = 0;
        while done < live.parts.len() {
            live.follow(processor, files, done)?;
            done += 1;
        }
        live.order = (0..live.parts.len()).collect();
        live.order
            .sort_by_key(|part| (live.parts[*part].class, live.parts[*part].origin.0, live.parts[*part].origin.1.0));
        Ok(live)
    }

    /// The number of a section, if it is needed.
    pub fn number(&self, file: usize, section: SectionIndex) -> Option<usize> {
        self.numbers.get(&(file, section)).copied()
    }

    /// The slot of something in the table of addresses.
    pub fn slot(&self, target: Target) -> Option<usize> {
        self.slot_numbers.get(&target).copied()
    }

    /// The stub of an imported function.
    pub fn stub(&self, import: usize) -> Option<usize> {
        self.stub_numbers.get(&import).copied()
    }

    fn follow(&mut self, processor: Processor, files: &Files<'d>, part: usize) -> Result<(), String> {
        let (file, section) = self.parts[part].origin;
        let section = files.files[file].section_by_index(section).map_err(text)?;
        let mut relocations = Vec::new();
        for (offset, relocation) in section.relocations() {
            let RelocationFlags::Elf { r_type: kind } = relocation.flags() else { continue };
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                return Err(format!("a relocation of kind {kind} refers to no symbol"));
            };
            let target = self.target(files, (file, symbol))?;
            let bytes = self.parts[part].bytes;
            match relocate::need(processor, kind, target, offset, bytes)? {
                Need::Slot => self.take_slot(target),
                Need::Stub(import) => {
                    self.take_slot(target);
                    let next = self.stubs.len();
                    let number = *self.stub_numbers.entry(import).or_insert(next);
                    if number == next {
                        self.stubs.push(import);
                    }
                }
                Need::Nothing | Need::Loader => {}
            }
            if kind != 0 {
                relocations.push(Relocation { offset, kind, target, addend: relocation.addend() });
            }
        }
        self.parts[part].relocations = relocations;
        Ok(())
    }

    fn take_slot(&mut self, target: Target) {
        let next = self.slots.len();
        if *self.slot_numbers.entry(target).or_insert(next) == next {
            self.slots.push(target);
        }
    }

    /// What a symbol stands for; its section is needed from now on.
    fn target(&mut self, files: &Files<'d>, (file, symbol): Symbol) -> Result<Target, String> {
        let found = files.files[file].symbol_by_index(symbol).map_err(text)?;
        let (file, found) = if found.is_local() {
            (file, found)
        } else {
            let name = found.name().map_err(text)?;
            match files.definition(name) {
                Some((file, symbol)) => (file, files.files[file].symbol_by_index(symbol).map_err(text)?),
                None if found.is_weak() => return Ok(Target::Nothing),
                None if name.starts_with("vlad_") => return Err(format!("nothing defines `{name}`")),
                None => {
                    let next = self.imports.len();
                    let number = *self.import_numbers.entry(name).or_insert(next);
                    if number == next {
                        self.imports.push(name);
                    }
                    return Ok(Target::Import(number));
                }
            }
        };
        match found.section() {
            SymbolSection::Section(section) => Ok(Target::Place(self.need(files, (file, section))?, found.address())),
            other => Err(format!("the symbol `{}` is in {other:?}", found.name().unwrap_or_default())),
        }
    }

    /// The number of a section, which is needed from now on.
    fn need(&mut self, files: &Files<'d>, origin: (usize, SectionIndex)) -> Result<usize, String> {
        if let Some(number) = self.numbers.get(&origin) {
            return Ok(*number);
        }
        let section = files.files[origin.0].section_by_index(origin.1).map_err(text)?;
        let name = section.name().map_err(text)?;
        let SectionFlags::Elf { sh_flags: flags } = section.flags() else { return Err("no flags".to_string()) };
        let flags = flags as u32;
        let class = match section.kind() {
            SectionKind::Tls | SectionKind::UninitializedTls => None,
            _ if flags & elf::SHF_ALLOC == 0 => None,
            SectionKind::UninitializedData => Some(Class::Zeros),
            SectionKind::Text | SectionKind::Data | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => {
                Some(if flags & elf::SHF_EXECINSTR != 0 {
                    Class::Code
                } else if flags & elf::SHF_WRITE == 0 {
                    Class::Constants
                } else if name.starts_with(".data.rel.ro") {
                    Class::Relocated
                } else {
                    Class::Data
                })
            }
            _ => None,
        };
        let class = class.ok_or_else(|| format!("the section `{name}` is of a kind that is not expected"))?;
        let number = self.parts.len();
        self.parts.push(Part {
            origin,
            bytes: section.data().map_err(text)?,
            size: section.size(),
            alignment: section.align().max(1),
            class,
            relocations: Vec::new(),
        });
        self.numbers.insert(origin, number);
        Ok(number)
    }
}
