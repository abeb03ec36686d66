//! What the arithmetic primitives compute, for every stage that computes: the reference evaluator, constant folding
//! and the SSA evaluator. Compiled code calls the same elementary functions: those of
//! `runtime/math`, whose values are correctly rounded and so the same everywhere.

use crate::core::prim::Prim;

// SAFETY: the functions take and return doubles, have no effect and are defined for every operand.
unsafe extern "C" {
    safe fn vlad_exp(x: f64) -> f64;
    safe fn vlad_log(x: f64) -> f64;
    safe fn vlad_sin(x: f64) -> f64;
    safe fn vlad_cos(x: f64) -> f64;
    safe fn vlad_tan(x: f64) -> f64;
    safe fn vlad_asin(x: f64) -> f64;
    safe fn vlad_acos(x: f64) -> f64;
    safe fn vlad_atan(x: f64) -> f64;
    safe fn vlad_sinh(x: f64) -> f64;
    safe fn vlad_cosh(x: f64) -> f64;
    safe fn vlad_tanh(x: f64) -> f64;
    safe fn vlad_log1p(x: f64) -> f64;
    safe fn vlad_expm1(x: f64) -> f64;
    safe fn vlad_erf(x: f64) -> f64;
    safe fn vlad_erfc(x: f64) -> f64;
    safe fn vlad_tgamma(x: f64) -> f64;
    safe fn vlad_lgamma(x: f64) -> f64;
    safe fn vlad_atan2(y: f64, x: f64) -> f64;
    safe fn vlad_pow(x: f64, y: f64) -> f64;
}

/// The value of an arithmetic primitive of one operand.
///
/// `None` when `prim` is not one.
pub fn real1(prim: Prim, x: f64) -> Option<f64> {
    Some(match prim {
        Prim::Neg => -x,
        Prim::Sqrt => x.sqrt(),
        Prim::Exp => vlad_exp(x),
        Prim::Log => vlad_log(x),
        Prim::Sin => vlad_sin(x),
        Prim::Cos => vlad_cos(x),
        Prim::Tan => vlad_tan(x),
        Prim::Asin => vlad_asin(x),
        Prim::Acos => vlad_acos(x),
        Prim::Atan => vlad_atan(x),
        Prim::Sinh => vlad_sinh(x),
        Prim::Cosh => vlad_cosh(x),
        Prim::Tanh => vlad_tanh(x),
        Prim::Log1p => vlad_log1p(x),
        Prim::Expm1 => vlad_expm1(x),
        Prim::Erf => vlad_erf(x),
        Prim::Erfc => vlad_erfc(x),
        Prim::Gamma => vlad_tgamma(x),
        Prim::LogGamma => vlad_lgamma(x),
        Prim::Abs => x.abs(),
        Prim::Floor => x.floor(),
        Prim::Ceiling => x.ceil(),
        Prim::Round => x.round_ties_even(),
        Prim::Truncate => x.trunc(),
        Prim::Sign => sign(x),
        Prim::Real => x,
        _ => return None,
    })
}

/// The value of an arithmetic primitive of two operands.
///
/// `None` when `prim` is not one.
pub fn real2(prim: Prim, x: f64, y: f64) -> Option<f64> {
    Some(match prim {
        Prim::Add => x + y,
        Prim::Sub => x - y,
        Prim::Mul | Prim::Scale => x * y,
        Prim::Div | Prim::Unscale => x / y,
        Prim::Atan2 => vlad_atan2(x, y),
        Prim::Expt => vlad_pow(x, y),
        _ => return None,
    })
}

/// The value of a comparison; `None` when `prim` is not one.
pub fn compare(prim: Prim, x: f64, y: f64) -> Option<bool> {
    Some(match prim {
        Prim::Eq => x == y,
        Prim::Lt => x < y,
        Prim::Gt => x > y,
        Prim::Le => x <= y,
        Prim::Ge => x >= y,
        _ => return None,
    })
}

