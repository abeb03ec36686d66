//! Callbacks: functions that the caller of a library passes, and the program calls.
//!
//! The program puts a call together by questions (`%ask`), number by number:
//!
//! | question | |
//! |---|---|
//! | 300 place | begins to call the function that stands at this place among the words of the call |
//! | 301 x | an argument that is a number, or the next element of an array |
//! | 302 n | an argument that is an array of so many elements |
//! | 303 n | a size of it |
//! | 304 what | calls the function; how many numbers its value has, or -1 if it has failed |
//! | 305 i | a number of the value |
//! | 306 i | a number of the derivative |
//! | 307 0 | how many numbers the arguments have, without whole numbers |
//! | 308 0 | there is no second derivative: -1 |
//! | 309 x | an argument that is a whole number or a truth value, which nothing is differentiated with respect to |
//! | 314 0 | begins an argument that is a text |
//! | 315 x | the next byte of it, or the zero at its end |
//! | 316 0 | says why a function has failed, where the message about that is being made |
//! | 317 0 | ends the call of the library with this message |
//!
//! A function gets its data, its arguments, and where results go, as the header of the library says. It runs on the
//! caller's stack and in the caller's floating-point mode, as if the caller had called it: what runs there may know
//! its stack, and check it. If it fails, the call of the library ends, whatever the program would do about errors: the
//! reason is the caller's. The program makes the message, since it knows its own place.

use crate::library::{ARGUMENT, CALLBACK, Context, EXHAUSTED, FAULT, OK, SIZE, refuse, say};
use crate::row::Row;
use crate::{number, question};
use core::arch::naked_asm;
use core::ffi::c_int;
use core::mem::offset_of;
use core::ptr;

const BEGIN: u32 = 300;
const NUMBER: u32 = 301;
const ARRAY: u32 = 302;
const LENGTH: u32 = 303;
const CALL: u32 = question::CALL_BACK as u32;
const VALUE: u32 = 305;
const DERIVATIVE: u32 = 306;
const COUNT: u32 = 307;
const SECOND: u32 = question::SECOND_DERIVATIVE as u32;
const WORD: u32 = 309;
const TEXT: u32 = 314;
const BYTE: u32 = 315;
const SAY: u32 = question::SAY_FAILURE as u32;
const END: u32 = question::END_FAILED as u32;

/// What is wanted of a call: the derivative, too;
const WITH_DERIVATIVE: u32 = 1;
/// the value is a vector.
const VECTOR: u32 = 2;

/// What stands in derivatives that nobody has written: no number that computations give.
const UNWRITTEN: u64 = 0x7ff8_766c_6164_0000;

/// An argument of a function in C.
#[derive(Clone, Copy)]
enum Argument {
    Real(f64),
    Word(u64),
    /// An array, which begins at this number of [`Callbacks::numbers`].
    Array(usize),
    /// A text, which begins at this one of [`Callbacks::bytes`].
    Text(usize),
}

/// What a context remembers of the call at hand.
pub struct Callbacks {
    /// Where the function stands among the words of the call of the library: its address, its data, and which argument
    /// of the export it is.
    function: *const u64,
    arguments: Row<Argument>,
    /// All numbers of the arguments, without whole numbers.
    numbers: Row<f64>,
    /// All bytes of texts, each with a zero at its end.
    bytes: Row<u8>,
    /// So many elements of an array come next.
    left: usize,
    values: Row<f64>,
    derivative: Row<f64>,
    /// Arguments that have no register.
    stack: Row<u64>,
    failure: Failure,
}

