//! No text makes the compiler panic or hang, and every message about one has a place. What the front end accepts is
//! well-formed core; what is compiled becomes object code, or a message with a place. What is read as data is numbers,
//! or a message with a place.
//!
//! Texts come from several sources ([`texts`]): arbitrary characters, arbitrary sequences of tokens, forms with about
//! the right parts, few things very often, programs of the tree with pieces deleted, doubled, exchanged and taken from
//! other programs, the same cut off anywhere, and files with bytes that are no text.
//!
//! `VLAD_FUZZ=100000 cargo test --release -p vlad --test robustness` tries so many texts of each kind instead of a few
//! hundred. A text that takes two minutes ends the tests, and is shown.

mod texts;

use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::process::abort;
use std::sync::{Mutex, Once};
use std::time::Duration;
use texts::{TOKENS, apply, arrays, change, damage, extremes, forms, hurt, pieces, right_programs};
use vlad::base::diagnostic::limited;
use vlad::base::{Diagnostic, SourceMap};
use vlad::core::input::{Numbers, Unread, read_file};
use vlad::core::ir::Program;
use vlad::core::reader::Item;
use vlad::core::table::Table;
use vlad::core::{print, verify};
use vlad::expand::program::documentation;
use vlad::expand::{Options, expand_file, expand_text};
use vlad::flow;
use vlad::foreign::{Interface, header, python, rust};
use vlad::pipeline::{Pipeline, Refusal, Settings};
use vlad::promises::Promises;
use vlad::syntax::{self, format};

/// A text on which the process spends more processor time than this hangs. (Time on the clock says nothing on a busy
/// machine.)
const LIMIT: Duration = Duration::from_secs(120);

/// What is being examined, and since which processor time of the process, by each thread.
static AT_WORK: Mutex<Vec<(std::thread::ThreadId, Duration, String)>> = Mutex::new(Vec::new());

/// The processor time that the process has taken.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid for writing.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Examines a text; if that does not end, the process does.
fn watched(text: &str, examine: impl FnOnce()) {
    static WATCH: Once = Once::new();
    let at_work = || AT_WORK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    WATCH.call_once(|| {
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                if let Some((_, _, text)) =
                    at_work().iter().find(|work| processor_time().saturating_sub(work.1) > LIMIT)
                {
                    // What tests print with macros is shown when they end.
                    let _ = std::io::stderr().write_all(format!("this text takes too long:\n{text:?}\n").as_bytes());
                    abort();
                }
            }
        });
    });
    let own = std::thread::current().id();
    at_work().retain(|work| work.0 != own);
    at_work().push((own, processor_time(), text.to_string()));
    examine();
    at_work().retain(|work| work.0 != own);
}

/// Every message says where, what was expected, and what to do.
fn examine_messages(messages: &[Diagnostic], sources: &SourceMap, text: &str) {
    assert!(!messages.is_empty(), "a program is rejected without a message: {text}");
    for message in messages {
        let label = message.primary.as_ref().unwrap_or_else(|| panic!("no place: {message:?}\n{text}"));
        assert!(message.help.is_some() && !message.notes.is_empty(), "{message:?}\n{text}");
        let file = &sources.file(label.span.file).text;
        assert!(file.get(label.span.start as usize..label.span.end as usize).is_some(), "{message:?}\n{text}");
        message.render(sources, false);
    }
}

/// What became of a program; if it was accepted, it must be well formed and printable.
fn examine_result(result: Result<Program, Vec<Diagnostic>>, sources: &SourceMap, text: &str) {
    match result {
        Ok(program) => {
            assert_eq!(verify::verify(&program), [] as [&str; 0], "{text}");
            print::program(&program, sources);
        }
        Err(messages) => examine_messages(&messages, sources, text),
    }
}

