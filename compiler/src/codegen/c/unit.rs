//! The file: what it includes, the prelude, types, data, declarations, functions; and what the run time calls.

use crate::base::{EntityVec, SourceMap};
use crate::codegen::boxes::{self, SumLayout};
use crate::codegen::c::whole::{self, Whole};
use crate::codegen::c::{Form, Source, function, literal, tail};
use crate::codegen::complaints::{Messages, messages};
use crate::codegen::constants::Boxes;
use crate::codegen::decisions::ranks;
use crate::codegen::{Error, Options, layout, processor};
use crate::ssa::ir::{FuncId, Op, Program, SumId, TextId, Type};
use crate::ssa::kinds::without_callers;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Operations that take more than an expression, in C.
const PRELUDE: &str = include_str!("prelude.c");

/// How to call what a program may need of the run time besides the heap. Elementary functions and kernels are declared
/// by their names.
const DECLARATIONS: &[(&str, &str)] = &[
    ("vlad_ask", "double vlad_ask(double what, double x)"),
    ("vlad_exchange", "uint64_t vlad_exchange(uint64_t is_pointer, uint64_t value)"),
    ("vlad_begin_file", "void vlad_begin_file(const char *name, size_t length, const char *message, size_t rest)"),
    ("vlad_begin_text", "void vlad_begin_text(void)"),
    ("vlad_end_file", "void vlad_end_file(double whole, const char *message, size_t length)"),
    ("vlad_end_text", "uint64_t vlad_end_text(const char *texts, const uint64_t *offsets, size_t count)"),
    ("vlad_fail", "_Noreturn void vlad_fail(const char *message, size_t length)"),
    ("vlad_forget", "void vlad_forget(uint64_t table, word *heap)"),
    ("vlad_join", "void vlad_join(void)"),
    (
        "vlad_prepare_arguments",
        "void vlad_prepare_arguments(uint64_t identity, const char *declaration, size_t length)",
    ),
    ("vlad_prepare_options", "void vlad_prepare_options(uint64_t identity)"),
    ("vlad_read", "double vlad_read(uint64_t item, const char *message, size_t length)"),
    ("vlad_recall", "void vlad_recall(uint64_t *question, word *heap)"),
    ("vlad_remember", "void vlad_remember(uint64_t *question, word *heap)"),
    ("vlad_sin_cos", "lanes vlad_sin_cos(double x)"),
    ("vlad_write_byte", "void vlad_write_byte(double x)"),
    ("vlad_write_double", "void vlad_write_double(double x)"),
    ("vlad_write_quoted", "void vlad_write_quoted(uint64_t stream, const char *text, size_t length)"),
    ("vlad_write_real", "void vlad_write_real(uint64_t stream, double x)"),
    ("vlad_write_text", "void vlad_write_text(uint64_t stream, const char *text, size_t length)"),
];

/// What the names of kernels begin with.
const KERNEL: &str = "vlad_kernel_";

/// The file in the making.
pub struct Unit<'p> {
    /// The program.
    pub program: &'p Program,
    /// What the program was read from, for the places in comments.
    pub sources: Option<&'p SourceMap>,
    /// The layout of boxes.
    pub sums: EntityVec<SumId, SumLayout>,
    /// See [`tail`].
    pub group_of: EntityVec<FuncId, usize>,
    /// What to say where memory is exhausted.
    pub messages: Messages,
    /// See [`crate::codegen::constants`].
    pub constant_boxes: Boxes,
    /// What the program needs of the run time.
    pub externals: BTreeSet<&'static str>,
    /// Whether the program looks at texts by their numbers.
    pub looks_up_texts: bool,
    /// Whether the program reads arrays.
    pub reads_arrays: bool,
    text_offsets: Vec<usize>,
}

