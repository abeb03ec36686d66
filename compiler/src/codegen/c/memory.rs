//! Operations on boxes and vectors → C. What takes more than an expression is in the prelude.

use crate::codegen::c::function::Writer;
use crate::codegen::c::literal::{self, type_name};
use crate::codegen::decisions::ownership::KnownRelease;
use crate::codegen::operations::lanes::lane_functions;
use crate::codegen::operations::results::Question;
use crate::codegen::operations::vector::Width;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{FuncId, Inst, Kernel, Op, SumId, Type, Value, VectorId};

impl Writer<'_, '_> {
    /// Translates an operation on boxes or vectors, with its operands as they are written. One arm per operation.
    pub(super) fn memory(&mut self, inst: &Inst, args: &[String]) -> Result<(), Error> {
        let x = args.first().map(String::as_str).unwrap_or_default();
        let complaint = self.complaint();
        let expression = match inst.op {
            Op::Hole(sum, tag, index) => format!("(int64_t)(uintptr_t)({x} + {})", self.offset(sum, tag, index)),
            Op::Fill(ty) => return self.statement(format!("*({} *){x} = {}", type_name(ty), args[1])),
            Op::Tag(sum) => self.tag(sum, x),
            Op::HasTag(sum, tag) => self.has_tag(sum, tag, x),
            Op::Field(sum, tag, index) => {
                let ty = self.function.values[inst.results[0]];
                in_box(ty, x, self.offset(sum, tag, index))
            }
            Op::NewVector(vector) => {
                let Width { pointers, others } = self.width(vector);
                format!("new_vector({x}, {pointers}, {others}, {complaint})")
            }
            Op::NewRows(vector) => {
                format!("new_rows({x}, {}, {}, {complaint})", args[1], self.width(vector).others)
            }
            Op::NewRow(vector) => {
                format!("new_row({x}, {}, {}, {}, {complaint})", args[1], args[2], self.width(vector).others)
            }
            Op::Kernel(kernel, _) => return self.kernel(kernel, inst, args, &complaint),
            Op::Element(vector, field) => self.element(vector, field as usize, inst.args[0], &args[1], &args[2]),
            Op::Elements(vector, field) => self.elements(vector, field as usize, inst),
            Op::TakeElement(vector, field) => {
                let place = self.element(vector, field as usize, inst.args[0], &args[1], &args[2]);
                format!("take({x}, &{place})")
            }
            Op::WithElement(vector) | Op::WithElements(vector) => return self.with_element(vector, inst, args),
            Op::Own(vector) => self.own(vector, inst, &args[1]),
            Op::OfEach(function, vector) => {
                self.define(inst.results[0], self.own(vector, inst, &args[1]));
                let (function, name) = (self.unit.needs(lane_functions(function).all), self.name(inst.results[0]));
                self.line(format!("{function}((double *)WORD({name}, {}), {});", layout::ELEMENTS_OFFSET, args[1]));
                return Ok(());
            }
            Op::IsShared(_) => self.is_shared(&inst.args),
            Op::Recall(callee) => return self.recall(callee, inst),
            Op::Remember(callee) => return self.remember(callee, inst),
            Op::Forget => {
                let forget = self.unit.needs("vlad_forget");
                let table = "vlad_heap[HEAP_REMEMBERED]";
                return self.statement(format!("if (UNLIKELY({table})) {forget}({table}, vlad_heap)"));
            }
            Op::Retain => return self.statement(format!("retain({x})")),
            Op::Release => return self.statement(format!("release({x})")),
            // See `Writer::block`.
            _ => {
                let message = format!("there is no C for {:?}", inst.op);
                return Err(Error::Bug { name: self.function.name.to_string(), message });
            }
        };
        self.define(inst.results[0], expression);
        Ok(())
    }

    /// What to say if there is no memory for what is being made.
    fn complaint(&self) -> String {
        match self.span.and_then(|span| self.unit.messages.offsets.get(&span)) {
            Some(start) => format!("complaints + {start}"),
            None => "0".to_string(),
        }
    }

    fn offset(&self, sum: SumId, tag: u32, index: u32) -> i32 {
        let alternative = self.unit.sums[sum].alternatives[tag as usize].as_ref();
        alternative.expect("an alternative with a field is a box").offsets[index as usize]
    }

