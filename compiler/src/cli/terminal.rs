//! Messages on standard error, values on standard output, and what happens when the compiler itself fails.

use super::{Color, FAULT, MessageFormat, message};
use crate::base::{Diagnostic, SourceMap};
use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static USE_COLOR: AtomicBool = AtomicBool::new(false);
static USE_JSON: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began.
static IS_OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Notes that standard output was closed when the process began.
pub fn output_is_closed() {
    IS_OUTPUT_CLOSED.store(true, Ordering::Relaxed);
}

/// The failure of what would be written to standard output if that was closed when the process began.
///
/// # Errors
///
/// When it was.
pub fn demand_output() -> io::Result<()> {
    const BAD_FILE: i32 = 9;
    if IS_OUTPUT_CLOSED.load(Ordering::Relaxed) { Err(io::Error::from_raw_os_error(BAD_FILE)) } else { Ok(()) }
}

/// Decides how messages look.
pub fn choose_format(format: MessageFormat) {
    USE_JSON.store(format == MessageFormat::Json, Ordering::Relaxed);
}

/// Decides whether messages are coloured.
pub fn choose_color(color: Color) {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let use_color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => wanted && io::stderr().is_terminal(),
    };
    USE_COLOR.store(use_color, Ordering::Relaxed);
}

/// Prints messages.
pub fn report<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>, sources: &SourceMap) {
    let color = USE_COLOR.load(Ordering::Relaxed);
    let json = USE_JSON.load(Ordering::Relaxed);
    for diagnostic in diagnostics {
        let text = if json { message::json(diagnostic, sources) } else { diagnostic.render(sources, color) };
        // There is nowhere to say that standard error cannot be written.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Prints one message that has no place in a file.
pub fn report_plain(diagnostic: &Diagnostic) {
    report([diagnostic], &SourceMap::new());
}

/// Writes to standard output. When nobody reads it any more, ends quietly; other failures are reported.
pub fn print(text: &str) -> u8 {
    let mut output = io::stdout().lock();
    let demanded = if text.is_empty() { Ok(()) } else { demand_output() };
    match demanded.and_then(|()| output.write_all(text.as_bytes())).and_then(|()| output.flush()) {
        Ok(()) => super::SUCCESS,
        Err(error) => output_failed(&error),
    }
}

/// The exit code after standard output could not be written.
pub fn output_failed(error: &io::Error) -> u8 {
    if error.kind() != io::ErrorKind::BrokenPipe {
        let message = format!("cannot write to standard output: {error}");
        report_plain(&Diagnostic::error_without_place("V0806", message));
    }
    FAULT
}

/// While it holds a text, panics (of any thread) are recorded there instead of being printed.
static RECORD: Mutex<Option<String>> = Mutex::new(None);

fn record() -> MutexGuard<'static, Option<String>> {
    RECORD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Panics are mistakes of the compiler: say so, and what to do.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let message = describe(info);
        if let Some(recorded) = record().as_mut() {
            // A panic may cause others; the first one tells most.
            if recorded.is_empty() {
                *recorded = message;
            }
            return;
        }
        let help =
            format!("please report this message, the program, and `vlad --version` ({})", env!("CARGO_PKG_VERSION"));
        let mistake = Diagnostic::error_without_place("V0800", format!("mistake in the compiler: {message}"));
        report_plain(&mistake.help(help));
    }));
}

/// Runs a part of the compiler; a panic in it becomes an error with its message.
pub fn catch<T>(part: impl FnOnce() -> T) -> Result<T, String> {
    *record() = Some(String::new());
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(part));
    let message = record().take().unwrap_or_default();
    result.map_err(|_| message)
}

fn describe(info: &PanicHookInfo) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_string());
    match info.location() {
        Some(place) => format!("{text} (at {}:{})", place.file(), place.line()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_behind_the_front_end_is_an_error_with_its_message() {
        install_panic_hook();
        let threads = || std::thread::scope(|scope| scope.spawn(|| panic!("no such shape")).join().is_err());
        let failed = catch(|| {
            if threads() {
                panic!("a thread failed")
            }
        });
        let message = failed.expect_err("it panics");
        assert!(message.starts_with("no such shape (at "), "{message}");
        assert_eq!(catch(|| 5), Ok(5));
        drop(std::panic::take_hook());
    }
}