/// -1, 0 or 1 as `x` is negative, zero or positive; `x` itself when it is not a number.
fn sign(x: f64) -> f64 {
    if x < 0.0 {
        -1.0
    } else if x > 0.0 {
        1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed in quadruple precision and rounded once.
    #[rustfmt::skip]
    const ROUNDED: &[(Prim, f64, u64)] = &[
        (Prim::Exp, -0.6, 0x3fe1_8fdd_6b96_04e3),
        (Prim::Exp, 1.5, 0x4011_ed3f_e64f_c541),
        (Prim::Exp, -740.25, 0x0000_0000_0000_0042),
        (Prim::Log, 0.3, 0xbff3_4378_fcbd_a721),
        (Prim::Log, 1.0000000001, 0x3ddb_7cdf_fffa_18d8),
        (Prim::Log, 0.95, 0xbfaa_431d_5bcc_193e),
        (Prim::Log, 1e+300, 0x4085_9634_47f8_7fb5),
        (Prim::Sin, 1e-05, 0x3ee4_f8b5_88e1_e8a2),
        (Prim::Sin, 2.5, 0x3fe3_26af_0dcf_cab1),
        (Prim::Sin, 1e+22, 0xbfeb_453a_b76b_f397),
        (Prim::Cos, 0.7, 0x3fe8_7996_529f_9d93),
        (Prim::Cos, 1e+22, 0x3fe0_be2c_ef01_c8f4),
        (Prim::Tan, 1.1, 0x3fff_6fa7_d286_214e),
        (Prim::Tan, 1000000.0, 0xbfd7_e976_8ab7_34c0),
        (Prim::Asin, 0.6, 0x3fe4_978f_a326_9ee1),
        (Prim::Acos, -0.3, 0x3ffe_0200_bbc9_6ad8),
        (Prim::Atan, 0.004, 0x3f70_6248_18f1_4c43),
        (Prim::Atan, 7.0, 0x3ff6_dcc5_7bb5_65fd),
        (Prim::Sinh, 0.2, 0x3fc9_c560_cd35_ef81),
        (Prim::Sinh, 5.5, 0x405e_9602_d48d_0661),
        (Prim::Cosh, 0.2, 0x3ff0_5231_84b1_ee9d),
        (Prim::Cosh, 5.5, 0x405e_9645_c9b6_718b),
        (Prim::Tanh, 0.1, 0x3fb9_83d7_795f_413a),
        (Prim::Tanh, 0.77, 0x3fe4_b3a5_640e_eeb8),
        (Prim::Tanh, 3.3, 0x3fef_e9bd_f44f_7c03),
        (Prim::Log1p, 1e-09, 0x3e11_2e0b_e801_f1d9),
        (Prim::Log1p, 0.4, 0x3fd5_88c2_d913_3490),
        (Prim::Expm1, 1e-09, 0x3e11_2e0b_e84b_bb51),
        (Prim::Expm1, -0.4, 0xbfd5_1979_f31b_1e25),
        (Prim::Expm1, 2.2, 0x4020_0cce_91c4_0e5f),
    ];

    #[test]
    fn values_are_correctly_rounded() {
        for (prim, x, bits) in ROUNDED {
            assert_eq!(real1(*prim, *x).map(f64::to_bits), Some(*bits), "{} {x}", prim.name());
        }
        assert_eq!(real2(Prim::Expt, 1.0000001, 1e5).map(f64::to_bits), Some(0x3ff0_292a_5d0c_d567));
        assert_eq!(real2(Prim::Expt, 0.3, -7.7).map(f64::to_bits), Some(0x40c4_be82_e920_69d1));
        assert_eq!(real2(Prim::Atan2, 0.3, -0.8).map(f64::to_bits), Some(0x4006_4338_2c07_913a));
    }

    // SAFETY: as above.
    unsafe extern "C" {
        safe fn cr_sin(x: f64) -> f64;
        safe fn cr_cos(x: f64) -> f64;
        safe fn cr_tanh(x: f64) -> f64;
    }

    #[test]
    fn quick_ways_give_what_core_math_gives() {
        let special =
            [0.0, f64::MIN_POSITIVE, 5e-324, 1e-9, 1e22, f64::MAX, f64::INFINITY, f64::NAN, 4095.9, 4096.1, 19.0];
        let quarters = (0..5000).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_4);
        // The weak generator spreads exponents as well as digits.
        let mut seed = 1_u64;
        let random = (0..200_000).map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = (seed >> 12) as f64 / (1_u64 << 52) as f64;
            (1.0 + digits) * f64::from((seed >> 7) as i32 % 16).exp2()
        });
        let functions: [[extern "C" fn(f64) -> f64; 2]; 3] =
            [[vlad_sin, cr_sin], [vlad_cos, cr_cos], [vlad_tanh, cr_tanh]];
        for x in special.into_iter().chain(quarters).chain(random).flat_map(|x| [x, -x]) {
            for [ours, theirs] in functions {
                let (ours, theirs) = (ours(x), theirs(x));
                assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{x:e}: {ours:e}");
            }
        }
    }
}
