//! What the loader reads: the names that the result imports and exports, a hash table of the latter, and the list of
//! what it is to do.

use crate::codegen::elf::layout::{Layout, Name};
use crate::codegen::elf::live::{Live, Target};
use crate::codegen::elf::{Output, Processor, relocate};
use object::elf;

/// The mathematical functions that code may call, which have a library of their own.
const MATHEMATICS: &[&str] = &[
    "ceil",
    "fabs",
    "feclearexcept",
    "fegetexceptflag",
    "fegetround",
    "feholdexcept",
    "feraiseexcept",
    "fesetexceptflag",
    "fesetround",
    "fetestexcept",
    "feupdateenv",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "ldexp",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "signgam",
    "sqrt",
    "trunc",
];

/// The names of the result, and the libraries that it needs.
pub struct Linkage {
    /// The loader, with a zero byte behind its name; nothing in a library.
    pub loader: Vec<u8>,
    /// Whether it is an executable.
    pub is_executable: bool,
    /// The table of names, with zero bytes between them.
    pub names: Vec<u8>,
    /// Where in it the libraries are that the result needs, and the name of the result.
    libraries: Vec<u32>,
    own_name: Option<u32>,
    /// Where the imported names are.
    imports: Vec<u32>,
    /// The exported names, in the order of the hash table: their hash, where they are, and what they stand for.
    exports: Vec<(u32, u32, Target)>,
    /// The function that the result begins with.
    pub entry: Option<Target>,
}

impl Linkage {
    /// Of what is needed.
    pub fn new(live: &Live, output: Output) -> Linkage {
        let mut linkage = Linkage {
            loader: Vec::new(),
            is_executable: false,
            names: vec![0],
            libraries: Vec::new(),
            own_name: None,
            imports: Vec::new(),
            exports: Vec::new(),
            entry: None,
        };
        let needs_mathematics = live.imports.iter().any(|name| MATHEMATICS.contains(name));
        for library in needs_mathematics.then_some("libm.so.6").into_iter().chain(["libc.so.6"]) {
            let at = linkage.name(library);
            linkage.libraries.push(at);
        }
        for import in &live.imports {
            let at = linkage.name(import);
            linkage.imports.push(at);
        }
        match output {
            Output::Executable { loader } => {
                linkage.loader = [loader.as_bytes(), &[0]].concat();
                linkage.is_executable = true;
                linkage.entry = live.roots.first().copied();
            }
            Output::Shared { name, exports } => {
                linkage.own_name = Some(linkage.name(name));
                for ((_, name), target) in exports.iter().zip(&live.roots) {
                    let at = linkage.name(name);
                    linkage.exports.push((hash(name), at, *target));
                }
                let buckets = linkage.buckets();
                linkage.exports.sort_by_key(|(hash, at, _)| (hash % buckets, *at));
            }
        }
        linkage
    }

    fn name(&mut self, name: &str) -> u32 {
        let at = self.names.len() as u32;
        self.names.extend(name.as_bytes());
        self.names.push(0);
        at
    }

    fn buckets(&self) -> u32 {
        (self.exports.len() as u32 / 2).max(1)
    }

    /// The number of symbols, with the empty one in front of them.
    pub fn symbol_count(&self) -> u64 {
        1 + (self.imports.len() + self.exports.len()) as u64
    }

    /// The length of the hash table.
    pub fn hash_size(&self) -> u64 {
        16 + 8 + 4 * u64::from(self.buckets()) + 4 * self.exports.len() as u64
    }

    /// The length of the list of what the loader is to do.
    pub fn list_size(&self) -> u64 {
        (self.libraries.len() as u64 + 12) * 16
    }

