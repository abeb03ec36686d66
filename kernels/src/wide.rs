//! The same code for several widths of registers, chosen when the program runs.
//!
//! No version contracts a multiplication and an addition into one operation, and none changes an order of sums, so that
//! all give the same bits.

/// Defines a function three times: for any processor, for x86-64 with AVX2, and the one that chooses.
macro_rules! wide {
    (fn $name:ident / $body:ident ( $($arg:ident : $ty:ty),* $(,)? ) $code:block) => {
        #[inline(always)]
        fn $body($($arg: $ty),*) $code

        fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            if crate::wide::instructions() >= crate::wide::Instructions::Avx2 {
                #[target_feature(enable = "avx2")]
                fn with_avx2($($arg: $ty),*) {
                    $body($($arg),*)
                }
                // SAFETY: the processor has these instructions.
                return unsafe { with_avx2($($arg),*) };
            }
            $body($($arg),*)
        }
    };
}
pub(crate) use wide;

/// The widest instructions that the processor and the system support.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Instructions {
    /// Those of every processor of the family.
    Sse2,
    Avx2,
    Avx512,
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn instructions() -> Instructions {
    use core::sync::atomic::{AtomicU8, Ordering};
    static KNOWN: AtomicU8 = AtomicU8::new(u8::MAX);
    match KNOWN.load(Ordering::Relaxed) {
        0 => Instructions::Sse2,
        1 => Instructions::Avx2,
        2 => Instructions::Avx512,
        _ => {
            let found = ask();
            KNOWN.store(found as u8, Ordering::Relaxed);
            found
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn ask() -> Instructions {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const OSXSAVE: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    const AVX2: u32 = 1 << 5;
    const AVX512F: u32 = 1 << 16;
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & (OSXSAVE | AVX) != OSXSAVE | AVX {
        return Instructions::Sse2;
    }
    let (low, _high): (u32, u32);
    // SAFETY: the processor has the instruction; it reads a register.
    unsafe { core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _high, options(nomem, nostack)) };
    let features = __cpuid_count(7, 0).ebx;
    // The system saves both halves of wide registers, and for the widest their masks and the other sixteen.
    if low & 0x6 != 0x6 || features & AVX2 == 0 {
        Instructions::Sse2
    } else if low & 0xe6 == 0xe6 && features & AVX512F != 0 {
        Instructions::Avx512
    } else {
        Instructions::Avx2
    }
}