/// Expands a text, lays it out, and reads what it says about itself.
fn examine(text: &str) {
    watched(text, || {
        for options in [
            Options::default(),
            Options { library: true, ..Options::default() },
            Options { check_derivatives: true, ..Options::default() },
        ] {
            let mut sources = SourceMap::new();
            examine_result(expand_text("fuzz.vlad", text, &options, &mut sources), &sources, text);
        }
        let mut sources = SourceMap::new();
        let file = sources.add("fuzz.vlad", text, false);
        match format::format(file, text) {
            Ok(formatted) => assert_eq!(format::format(file, &formatted).as_ref(), Ok(&formatted), "{text}"),
            Err(messages) => examine_messages(&limited(messages), &sources, text),
        }
        let (data, _) = syntax::parse(file, text);
        documentation::read(text, &data);
        Promises::read(text);
        syntax::recover(file, text);
        syntax::is_incomplete(text);
    });
}

/// How many texts of each kind are tried: this many, or as many as `VLAD_FUZZ` says.
fn cases(usual: u32) -> ProptestConfig {
    let wanted = std::env::var("VLAD_FUZZ").ok().and_then(|number| number.parse().ok());
    let cases = wanted.unwrap_or(usual);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() }
}

/// Compiles a text as far as object code. Whatever happens has a place.
fn compile(text: &str, library: bool) {
    let limits = "work=300 variants=2000 code=20000 instructions=20000";
    let mut options = flow::Options::default();
    for limit in limits.split(' ') {
        let (name, value) = limit.split_once('=').expect("it has a value");
        options.set(name, value.parse().expect("it is a number")).expect("there is such a limit");
    }
    let mut pipeline = Pipeline::new(Settings { limits: options, library, ..Settings::default() });
    let parts = [("fuzz.vlad".to_string(), text.to_string())];
    let Ok(program) = pipeline.expand_parts(&parts) else { return };
    match pipeline.native(&program) {
        Ok(code) if library => {
            let object = pipeline.library_object(&code, "fuzz");
            assert!(object.is_ok(), "{object:?}\n{text}");
            let functions = pipeline.interface.iter().map(|function| (function.clone(), text.to_string())).collect();
            let interface = Interface { name: "fuzz".to_string(), functions };
            header::text(&interface);
            rust::module(&interface, true);
            python::module(&interface);
            python::stubs(&interface);
        }
        Ok(code) => {
            let object = pipeline.object(&code);
            assert!(object.is_ok(), "{object:?}\n{text}");
        }
        Err(Refusal::Mistake(mistakes)) => {
            assert!(mistakes.iter().all(|mistake| mistake.primary.is_some()), "{mistakes:?}\n{text}");
        }
        Err(Refusal::Unsupported(warning)) => assert!(warning.primary.is_some(), "{warning:?}\n{text}"),
    }
}

