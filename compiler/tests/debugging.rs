//! What debuggers and profilers learn from executables and libraries: which lines and functions the code is made of.

mod common;

use common::{folder, run_command};
use gimli::{EndianSlice, LittleEndian, Reader};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A recursion that is not inlined, and functions that are; a root on one line only.
const PROGRAM: &str = "\
(define (fib n)
  (if (< n 2)
      n
      (+ (fib (- n 1)) (fib (- n 2)))))
(define (root x)
  (sqrt x))
(define (curve x)
  (* (root x)
     (exp x)))
(define n (read-real))
(fib n)
(curve n)
((gradient curve) n)
(dot (vector n 1) (vector 2 n))
";

/// An executable or library, or a part of one.
struct Described {
    bytes: Vec<u8>,
    rows: Vec<Row>,
    functions: Vec<Function>,
}

/// A row of the table of lines.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    start: u64,
    end: u64,
    file: String,
    line: u64,
    is_derivative: bool,
}

/// A function, or code that is inlined in one.
#[derive(Debug)]
struct Function {
    name: String,
    line: Option<u64>,
    ranges: Vec<(u64, u64)>,
    /// The function that it is inlined in.
    within: Option<String>,
}

impl Described {
    fn new(bytes: Vec<u8>) -> Described {
        let (rows, functions) = {
            let file = object::File::parse(&*bytes).expect("it is an ELF file");
            let section = |id: gimli::SectionId| {
                let section = file.section_by_name(id.name());
                let data = section.map_or(&[][..], |section| section.data().expect("it can be read"));
                Ok::<_, gimli::Error>(EndianSlice::new(data, LittleEndian))
            };
            let dwarf = gimli::Dwarf::load(section).expect("it can be read");
            let mut units = dwarf.units();
            // Other linkers keep what parts of the run time say about themselves.
            let unit = loop {
                let header = units.next().expect("it can be read").expect("there is a unit for the program");
                let unit = dwarf.unit(header).expect("it can be read");
                if unit.name.is_some_and(|name| name.slice() == b"program.vlad") {
                    break unit;
                }
            };
            (rows(&dwarf, &unit), functions(&dwarf, &unit))
        };
        Described { bytes, rows, functions }
    }

    fn at(&self, address: u64) -> &Row {
        let row = self.rows.iter().find(|row| (row.start..row.end).contains(&address));
        row.unwrap_or_else(|| panic!("no row has {address:x}"))
    }

    fn lines(&self, is_derivative: bool) -> BTreeSet<u64> {
        self.rows.iter().filter(|row| row.is_derivative == is_derivative).map(|row| row.line).collect()
    }

    fn functions(&self, name: &str) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(move |function| function.name == name && !function.ranges.is_empty())
    }
}

fn text<R: Reader>(text: gimli::Result<R>) -> String {
    text.and_then(|text| Ok(text.to_string()?.into_owned())).expect("it is a text")
}

type Slice<'d> = EndianSlice<'d, LittleEndian>;

fn rows(dwarf: &gimli::Dwarf<Slice>, unit: &gimli::Unit<Slice>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut table = unit.line_program.clone().expect("there are lines").rows();
    let mut open: Option<Row> = None;
    while let Some((header, row)) = table.next_row().expect("it can be read") {
        rows.extend(open.take().map(|open| Row { end: row.address(), ..open }));
        if !row.end_sequence() {
            let file = row.file(header).expect("rows name files").path_name();
            open = Some(Row {
                start: row.address(),
                end: 0,
                file: text(dwarf.attr_string(unit, file)),
                line: row.line().map_or(0, u64::from),
                is_derivative: row.discriminator() == 1,
            });
        }
    }
    rows
}

fn functions(dwarf: &gimli::Dwarf<Slice>, unit: &gimli::Unit<Slice>) -> Vec<Function> {
    let mut functions = Vec::new();
    let mut entries = unit.entries();
    let mut outer = String::new();
    while let Some(entry) = entries.next_dfs().expect("it can be read") {
        let is_inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
        if entry.tag() != gimli::DW_TAG_subprogram && !is_inlined {
            continue;
        }
        let origin = match entry.attr_value(gimli::DW_AT_abstract_origin) {
            Some(gimli::AttributeValue::UnitRef(origin)) => unit.entry(origin).expect("it is there"),
            _ => entry.clone(),
        };
        let name = origin.attr_value(gimli::DW_AT_name).expect("functions have names");
        let name = text(dwarf.attr_string(unit, name));
        if !is_inlined {
            outer.clone_from(&name);
        }
        let mut ranges = Vec::new();
        let mut found = dwarf.die_ranges(unit, entry).expect("it can be read");
        while let Some(range) = found.next().expect("it can be read") {
            ranges.push((range.begin, range.end));
        }
        let line = origin.attr_value(gimli::DW_AT_decl_line).and_then(|line| line.udata_value());
        functions.push(Function { name, line, ranges, within: is_inlined.then(|| outer.clone()) });
    }
    functions
}

