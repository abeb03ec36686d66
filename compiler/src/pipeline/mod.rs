//! The order of the stages, and what happens when one of them says no.
//!
//! ```text
//! file → expand → core → flow → specialize → ssa → optimize → codegen → link
//!                   │      └── unsupported: the program runs in the reference evaluator
//!                   └── evaluator
//! ```
//!
//! A program that the flow analysis cannot handle is not wrong: it is compiled to an executable
//! that embeds the reference evaluator, with a warning that names the reason. The same happens when one of the stages
//! behind core panics, which is a mistake of the compiler that users should not suffer from.

pub mod passes;

use crate::base::{Diagnostic, SourceMap};
use crate::codegen;
use crate::core::interface::Function;
use crate::core::ir as core;
use crate::expand;
use crate::flow;
use crate::foreign;
use crate::opt::scalar::unused::clean;
use crate::opt::tape::checkpointing;
use crate::pipeline::passes as opt;
use crate::projects::Access;
use crate::specialize::{self, Sharing};
use crate::ssa::ir as ssa;
use crate::success;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A program is large when it has more than one in so many of the instructions that it may have.
const LARGE: usize = 4;

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Folders in which includes are looked up, after the folder of the including file.
    pub include: Vec<PathBuf>,
    /// The language of the sources.
    pub dialect: expand::Dialect,
    /// What may be done about dependencies that are not there.
    pub access: Access,
    /// Compare the derivatives that the program takes and gives with differences.
    pub check_derivatives: bool,
    /// Keep functions as they are written, so that they can be shown.
    pub as_written: bool,
    /// Make a library of what the program exports.
    pub library: bool,
    /// Make a program that measures a call, instead of the program itself.
    pub measure: Option<expand::program::measure::Measure>,
    /// The machine that the code is for.
    pub machine: codegen::Machine,
    /// Use every instruction of this machine.
    pub native_cpu: bool,
    /// Tell debuggers and profilers what the code is made of.
    pub debug: bool,
    /// Let the program write down where it spends its time.
    pub profile: bool,
    /// The C compiler that makes machine code; without one, Cranelift does.
    pub c_compiler: Option<codegen::c::compiler::Compiler>,
    /// Make sums and products of loops in any order.
    pub fast_math: bool,
    /// Stop at the first operation that gives something worse than a finite number.
    pub trap_nan: bool,
    /// How many bytes the tape of a loop may take before its rounds are run again; what the run time says, if it is not
    /// set.
    pub tape_memory: Option<i64>,
    /// How far the analysis goes.
    pub limits: flow::Options,
}

/// Why a program is not native code.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The program is wrong.
    Mistake(Vec<Diagnostic>),
    /// The program needs the reference evaluator; the warning says why.
    Unsupported(Box<Diagnostic>),
}

