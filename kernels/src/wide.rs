//! The same code for several widths of registers, chosen when the program runs.
//!
//! No version contracts a multiplication and an addition into one operation, and none changes an order of sums, so that all give the
//! same bits.

/// Defines a function three times: for any processor, for x86-64 with AVX2, and the one that chooses.
macro_rules! wide {
    (fn $name:ident / $body:ident ( $($arg:ident : $ty:ty),* $(,)? ) $code:block) => {
        #[inline(always)]
        fn $body($($arg: $ty),*) $code

        fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            if crate::wide::has_avx2() {
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

/// Whether the processor and the system support AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    use core::sync::atomic::{AtomicU8, Ordering};
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let has = ask();
            KNOWN.store(1 + u8::from(has), Ordering::Relaxed);
            has
        }
        known => known == 2,
    }
}

#[cfg(target_arch = "x86_64")]
fn ask() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const OSXSAVE: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    const AVX2: u32 = 1 << 5;
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & (OSXSAVE | AVX) != OSXSAVE | AVX {
        return false;
    }
    let (low, _high): (u32, u32);
    // SAFETY: the processor has the instruction; it reads a register.
    unsafe { core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _high, options(nomem, nostack)) };
    // The system saves both halves of wide registers.
    low & 6 == 6 && __cpuid_count(7, 0).ebx & AVX2 != 0
}