    /// A new box; see [`crate::codegen::operations::memory`].
    pub(super) fn new_box(&mut self, inst: &Inst, sum: SumId, tag: u32, reuses: bool) {
        let result = inst.results[0];
        let Some(layout) = self.unit.sums[sum].alternatives[tag as usize].clone() else {
            return self.define(result, format!("(box){tag}"));
        };
        let new = format!("allocate({}, {})", layout.class, self.complaint());
        match self.kept(layout.class).filter(|_| reuses) {
            Some(kept) => {
                self.define(result, format!("{kept} ? {kept} : {new}"));
                self.line(format!("{kept} = 0;"));
            }
            None => self.define(result, new),
        }
        let name = self.name(result);
        self.line(format!("WORD({name}, 0) = {}; // {}", literal::bits(layout.header), {
            literal::comment(&self.unit.program.sums[sum].alternatives[tag as usize].name)
        }));
        if layout.pointers >= layout::MANY_POINTERS {
            self.line(format!("WORD({name}, 8) = {};", layout.pointers));
        }
        for (field, offset) in inst.args.iter().zip(&layout.offsets) {
            if !self.vacant.contains(field) {
                let place = in_box(self.function.values[*field], &name, *offset);
                self.line(format!("{place} = {};", self.value(*field)));
            }
        }
    }

    /// A constant box, which gets an owner more; the boxes that it holds lose the one that it was given.
    pub(super) fn constant_box(&mut self, result: Value, place: usize, given: &[Value]) {
        self.define(result, format!("(box)(boxes + {})", place / layout::WORD));
        self.line(format!("COUNT({}) += 1;", self.name(result)));
        for value in given {
            self.line(format!("COUNT({}) -= 1;", self.name(*value)));
        }
    }

    fn tag(&self, sum: SumId, value: &str) -> String {
        let layout = &self.unit.sums[sum];
        if !layout.has_boxes() {
            return format!("(int64_t)(uintptr_t){value}");
        }
        match (layout.has_immediates(), layout.only_box()) {
            (false, Some(tag)) => tag.to_string(),
            (false, None) => format!("TAG({value})"),
            (true, Some(tag)) => format!("is_immediate({value}) ? (int64_t)(uintptr_t){value} : {tag}"),
            (true, None) => format!("tag_of({value})"),
        }
    }

    fn has_tag(&self, sum: SumId, tag: u32, value: &str) -> String {
        let layout = &self.unit.sums[sum];
        if layout.alternatives[tag as usize].is_none() {
            return format!("{value} == (box){tag}");
        }
        match (layout.has_immediates(), layout.only_box().is_some()) {
            (false, true) => "true".to_string(),
            (false, false) => format!("TAG({value}) == {tag}"),
            (true, true) => format!("!is_immediate({value})"),
            (true, false) => format!("has_tag({value}, {tag})"),
        }
    }

    /// One owner less for a box of a known alternative; see [`crate::codegen::operations::memory`].
    pub(super) fn release_known(&mut self, value: Value, known: &KnownRelease, keeps: bool) {
        let name = self.value(value);
        let layout = self.unit.sums[known.sum].alternatives[known.tag as usize].clone();
        let layout = layout.expect("an alternative with a field is a box");
        let types = self.unit.program.sums[known.sum].fields(known.tag);
        let dying: Vec<i32> = known.dying(types).into_iter().map(|field| layout.offsets[field]).collect();
        let kept = self.kept(layout.class).filter(|_| keeps);
        self.line(format!("if (COUNT({name}) == 1) {{"));
        if dying.len() > crate::codegen::operations::memory::MANY_DYING && known.moved.is_empty() && kept.is_none() {
            self.line(format!("    die({name});"));
        } else {
            for offset in dying {
                self.line(format!("    release(BOX({name}, {offset}));"));
            }
            self.line(match &kept {
                Some(kept) => format!("    {kept} = {name};"),
                None => format!("    take_back({name}, {});", layout.class),
            });
        }
        self.line("} else {");
        if let Some(kept) = kept {
            self.line(format!("    {kept} = 0;"));
        }
        self.line(format!("    COUNT({name}) -= 1;"));
        for (_, value) in &known.moved {
            self.line(format!("    retain({});", self.value(*value)));
        }
        self.line("}");
    }