/// The program in C.
pub fn program(program: &Program, options: &Options, form: Form) -> Result<Source, Error> {
    crate::codegen::unit::demand_sizes(program)?;
    let (group_of, groups) = tail::groups(program);
    let mut text_offsets = vec![0];
    for text in program.texts.values() {
        text_offsets.push(text_offsets[text_offsets.len() - 1] + without_callers(text).0.len());
    }
    let mut unit = Unit {
        program,
        sources: options.sources,
        sums: boxes::layouts(program)?,
        group_of,
        messages: messages(program, options.sources),
        constant_boxes: Boxes::default(),
        externals: BTreeSet::new(),
        looks_up_texts: false,
        reads_arrays: false,
        text_offsets,
    };
    let mut functions = String::new();
    for group in &groups {
        function::group(&mut unit, group, &mut functions)?;
    }
    let entry = unit.entry(form);
    let has = |unit: &Unit, which: &dyn Fn(&str) -> bool| unit.externals.iter().any(|name| which(name));
    let (has_math, has_kernels) =
        (has(&unit, &|name| math_operands(name).is_some()), has(&unit, &|name| name.starts_with(KERNEL)));
    let mut text = String::new();
    let whole = match form {
        Form::Linked => None,
        Form::Whole(name) => {
            let whole = whole::parts(&unit.externals, unit.reads_arrays);
            whole_head(&mut text, name, &whole);
            Some(whole)
        }
    };
    unit.head(&mut text, whole.is_some());
    text.push_str(PRELUDE);
    unit.declare_externals(&mut text, whole.as_ref());
    if let Some(whole) = &whole {
        text.push_str(&whole.runtime);
    }
    unit.data(&mut text);
    unit.declare_functions(&mut text);
    text.push_str(&functions);
    text.push_str(&entry);
    if let Some(whole) = &whole {
        text.push_str(whole.start);
    }
    Ok(Source { text, has_math, has_kernels })
}

/// The beginning of a file that stands alone: how it is compiled, and what it includes.
fn whole_head(text: &mut String, name: &str, whole: &Whole) {
    let name = literal::comment(name);
    let _ = write!(
        text,
        "// {name}, as vlad {} has compiled it. To be compiled so, on a system like Unix with 64 bits:\n//\n\
         //     cc -O2 -std=c11 -ffp-contract=off -fno-strict-aliasing out.c -lm\n//\n\
         // It prints the same digits as the program itself, as long as no option lets the C compiler contract, reorder\n\
         // or approximate operations. VLAD_MAX_MEMORY limits its memory.\n",
        env!("CARGO_PKG_VERSION")
    );
    if !whole.missing.is_empty() {
        let missing: Vec<&str> = whole.missing.iter().copied().collect();
        let _ = write!(
            text,
            "//\n// It does not stand alone: there is no C for {}.\n// `vlad build --back-end c` links the program with these.\n",
            missing.join(", ")
        );
    }
    text.push('\n');
    text.push_str(&whole.head);
}

/// How many operands an elementary function has.
fn math_operands(name: &str) -> Option<usize> {
    match name {
        "vlad_atan2" | "vlad_pow" => Some(2),
        "vlad_sin_cos" | "floor" | "ceil" | "rint" | "trunc" | "sqrt" => Some(1),
        _ if name.starts_with(KERNEL) || DECLARATIONS.iter().any(|row| row.0 == name) => None,
        _ => Some(1),
    }
}