/// Runs a part of a test with the least stack that the compiler has.
fn with_stack(part: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(part).expect("threads can be made");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn arbitrary_characters(text in any::<String>()) {
        examine(&text);
    }

    #[test]
    fn arbitrary_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        examine(&tokens.join(" "));
        examine(&tokens.concat());
    }

    #[test]
    fn forms_with_other_parts(text in forms()) {
        examine(&text);
    }

    #[test]
    fn changed_programs(program in prop::sample::select(right_programs()), changes in prop::collection::vec(change(), 1..6)) {
        let mut pieces = pieces(&program);
        changes.iter().for_each(|change| apply(change, &mut pieces));
        examine(&pieces.concat());
    }

    #[test]
    fn programs_cut_off(program in prop::sample::select(right_programs()), start in any::<prop::sample::Index>(), end in any::<prop::sample::Index>()) {
        let places: Vec<usize> = program.char_indices().map(|place| place.0).chain([program.len()]).collect();
        let (a, b) = (start.index(places.len()), end.index(places.len()));
        examine(&program[places[a.min(b)]..places[a.max(b)]]);
    }

    #[test]
    fn programs_mixed(
        one in prop::sample::select(right_programs()),
        other in prop::sample::select(right_programs()),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
    ) {
        let (mut mixed, other) = (pieces(&one), pieces(&other));
        for (place, from) in places {
            let from = from.index(other.len());
            let part = &other[from..(from + 12).min(other.len())];
            let place = place.index(mixed.len());
            mixed.splice(place..(place + 6).min(mixed.len()), part.iter().cloned());
        }
        examine(&mixed.concat());
    }

    #[test]
    fn data_print_as_they_are_read(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        let mut sources = SourceMap::new();
        let text = tokens.join(" ");
        let file = sources.add("fuzz.vlad", text.clone(), false);
        let (data, errors) = syntax::parse(file, &text);
        if errors.is_empty() {
            let printed = syntax::print(&data);
            let (again, errors) = syntax::parse(file, &printed);
            prop_assert!(errors.is_empty(), "{}", printed);
            prop_assert_eq!(syntax::print(&again), printed);
        }
    }

    #[test]
    fn files_of_any_bytes(
        program in prop::sample::select(right_programs()),
        changes in prop::collection::vec(damage(), 1..6),
        is_included in any::<bool>(),
    ) {
        let mut bytes = program.into_bytes();
        changes.iter().for_each(|change| hurt(&mut bytes, change));
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let path = folder.path().join("fuzz.vlad");
        fs::write(&path, &bytes).expect("temporary files can be written");
        let main = folder.path().join("main.vlad");
        fs::write(&main, "(define (f x) x)\n(include \"fuzz\")\n(f 1)\n").expect("temporary files can be written");
        let mut sources = SourceMap::new();
        watched(&shown, || {
            let result = expand_file(if is_included { &main } else { &path }, &Options::default(), &mut sources);
            examine_result(result, &sources, &shown);
        });
    }

    #[test]
    fn arrays_in_the_input(array in arrays(), changes in prop::collection::vec(damage(), 0..3), item in 0..3usize) {
        let mut bytes = array;
        changes.iter().for_each(|change| hurt(&mut bytes, change));
        let item = [Item::Real, Item::Vector, Item::Matrix][item];
        watched(&format!("{bytes:?}"), || {
            let mut stream = &bytes[..];
            let mut numbers = Numbers::new(&mut stream);
            // Each read takes a byte at least, or says that there are none; an array is the count of its numbers, and
            // these.
            for read in 0.. {
                assert!(read <= bytes.len() + 2, "{bytes:?}");
                match numbers.read(item) {
                    Ok(count) => {
                        let others = if item == Item::Real { 0.0 } else { count.abs() };
                        // What a matrix says about its columns shows how many numbers follow; they all were in the
                        // file.
                        (0..others.min(bytes.len() as f64) as usize).for_each(|_| drop(numbers.read(Item::Real)));
                    }
                    Err(Unread::End) => break,
                    Err(Unread::Malformed(message)) => {
                        let has_place = message.starts_with("line ") || message.starts_with("byte ");
                        assert!(has_place, "{message}: {bytes:?}");
                        break;
                    }
                    Err(Unread::Failed(error)) => panic!("{error}: {bytes:?}"),
                }
            }
            let (mut count, mut said) = (0, String::new());
            let result = read_file(&mut &bytes[..], item, &Table::ALL, |_| count += 1, |wrong| said = wrong.to_string());
            assert_eq!(result.is_err(), !said.is_empty(), "{said}: {bytes:?}");
            assert!(count <= bytes.len() + 2, "{bytes:?}");
        });
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn few_things_very_often(text in extremes()) {
        with_stack(move || examine(&text));
    }

    #[test]
    fn changed_programs_are_compiled(
        program in prop::sample::select(right_programs()),
        changes in prop::collection::vec(change(), 1..4),
        library in any::<bool>(),
    ) {
        let mut pieces = pieces(&program);
        changes.iter().for_each(|change| apply(change, &mut pieces));
        let text = pieces.concat();
        with_stack(move || watched(&text, || compile(&text, library)));
    }

    #[test]
    fn forms_with_other_parts_are_compiled(text in forms(), library in any::<bool>()) {
        with_stack(move || watched(&text, || compile(&text, library)));
    }
}