    /// Whether some of the values are boxes, and all of these have more than one owner.
    fn is_shared(&self, values: &[Value]) -> String {
        let pointers = values.iter().filter(|value| self.function.values[**value] == Type::Ptr);
        let pointers: Vec<String> = pointers.map(|value| self.value(*value)).collect();
        if pointers.is_empty() {
            return "false".to_string();
        }
        let all = |name: &str, between: &str| {
            pointers.iter().map(|value| format!("{name}({value})")).collect::<Vec<_>>().join(between)
        };
        format!("{} && ({})", all("may_be_shared", " && "), all("!is_immediate", " || "))
    }

    /// Whether the results of a call are remembered, and the results.
    fn recall(&mut self, callee: FuncId, inst: &Inst) -> Result<(), Error> {
        let (question, places) = self.question(callee, &inst.args, &inst.results[1..], 0);
        let recall = self.unit.needs("vlad_recall");
        self.line(format!("{recall}({question}, vlad_heap);"));
        self.define(inst.results[0], format!("(bool)(uint8_t){question}[0]"));
        for (result, place) in inst.results[1..].iter().zip(&places[inst.args.len()..]) {
            let word = format!("{question}[{place}]");
            let value = match self.function.values[*result] {
                Type::F64 => format!("from_bits({word})"),
                Type::Bool => format!("(bool)(uint8_t){word}"),
                ty => format!("({}){word}", type_name(ty)),
            };
            self.define(*result, value);
        }
        Ok(())
    }

    /// Remembers the results of a call, which stand behind its arguments.
    fn remember(&mut self, callee: FuncId, inst: &Inst) -> Result<(), Error> {
        let count = self.unit.program.functions[callee].params().len();
        let (args, results) = inst.args.split_at(count);
        let (question, _) = self.question(callee, args, results, results.len());
        let remember = self.unit.needs("vlad_remember");
        self.statement(format!("{remember}({question}, vlad_heap)"))
    }

    /// A question with its arguments, and so many results, in memory: its name, and where each argument and each result
    /// stands.
    fn question(&mut self, callee: FuncId, args: &[Value], results: &[Value], known: usize) -> (String, Vec<usize>) {
        let is_pointer = |value: &Value| self.function.values[*value] == Type::Ptr;
        let Question { counts, places } = Question::of(args.iter().map(is_pointer), results.iter().map(is_pointer));
        let first = args.iter().chain(results).next().map(|value| self.name(*value)).unwrap_or_default();
        let name = format!("question{}_{first}", self.out.len());
        let numbers = std::iter::once(callee.0 as usize).chain(counts).map(|number| number.to_string());
        let numbers: Vec<String> = numbers.collect();
        let given = args.iter().chain(&results[..known]).zip(&places);
        let given: Vec<String> = given.map(|(arg, place)| format!("[{place}] = {}", self.word(*arg))).collect();
        let parts = [numbers, given].concat().join(", ");
        self.line(format!("uint64_t {name}[{}] = {{{parts}}};", 1 + counts.len() + places.len()));
        (name, places)
    }

    fn width(&self, vector: VectorId) -> Width {
        Width::of(&self.unit.program.vectors[vector].fields)
    }

    /// Where the elements of a vector without pointer fields begin.
    fn start(&self, vector: Value) -> String {
        let name = self.value(vector);
        if self.adjacent[vector] {
            format!("({name} + {})", layout::VECTOR_HEADER_WORDS * layout::WORD)
        } else {
            format!("BOX({name}, {})", layout::ELEMENTS_OFFSET)
        }
    }

    /// A field of an element, as a place in memory.
    fn element(&self, vector: VectorId, field: usize, elements: Value, length: &str, place: &str) -> String {
        let fields = &self.unit.program.vectors[vector].fields;
        let (ty, width) = (fields[field], Width::of(fields));
        let is_pointer = ty == Type::Ptr;
        let position = fields[..field].iter().filter(|ty| (**ty == Type::Ptr) == is_pointer).count();
        let header = layout::VECTOR_HEADER_WORDS * layout::WORD;
        let start = match width.pointers {
            0 => self.start(elements),
            _ if is_pointer => format!("({} + {header})", self.value(elements)),
            pointers => format!("({} + {header} + {} * {length})", self.value(elements), pointers * layout::WORD),
        };
        let index = match (if is_pointer { width.pointers } else { width.others }, position) {
            (1, _) => place.to_string(),
            (width, 0) => format!("{width} * {place}"),
            (width, position) => format!("{width} * {place} + {position}"),
        };
        match ty {
            Type::Bool => format!("BOOL({start}, {} * ({index}))", layout::WORD),
            _ => format!("(({} *){start})[{index}]", type_name(ty)),
        }
    }

