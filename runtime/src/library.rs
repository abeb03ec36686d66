//! Contexts: what a library has in place of a process of its own.
//!
//! ```text
//! caller's stack                      context's stack
//! NAME_f(context, x, ...)
//!   vlad_enter(context, words)
//!     switch ───────────────────────▶ main: reads the words, computes, writes the results
//!     ◀─────────────────────────────── returns, or a failure leaves it from wherever it is
//! ```
//!
//! A context has all state that compiled code has: a heap, the cells of the globals, the constant boxes (whose counts
//! change), a stack, and what the last failure said. Compiled code finds it in a register that nothing else uses. There
//! is no state besides: so contexts can be used by several threads at a time, one thread for each, and a context that
//! is in use refuses a second call.
//!
//! A call is a row of words, which compiled code reads one after another: see [`crate::layout`] and the code
//! generator's `library` for what they are.
//!
//! What fails goes back to the caller of [`vlad_enter`] as a jump does: the stack pointer becomes what it was there.
//! The boxes that were alive are forgotten all at once, and the next call computes the globals anew.
//!
//! A call sets the processor's floating-point mode to the usual one and back: callers may have set it to flush small
//! numbers to zero, and results should not depend on that.

use crate::callbacks::{self, Callbacks};
use crate::context_texts::{self, Texts};
use crate::heap::{Heap, Supply, TAPE_PART};
use crate::layout::{
    ACCUMULATE, CALL, CONTEXT_BYTES, CONTEXT_ELEMENTS, CONTEXT_STACK_LIMIT, CONTEXT_WORDS, DISCARD, INITIALISE,
    OTHER_SIZES, OVERWRITE, PAGE, TRUTH,
};
use crate::{heap, number, system};
use core::arch::naked_asm;
use core::ffi::{c_char, c_int};
use core::mem::offset_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

/// Codes that calls return: success,
pub const OK: c_int = 0;
/// an error of the program,
pub const FAULT: c_int = 1;
/// arguments that cannot be,
pub const ARGUMENT: c_int = 2;
/// no more memory or stack,
pub const EXHAUSTED: c_int = 3;
/// another call has not ended,
pub const BUSY: c_int = 4;
/// a result that is larger than the memory for it,
pub const SIZE: c_int = 5;
/// and a function of the caller that failed.
pub const CALLBACK: c_int = 6;

/// What callers and libraries agree on; counts up whenever that changes.
pub const ABI_VERSION: u32 = 1;

/// The floating-point mode of compiled code: rounds to nearest, knows small numbers, and masks exceptions.
pub const USUAL_MODE: u32 = 0x1f80;

/// Longer messages are cut.
const MESSAGE: usize = 4096;

/// Stacks are as large as that unless the caller says how large; only what is used takes memory.
const USUAL_STACK: usize = 1 << 30;
const LEAST_STACK: usize = 4 << 20;
/// The end of the stack that compiled code never begins a function in: what the run time and one frame need,
const MARGIN: usize = 1 << 20;
/// and pages behind it that nothing can touch.
const GUARD: usize = 1 << 20;

/// What the compiled program says about itself.
#[repr(C)]
pub struct Description {
    main: unsafe extern "C" fn(),
    /// Bytes of the cells of globals.
    slots: usize,
    /// The constant boxes, and their bytes.
    constants: *const u8,
    constant_bytes: usize,
    /// Where in the constant boxes the address of which of them stands.
    addresses: *const [usize; 2],
    address_count: usize,
}

/// What the caller can choose; zeros are what is usual.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Bytes for calls that have not returned.
    stack_bytes: u64,
    /// Bytes for boxes.
    memory_bytes: u64,
}

/// A context. Where its first fields are is part of [`crate::layout`].
#[repr(C)]
pub struct Context {
    heap: Heap,
    stack_limit: usize,
    words: *const u64,
    elements: *const f64,
    /// Where the next element of the result at hand goes, and what becomes of it.
    results: *mut f64,
    mode: u64,
    /// The stack pointer of the caller, where the floating-point mode stands that it has.
    pub saved: usize,
    /// The first word of the call.
    pub call: *const u64,
    /// What is known of the function of the caller that is called.
    pub callbacks: Callbacks,
    /// The texts of the context.
    pub texts: Texts,
    stack: *mut u8,
    stack_size: usize,
    description: &'static Description,
    /// Bytes that its data may take.
    pub memory_limit: u64,
    busy: AtomicBool,
    /// Whether the globals have their values.
    ready: bool,
    length: usize,
    message: [u8; MESSAGE],
}