impl Unit<'_> {
    /// Notes that the program needs that function of the run time.
    pub fn needs(&mut self, name: &'static str) -> &'static str {
        self.externals.insert(name);
        name
    }

    /// A text as two arguments, its address and its length, and how it begins.
    pub fn text(&self, text: TextId) -> String {
        use crate::base::entity::Entity;
        let (start, end) = (self.text_offsets[text.index()], self.text_offsets[text.index() + 1]);
        let beginning = literal::beginning(&self.program.texts[text]);
        format!("texts + {start}, {} /* {beginning} */", end - start)
    }

    /// The number of texts that the program has.
    fn text_count(&self) -> usize {
        self.text_offsets.len() - 1
    }

    fn head(&self, out: &mut String, is_whole: bool) {
        if is_whole {
            out.push_str("\n#define RUNTIME static\n#define HEAP static\n\n");
        } else {
            out.push_str(
                "// Written by vlad. To be compiled with -std=c11 -ffp-contract=off -fno-strict-aliasing, and no option\n\
                 // that changes numbers.\n\n",
            );
            for header in ["math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"] {
                let _ = writeln!(out, "#include <{header}>");
            }
            out.push_str("\n#define RUNTIME extern __attribute__((visibility(\"hidden\")))\n#define HEAP RUNTIME\n\n");
        }
        let classes = (0..layout::CLASSES).take_while(|class| layout::is_in_page(*class)).count();
        let numbers = [
            ("IMMEDIATES", layout::IMMEDIATES as usize),
            ("COUNT_OFFSET", layout::COUNT_OFFSET as usize),
            ("TAG_OFFSET", layout::TAG_OFFSET as usize),
            ("ELEMENTS_OFFSET", layout::ELEMENTS_OFFSET as usize),
            ("BASE_OFFSET", layout::BASE_OFFSET as usize),
            ("VECTOR_HEADER_WORDS", layout::VECTOR_HEADER_WORDS),
            ("ROWS_ROOM", layout::ROWS_ROOM as usize),
            ("ROWS_FIRST", layout::ROWS_FIRST),
            ("PAGE", layout::PAGE),
            ("PAGE_FREE_OFFSET", layout::PAGE_FREE_OFFSET as usize),
            ("EXACT", layout::EXACT),
            ("SMALLEST", layout::class_of(0)),
            ("CLASSES_IN_PAGES", classes),
            ("VIEW_WORDS", layout::class_of(layout::VIEW_WORDS)),
            ("HEAP_WORDS", layout::HEAP_BYTES / layout::WORD),
            ("HEAP_TAKEN", layout::HEAP_TAKEN as usize / layout::WORD),
            ("HEAP_TAPE_MEMORY", layout::HEAP_TAPE_MEMORY as usize / layout::WORD),
            ("HEAP_COMPLAINT", layout::HEAP_COMPLAINT as usize / layout::WORD),
            ("HEAP_REMEMBERED", layout::HEAP_REMEMBERED as usize / layout::WORD),
        ];
        for (name, number) in numbers {
            let _ = writeln!(out, "#define {name} {number}");
        }
        for (name, number) in [
            ("VIEW", layout::VIEW as u64),
            ("SHARED", u64::from(layout::SHARED)),
            ("PLAIN_HEADER", layout::header(0, 0, 0)),
        ] {
            let _ = writeln!(out, "#define {name} UINT64_C({number})");
        }
        out.push('\n');
    }

    fn declare_externals(&self, out: &mut String, whole: Option<&Whole>) {
        out.push_str("\n// What the program needs of the run time besides.\n\n");
        let is_there = |name: &str| whole.is_some_and(|whole| !whole.missing.contains(name));
        for name in &self.externals {
            if matches!(*name, "floor" | "ceil" | "rint" | "trunc" | "sqrt") || is_there(name) {
                continue;
            }
            if whole.is_some() {
                out.push_str("extern ");
            } else {
                out.push_str("RUNTIME ");
            }
            let declared = DECLARATIONS.iter().find(|row| row.0 == *name);
            let _ = match (declared, math_operands(name)) {
                (Some((_, declaration)), _) => writeln!(out, "{declaration};"),
                _ if name.ends_with("_pair") => writeln!(out, "lanes {name}(lanes x);"),
                _ if name.ends_with("_all") => writeln!(out, "void {name}(double *x, size_t count);"),
                (None, Some(2)) => writeln!(out, "double {name}(double x, double y);"),
                (None, Some(_)) => writeln!(out, "double {name}(double x);"),
                (None, None) => writeln!(out, "uint64_t {name}(uint64_t *request);"),
            };
        }
    }

    /// Texts, cells of globals, constant boxes.
    fn data(&mut self, out: &mut String) {
        let all: Vec<u8> = self.program.texts.values().flat_map(|text| without_callers(text).0.bytes()).collect();
        let _ = write!(out, "\n// All texts of the program, one behind another.\nstatic const char texts[] =");
        let _ = writeln!(out, "{};", literal::text(&all));
        if self.looks_up_texts {
            self.text_table(out);
        }
        if !self.messages.bytes.is_empty() {
            out.push_str("\n// What to say where there is no memory for what is made, each with a zero behind it.\n");
            let _ = writeln!(out, "static const char complaints[] ={};", literal::text(&self.messages.bytes));
        }
        if !self.program.slots.is_empty() {
            out.push_str("\n// Values of the top level.\n");
        }
        for (slot, ty) in self.program.slots.iter() {
            let _ = writeln!(out, "static {} {slot};", literal::type_name(*ty));
        }
        let (bytes, addresses) = std::mem::take(&mut self.constant_boxes).into_image();
        if bytes.is_empty() {
            return;
        }
        let words = bytes.len() / layout::WORD;
        let _ = writeln!(
            out,
            "\n// Boxes that are constants. Each has so many owners that it never dies.\nstatic word boxes[{words}] = {{"
        );
        let mut addresses = addresses.into_iter().peekable();
        for (index, word) in bytes.chunks_exact(layout::WORD).enumerate() {
            match addresses.next_if(|(at, _)| *at == index * layout::WORD) {
                Some((_, to)) => {
                    let _ = writeln!(out, "    (uintptr_t)(boxes + {}),", to / layout::WORD);
                }
                None => {
                    let word = word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                    let _ = writeln!(out, "    {},", literal::bits(word));
                }
            }
        }
        out.push_str("};\n");
    }

    /// The table of texts, and what finds a text by its number.
    fn text_table(&self, out: &mut String) {
        let _ = write!(
            out,
            "\n// Where each text begins, and where the last one ends.\nstatic const uint64_t text_offsets[] = {{"
        );
        for offset in &self.text_offsets {
            let _ = write!(out, "{offset}, ");
        }
        out.push_str("};\n\nstruct text {\n    const char *bytes;\n    uint64_t length;\n};\n\n");
        let insts = self.program.functions.values().flat_map(|function| function.blocks.values());
        let makes_texts = insts.flat_map(|block| &block.insts).any(|inst| inst.op == Op::EndText);
        out.push_str("static inline struct text text_of(int64_t number) {\n");
        if makes_texts {
            // The number of a text that the program has made is its address.
            let _ = writeln!(
                out,
                "    if ((uint64_t)number >= {}) return (struct text){{(char *)number + 16, *(word *)number}};",
                self.text_count()
            );
        }
        out.push_str(
            "    uint64_t start = text_offsets[number];\n    \
             return (struct text){texts + start, text_offsets[number + 1] - start};\n}\n\n\
             // The byte of a text at a place; -1 where there is none.\n\
             static inline double text_byte(int64_t number, double place) {\n    \
             struct text text = text_of(number);\n    uint64_t at = (uint64_t)to_int(place);\n    \
             return at < text.length ? (double)(unsigned char)text.bytes[at] : -1.0;\n}\n",
        );
    }

    /// The number of texts, as what ends a text is told.
    pub fn text_arguments(&mut self) -> String {
        self.looks_up_texts = true;
        format!("texts, text_offsets, {}", self.text_count())
    }

    fn declare_functions(&self, out: &mut String) {
        let mut declared = BTreeSet::new();
        let mut structs = String::new();
        let mut functions = String::new();
        for (id, function) in self.program.functions.iter() {
            let results = literal::results_name(&function.results);
            if function.results.len() > 1 && declared.insert(results.clone()) {
                let fields = function.results.iter().enumerate();
                let fields: Vec<String> =
                    fields.map(|(index, ty)| format!("{} r{index};", literal::type_name(*ty))).collect();
                let _ = writeln!(structs, "{results} {{ {} }};", fields.join(" "));
            }
            let _ = writeln!(functions, "{};", function::heading(self.program, id, ""));
        }
        if !structs.is_empty() {
            let _ = write!(out, "\n// Results of functions that have several.\n{structs}");
        }
        let _ = write!(out, "\n// The functions of the program.\n{functions}");
    }

    /// What the run time calls, and looks at.
    fn entry(&mut self, form: Form) -> String {
        let identity = literal::bits(self.program.identity);
        let declaration = self.program.arguments.as_bytes();
        let (mut text, prepare) = if !declaration.is_empty() {
            let prepare = self.needs("vlad_prepare_arguments");
            let data = format!("\nstatic const char declaration[] ={};\n", literal::text(declaration));
            (data, format!("    {prepare}({identity}, declaration, {});\n", declaration.len()))
        } else if form == Form::Linked {
            (String::new(), format!("    {}({identity});\n", self.needs("vlad_prepare_options")))
        } else {
            (String::new(), String::new())
        };
        let main = self.program.main.map(|main| format!("    {}();\n", literal::function(self.program, main)));
        let main = main.unwrap_or_default();
        let joins = form == Form::Linked && ranks::divides(self.program);
        let join = if joins { format!("    {}();\n", self.needs(ranks::JOIN)) } else { String::new() };
        if form != Form::Linked {
            let _ = write!(text, "\nstatic void vlad_main(void) {{\n{prepare}{main}}}\n");
            return text;
        }
        let _ = write!(text, "\nRUNTIME void vlad_main(void);\nvoid vlad_main(void) {{\n{join}{prepare}{main}}}\n");
        text.push_str("\nRUNTIME void vlad_release_globals(void);\nvoid vlad_release_globals(void) {\n");
        for (slot, _) in self.program.slots.iter().filter(|(_, ty)| **ty == Type::Ptr) {
            let _ = writeln!(text, "    release({slot});");
        }
        let mark = literal::bits(u64::from_le_bytes(*processor::MARK));
        let _ = write!(
            text,
            "}}\n\n// Extensions of the processor that the run time is to look for: none.\n\
             RUNTIME const uint64_t vlad_needed_processor[2];\nconst uint64_t vlad_needed_processor[2] = {{{mark}, 0}};\n\n\
             // Calls that the run time names in messages: none.\n\
             RUNTIME const uint32_t vlad_callers[2];\nconst uint32_t vlad_callers[2] = {{0, 0}};\n"
        );
        text
    }
}