    /// A field of two elements.
    fn elements(&self, vector: VectorId, field: usize, inst: &Inst) -> String {
        let [length, place] = [1, 2].map(|arg| self.value(inst.args[arg]));
        let first = self.element(vector, field, inst.args[0], &length, &place);
        if self.width(vector).others == 1 {
            return format!("LANES(&{first}, 0)");
        }
        let second = self.element(vector, field, inst.args[0], &length, &format!("({place} + 1)"));
        format!("(lanes){{{first}, {second}}}")
    }

    /// The vector itself if nobody else can see its elements, else a copy.
    fn own(&self, vector: VectorId, inst: &Inst, length: &str) -> String {
        let name = self.value(inst.args[0]);
        let Width { pointers, others } = self.width(vector);
        format!("own({name}, {length}, {pointers}, {others}, {})", self.complaint())
    }

    /// The elements of a vector when one of them, or two, have these fields.
    fn with_element(&mut self, vector: VectorId, inst: &Inst, args: &[String]) -> Result<(), Error> {
        let (own, length, place) = (inst.results[0], &args[1], &args[2]);
        let is_sole = self.sole_owners[inst.args[0]];
        let expression = if is_sole { args[0].clone() } else { self.own(vector, inst, length) };
        self.define(own, expression);
        let types = self.unit.program.vectors[vector].fields.clone();
        for (index, (value, ty)) in args[3..].iter().zip(types).enumerate() {
            let target = self.element(vector, index, own, length, place);
            if matches!(inst.op, Op::WithElements(_)) {
                if args.len() == 4 {
                    self.line(format!("LANES(&{target}, 0) = {value};"));
                    continue;
                }
                let second = self.element(vector, index, own, length, &format!("({place} + 1)"));
                self.line(format!("{target} = {value}[0]; {second} = {value}[1];"));
            } else if ty == Type::Ptr {
                self.line(format!("{{ box old = {target}; {target} = {value}; release(old); }}"));
            } else {
                self.line(format!("{target} = {value};"));
            }
        }
        Ok(())
    }

    /// The vector that a kernel makes; see [`crate::codegen::operations::vector`].
    fn kernel(&mut self, kernel: Kernel, inst: &Inst, args: &[String], complaint: &str) -> Result<(), Error> {
        let result = inst.results[0];
        if kernel == Kernel::Part {
            self.define(result, format!("part_of({}, to_int({}), {complaint})", args[2], args[1]));
            return Ok(());
        }
        let words: Vec<String> = inst.args.iter().map(|arg| self.word(*arg)).collect();
        if kernel == Kernel::Joined {
            let request = format!("{}, {}, {}, {}, {}", words[2], words[3], words[4], words[5], words[1]);
            self.define(result, format!("ask_heap(vlad_joined, (uint64_t[]){{{request}}}, {complaint})"));
            return Ok(());
        }
        self.define(result, format!("new_vector({}, 0, 1, {complaint})", args[0]));
        let name = self.name(result);
        let start = |name: &str| format!("WORD({name}, {})", layout::ELEMENTS_OFFSET);
        let mut request = vec![start(&name), words[0].clone()];
        request.extend_from_slice(&words[1..][..kernel.sizes()]);
        for pair in inst.args[1 + kernel.sizes()..].chunks_exact(2) {
            request.extend([start(&self.value(pair[0])), self.word(pair[1])]);
        }
        let function = self.unit.needs(kernel.symbol());
        self.line(format!("uint64_t {name}_failed = {function}((uint64_t[]){{{}}});", request.join(", ")));
        self.statement(format!("if (UNLIKELY({name}_failed)) no_memory({name}_failed, {complaint})"))
    }
}

/// A field at an offset in a box.
fn in_box(ty: Type, address: &str, offset: i32) -> String {
    let kind = match ty {
        Type::F64 => "REAL",
        Type::Int => "INT",
        Type::Bool => "BOOL",
        Type::Ptr => "BOX",
        Type::F64x2 | Type::Boolx2 => "LANES",
    };
    format!("{kind}({address}, {offset})")
}