const _: () = {
    assert!(offset_of!(Context, stack_limit) == CONTEXT_STACK_LIMIT as usize);
    assert!(offset_of!(Context, words) == CONTEXT_WORDS as usize);
    assert!(offset_of!(Context, elements) == CONTEXT_ELEMENTS as usize);
    assert!(size_of::<Context>() <= CONTEXT_BYTES);
};

static SUPPLY: Supply = Supply { grant, chunk: allocate_chunk, exhausted: heap_exhausted };

unsafe fn grant(heap: *mut Heap, bytes: u64) -> u64 {
    let context = heap.cast::<Context>();
    // SAFETY: the heaps with this supply are the beginnings of contexts.
    unsafe {
        if bytes > (*context).memory_limit {
            heap_exhausted(heap);
        }
        (*context).memory_limit
    }
}

unsafe fn allocate_chunk(size: usize) -> Option<*mut u8> {
    system::allocate(PAGE, size)
}

unsafe fn free_chunk(chunk: *mut u8, _: usize) {
    // SAFETY: `allocate_chunk` gave it.
    unsafe { system::free(chunk.cast()) };
}

unsafe fn heap_exhausted(heap: *mut Heap) -> ! {
    // SAFETY: the heaps with this supply are the beginnings of contexts.
    unsafe { refuse(heap.cast(), EXHAUSTED, (*heap).take_complaint().trim_ascii_end()) }
}

/// Makes a context, or returns null when there is no memory for it.
///
/// # Safety
///
/// `description` is that of a compiled program; `options` is null or refers to options.
pub unsafe fn new(description: &'static Description, options: *const Options) -> *mut Context {
    // SAFETY: the caller's obligation.
    let options = if options.is_null() { Options::default() } else { unsafe { *options } };
    let physical = system::physical_memory();
    let wanted = usize::try_from(options.stack_bytes).unwrap_or(usize::MAX / 2).min(1 << 46);
    let wanted = if wanted == 0 { USUAL_STACK } else { wanted.max(LEAST_STACK) };
    let Some((stack, stack_size)) = reserve(wanted.next_multiple_of(PAGE) + GUARD) else { return ptr::null_mut() };
    let size = CONTEXT_BYTES + description.slots + description.constant_bytes;
    let Some(memory) = system::allocate(PAGE, size.next_multiple_of(PAGE)) else {
        // SAFETY: nobody has seen the stack.
        unsafe { system::unmap_pages(stack, stack_size) };
        return ptr::null_mut();
    };
    let context = memory.cast::<Context>();
    let memory_limit = if options.memory_bytes == 0 { physical / 8 * 7 } else { options.memory_bytes };
    let mut heap = Heap::new(&SUPPLY, 0);
    heap.tape_memory = memory_limit / TAPE_PART;
    // SAFETY: the memory is large enough, and aligned to pages.
    unsafe {
        context.write(Context {
            heap,
            stack_limit: stack as usize + GUARD + MARGIN,
            words: ptr::null(),
            elements: ptr::null(),
            results: ptr::null_mut(),
            mode: 0,
            saved: 0,
            call: ptr::null(),
            callbacks: Callbacks::new(),
            texts: Texts::new(),
            stack,
            stack_size,
            description,
            memory_limit,
            busy: AtomicBool::new(false),
            ready: false,
            length: 0,
            message: [0; MESSAGE],
        });
    }
    context
}

/// Address space for a stack, of that size or, if the system refuses, a smaller one.
fn reserve(mut size: usize) -> Option<(*mut u8, usize)> {
    loop {
        if let Some(stack) = system::map_pages(size, system::PROT_NONE) {
            // SAFETY: the pages have just been mapped.
            if unsafe { system::open_pages(stack.add(GUARD), size - GUARD) } {
                return Some((stack, size));
            }
            // SAFETY: nobody has seen them.
            unsafe { system::unmap_pages(stack, size) };
        }
        if size <= LEAST_STACK + GUARD {
            return None;
        }
        size = (size / 2).next_multiple_of(PAGE).max(LEAST_STACK + GUARD);
    }
}