/// A compilation: the sources that were read, and how long each stage took.
#[derive(Debug, Default)]
pub struct Pipeline {
    /// How to compile.
    pub settings: Settings,
    /// All files that were read.
    pub sources: SourceMap,
    /// The stages that have run.
    pub timings: Vec<(&'static str, Duration)>,
    /// The passes of the optimiser that have run.
    pub pass_timings: Vec<(&'static str, Duration)>,
    /// The functions of a library, once they have been analysed.
    pub interface: Vec<Function>,
    /// The limits for the program at hand.
    limits: flow::Options,
}

impl Pipeline {
    /// A compilation that has not read anything yet.
    pub fn new(settings: Settings) -> Pipeline {
        Pipeline { limits: settings.limits.clone(), settings, ..Pipeline::default() }
    }

    /// Runs a stage and notes how long it took.
    fn timed<T>(&mut self, name: &'static str, stage: impl FnOnce(&mut Pipeline) -> T) -> T {
        let start = Instant::now();
        let result = stage(self);
        self.timings.push((name, start.elapsed()));
        result
    }

    /// Reads a program and everything that it includes.
    ///
    /// # Errors
    ///
    /// All mistakes of the front end.
    pub fn expand(&mut self, file: &Path) -> Result<core::Program, Vec<Diagnostic>> {
        let options = self.expand_options();
        let program = self.timed("expand", |p| expand::expand_file(file, &options, &mut p.sources))?;
        self.limits = self.settings.limits.for_length(program.vars.len());
        Ok(program)
    }

    /// Reads a program, and a text that stands behind it, of that name.
    ///
    /// # Errors
    ///
    /// All mistakes of the front end.
    pub fn expand_with(&mut self, file: &Path, text: (&str, &str)) -> Result<core::Program, Vec<Diagnostic>> {
        let options = self.expand_options();
        let program = self.timed("expand", |p| expand::expand_with(file, text, &options, &mut p.sources))?;
        self.limits = self.settings.limits.for_length(program.vars.len());
        Ok(program)
    }

    /// Reads a program that consists of several texts with names.
    ///
    /// # Errors
    ///
    /// All mistakes of the front end.
    pub fn expand_parts(&mut self, parts: &[(String, String)]) -> Result<core::Program, Vec<Diagnostic>> {
        let options = self.expand_options();
        let program = self.timed("expand", |p| expand::expand_parts(parts, &options, &mut p.sources))?;
        self.limits = self.settings.limits.for_length(program.vars.len());
        Ok(program)
    }

    /// The derivatives that a program takes at top level.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn derivatives_taken(&mut self, file: &Path) -> Result<Vec<expand::program::measure::Taken>, Vec<Diagnostic>> {
        expand::derivatives_taken(file, &self.expand_options(), &mut self.sources)
    }

    fn expand_options(&self) -> expand::Options {
        let Settings { include, check_derivatives, measure, as_written, library, dialect, access, .. } = &self.settings;
        expand::Options {
            include_dirs: include.clone(),
            check_derivatives: *check_derivatives,
            as_written: *as_written,
            library: *library,
            measure: *measure,
            dialect: *dialect,
            access: *access,
        }
    }

    /// What fails in functions of the program, whatever they are called with.
    pub fn never_succeeding(&mut self, program: &core::Program) -> Vec<Diagnostic> {
        self.timed("success", |p| success::mistakes(program, &p.sources))
    }

    /// Finds out which functions the program calls at which shapes.
    ///
    /// # Errors
    ///
    /// When that is not decided before the program runs.
    pub fn analyze(&mut self, program: &mut core::Program) -> Result<flow::Analysis, Refusal> {
        self.analyze_at(program, flow::Precision::Full)
    }

    fn analyze_at(&mut self, program: &mut core::Program, first: flow::Precision) -> Result<flow::Analysis, Refusal> {
        let result = self.timed("flow", |p| flow::analyze(program, &p.sources, &p.limits, first));
        result.map_err(|unsupported| Refusal::Unsupported(unsupported.diagnostic))
    }

    /// Translates an analysed program to first-order code.
    ///
    /// # Errors
    ///
    /// When the program certainly fails.
    pub fn specialize(
        &mut self,
        program: &core::Program,
        flow: &mut flow::Analysis,
        sharing: Sharing,
    ) -> Result<ssa::Program, Refusal> {
        self.specialize_to(program, flow, self.limits.max_instructions, sharing)
    }

    fn specialize_to(
        &mut self,
        program: &core::Program,
        flow: &mut flow::Analysis,
        most: usize,
        sharing: Sharing,
    ) -> Result<ssa::Program, Refusal> {
        let limits = flow::Options { max_instructions: most, ..self.limits.clone() };
        let result = self.timed("specialize", |p| {
            specialize::lower(program, flow, &p.sources, &limits, sharing, clean, p.settings.trap_nan)
        });
        result.map_err(|refusal| match refusal {
            specialize::Refusal::CertainFailure(mistake) => Refusal::Mistake(vec![*mistake]),
            specialize::Refusal::TooLarge(diagnostic) => Refusal::Unsupported(diagnostic),
        })
    }

    /// Optimises first-order code and places reference counts. The result holds what `settings` asks to see.
    pub fn optimize(&mut self, program: &mut ssa::Program, settings: &opt::Settings) -> opt::Report {
        let report = self.timed("optimize", |_| opt::optimize(program, settings));
        self.pass_timings.clone_from(&report.times);
        report
    }

    /// Everything from core to first-order code. A program that becomes large is made again with operations that its
    /// functions share, and then with fewer copies of its functions: most of what large programs consist of are copies
    /// that differ in little.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::analyze`] and [`Pipeline::specialize`].
    pub fn first_order(&mut self, program: &core::Program) -> Result<ssa::Program, Refusal> {
        use Sharing::{Apart, Shared};
        use flow::Precision::{Coarse, FewVariants, Full};
        let most = self.limits.max_instructions;
        let analyzed = |this: &mut Self, precision| {
            let mut program = program.clone();
            let flow = this.analyze_at(&mut program, precision)?;
            Ok((program, flow))
        };
        // No attempt after the first has more to analyse than that.
        let mut full = analyzed(self, Full)?;
        let apart = self.form(&mut full, most / LARGE, Apart);
        if !matches!(apart, Err(Refusal::Unsupported(_))) {
            return apart;
        }
        let shared = self.form(&mut full, most, Shared);
        if !matches!(shared, Err(Refusal::Unsupported(_))) {
            return shared;
        }
        for precision in [FewVariants, Coarse] {
            match analyzed(self, precision).and_then(|mut coarse| self.form(&mut coarse, most, Shared)) {
                Err(Refusal::Unsupported(_)) => {}
                result => return result,
            }
        }
        shared
    }

    /// First-order code of an analysed program, and what a library offers to its callers.
    fn form(
        &mut self,
        (program, flow): &mut (core::Program, flow::Analysis),
        most: usize,
        sharing: Sharing,
    ) -> Result<ssa::Program, Refusal> {
        let code = self.specialize_to(program, flow, most, sharing)?;
        if program.library.is_some() {
            let interface = foreign::interface(program, flow, &self.sources);
            self.interface = interface.map_err(Refusal::Mistake)?;
        }
        Ok(code)
    }

    /// Everything from core to optimised first-order code.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::analyze`] and [`Pipeline::specialize`].
    pub fn native(&mut self, program: &core::Program) -> Result<ssa::Program, Refusal> {
        let mut code = self.first_order(program)?;
        let Settings { fast_math, trap_nan, .. } = self.settings;
        // Where numbers cease to be finite depends on the order of sums.
        let fast_math = fast_math && !trap_nan;
        // A library must not copy its caller's process.
        let disabled = if self.settings.library { vec![opt::PROCESSES.to_string()] } else { Vec::new() };
        self.optimize(&mut code, &opt::Settings { fast_math, disabled, ..opt::Settings::default() });
        if let Some(bytes) = self.settings.tape_memory {
            checkpointing::limit(&mut code, bytes);
        }
        Ok(code)
    }

    /// Object code.
    ///
    /// # Errors
    ///
    /// When the machine is unknown, or a size exceeds what boxes can express.
    pub fn object(&mut self, program: &ssa::Program) -> Result<codegen::Object, codegen::Error> {
        self.timed("codegen", |p| codegen::object(program, &p.codegen_options()))
    }

    /// What the back end makes that the settings ask for.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::object`].
    pub fn code(&mut self, program: &ssa::Program) -> Result<codegen::Code, codegen::Error> {
        match self.settings.c_compiler.clone() {
            None => self.object(program).map(codegen::Code::Object),
            Some(compiler) => {
                let source = self.timed("codegen", |p| {
                    codegen::c::source(program, &p.codegen_options(), codegen::c::Form::Linked)
                })?;
                Ok(codegen::Code::C(source, compiler))
            }
        }
    }

    /// Object code of a library, whose names begin with that one.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::object`].
    pub fn library_object(&mut self, program: &ssa::Program, name: &str) -> Result<codegen::Object, codegen::Error> {
        let library = codegen::Library { name: name.to_string(), functions: self.interface.clone() };
        self.timed("codegen", |p| codegen::library(program, &library, &p.codegen_options()))
    }

    /// An executable.
    ///
    /// # Errors
    ///
    /// When there is no linker or the output cannot be written.
    pub fn link(&mut self, object: &codegen::Object, output: &Path) -> Result<(), codegen::Error> {
        self.timed("link", |_| codegen::link::executable(object, output))
    }

    /// An executable of what a back end has made.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::link`], and when the C compiler fails.
    pub fn finish(&mut self, code: &codegen::Code, output: &Path) -> Result<(), codegen::Error> {
        match code {
            codegen::Code::Object(object) => self.link(object, output),
            codegen::Code::C(source, compiler) => self.timed("cc", |_| compiler.executable(source, output)),
        }
    }

    /// A library, of that name, with the texts beside it.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::link`].
    pub fn link_library(
        &mut self,
        object: &codegen::Object,
        name: &str,
        kind: codegen::link::LibraryKind,
        output: &Path,
        beside: &[(PathBuf, String)],
    ) -> Result<(), codegen::Error> {
        let names: Vec<String> =
            self.interface.iter().map(|function| format!("{name}_{}", function.symbol())).collect();
        self.timed("link", |_| codegen::link::library(object, name, &names, kind, output, beside))
    }

    /// What the code generator has to know.
    pub fn codegen_options(&self) -> codegen::Options<'_> {
        let Settings { machine, native_cpu, debug, profile, .. } = self.settings;
        codegen::Options { machine, native_cpu, debug, profile, library: false, sources: Some(&self.sources) }
    }
}
