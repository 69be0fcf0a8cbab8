//! Durations as text, such as `"12.5ms"`, read exactly into integer nanoseconds.

/// The longest duration, 10^9 seconds: sums of some of them still fit a `u64`.
const NS_MAX: u128 = 1_000_000_000_000_000_000;

const UNITS: [(&str, u32); 4] = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9)];

/// Reads a duration.
///
/// # Errors
/// What is wrong with the text, as the end of a sentence.
pub(super) fn parse_ns(text: &str) -> Result<u64, &'static str> {
    let text = text.trim();
    let number_len = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..number_len].replace('_', ""), text[number_len..].trim_start());
    let digits = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, digits)| *digits).ok_or(match unit {
        "" => "has no unit",
        _ => "has no unit that is known, or is not a number",
    })?;
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err("is not a number");
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > digits as usize {
        return Err("is finer than a nanosecond");
    }
    let padded = format!("{whole}{fraction:0<width$}", width = digits as usize);
    match padded.trim_start_matches('0') {
        "" => Ok(0),
        digits if digits.len() > 20 => Err("is too long"),
        digits => match digits.parse::<u128>() {
            Ok(ns) if ns <= NS_MAX => u64::try_from(ns).map_err(|_| "is too long"),
            Ok(_) => Err("is too long"),
            Err(_) => Err("is not a number"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, ns) in [
            ("12.5ms", 12_500_000),
            ("0s", 0),
            ("7ns", 7),
            ("1_000us", 1_000_000),
            ("0.000000001s", 1),
            (" 3 s ", 3_000_000_000),
            ("1.000ns", 1),
            ("1000000000s", 1_000_000_000_000_000_000),
        ] {
            assert_eq!(parse_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_told() {
        for (text, why) in [
            ("", "has no unit"),
            ("12", "has no unit"),
            ("1.5ns", "is finer than a nanosecond"),
            ("12 min", "has no unit that is known, or is not a number"),
            ("-1ms", "has no unit that is known, or is not a number"),
            (".5ms", "is not a number"),
            ("1.ms", "is not a number"),
            ("1.2.3ms", "is not a number"),
            ("ms", "is not a number"),
            ("1000000001s", "is too long"),
            ("99999999999999999999999999999s", "is too long"),
        ] {
            assert_eq!(parse_ns(text), Err(why), "{text}");
        }
    }
}