/// Calls an exported function.
///
/// # Safety
///
/// `context` is null or was made by [`new`], and `words` are what the code of the function expects; null if a whole
/// number among the arguments is none of the language's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_enter(context: *mut Context, words: *const u64) -> c_int {
    if context.is_null() {
        return ARGUMENT;
    }
    // SAFETY: the caller's obligation; other threads look at `busy` only, and go away if it is set.
    unsafe {
        if (*context).busy.swap(true, Ordering::Acquire) {
            return BUSY;
        }
        (*context).length = 0;
        if words.is_null() {
            say(context, b"error: a whole number has a magnitude of 2^53 at most, and an argument is larger");
            (*context).busy.store(false, Ordering::Release);
            return ARGUMENT;
        }
        let mut code = OK;
        if !(*context).ready {
            prepare(context);
            let initialise = INITIALISE.to_bits();
            code = run(context, &raw const initialise);
            (*context).ready = code == OK;
            (*context).texts.end(true, false);
        }
        if code == OK {
            debug_assert!(*words == CALL.to_bits());
            code = run(context, words);
        }
        if code != OK {
            (*context).ready = false;
            (*context).heap.reset();
        }
        (*context).texts.end(false, code != OK);
        (*context).busy.store(false, Ordering::Release);
        code
    }
}

unsafe fn run(context: *mut Context, words: *const u64) -> c_int {
    // SAFETY: the caller's obligation; the stack is aligned, and as large as it was reserved.
    unsafe {
        ((*context).words, (*context).call) = (words, words);
        let top = (*context).stack.add((*context).stack_size);
        switch(context, top, (*context).description.main)
    }
}

/// Writes the program's data into the context: empty cells, and a copy of the constant boxes.
unsafe fn prepare(context: *mut Context) {
    // SAFETY: `new` has made room for all of it behind the context.
    unsafe {
        let description = (*context).description;
        let slots = context.cast::<u8>().add(CONTEXT_BYTES);
        ptr::write_bytes(slots, 0, description.slots);
        let constants = slots.add(description.slots);
        ptr::copy_nonoverlapping(description.constants, constants, description.constant_bytes);
        for index in 0..description.address_count {
            let [at, to] = *description.addresses.add(index);
            *constants.add(at).cast::<*mut u8>() = constants.add(to);
        }
    }
}

/// Runs `main` on another stack; the result is 0 or what [`leave`] was handed.
///
/// Registers: the context stays in `r15`, which compiled code reads and nobody changes.
#[unsafe(naked)]
unsafe extern "C" fn switch(context: *mut Context, top: *mut u8, main: unsafe extern "C" fn()) -> c_int {
    naked_asm!(
        "push rbp", "push rbx", "push r12", "push r13", "push r14", "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "mov [rdi + {saved}], rsp",
        "mov rsp, rsi",
        "mov r15, rdi",
        "sub rsp, 16",
        "mov dword ptr [rsp], {usual}",
        "ldmxcsr [rsp]",
        "xor ebp, ebp",
        "call rdx",
        "mov rdi, r15",
        "xor esi, esi",
        "jmp {leave}",
        saved = const offset_of!(Context, saved),
        usual = const USUAL_MODE,
        leave = sym leave,
    )
}

/// Leaves the stack of a context for that of the caller of [`switch`], which returns the code.
#[unsafe(naked)]
unsafe extern "C" fn leave(context: *mut Context, code: c_int) -> ! {
    naked_asm!(
        "mov eax, esi",
        "mov rsp, [rdi + {saved}]",
        "ldmxcsr [rsp]",
        "add rsp, 8",
        "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp",
        "ret",
        saved = const offset_of!(Context, saved),
    )
}

/// Does not go on; for what cannot happen.
pub fn stop() -> ! {
    // SAFETY: always sound.
    unsafe { core::arch::asm!("ud2", options(noreturn)) }
}

/// Appends to the message; what does not fit is cut between characters.
///
/// # Safety
///
/// The context is in use.
pub unsafe fn say(context: *mut Context, text: &[u8]) {
    // SAFETY: the caller has a context; one byte is left for the end.
    unsafe {
        let room = MESSAGE - 1 - (*context).length;
        let mut length = text.len().min(room);
        while length < text.len() && length > 0 && text[length] & 0xc0 == 0x80 {
            length -= 1;
        }
        let start = (&raw mut (*context).message).cast::<u8>().add((*context).length);
        ptr::copy_nonoverlapping(text.as_ptr(), start, length);
        (*context).length += length;
    }
}