fn build(folder: &Path, arguments: &[&str], compiler: Option<&str>) {
    let mut command = common::vlad(&[&["build", "program.vlad"], arguments].concat());
    command.current_dir(folder);
    compiler.map(|compiler| command.env("CC", compiler));
    let outcome = run_command(command, "", Duration::from_secs(120));
    assert_eq!(outcome.code, Some(0), "{}", outcome.messages);
}

fn built(program: &str, arguments: &[&str], compiler: Option<&str>) -> Vec<u8> {
    let place = folder(&[("program.vlad", program)]);
    build(place.path(), arguments, compiler);
    fs::read(place.path().join("program")).expect("it was built")
}

fn described(program: &str, arguments: &[&str]) -> Described {
    Described::new(built(program, &[&["--debug"], arguments].concat(), None))
}

/// The bytes of a section, and its address.
fn section(bytes: &[u8], name: &str) -> Option<(u64, Vec<u8>)> {
    let file = object::File::parse(bytes).expect("it is an ELF file");
    let section = file.section_by_name(name)?;
    Some((section.address(), section.data().expect("it can be read").to_vec()))
}

#[test]
fn addresses_have_lines() {
    let program = described(PROGRAM, &[]);
    let file = object::File::parse(&*program.bytes).expect("it is an ELF file");
    let symbol = |prefix: &str| {
        let named = |symbol: &object::Symbol| symbol.name().is_ok_and(|name| name.starts_with(prefix));
        file.symbols().find(named).unwrap_or_else(|| panic!("nothing is called {prefix}"))
    };
    let fib = symbol("fib.");
    assert_eq!(program.at(fib.address()).line, 1);
    let body: BTreeSet<u64> = program
        .rows
        .iter()
        .filter(|row| row.start >= fib.address() && row.end <= fib.address() + fib.size())
        .map(|row| row.line)
        .collect();
    assert!(body.contains(&2) && body.contains(&4) && body.iter().all(|line| (1..=4).contains(line)), "{body:?}");
    // Places in the library are those of calls of it.
    assert!(program.rows.iter().all(|row| row.file == "program.vlad" && row.line > 0), "{:?}", program.rows);
    assert!(program.lines(false).is_superset(&BTreeSet::from([2, 4, 6, 8, 9, 10, 14])), "{:?}", program.lines(false));
    assert!(program.lines(true).is_subset(&BTreeSet::from([6, 7, 8, 9, 13])), "{:?}", program.lines(true));
    assert!(program.lines(true).is_superset(&BTreeSet::from([6, 8])), "{:?}", program.lines(true));
    if cfg!(target_arch = "x86_64") {
        let main = symbol("main.");
        let (start, code) = section(&program.bytes, ".text").expect("it is there");
        let code = &code[(main.address() - start) as usize..][..main.size() as usize];
        let roots = code.windows(4).enumerate().filter(|(_, bytes)| bytes[..3] == [0xf2, 0x0f, 0x51]);
        let roots: Vec<u64> = roots.map(|(at, _)| program.at(main.address() + at as u64).line).collect();
        assert!(!roots.is_empty() && roots.iter().all(|line| *line == 6), "{roots:?}");
    }
}

#[test]
fn functions_have_names_places_and_what_is_inlined_in_them() {
    let program = described(PROGRAM, &[]);
    let fib = program.functions("fib").next().expect("it is a function");
    assert_eq!((fib.line, fib.ranges.len()), (Some(1), 1));
    let file = object::File::parse(&*program.bytes).expect("it is an ELF file");
    let start = |symbol: object::Symbol| (symbol.address(), symbol.address() + symbol.size());
    assert!(file.symbols().any(|symbol| start(symbol) == fib.ranges[0]), "{fib:?}");
    for (name, line) in [("root", 5), ("curve", 7)] {
        let inlined = program.functions(name).find(|function| function.within.as_deref() == Some("main"));
        let inlined = inlined.unwrap_or_else(|| panic!("`{name}` is inlined"));
        assert_eq!(inlined.line, Some(line));
        let outer = program.functions("main").next().expect("it is there").ranges[0];
        assert!(inlined.ranges.iter().all(|(start, end)| outer.0 <= *start && start < end && *end <= outer.1));
    }
}

