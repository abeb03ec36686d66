//! Object files and archives → files, and who defines each name.
//!
//! A member of an archive is taken if it defines a name that is asked for and that nothing else defines, as the
//! system's linkers do.

use crate::codegen::elf::{Inputs, Processor};
use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{Architecture, LittleEndian, Object, ObjectSymbol, SymbolIndex};
use rustc_hash::FxHashMap;

/// An object file.
pub type File<'d> = ElfFile64<'d, LittleEndian>;

/// A symbol: the number of its file, and its index there.
pub type Symbol = (usize, SymbolIndex);

/// The object files that are linked.
pub struct Files<'d> {
    /// In the order in which they were taken.
    pub files: Vec<File<'d>>,
    definitions: FxHashMap<&'d str, Definition>,
    /// Names that are asked for; some of them may be defined by now.
    wanted: Vec<&'d str>,
}

struct Definition {
    symbol: Symbol,
    is_weak: bool,
}

impl<'d> Files<'d> {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// When they are not object files for the processor, or define something in a way that this linker does not know.
    pub fn read(processor: Processor, inputs: Inputs<'d>) -> Result<Files<'d>, String> {
        let mut files = Files { files: Vec::new(), definitions: FxHashMap::default(), wanted: Vec::new() };
        for bytes in inputs.objects {
            files.add(processor, bytes)?;
        }
        let mut members = FxHashMap::default();
        for bytes in inputs.archives {
            let archive = ArchiveFile::parse(*bytes).map_err(text)?;
            for symbol in archive.symbols().map_err(text)?.into_iter().flatten() {
                let symbol = symbol.map_err(text)?;
                members.entry(symbol.name()).or_insert((*bytes, symbol.offset()));
            }
        }
        while let Some(name) = files.wanted.pop() {
            if files.definitions.contains_key(name) {
                continue;
            }
            if let Some((bytes, offset)) = members.get(name.as_bytes()) {
                let archive = ArchiveFile::parse(*bytes).map_err(text)?;
                let member = archive.member(*offset).map_err(text)?;
                files.add(processor, member.data(*bytes).map_err(text)?)?;
            }
        }
        Ok(files)
    }

    fn add(&mut self, processor: Processor, bytes: &'d [u8]) -> Result<(), String> {
        let file = File::parse(bytes).map_err(text)?;
        let architecture = match processor {
            Processor::X86_64 => Architecture::X86_64,
            Processor::Aarch64 => Architecture::Aarch64,
        };
        if file.architecture() != architecture {
            return Err(format!("an object file for {:?} instead of {architecture:?}", file.architecture()));
        }
        let number = self.files.len();
        for symbol in file.symbols().filter(ObjectSymbol::is_global) {
            let name = symbol.name().map_err(text)?;
            if symbol.is_common() {
                return Err(format!("`{name}` is a common symbol"));
            }
            if symbol.is_undefined() {
                if !symbol.is_weak() {
                    self.wanted.push(name);
                }
                continue;
            }
            let definition = Definition { symbol: (number, symbol.index()), is_weak: symbol.is_weak() };
            let known = self.definitions.get(name);
            if known.is_none_or(|known| known.is_weak && !definition.is_weak) {
                self.definitions.insert(name, definition);
            }
        }
        self.files.push(file);
        Ok(())
    }

    /// Who defines a name.
    pub fn definition(&self, name: &str) -> Option<Symbol> {
        self.definitions.get(name).map(|definition| definition.symbol)
    }
}

/// An error of the reader, as a text.
pub fn text(error: object::Error) -> String {
    error.to_string()
}
