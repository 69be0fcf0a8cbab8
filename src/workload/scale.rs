//! A factor on time, kept as a decimal fraction so that scaling is exact and the same everywhere.

/// The latest scaled time in nanoseconds: 10^9 seconds.
const NS_MAX: u128 = 1_000_000_000_000_000_000;
/// The largest factor.
const FACTOR_MAX: f64 = 1_000_000.0;
/// Most digits behind the point.
const DECIMALS_MAX: usize = 12;

/// A factor `numerator / denominator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    numerator: u64,
    denominator: u64,
}

/// Why a number is no factor on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// Negative, infinite, not a number, or above a million.
    #[error("is not between 0 and 1000000")]
    Range,
    /// More decimals than are kept.
    #[error("has more than 12 decimals")]
    Decimals,
}

impl Scale {
    /// Time as it is.
    pub const ONE: Scale = Scale { numerator: 1, denominator: 1 };

    /// The factor whose shortest decimal form is that of `factor`: 0.1 is one tenth. 0 makes all rows arrive at once.
    ///
    /// # Errors
    /// The factor is out of range, or has more than 12 decimals.
    pub fn new(factor: f64) -> Result<Scale, ScaleError> {
        if !(0.0..=FACTOR_MAX).contains(&factor) {
            return Err(ScaleError::Range);
        }
        // The shortest decimal that reads back as the same number: what was written, in all practical cases.
        let decimal = format!("{}", factor.abs());
        let (whole, fraction) = decimal.split_once('.').unwrap_or((&decimal, ""));
        if fraction.len() > DECIMALS_MAX {
            return Err(ScaleError::Decimals);
        }
        let numerator = format!("{whole}{fraction}").parse().map_err(|_| ScaleError::Range)?;
        Ok(Scale { numerator, denominator: 10_u64.pow(fraction.len() as u32) })
    }

    /// A time times the factor, rounded down; `None` beyond 10^9 seconds.
    pub fn apply(self, ns: u128) -> Option<u64> {
        let scaled = ns.checked_mul(self.numerator.into())? / u128::from(self.denominator);
        u64::try_from(scaled).ok().filter(|scaled| u128::from(*scaled) <= NS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_is_decimal() {
        let scaled = |factor, ns| Scale::new(factor).map(|scale| scale.apply(ns));
        assert_eq!(scaled(0.1, 3_000_000_007), Ok(Some(300_000_000)));
        assert_eq!(scaled(1.0, 7), Ok(Some(7)));
        assert_eq!(scaled(2.5, 3), Ok(Some(7)));
        assert_eq!(scaled(0.0, 99), Ok(Some(0)));
        assert_eq!(scaled(1_000_000.0, u128::from(u64::MAX)), Ok(None));
        assert_eq!(scaled(-0.5, 1), Err(ScaleError::Range));
        assert_eq!(scaled(f64::NAN, 1), Err(ScaleError::Range));
        assert_eq!(scaled(f64::INFINITY, 1), Err(ScaleError::Range));
        assert_eq!(scaled(1e-13, 1), Err(ScaleError::Decimals));
    }
}
