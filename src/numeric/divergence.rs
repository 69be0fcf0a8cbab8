//! Softmax and KL divergence of two vectors of logits, in nats.
//!
//! The exponential and the logarithm are implemented here: those of the standard library come from the platform and may
//! differ in the last bit between machines. Logits are single precision; the softmax and later steps are double. In
//! single precision the sum of 64 cancelling terms has an error of 1e-7 with either sign, far above the rounding of
//! states that the result must show.

use std::f64::consts::{LN_2, SQRT_2};

/// ln 2 in two parts: multiples up to 2^11 of the first are exact.
const LN_2_HI: f64 = 0.693_147_180_369_123_8;
const LN_2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// Terms of the series of the exponential: the remainder is below 1e-18 for arguments up to 1/2.
const EXP_TERMS: u32 = 16;
/// Terms of the series of the logarithm: the remainder is below 1e-18 for arguments between √½ and √2.
const LN_TERMS: u32 = 12;

/// KL(p || q) of the softmax of two vectors of logits of equal length, in nats.
///
/// Summed as p (e^d - 1 - d) with d = ln q - ln p. For distributions that sum to 1 that is Σ p ln(p / q), but no term
/// is negative and nothing cancels: equal logits give exactly 0, and close ones keep their digits.
pub fn kl(p: &[f32], q: &[f32]) -> f64 {
    assert!(p.len() == q.len(), "distributions over {} and {} tokens", p.len(), q.len());
    let (p_base, q_base) = (log_sum_exp(p), log_sum_exp(q));
    let term = |(&p, &q): (&f32, &f32)| {
        let (p, q) = (f64::from(p) - p_base, f64::from(q) - q_base);
        let d = q - p;
        if d.abs() < 0.5 { exp(p) * exp_beyond_linear(d) } else { exp(q) - exp(p) - exp(p) * d }
    };
    p.iter().zip(q).map(term).sum()
}

/// The index of the largest logit, the first of equal ones.
pub fn argmax(logits: &[f32]) -> usize {
    let larger = |best: usize, i: usize| if logits[i] > logits[best] { i } else { best };
    (0..logits.len()).fold(0, larger)
}

/// ln Σ e^x.
fn log_sum_exp(logits: &[f32]) -> f64 {
    let largest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum = logits.iter().map(|&x| exp(f64::from(x) - largest)).sum();
    largest + ln(sum)
}

/// e^x for x up to 700; 0 if the result is below the normal numbers.
fn exp(x: f64) -> f64 {
    if x < -708.0 {
        return 0.0;
    }
    let halvings = (x / LN_2).round();
    let rest = (x - halvings * LN_2_HI) - halvings * LN_2_LO;
    let series = 1.0 + (rest + exp_beyond_linear(rest));
    series * f64::from_bits(((1023.0 + halvings) as u64) << 52)
}

/// e^d - 1 - d for |d| up to 1/2, never negative.
fn exp_beyond_linear(d: f64) -> f64 {
    // 1/2! + d/3! + d²/4! + ..
    let series = (3..=EXP_TERMS).rev().fold(1.0, |series, n| 1.0 + series * d / f64::from(n));
    d * d * 0.5 * series
}

/// ln x for normal x above 0.
fn ln(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) as i32 - 1023;
    let mantissa = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    let (mantissa, exponent) = if mantissa > SQRT_2 { (mantissa / 2.0, exponent + 1) } else { (mantissa, exponent) };
    // ln m = 2 atanh t = 2 (t + t³/3 + t⁵/5 + ..)
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..LN_TERMS).rev().fold(0.0, |series, n| series * t * t + 1.0 / f64::from(2 * n + 1));
    let exponent = f64::from(exponent);
    exponent * LN_2_HI + (2.0 * t * series + exponent * LN_2_LO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_and_the_logarithm_are_those_of_the_platform_to_a_few_bits() {
        for i in -7000..=6000 {
            let x = f64::from(i) / 10.0 + 0.013;
            assert!((exp(x) / x.exp() - 1.0).abs() < 5e-16, "exp {x}");
            let y = x.abs() + 1e-3;
            assert!((ln(y) - y.ln()).abs() <= 4e-16 * y.ln().abs().max(1.0), "ln {y}");
        }
        assert_eq!((exp(0.0), ln(1.0), exp(-1e6)), (1.0, 0.0, 0.0));
        for i in -500..=500 {
            let d = f64::from(i) / 1000.0;
            let plain = d.exp_m1() - d;
            assert!(exp_beyond_linear(d) >= 0.0 && (exp_beyond_linear(d) - plain).abs() < 2e-16, "{d}");
        }
    }

    #[test]
    fn kl_is_that_of_the_textbook() {
        // Two tokens: p = (1/2, 1/2), q = (1/4, 3/4).
        let (p, q) = ([0.0, 0.0], [0.0, 3f32.ln()]);
        let expected = 0.5 * (0.5f64 / 0.25).ln() + 0.5 * (0.5f64 / 0.75).ln();
        assert!((kl(&p, &q) - expected).abs() < 1e-7, "{}", kl(&p, &q));
        assert_eq!(kl(&q, &q), 0.0);
        let far = kl(&[90.0, 0.0, -90.0], &[-90.0, 0.0, 90.0]);
        assert!((far - 180.0).abs() < 1e-9, "{far}");
        // A shift of all logits does not change the distribution.
        assert!(kl(&[1.0, 2.0, 3.0], &[9.0, 10.0, 11.0]) < 1e-30);
    }

    #[test]
    fn kl_of_close_outputs_keeps_its_digits_and_is_never_negative() {
        let p: Vec<f32> = (0..64).map(|i| (i as f32 * 0.77).sin()).collect();
        for i in 1..64 {
            let mut q = p.clone();
            q[i] = f32::from_bits(q[i].to_bits() + 1);
            let (small, both) = (kl(&p, &q), kl(&q, &p));
            assert!(small >= 0.0 && both >= 0.0);
            // Half the variance of the difference, to first order.
            let shift = f64::from(q[i]) - f64::from(p[i]);
            let weight = exp(f64::from(p[i]) - log_sum_exp(&p));
            let expected = 0.5 * weight * (1.0 - weight) * shift * shift;
            assert!((small / expected - 1.0).abs() < 1e-4, "{small:e} {expected:e}");
        }
    }

    #[test]
    fn the_first_of_several_largest_counts() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0, 2.0]), 1);
        assert_eq!(argmax(&[-1.0]), 0);
    }
}
