//! The Azure LLM inference traces (Azure/AzurePublicDataset): CSV with a header, one row a request, no prompt text.
//! Prompts are fresh tokens, so no two requests share a prefix.

use super::{BadRow, Fresh, LEN_MAX, Scale, TraceClock, TracePlace, TraceRow, len, lines, too_long};
use crate::model::Prompt;

const COLUMNS: [&str; 3] = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];
const DAY_NS: u128 = 24 * 3600 * SECOND_NS;
const SECOND_NS: u128 = 1_000_000_000;

/// Reads the first `limit` rows of a trace.
///
/// # Errors
/// The first bad row: a column missing or no number, a count of 0, a timestamp that goes back.
pub fn read(text: &str, limit: Option<usize>, scale: Scale) -> Result<Vec<TraceRow>, BadRow> {
    let mut lines = lines(text);
    let header = lines.next().map_or("", |(_, line)| line);
    let columns = columns(header)?;
    let mut clock = TraceClock::default();
    let mut fresh = Fresh::new();
    let mut rows = Vec::new();
    for (line, text) in lines.take(limit.unwrap_or(usize::MAX)) {
        let [time, context, generated] = fields(line, text, columns)?;
        let ns = timestamp_ns(time.text).ok_or_else(|| {
            BadRow::new(time.place, "`TIMESTAMP` is not a timestamp", "write it as 2023-11-16 18:15:46.6805900")
        })?;
        let at = clock.since_first(ns, scale, time.place)?;
        let prompt_len = count(context)?;
        let outputs = count(generated)?;
        let prompt = Prompt::Fresh { fresh: fresh.take(prompt_len, context.place)?, len: prompt_len };
        rows.push(TraceRow { at, prompt, prompt_len, outputs, place: context.place });
    }
    if rows.is_empty() {
        let place = TracePlace { line: 1, offset: 0, len: header.len() };
        return Err(BadRow::new(place, "the trace has no rows", "give a trace with at least one row"));
    }
    Ok(rows)
}

/// One field of a row, and which one it is.
#[derive(Clone, Copy)]
struct CsvField<'a> {
    name: &'static str,
    text: &'a str,
    place: TracePlace,
}

/// Where the columns are in the header.
fn columns(header: &str) -> Result<[usize; 3], BadRow> {
    if header.trim().is_empty() {
        let place = TracePlace { line: 1, offset: 0, len: header.len() };
        let remedy = format!("the first line of the file names the columns: {}", COLUMNS.join(","));
        return Err(BadRow::new(place, "the trace begins with no header", remedy));
    }
    let mut at = [0; 3];
    for (index, name) in COLUMNS.iter().enumerate() {
        let found = header.split(',').position(|column| column.trim() == *name);
        at[index] = found.ok_or_else(|| {
            let place = TracePlace { line: 1, offset: 0, len: header.len() };
            let remedy = format!("the first line of the file names the columns: {}", COLUMNS.join(","));
            BadRow::new(place, format!("the header has no column `{name}`"), remedy)
        })?;
    }
    Ok(at)
}

fn fields(line: usize, text: &str, columns: [usize; 3]) -> Result<[CsvField<'_>; 3], BadRow> {
    if text.trim().is_empty() {
        let place = TracePlace { line, offset: 0, len: text.len() };
        return Err(BadRow::new(place, "the row is empty", "take the empty line out"));
    }
    let field = |name: &'static str, column: usize| {
        let mut offset = 0;
        for (at, part) in text.split(',').enumerate() {
            if at == column {
                let indent = part.len() - part.trim_start().len();
                let trimmed = part.trim();
                let place = TracePlace { line, offset: offset + indent, len: trimmed.len() };
                return Ok(CsvField { name, text: trimmed, place });
            }
            offset += part.len() + 1;
        }
        let place = TracePlace { line, offset: 0, len: text.len() };
        Err(BadRow::new(place, format!("the row has no `{name}`"), format!("every row has {}", COLUMNS.join(","))))
    };
    Ok([field(COLUMNS[0], columns[0])?, field(COLUMNS[1], columns[1])?, field(COLUMNS[2], columns[2])?])
}

fn count(field: CsvField<'_>) -> Result<u32, BadRow> {
    let digits = !field.text.is_empty() && field.text.bytes().all(|byte| byte.is_ascii_digit());
    match field.text.parse::<u64>() {
        Ok(given) if digits => len(field.name, given, field.place),
        Err(_) if digits => Err(too_long(field.name, field.place)),
        Ok(_) | Err(_) => {
            let message = format!("`{}` is not a whole number", field.name);
            Err(BadRow::new(field.place, message, format!("write a number from 1 to {LEN_MAX}")))
        }
    }
}

/// Nanoseconds since 1970 of `2023-11-16 18:15:46.6805900`, with up to nine decimals or none; `+00:00` may follow.
fn timestamp_ns(text: &str) -> Option<u128> {
    let text = text.strip_suffix("+00:00").or(text.strip_suffix('Z')).unwrap_or(text);
    let (date, time) = text.split_once([' ', 'T'])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (clock, fraction) = time.split_once('.').map_or((time, None), |(clock, fraction)| (clock, Some(fraction)));
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let in_range =
        (1970..=9999).contains(&year) && (1..=12).contains(&month) && hour < 24 && minute < 60 && second < 60;
    if !in_range || day == 0 || day > days_in_month(year, month) {
        return None;
    }
    let fraction_ns = match fraction {
        None => 0,
        Some(digits) if (1..=9).contains(&digits.len()) => numbers(&format!("{digits:0<9}"), '.', [9])?[0],
        Some(_) => return None,
    };
    let seconds = (hour * 60 + minute) * 60 + second;
    Some(
        u128::from(days_since_1970(year, month, day)) * DAY_NS
            + u128::from(seconds) * SECOND_NS
            + u128::from(fraction_ns),
    )
}

/// Numbers of these widths between separators, nothing else.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: u32, month: u32, day: u32) -> u32 {
    let leap_days = |year: u32| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    let months: u32 = (1..month).map(|month| days_in_month(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_roll_over() {
        let between = |a, b| Some(timestamp_ns(b)? - timestamp_ns(a)?);
        assert_eq!(between("2023-11-16 23:59:59.9999999", "2023-11-17 00:00:00.0000000"), Some(100));
        assert_eq!(between("2023-12-31 23:59:59", "2024-01-01 00:00:00.5"), Some(1_500_000_000));
        assert_eq!(between("2024-02-28 00:00:00", "2024-03-01 00:00:00"), Some(2 * DAY_NS));
        assert_eq!(timestamp_ns("1970-01-01 00:00:00.000000001"), Some(1));
        assert_eq!(timestamp_ns("2000-03-01T00:00:00+00:00"), Some(951_868_800 * SECOND_NS));
    }

    #[test]
    fn what_is_no_timestamp_is_refused() {
        for text in [
            "",
            "2023-11-16",
            "2023-13-16 00:00:00",
            "2023-02-29 00:00:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:15:46.",
            "2023-11-16 18:15:46.1234567890",
            "2023-11-16 18:15:4é",
            "+023-11-16 18:15:46",
        ] {
            assert_eq!(timestamp_ns(text), None, "{text}");
        }
    }
}
