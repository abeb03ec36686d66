//! What an executable says about itself: address → line, phase, functions.

use crate::ssa::ir::Phase;
use gimli::{AttributeValue, DW_AT_abstract_origin, DW_AT_name, EndianSlice, LittleEndian, Unit};
use object::{Object, ObjectSection, ObjectSymbol};
use std::rc::Rc;

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The file, as the compiler was told.
    pub file: Rc<str>,
    /// Its number.
    pub number: u64,
}

/// A row of the table of lines: addresses, and what they belong to. What several places share is of no line.
struct Row {
    start: u64,
    end: u64,
    line: Option<Line>,
    phase: Phase,
}

/// A function, or code that is inlined; what is inlined stands behind what it is inlined in.
struct Function {
    name: Rc<str>,
    ranges: Vec<(u64, u64)>,
}

/// An executable that is described.
pub struct Executable {
    rows: Vec<Row>,
    functions: Vec<Function>,
    symbols: Vec<(u64, u64, Rc<str>)>,
    /// Where code begins, and its bytes.
    code: (u64, Vec<u8>),
}

type Slice<'d> = EndianSlice<'d, LittleEndian>;

impl Executable {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// When it is not what the compiler makes.
    pub fn read(bytes: &[u8]) -> Result<Executable, String> {
        let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
        let section = |name: &str| file.section_by_name(name).and_then(|section| section.data().ok());
        let load = |id: gimli::SectionId| Ok(EndianSlice::new(section(id.name()).unwrap_or_default(), LittleEndian));
        let described: gimli::Result<_> = gimli::Dwarf::load(load).and_then(|dwarf| {
            let (mut rows, mut functions) = (Vec::new(), Vec::new());
            let mut units = dwarf.units();
            while let Some(header) = units.next()? {
                let unit = dwarf.unit(header)?;
                rows.extend(read_rows(&dwarf, &unit)?);
                functions.extend(read_functions(&dwarf, &unit)?);
            }
            Ok((rows, functions))
        });
        let (mut rows, functions) = described.map_err(|error| error.to_string())?;
        rows.sort_by_key(|row| row.start);
        let symbols = file.symbols().filter_map(|symbol| {
            let name = symbol.name().ok().filter(|_| symbol.kind() == object::SymbolKind::Text)?;
            Some((symbol.address(), symbol.address() + symbol.size(), Rc::from(name)))
        });
        let code = file.section_by_name(".text").map_or(0, |section| section.address());
        let mut symbols: Vec<_> = symbols.collect();
        symbols.sort();
        Ok(Executable { rows, functions, symbols, code: (code, section(".text").unwrap_or_default().to_vec()) })
    }

    /// The address of a symbol.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|symbol| &*symbol.2 == name).map(|symbol| symbol.0)
    }

    /// The function that an address is in, as the linker knows it.
    pub fn symbol(&self, address: u64) -> Option<&Rc<str>> {
        let behind = self.symbols.partition_point(|symbol| symbol.0 <= address);
        self.symbols[..behind].last().filter(|symbol| address < symbol.1).map(|symbol| &symbol.2)
    }

    fn row(&self, address: u64) -> Option<&Row> {
        let behind = self.rows.partition_point(|row| row.start <= address);
        self.rows[..behind].last().filter(|row| address < row.end)
    }

    /// Whether an address is in a function of the program.
    pub fn is_own(&self, address: u64) -> bool {
        self.row(address).is_some()
    }

    /// The line that an address is from, and what of it.
    pub fn line(&self, address: u64) -> Option<(&Line, Phase)> {
        self.row(address).and_then(|row| Some((row.line.as_ref()?, row.phase)))
    }

    /// The functions that an address is in, outermost first.
    pub fn functions(&self, address: u64) -> impl Iterator<Item = &Rc<str>> {
        let within =
            move |function: &&Function| function.ranges.iter().any(|(start, end)| (*start..*end).contains(&address));
        self.functions.iter().filter(within).map(|function| &function.name)
    }

    /// Whether the function at an address begins with a frame of its own, which leads to its caller.
    pub fn has_frame(&self, address: u64) -> bool {
        const X86_64: &[u8] = &[0x55, 0x48, 0x89, 0xe5];
        let behind = self.symbols.partition_point(|symbol| symbol.0 <= address);
        let start = self.symbols[..behind].last().map(|symbol| symbol.0);
        let bytes = start.and_then(|start| self.code.1.get(usize::try_from(start.checked_sub(self.code.0)?).ok()?..));
        cfg!(not(target_arch = "x86_64")) || bytes.is_some_and(|bytes| bytes.starts_with(X86_64))
    }
}

fn read_rows<'d>(dwarf: &gimli::Dwarf<Slice<'d>>, unit: &Unit<Slice<'d>>) -> gimli::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let Some(program) = unit.line_program.clone() else { return Ok(rows) };
    let mut table = program.rows();
    let mut open: Option<Row> = None;
    while let Some((header, row)) = table.next_row()? {
        rows.extend(open.take().map(|open| Row { end: row.address(), ..open }));
        if row.end_sequence() {
            continue;
        }
        let file = row.file(header).zip(row.line());
        let line = match file {
            Some((file, number)) => {
                let file = dwarf.attr_string(unit, file.path_name())?.to_string_lossy().as_ref().into();
                Some(Line { file, number: number.get() })
            }
            None => None,
        };
        let phase = if row.discriminator() == 0 { Phase::Value } else { Phase::Derivative };
        open = Some(Row { start: row.address(), end: 0, line, phase });
    }
    Ok(rows)
}

fn read_functions<'d>(dwarf: &gimli::Dwarf<Slice<'d>>, unit: &Unit<Slice<'d>>) -> gimli::Result<Vec<Function>> {
    let mut functions = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        let mut ranges = Vec::new();
        let mut found = dwarf.die_ranges(unit, entry)?;
        while let Some(range) = found.next()? {
            ranges.push((range.begin, range.end));
        }
        let origin = match entry.attr_value(DW_AT_abstract_origin) {
            Some(AttributeValue::UnitRef(origin)) => unit.entry(origin)?,
            _ => entry.clone(),
        };
        let is_function = matches!(entry.tag(), gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine);
        if let Some(name) = origin.attr_value(DW_AT_name).filter(|_| is_function && !ranges.is_empty()) {
            let name = dwarf.attr_string(unit, name)?.to_string_lossy().as_ref().into();
            functions.push(Function { name, ranges });
        }
    }
    Ok(functions)
}
