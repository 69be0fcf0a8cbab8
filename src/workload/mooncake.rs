//! The Mooncake traces (kvcache-ai/Mooncake): one JSON object a line, prompts as ids of 512-token blocks. Equal ids
//! become equal tokens, so that prompts share the prefixes that they shared in the service.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BadRow, Fresh, Scale, TraceClock, TracePlace, TraceRow, blocks, len, lines};

/// Tokens in a block.
pub const BLOCK_LEN: u32 = 512;
const MILLISECOND_NS: u128 = 1_000_000;

/// The fields that are one number.
const NUMBERS: [&str; 3] = ["timestamp", "input_length", "output_length"];

#[derive(Deserialize)]
struct MooncakeRow {
    timestamp: u64,
    input_length: u64,
    output_length: u64,
    hash_ids: Vec<u64>,
}

/// Reads the first `limit` rows of a trace. Blocks are given tokens in the order in which they are first named.
///
/// # Errors
/// The first bad row: broken JSON, a field missing or of the wrong type, a length of 0, a number of blocks that does
/// not fit the length of the prompt, a timestamp that goes back.
pub fn read(text: &str, limit: Option<usize>, scale: Scale) -> Result<Vec<TraceRow>, BadRow> {
    let mut clock = TraceClock::default();
    let mut fresh = Fresh::new();
    let mut first_of_block = BTreeMap::new();
    let mut rows = Vec::new();
    for (line, text) in
        lines(text).take(limit.unwrap_or(usize::MAX)).filter(|(line, text)| *line > 1 || !text.is_empty())
    {
        let raw = row(line, text)?;
        let place = |name| value_place(line, text, name);
        let (ids_place, prompt_place) = (place("hash_ids"), place("input_length"));
        let ns = u128::from(raw.timestamp) * MILLISECOND_NS;
        let at = clock.since_first(ns, scale, place("timestamp"))?;
        let prompt_len = len("input_length", raw.input_length, prompt_place)?;
        let outputs = len("output_length", raw.output_length, place("output_length"))?;
        let needed = prompt_len.div_ceil(BLOCK_LEN) as usize;
        if raw.hash_ids.len() != needed {
            let message = format!(
                "{} `hash_ids` do not cover {} tokens in blocks of {BLOCK_LEN}",
                raw.hash_ids.len(),
                raw.input_length
            );
            return Err(BadRow::new(ids_place, message, format!("list {needed} ids, one a block")));
        }
        let mut firsts = Vec::with_capacity(needed);
        for id in raw.hash_ids {
            let first = match first_of_block.get(&id) {
                Some(first) => *first,
                None => {
                    let first = fresh.take(BLOCK_LEN, ids_place)?;
                    first_of_block.insert(id, first);
                    first
                }
            };
            firsts.push(first);
        }
        rows.push(TraceRow {
            at,
            prompt: blocks(firsts, BLOCK_LEN, prompt_len),
            prompt_len,
            outputs,
            place: prompt_place,
        });
    }
    if rows.is_empty() {
        let place = TracePlace { line: 1, offset: 0, len: 0 };
        return Err(BadRow::new(place, "the trace has no rows", "give a trace with at least one row"));
    }
    Ok(rows)
}

fn row(line: usize, text: &str) -> Result<MooncakeRow, BadRow> {
    if text.trim().is_empty() {
        let place = TracePlace { line, offset: 0, len: text.len() };
        return Err(BadRow::new(place, "the row is empty", "take the empty line out"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize::<_, MooncakeRow>(&mut deserializer);
    let (name, error) = match read {
        Ok(raw) => match deserializer.end() {
            Ok(()) => return Ok(raw),
            Err(error) => (None, error),
        },
        Err(error) => {
            let name = error.path().to_string();
            (Some(name).filter(|name| name != "."), error.into_inner())
        }
    };
    // The error ends with " at line 1 column 7". The place of the diagnostic replaces that.
    let text_of_error = error.to_string();
    let reason = text_of_error.split(" at line ").next().unwrap_or(&text_of_error);
    // Columns count bytes from 1. The end of a row that is cut short is behind its last byte.
    let offset = if error.is_eof() { text.len() } else { error.column().saturating_sub(1).min(text.len()) };
    let mut place = TracePlace { line, offset, len: 1 };
    let message = match name {
        Some(name) if error.is_data() && NUMBERS.contains(&name.as_str()) && !reason.starts_with("duplicate") => {
            place = value_place(line, text, &name);
            format!("`{name}` is not a whole number of 0 or more that the simulator holds")
        }
        // Any other reason may quote the value.
        _ if error.is_data() && !["missing field", "duplicate field"].iter().any(|word| reason.starts_with(word)) => {
            "the row cannot be read: `hash_ids` is not a list of whole numbers, or the row is not an object".to_owned()
        }
        _ => format!("the row cannot be read: {reason}"),
    };
    let remedy = match error.classify() {
        serde_json::error::Category::Data => {
            "a row has whole numbers timestamp (milliseconds), input_length and output_length, and a list hash_ids"
        }
        serde_json::error::Category::Eof => "the row is cut short: write one whole JSON object a line",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "write one JSON object a line",
    };
    Err(BadRow::new(place, message, remedy))
}

/// The place of the value of a field, in a row that could be read.
fn value_place(line: usize, text: &str, name: &str) -> TracePlace {
    let key = format!("\"{name}\"");
    let Some(after) = text.find(&key).map(|at| at + key.len()) else {
        return TracePlace { line, offset: 0, len: text.len() };
    };
    let indent = text[after..].find(|c: char| c != ':' && !c.is_whitespace()).unwrap_or(0);
    let offset = after + indent;
    let end = if text[offset..].starts_with('[') {
        text[offset..].find(']').map(|at| at + 1)
    } else {
        text[offset..].find([',', '}'])
    };
    TracePlace { line, offset, len: end.unwrap_or(text.len() - offset) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Time;
    use crate::model::Prompt;

    #[test]
    fn equal_ids_are_equal_tokens() {
        let text = concat!(
            "{\"timestamp\": 7, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [9000000000, 5]}\r\n",
            "{\"timestamp\": 10, \"input_length\": 1030, \"output_length\": 1, \"hash_ids\": [9000000000, 7, 5]}",
        );
        let rows = read(text, None, Scale::ONE).expect("two rows");
        let firsts = rows.iter().map(|row| match &row.prompt {
            Prompt::Blocks { firsts, block_len: 512, len } if *len == row.prompt_len => firsts.to_vec(),
            other => panic!("{other:?}"),
        });
        assert_eq!(firsts.collect::<Vec<_>>(), [vec![1000, 1512], vec![1000, 2024, 1512]]);
        assert_eq!((rows[1].at, rows[1].outputs), (Time(3_000_000), 1));
        assert_eq!(read(text, Some(1), Scale::ONE).map(|rows| rows.len()), Ok(1));
    }
}
