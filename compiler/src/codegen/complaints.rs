//! What a program says when there is no memory for what it makes: one message for each place that takes memory.
//!
//! Places in the source → texts that end in zero, one after another. Compiled code puts the address of the right one
//! into the heap where it asks the run time for memory, which is on cold paths; the run time writes it if there is no
//! memory left.

use super::unit::{contents, module_error};
use super::{Error, layout};
use crate::base::{Diagnostic, SourceMap, Span};
use crate::codegen::function::{TRUSTED, Translator};
use crate::ssa::ir::Program;
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_module::{DataId, Linkage, Module, ModuleError};
use cranelift_object::ObjectModule;
use rustc_hash::FxHashMap;

/// The messages, each with a zero behind it, and where the one for each place begins.
#[derive(Default)]
pub struct Messages {
    pub bytes: Vec<u8>,
    pub offsets: FxHashMap<Span, usize>,
}

/// Those for all places in a program that take memory, if it is known what the program was read from.
pub fn messages(program: &Program, sources: Option<&SourceMap>) -> Messages {
    let mut messages = Messages::default();
    let Some(sources) = sources else { return messages };
    let blocks = program.functions.values().flat_map(|function| function.blocks.values());
    let makers = blocks.flat_map(|block| &block.insts).filter(|inst| inst.op.allocates());
    for span in makers.filter_map(|inst| inst.span.map(|source| source.span)) {
        messages.offsets.entry(span).or_insert_with(|| {
            let place = messages.bytes.len();
            let message = "out of memory: too much data";
            let message = Diagnostic::error("V0311", message, span, "no memory is left for what this makes");
            messages.bytes.extend(message.render(sources, false).bytes().filter(|byte| *byte != 0));
            messages.bytes.push(0);
            place
        });
    }
    messages
}

/// The messages in an object file.
#[derive(Default)]
pub struct Complaints {
    texts: Option<DataId>,
    offsets: FxHashMap<Span, usize>,
}

impl Complaints {
    /// Those for all places in a program that take memory, if it is known what the program was read from.
    pub fn new(program: &Program, sources: Option<&SourceMap>, module: &mut ObjectModule) -> Result<Complaints, Error> {
        let Messages { bytes, offsets } = messages(program, sources);
        if bytes.is_empty() {
            return Ok(Complaints::default());
        }
        let bug = |error: ModuleError| module_error("the messages about memory", &error);
        let texts = module.declare_data("complaints", Linkage::Local, false, false).map_err(bug)?;
        module.define_data(texts, &contents(bytes)).map_err(bug)?;
        Ok(Complaints { texts: Some(texts), offsets })
    }

    /// The one for a place: the data that it is in, and where it begins.
    pub fn get(&self, span: Span) -> Option<(DataId, usize)> {
        Some((self.texts?, *self.offsets.get(&span)?))
    }
}

impl Translator<'_, '_, '_> {
    /// Tells the heap what to say if there is no memory for what is being made.
    pub(super) fn prepare_complaint(&mut self) {
        let complaint = match self.span.and_then(|span| self.unit.complaints.get(span)) {
            Some((texts, start)) => {
                let texts = self.data_address(texts);
                self.builder.ins().iadd_imm_s(texts, start as i64)
            }
            None => self.builder.ins().iconst(types::I64, 0),
        };
        let heap = self.home(self.unit.heap);
        self.builder.ins().store(TRUSTED, complaint, heap, layout::HEAP_COMPLAINT);
    }
}