    /// The hash table, in GNU's format, with one word that says which hashes there are none of.
    pub fn hash_table(&self) -> Vec<u8> {
        const SHIFT: u32 = 6;
        let buckets = self.buckets();
        let first = 1 + self.imports.len() as u32;
        let filter = self
            .exports
            .iter()
            .fold(0_u64, |filter, (hash, ..)| filter | 1 << (hash % 64) | 1 << ((hash >> SHIFT) % 64));
        let mut words = vec![buckets, first, 1, SHIFT, filter as u32, (filter >> 32) as u32];
        for bucket in 0..buckets {
            let found = self.exports.iter().position(|(hash, ..)| hash % buckets == bucket);
            words.push(found.map_or(0, |position| first + position as u32));
        }
        for (position, (hash, ..)) in self.exports.iter().enumerate() {
            let next = self.exports.get(position + 1);
            let is_last = next.is_none_or(|(next, ..)| next % buckets != hash % buckets);
            words.push(hash & !1 | u32::from(is_last));
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// The symbols.
    pub fn symbols(&self, layout: &Layout) -> Vec<u8> {
        let mut bytes = vec![0; 24];
        let global = elf::STB_GLOBAL << 4;
        for name in &self.imports {
            bytes.extend(symbol(*name, global | elf::STT_NOTYPE, 0, 0, 0));
        }
        for (_, name, target) in &self.exports {
            bytes.extend(symbol(*name, global | elf::STT_FUNC, Name::Code as u16, layout.address(*target), 0));
        }
        bytes
    }

    /// The list of what the loader is to do.
    pub fn list(&self, layout: &Layout, own_addresses: u64) -> Vec<u8> {
        let section = |name: Name| &layout.sections[name as usize];
        let mut rows: Vec<(i64, u64)> = self.libraries.iter().map(|at| (elf::DT_NEEDED, u64::from(*at))).collect();
        rows.extend(self.own_name.map(|at| (elf::DT_SONAME, u64::from(at))));
        rows.extend([
            (elf::DT_GNU_HASH, section(Name::Hash).address),
            (elf::DT_STRTAB, section(Name::Names).address),
            (elf::DT_SYMTAB, section(Name::Symbols).address),
            (elf::DT_STRSZ, section(Name::Names).size),
            (elf::DT_SYMENT, 24),
            (elf::DT_RELA, section(Name::Relocations).address),
            (elf::DT_RELASZ, section(Name::Relocations).size),
            (elf::DT_RELAENT, 24),
            (elf::DT_RELACOUNT, own_addresses),
        ]);
        let flags = if self.is_executable { elf::DF_1_NOW | elf::DF_1_PIE } else { elf::DF_1_NOW };
        rows.push((elf::DT_FLAGS_1, u64::from(flags)));
        if self.is_executable {
            // Where debuggers find the loader's list of libraries.
            rows.push((elf::DT_DEBUG, 0));
        }
        rows.push((elf::DT_NULL, 0));
        rows.into_iter().flat_map(|(tag, value)| [tag as u64, value]).flat_map(u64::to_le_bytes).collect()
    }
}

/// One row of a table of symbols.
pub fn symbol(name: u32, info: u8, section: u16, address: u64, size: u64) -> Vec<u8> {
    let mut row = name.to_le_bytes().to_vec();
    row.extend([info, 0]);
    row.extend(section.to_le_bytes());
    row.extend(address.to_le_bytes());
    row.extend(size.to_le_bytes());
    row
}

/// The hash of a name in GNU's hash tables: that of Bernstein.
fn hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)))
}

/// What the loader fills in, those addresses first that are within the result, and how many these are.
pub fn relocations(processor: Processor, live: &Live, layout: &Layout) -> (Vec<u8>, u64) {
    let mut rows = Vec::new();
    let mut add = |place: u64, target: Target, addend: i64| match target {
        Target::Place(..) => rows.push((0, place, layout.address(target).wrapping_add_signed(addend))),
        Target::Import(number) => rows.push((1 + number as u64, place, addend as u64)),
        Target::Nothing => {}
    };
    for (number, target) in live.slots.iter().enumerate() {
        add(layout.slot(number), *target, 0);
    }
    for (number, part) in live.parts.iter().enumerate() {
        for relocation in part.relocations.iter().filter(|relocation| relocate::is_address(processor, relocation)) {
            add(layout.parts[number] + relocation.offset, relocation.target, relocation.addend);
        }
    }
    rows.sort_unstable_by_key(|(symbol, place, _)| (*symbol, *place));
    let own = rows.iter().filter(|(symbol, ..)| *symbol == 0).count() as u64;
    let (relative, other) = relocate::loader_kinds(processor);
    let words = rows.into_iter().flat_map(|(symbol, place, value)| {
        let kind = u64::from(if symbol == 0 { relative } else { other });
        [place, symbol << 32 | kind, value]
    });
    (words.flat_map(u64::to_le_bytes).collect(), own)
}