#[test]
fn files_of_the_library_are_nowhere() {
    let program = described("(define n (read-real))\n(sort < (map (lambda (i) (sin (* i n))) (iota n)))\n", &[]);
    assert!(program.rows.iter().all(|row| row.file == "program.vlad" && row.line <= 2), "{:?}", program.rows);
    assert!(program.lines(false).is_superset(&BTreeSet::from([1, 2])), "{:?}", program.rows);
}

#[test]
fn the_code_is_the_same_without_and_the_file_small() {
    let (with, without) = (built(PROGRAM, &["-g"], None), built(PROGRAM, &[], None));
    for name in [".text", ".rodata", ".data", ".rela.dyn", ".symtab"] {
        assert_eq!(section(&with, name), section(&without, name), "{name}");
    }
    assert!(section(&with, ".debug_line").is_some() && section(&without, ".debug_line").is_none());
}

#[test]
fn the_same_program_is_described_in_the_same_bytes() {
    assert!(built(PROGRAM, &["-g"], None) == built(PROGRAM, &["-g"], None));
}

#[test]
fn other_linkers_keep_it() {
    let [own, other] = [None, Some("cc")].map(|compiler| Described::new(built(PROGRAM, &["-g"], compiler)));
    let lines = |described: &Described| -> Vec<(u64, u64, bool)> {
        described.rows.iter().map(|row| (row.end - row.start, row.line, row.is_derivative)).collect()
    };
    assert_eq!(lines(&own), lines(&other));
}

#[test]
fn libraries_are_described() {
    let program = "(define (f x)\n  (* (sin x)\n     (exp x)))\n(export (gradient f x) ((x real)))\n";
    let place = folder(&[("program.vlad", program)]);
    for kind in ["shared", "static"] {
        build(place.path(), &["-g", "--lib", kind], None);
    }
    let shared = Described::new(fs::read(place.path().join("libprogram.so")).expect("it was built"));
    assert!(shared.lines(false).is_superset(&BTreeSet::from([2, 3])), "{:?}", shared.rows);
    let archive = fs::read(place.path().join("libprogram.a")).expect("it was built");
    let archive = object::read::archive::ArchiveFile::parse(&*archive).expect("it is an archive");
    let member = archive.members().next().expect("it has a member").expect("it can be read");
    let whole = fs::read(place.path().join("libprogram.a")).expect("it was built");
    let bytes = member.data(&*whole).expect("it can be read").to_vec();
    assert!(section(&bytes, ".debug_line").is_some_and(|(_, bytes)| !bytes.is_empty()));
}

#[test]
fn frames_are_described() {
    let bytes = built(PROGRAM, &["-g"], None);
    let (_, frames) = section(&bytes, ".debug_frame").expect("it is there");
    let mut frames = gimli::DebugFrame::new(&frames, LittleEndian);
    frames.set_address_size(8);
    let program = Described::new(bytes);
    let bases = gimli::BaseAddresses::default();
    use gimli::UnwindSection;
    for function in program.functions.iter().filter(|function| function.within.is_none()) {
        for (start, end) in &function.ranges {
            let found = frames.fde_for_address(&bases, *start, gimli::DebugFrame::cie_from_offset);
            let found = found.unwrap_or_else(|error| panic!("{}: {error}", function.name));
            assert_eq!((found.initial_address(), found.len()), (*start, end - start));
        }
    }
}

#[test]
fn arithmetic_that_is_watched_is_described() {
    let program = described(PROGRAM, &["--trap-nan"]);
    assert!(program.lines(false).contains(&4), "{:?}", program.lines(false));
}

#[test]
fn the_c_back_end_describes_nothing() {
    let place = folder(&[("program.vlad", PROGRAM)]);
    let mut command = common::vlad(&["build", "-g", "--back-end", "c", "program.vlad"]);
    command.current_dir(place.path());
    let outcome = run_command(command, "", Duration::from_secs(60));
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.messages.contains("`--debug` is no option of the C back end"), "{}", outcome.messages);
}

#[test]
fn programs_run_as_ever() {
    let place = folder(&[("program.vlad", PROGRAM)]);
    for arguments in [&["run", "program.vlad"][..], &["run", "-g", "program.vlad"]] {
        let mut command = common::vlad(arguments);
        command.current_dir(place.path());
        let outcome = run_command(command, "10\n", Duration::from_secs(60));
        assert_eq!(outcome.code, Some(0), "{}", outcome.messages);
        assert!(outcome.output.starts_with("55\n"), "{}", outcome.output);
    }
}