/// Ends the call with a code and a message, which what has been said already is part of.
///
/// # Safety
///
/// Runs on the stack of the context.
pub unsafe fn refuse(context: *mut Context, code: c_int, message: &[u8]) -> ! {
    // SAFETY: the caller's obligation.
    unsafe {
        say(context, message);
        leave(context, code)
    }
}

/// Ends the call because of an error of the program.
///
/// # Safety
///
/// For compiled code: runs on the stack of the context; `message` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_fail(context: *mut Context, message: *const u8, length: usize) -> ! {
    // SAFETY: the caller's obligation.
    unsafe { refuse(context, FAULT, core::slice::from_raw_parts(message, length)) }
}

/// Ends the call because recursion is too deep.
///
/// # Safety
///
/// For compiled code: runs on the stack of the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_stack_exhausted(context: *mut Context) -> ! {
    // SAFETY: the caller's obligation.
    unsafe { refuse(context, EXHAUSTED, b"error[V0311]: out of memory: recursion too deep") }
}

/// Ends the call because it has come to what is never reached.
///
/// # Safety
///
/// For compiled code: runs on the stack of the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_unreachable(context: *mut Context) -> ! {
    // SAFETY: the caller's obligation.
    unsafe { refuse(context, FAULT, b"error: mistake in the compiler: code that is never reached was reached") }
}

/// Says a part of the message of a failure.
///
/// # Safety
///
/// For compiled code; `text` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_write_text(context: *mut Context, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    unsafe { say(context, core::slice::from_raw_parts(text, length)) }
}

/// Says a text in quotes.
///
/// # Safety
///
/// As for [`vlad_context_write_text`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_write_quoted(context: *mut Context, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    unsafe { number::quoted(core::slice::from_raw_parts(text, length), |piece| say(context, piece)) }
}

/// Says a number in the message of a failure.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_write_real(context: *mut Context, x: f64) {
    // SAFETY: the caller's obligation.
    unsafe { say(context, number::format(x).as_bytes()) }
}

/// Answers a question of the program: nobody watches it, but it may have the time, and call functions of the caller.
///
/// # Safety
///
/// For compiled code: runs on the stack of the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_ask(context: *mut Context, what: f64, x: f64) -> f64 {
    if what == crate::question::CLOCK {
        return crate::system::time() as f64 / 1e9;
    }
    // SAFETY: the caller's obligation.
    unsafe {
        let answer = context_texts::answer(context, what as u32, x);
        answer.unwrap_or_else(|| callbacks::answer(context, what as u32, x))
    }
}

/// The next word of the call.
///
/// # Safety
///
/// There is one.
pub unsafe fn word(context: *mut Context) -> u64 {
    // SAFETY: the words of a call are as many as its code reads.
    unsafe {
        let word = *(*context).words;
        (*context).words = (*context).words.add(1);
        word
    }
}

/// The next word of the call, which says what becomes of a result.
unsafe fn mode(context: *mut Context) -> u64 {
    // SAFETY: the words of a call are as many as its code reads.
    let mode = unsafe { word(context) };
    if mode == OTHER_SIZES {
        let message = b"error: an array in a record that gets a gradient has another size than that of the argument";
        // SAFETY: compiled code asks, on the stack of the context.
        unsafe { refuse(context, ARGUMENT, message) }
    }
    if mode > ACCUMULATE && mode != TRUTH {
        // SAFETY: compiled code asks, on the stack of the context.
        unsafe {
            say(context, b"error: there is no mode ");
            // Callers pass 32 bits with a sign.
            say(context, number::format(f64::from(mode as i32)).as_bytes());
            refuse(
                context,
                ARGUMENT,
                b" of gradients: they replace what is there (OVERWRITE), or are added to it (ACCUMULATE)",
            );
        }
    }
    mode
}

/// Begins to read an argument that is an array: its address, and its length or the number of its rows, which is
/// returned.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_argument_array(context: *mut Context) -> f64 {
    // SAFETY: the caller's obligation.
    unsafe {
        (*context).elements = word(context) as *const f64;
        let length = f64::from_bits(word(context));
        if (*context).elements.is_null() && length > 0.0 {
            refuse(context, ARGUMENT, b"error: an argument is a null pointer, but its length is not 0");
        }
        length
    }
}

