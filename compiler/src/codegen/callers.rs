//! Who called, for messages of executables: the places of calls → a table that the run time searches when the program
//! fails ([`layout::CALLERS`]).
//!
//! Frame pointers lead from frame to frame (other frames than those with a pointer there are not made), and each frame
//! says where its caller goes on. The table has these addresses with the places of the calls, and the places with the
//! calls that have been inlined around them. Code is the same with and without it.

use crate::base::{Definitions, FileId, SourceMap, Span};
use crate::codegen::layout;
use crate::core::callers::{self, Call};
use crate::ssa::ir::{Op, Phase, Program, Source, Terminator};
use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::SourceLoc;
use cranelift_module::FuncId as Symbol;
use cranelift_object::ObjectProduct;
use object::write::{StandardSection, Symbol as ObjectSymbol, SymbolSection};
use object::{SymbolFlags, SymbolKind, SymbolScope};
use rustc_hash::FxHashMap;

/// The places of a program, by number: those that messages name, which stand in the table, and behind them those that only
/// debuggers are told of.
#[derive(Default)]
pub struct Places {
    /// One source of each.
    pub all: Vec<Source>,
    numbers: FxHashMap<Source, u32>,
    /// The numbers by what messages say: file, begin, phase, and the call around.
    known: FxHashMap<(FileId, u32, Phase, Option<u32>), u32>,
    /// The calls that have been inlined around each.
    around: Vec<Option<u32>>,
    /// What the table has for each that is in it, beginning with 1.
    words: Vec<u32>,
    /// Texts and places, as the table has them.
    bytes: Vec<u8>,
}

/// Marks of what the code generator calls a place, and where its number begins.
const IS_CALL: u32 = 1;
const BY_LIBRARY: u32 = 2;
const NUMBER: u32 = 2;

/// Whether a place is in a file of the program.
fn is_own(span: Span, sources: &SourceMap) -> bool {
    span.number().is_none() && !sources.is_library(span)
}

impl Places {
    /// Those of a program; all that there are if debuggers are told of them.
    pub fn new(program: &Program, sources: &SourceMap, with_all: bool) -> Places {
        let mut places = Places::default();
        let blocks = || program.functions.values().flat_map(|function| function.blocks.values());
        for block in blocks() {
            let calls = block.insts.iter().filter(|inst| matches!(inst.op, Op::Call(_)));
            for source in calls.filter_map(|call| call.span) {
                places.add(source, program, sources);
            }
            if let Terminator::Fail(_, Some(source)) = block.terminator {
                if source.is_in_library {
                    places.add(source, program, sources);
                }
                places.add_around(source, program, sources);
            }
        }
        places.write(program, sources);
        if with_all {
            let insts = blocks().flat_map(|block| &block.insts);
            for source in insts.filter_map(|inst| inst.span) {
                places.add(source, program, sources);
            }
        }
        places
    }

    /// Gives a place its number, if it is the program's. What stands where the call around it does is the same.
    fn add(&mut self, source: Source, program: &Program, sources: &SourceMap) -> Option<u32> {
        if !is_own(source.span, sources) {
            return None;
        }
        if let Some(number) = self.numbers.get(&source) {
            return Some(*number);
        }
        let around = self.add_around(source, program, sources);
        let place = |source: Source| (source.span.file, source.span.start, source.phase);
        let (file, start, phase) = place(source);
        let number = match around {
            Some(around) if place(self.all[around as usize]) == place(source) => around,
            _ => *self.known.entry((file, start, phase, around)).or_insert_with(|| {
                self.all.push(source);
                self.around.push(around);
                self.all.len() as u32 - 1
            }),
        };
        self.numbers.insert(source, number);
        Some(number)
    }

    /// The same for the innermost call by the program that has been inlined around a place.
    fn add_around(&mut self, source: Source, program: &Program, sources: &SourceMap) -> Option<u32> {
        let call = Places::around(source, program).find(|call| is_own(call.span, sources))?;
        self.add(call, program, sources)
    }

    /// The calls that have been inlined around a place.
    fn around(source: Source, program: &Program) -> impl Iterator<Item = Source> {
        let around = |source: Source| source.within.map(|call| program.inlined[call]);
        std::iter::successors(around(source), move |source| around(*source))
    }