/// Why a function has failed: the code that the call of the library returns, what is said about the function, and a
/// number behind that.
type Failure = (c_int, &'static [u8], Option<f64>);

impl Callbacks {
    /// Nothing has been called.
    pub const fn new() -> Callbacks {
        Callbacks {
            function: ptr::null(),
            arguments: Row::new(),
            numbers: Row::new(),
            bytes: Row::new(),
            left: 0,
            values: Row::new(),
            derivative: Row::new(),
            stack: Row::new(),
            failure: (OK, b"", None),
        }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// Nothing is asked any more.
    pub unsafe fn free(&mut self) {
        // SAFETY: the caller's obligation.
        unsafe {
            self.arguments.free();
            self.numbers.free();
            self.bytes.free();
            self.values.free();
            self.derivative.free();
            self.stack.free();
        }
    }

    /// The registers and the stack for these arguments; `None` if there is no memory.
    fn registers(&mut self, further: &[u64]) -> Option<Registers> {
        let mut registers = Registers { words: [0; 6], reals: [0.0; 8], stack: ptr::null(), on_stack: 0 };
        let (mut words, mut reals) = (0, 0);
        self.stack.length = 0;
        let further = further.iter().map(|word| Argument::Word(*word));
        for argument in self.arguments.items().iter().copied().chain(further) {
            let on_stack = match argument {
                Argument::Real(x) if reals < registers.reals.len() => {
                    registers.reals[reals] = x;
                    reals += 1;
                    continue;
                }
                Argument::Real(x) => x.to_bits(),
                Argument::Word(word) => word,
                Argument::Array(at) => self.numbers.start.wrapping_add(at) as u64,
                Argument::Text(at) => self.bytes.start.wrapping_add(at) as u64,
            };
            if !matches!(argument, Argument::Real(_)) && words < registers.words.len() {
                registers.words[words] = on_stack;
                words += 1;
            } else if !self.stack.push(on_stack) {
                return None;
            }
        }
        (registers.stack, registers.on_stack) = (self.stack.start, self.stack.length);
        Some(registers)
    }
}

impl Default for Callbacks {
    fn default() -> Callbacks {
        Callbacks::new()
    }
}

/// The answer to a question about callbacks; 0 to others.
///
/// # Safety
///
/// Compiled code asks, on the stack of the context, in the order that is said above.
pub unsafe fn answer(context: *mut Context, question: u32, x: f64) -> f64 {
    // SAFETY: the caller's obligation. Nothing else refers to what the context remembers.
    unsafe {
        let state = &mut (*context).callbacks;
        let has_memory = match question {
            BEGIN => {
                state.function = (*context).call.add(x as usize);
                (state.arguments.length, state.numbers.length, state.bytes.length, state.left) = (0, 0, 0, 0);
                state.arguments.push(Argument::Word(*state.function.add(1)))
            }
            NUMBER if state.left > 0 => {
                state.left -= 1;
                state.numbers.push(x)
            }
            NUMBER => state.numbers.push(x) && state.arguments.push(Argument::Real(x)),
            ARRAY => {
                state.left = x as usize;
                let at = state.numbers.length;
                state.numbers.reserve(at + state.left) && state.arguments.push(Argument::Array(at))
            }
            LENGTH => state.arguments.push(Argument::Word(x as u64)),
            WORD => state.arguments.push(Argument::Word((x as i64).cast_unsigned())),
            TEXT => state.arguments.push(Argument::Text(state.bytes.length)),
            BYTE => state.bytes.push(x as u8),
            CALL => {
                return match call(context, x as u32) {
                    Ok(length) => length as f64,
                    Err(failure) => fail(context, failure),
                };
            }
            VALUE => return state.values.items()[x as usize],
            DERIVATIVE => return state.derivative.items()[x as usize],
            COUNT => return state.numbers.length as f64,
            SECOND => return fail(context, (FAULT, b" has no second derivative: nobody gives one", None)),
            SAY => {
                say_failure(context);
                true
            }
            END => refuse(context, (*context).callbacks.failure.0, b""),
            _ => true,
        };
        if !has_memory {
            exhausted(context);
        }
        0.0
    }
}

/// Calls the function that has been begun; how many numbers its value has.
unsafe fn call(context: *mut Context, what: u32) -> Result<usize, Failure> {
    // SAFETY: the caller of `answer` has a context. Nothing refers to what it remembers while the function runs.
    unsafe {
        let state = &raw mut (*context).callbacks;
        let (function, count) = (*(*state).function, (*state).numbers.length);
        if function == 0 {
            return Err((ARGUMENT, b" is a null pointer", None));
        }
        loop {
            let mut has_memory = (*state).values.reserve(1);
            let room = if what & VECTOR == 0 { 1 } else { (*state).values.room };
            let slopes = if what & WITH_DERIVATIVE == 0 { 0 } else { room.saturating_mul(count) };
            has_memory &= (*state).derivative.reserve(slopes.max(1));
            if !has_memory {
                exhausted(context);
            }
            (*state).derivative.length = slopes;
            for index in 0..slopes {
                (*state).derivative.start.add(index).write(f64::from_bits(UNWRITTEN));
            }
            let mut length = 0_usize;
            let (value, mut derivative) = ((*state).values.start as u64, (*state).derivative.start as u64);
            if what & WITH_DERIVATIVE == 0 {
                derivative = 0;
            }
            let registers = if what & VECTOR == 0 {
                length = 1;
                (*state).registers(&[value, derivative])
            } else {
                (*state).registers(&[value, room as u64, &raw mut length as u64, derivative])
            };
            let Some(registers) = registers else { exhausted(context) };
            let code = outside((*context).saved, function, &raw const registers);
            if code == SIZE && length > room {
                (*state).values.length = 0;
                if !(*state).values.reserve(length) {
                    exhausted(context);
                }
                continue;
            }
            if code != OK {
                return Err((CALLBACK, b" failed with code ", Some(f64::from(code))));
            }
            if length > room {
                let message = b" says that its value is longer than there is room for, but not that it has failed";
                return Err((CALLBACK, message, None));
            }
            (*state).values.length = length;
            (*state).derivative.length = slopes / room * length;
            if (*state).derivative.items().iter().any(|slope| slope.to_bits() == UNWRITTEN) {
                return Err((CALLBACK, b" was asked for its derivative, and has not written all of it", None));
            }
            return Ok(length);
        }
    }
}

/// Notes that the function at hand has failed; the answer that says so.
unsafe fn fail(context: *mut Context, failure: Failure) -> f64 {
    // SAFETY: the caller of `answer` has a context.
    unsafe { (*context).callbacks.failure = failure };
    -1.0
}

/// Says why.
unsafe fn say_failure(context: *mut Context) {
    // SAFETY: the caller of `answer` has a context.
    unsafe {
        let (_, message, number) = (*context).callbacks.failure;
        say(context, b"the function that was passed as argument ");
        let position = *(*context).callbacks.function.add(2);
        say(context, number::format(position as f64).as_bytes());
        say(context, message);
        if let Some(number) = number {
            say(context, number::format(number).as_bytes());
        }
    }
}

unsafe fn exhausted(context: *mut Context) -> ! {
    // SAFETY: the caller of `answer` has a context.
    unsafe { refuse(context, EXHAUSTED, b"error: out of memory for the arguments of a function that was passed") }
}

/// What a function of C finds when it is called.
#[repr(C)]
struct Registers {
    words: [u64; 6],
    reals: [f64; 8],
    stack: *const u64,
    on_stack: usize,
}

/// Calls a function on the caller's stack, below what is `saved` there: the floating-point mode first.
#[unsafe(naked)]
unsafe extern "C" fn outside(saved: usize, function: u64, registers: *const Registers) -> c_int {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov r10, rsi",
        "mov rax, rdx",
        "ldmxcsr [rdi]",
        "mov rsp, rdi",
        "mov rcx, [rax + {on_stack}]",
        "mov rdx, [rax + {stack}]",
        // Stacks are aligned to 16 bytes where functions are called.
        "test cl, 1",
        "jz 2f",
        "sub rsp, 8",
        "2:",
        "test rcx, rcx",
        "jz 3f",
        "dec rcx",
        "push qword ptr [rdx + 8 * rcx]",
        "jmp 2b",
        "3:",
        "movsd xmm0, [rax + {reals}]",
        "movsd xmm1, [rax + {reals} + 8]",
        "movsd xmm2, [rax + {reals} + 16]",
        "movsd xmm3, [rax + {reals} + 24]",
        "movsd xmm4, [rax + {reals} + 32]",
        "movsd xmm5, [rax + {reals} + 40]",
        "movsd xmm6, [rax + {reals} + 48]",
        "movsd xmm7, [rax + {reals} + 56]",
        "mov rdi, [rax]",
        "mov rsi, [rax + 8]",
        "mov rdx, [rax + 16]",
        "mov rcx, [rax + 24]",
        "mov r8, [rax + 32]",
        "mov r9, [rax + 40]",
        "call r10",
        "mov rsp, rbp",
        "push {usual}",
        "ldmxcsr [rsp]",
        "pop rcx",
        "pop rbp",
        "ret",
        on_stack = const offset_of!(Registers, on_stack),
        stack = const offset_of!(Registers, stack),
        reals = const offset_of!(Registers, reals),
        usual = const crate::library::USUAL_MODE,
    )
}