/// Gives a result that is a number: to an address, in a mode.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_result(context: *mut Context, x: f64) {
    // SAFETY: the caller's obligation.
    unsafe {
        let (address, mode) = (word(context) as *mut f64, mode(context));
        if mode == TRUTH && !address.is_null() {
            *address.cast::<bool>() = x != 0.0;
        } else if !address.is_null() {
            *address = if mode == ACCUMULATE { *address + x } else { x };
        }
    }
}

/// Begins to give a result that is an array: to an address, in a mode; for so many numbers there is room, and the
/// numbers of rows and columns go to two addresses.
///
/// # Safety
///
/// For compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_result_array(context: *mut Context, rows: f64, columns: f64) {
    // SAFETY: the caller's obligation.
    unsafe {
        (*context).results = word(context) as *mut f64;
        (*context).mode = mode(context);
        let room = word(context);
        for size in [rows, columns] {
            let address = word(context) as *mut usize;
            if !address.is_null() {
                *address = size as usize;
            }
        }
        if (*context).results.is_null() {
            (*context).mode = DISCARD;
        } else if rows * columns > room as f64 {
            say(context, b"error: a result has ");
            say(context, number::format(rows * columns).as_bytes());
            say(context, b" numbers, and there is room for ");
            refuse(context, SIZE, number::format(room as f64).as_bytes());
        }
    }
}

/// Gives the next elements of a result that is an array.
///
/// # Safety
///
/// For compiled code; `numbers` points to `length` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_context_result_elements(context: *mut Context, numbers: *const f64, length: usize) {
    // SAFETY: the caller's obligation; there is room for the whole array. Memory of callers need not be aligned.
    unsafe {
        let results = (*context).results;
        (*context).results = results.wrapping_add(length);
        match (*context).mode {
            OVERWRITE => ptr::copy(numbers.cast::<u8>(), results.cast(), length * size_of::<f64>()),
            ACCUMULATE => {
                for index in 0..length {
                    let result = results.add(index);
                    result.write_unaligned(result.read_unaligned() + numbers.add(index).read_unaligned());
                }
            }
            _ => {}
        }
    }
}

/// The message of the last call, if it failed.
///
/// # Safety
///
/// `context` is null or was made by [`new`].
pub unsafe fn message(context: *mut Context) -> *const c_char {
    if context.is_null() {
        return c"there is no context".as_ptr();
    }
    // SAFETY: the caller's obligation; one byte is always left for the end.
    unsafe {
        let start = (&raw mut (*context).message).cast::<u8>();
        let text = core::slice::from_raw_parts(start, (*context).length);
        *start.add(text.trim_ascii_end().len()) = 0;
        start.cast()
    }
}

/// Takes a context away.
///
/// # Safety
///
/// `context` is null or was made by [`new`], and nobody uses it any more.
pub unsafe fn free(context: *mut Context) {
    if context.is_null() {
        return;
    }
    // SAFETY: the caller's obligation.
    unsafe {
        (*context).heap.give_back(free_chunk);
        (*context).callbacks.free();
        (*context).texts.free();
        system::unmap_pages((*context).stack, (*context).stack_size);
        system::free(context.cast());
    }
}

/// Boxes that are alive between calls, and the bytes that boxes took.
///
/// # Safety
///
/// `context` was made by [`new`] and is not in use.
pub unsafe fn census(context: *const Context) -> (u64, u64) {
    // SAFETY: the caller's obligation.
    unsafe { heap::census(&raw const (*context).heap) }
}

/// What callers call, under names that begin with that of the library in place of `vlad_library`.
#[cfg(vlad_library)]
mod interface {
    use super::*;

    unsafe extern "C" {
        static vlad_description: Description;
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn vlad_library_context_new(options: *const Options) -> *mut Context {
        // SAFETY: the code generator defines the description; the rest is the caller's obligation.
        unsafe { new(&*(&raw const vlad_description), options) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn vlad_library_context_free(context: *mut Context) {
        // SAFETY: the caller's obligation.
        unsafe { free(context) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn vlad_library_message(context: *mut Context) -> *const c_char {
        // SAFETY: the caller's obligation.
        unsafe { message(context) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn vlad_library_memory(context: *const Context, live: *mut u64, bytes: *mut u64) {
        // SAFETY: the caller's obligation.
        unsafe {
            let (boxes, taken) = census(context);
            *live = boxes;
            *bytes = taken;
        }
    }

    #[unsafe(no_mangle)]
    extern "C" fn vlad_library_abi_version() -> u32 {
        ABI_VERSION
    }
}
