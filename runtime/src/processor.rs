//! The instructions that a program was compiled for, which not every processor has.
//!
//! Code for the processor of the compiler's machine (`--native-cpu`) says which extensions it may use; a program that
//! starts elsewhere asks for them first, and ends with a message instead of a crash at the first instruction that is
//! missing.
//!
//! This file uses nothing but `core`: the compiler includes it as a module of its own.

/// Where a processor of the family x86-64 says that it has an extension: what the code generator and people call it,
/// the leaf and the register (0 to 3: a to d) of `cpuid`, and the bit there. The position in this list is that in the
/// program's needs.
pub const EXTENSIONS: &[(&str, &str, u32, usize, u32)] = &[
    ("has_sse3", "SSE3", 1, 2, 0),
    ("has_ssse3", "SSSE3", 1, 2, 9),
    ("has_fma", "FMA", 1, 2, 12),
    ("has_cmpxchg16b", "CMPXCHG16B", 1, 2, 13),
    ("has_sse41", "SSE4.1", 1, 2, 19),
    ("has_sse42", "SSE4.2", 1, 2, 20),
    ("has_popcnt", "POPCNT", 1, 2, 23),
    ("has_avx", "AVX", 1, 2, 28),
    ("has_bmi1", "BMI1", 7, 1, 3),
    ("has_avx2", "AVX2", 7, 1, 5),
    ("has_bmi2", "BMI2", 7, 1, 8),
    ("has_avx512f", "AVX512F", 7, 1, 16),
    ("has_avx512dq", "AVX512DQ", 7, 1, 17),
    ("has_avx512vl", "AVX512VL", 7, 1, 31),
    ("has_avx512vbmi", "AVX512VBMI", 7, 2, 1),
    ("has_avx512vnni", "AVX512VNNI", 7, 2, 11),
    ("has_avx512bitalg", "AVX512BITALG", 7, 2, 12),
    ("has_lzcnt", "LZCNT", 0x8000_0001, 2, 5),
];

/// What the program's needs begin with, so that they can be found in a file.
pub const MARK: &[u8; 8] = b"vlad-cpu";

/// The names of the extensions that are needed and not there, by their bits; a bit that stands for none has no name.
pub fn missing(needed: u64, available: u64) -> impl Iterator<Item = &'static str> {
    let missing = needed & !available;
    let bits = (0..64_usize).filter(move |bit| missing >> bit & 1 == 1);
    bits.map(|bit| EXTENSIONS.get(bit).map_or("an extension without a name", |row| row.1))
}

/// The extensions that the processor has, by their bits.
#[cfg(target_arch = "x86_64")]
pub fn available() -> u64 {
    use core::arch::x86_64::__cpuid_count;
    let mut found = 0;
    for (bit, (_, _, leaf, register, place)) in EXTENSIONS.iter().enumerate() {
        // Leaf 0 of each range tells the largest one there is.
        let largest = __cpuid_count(leaf & 0x8000_0000, 0).eax;
        if largest >= *leaf {
            let registers = __cpuid_count(*leaf, 0);
            let word = [registers.eax, registers.ebx, registers.ecx, registers.edx][*register];
            found |= u64::from(word >> place & 1) << bit;
        }
    }
    found
}

/// Other families are not asked.
#[cfg(not(target_arch = "x86_64"))]
pub fn available() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_a_name() {
        assert_eq!(missing(0, 0).next(), None);
        assert_eq!(missing(0b101, 0b100).collect::<Vec<_>>(), ["SSE3"]);
        assert_eq!(missing(1 << 63, u64::MAX >> 1).count(), 1);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_processor_says_what_it_has() {
        let names: Vec<&str> = missing(u64::MAX >> (64 - EXTENSIONS.len()), available()).collect();
        assert_eq!(std::is_x86_feature_detected!("avx2"), !names.contains(&"AVX2"));
        assert_eq!(std::is_x86_feature_detected!("lzcnt"), !names.contains(&"LZCNT"));
        assert_eq!(std::is_x86_feature_detected!("avx512f"), !names.contains(&"AVX512F"));
    }
}