    /// Writes texts and places.
    fn write(&mut self, program: &Program, sources: &SourceMap) {
        let definitions = Definitions::new(program.definitions.iter().cloned());
        let call = |source: &Source| callers::call(&definitions, sources, source.span, false);
        let calls: Vec<Call> = self.all.iter().map(call).collect();
        let mut texts: FxHashMap<&str, u32> = FxHashMap::default();
        for text in [""].into_iter().chain(calls.iter().flat_map(|call| [call.function, call.file])) {
            texts.entry(text).or_insert_with(|| {
                let start = self.bytes.len() as u32;
                self.bytes.extend(text.bytes().filter(|byte| *byte != 0).chain([0]));
                start
            });
        }
        for ((call, source), around) in calls.iter().zip(&self.all).zip(&self.around) {
            self.words.push(self.bytes.len() as u32 + 1);
            let around = around.map_or(0, |around| self.words[around as usize]);
            let column = call.column << 1 | u32::from(source.phase == Phase::Derivative);
            for number in [texts[call.function], texts[call.file], call.line, column, around] {
                push(&mut self.bytes, number);
            }
        }
    }

    /// What the code generator calls a place: its number, and whether the library acts there.
    pub fn location(&self, source: Source) -> Option<SourceLoc> {
        let mark = if source.is_in_library { BY_LIBRARY } else { 0 };
        self.numbers.get(&source).map(|number| SourceLoc::new(*number << NUMBER | mark))
    }

    /// The same of a function of the program that is called there.
    pub fn of_call(location: SourceLoc) -> SourceLoc {
        SourceLoc::new(location.bits() | IS_CALL)
    }

    /// The number of a place that the code generator calls so.
    pub fn number(location: SourceLoc) -> usize {
        (location.bits() >> NUMBER) as usize
    }

    /// What the run time is told of a place that fails.
    pub fn failure(&self, source: Source, program: &Program) -> u64 {
        let number = |source: Source| self.numbers.get(&source).copied();
        let word = |number: Option<u32>| u64::from(number.map_or(0, |number| self.words[number as usize]));
        let around = Places::around(source, program).find_map(number);
        match number(source).filter(|_| source.is_in_library) {
            // The message shows the call of the library already, and it is the call around, or a caller's.
            Some(own) if around == Some(own) => word(self.around[own as usize]),
            Some(own) => word(Some(own)) | layout::FAILURE_ITSELF,
            None => word(around),
        }
    }
}

/// Appends a number: seven bits in each byte, the lowest ones first, and a mark on all bytes but the last.
fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A call in the code of a function: where its caller goes on, and its place.
pub type End = (u32, SourceLoc);

/// The calls in the code of a function.
pub fn ends(compiled: &CompiledCode) -> Vec<End> {
    let places = compiled.buffer.get_srclocs_sorted();
    let found = compiled.buffer.call_sites().filter_map(|call| {
        let behind = places.partition_point(|place| place.start < call.ret_addr);
        let place = places[..behind].last().filter(|place| call.ret_addr <= place.end)?;
        if place.loc.bits() & IS_CALL == 0 {
            return None;
        }
        Some((call.ret_addr, place.loc))
    });
    found.collect()
}

/// Appends the table to an object file in which functions have these calls, and one is that to which the table refers.
pub fn write(places: &Places, calls: &[(Symbol, Vec<End>)], origin: Symbol, product: &mut ObjectProduct) {
    let address = |function: Symbol| product.object.symbol(product.function_symbol(function)).value as i64;
    let mut returns: Vec<(i64, u32)> = Vec::new();
    for (function, ends) in calls {
        let start = address(*function) - address(origin);
        returns.extend(ends.iter().filter_map(|(end, location)| {
            let mark = if location.bits() & BY_LIBRARY != 0 { layout::CALL_BY_LIBRARY } else { 0 };
            Some((start + i64::from(*end), *places.words.get(Places::number(*location))? | mark))
        }));
    }
    returns.sort_unstable();
    let words = returns.iter().flat_map(|(end, place)| [*end as u32, *place]);
    let mut bytes: Vec<u8> = [returns.len() as u32].into_iter().chain(words).flat_map(u32::to_le_bytes).collect();
    bytes.extend(&places.bytes);
    let section = product.object.section_id(StandardSection::ReadOnlyData);
    let symbol = product.object.add_symbol(ObjectSymbol {
        name: layout::CALLERS.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Data,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    });
    product.object.add_symbol_data(symbol, section, &bytes, 4);
}
