//! Columns, wrapping and units of all text renderers. Plain ASCII, no trailing blanks.

use super::plain;

/// The width of text output in columns.
pub(super) const WIDTH: usize = 100;

/// Lays out rows in columns two blanks apart, each as wide as its widest cell; columns empty in every row vanish.
/// Columns whose index is in `right` are flush right.
pub(super) fn align(rows: &[Vec<String>], right: &[usize]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(columns_of(cell));
        }
    }
    rows.iter().map(|row| line(row, &widths, right)).collect()
}

fn line(row: &[String], widths: &[usize], right: &[usize]) -> String {
    let mut text = String::new();
    let mut first = true;
    for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
        if width == 0 {
            continue;
        }
        if !first {
            text.push_str("  ");
        }
        first = false;
        let blanks = " ".repeat(width - columns_of(cell));
        if right.contains(&column) {
            text.push_str(&blanks);
            text.push_str(cell);
        } else {
            text.push_str(cell);
            text.push_str(&blanks);
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The width of a text in columns: one per character, none for styles.
pub(super) fn columns_of(text: &str) -> usize {
    plain(text).chars().count()
}

/// A line with a head and a wrapped text beside it.
pub(super) fn row(out: &mut String, head: &str, text: &str) {
    const HEAD: usize = 10;
    let mut body = String::new();
    wrap(&mut body, HEAD, text);
    out.push_str(&format!("{head:<HEAD$}{}", body.trim_start()));
}

/// Appends `text` at `indent` to `out`, broken between words to stay within [`WIDTH`], and ends the line.
/// Continuation lines are indented by two more. A word that is too long stays whole.
pub(super) fn wrap(out: &mut String, indent: usize, text: &str) {
    let mut column = indent;
    out.push_str(&" ".repeat(indent));
    for (index, word) in text.split_whitespace().enumerate() {
        let length = columns_of(word);
        if index > 0 && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent + 2));
            column = indent + 2;
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

/// A span of time to three decimals in the unit that fits: us, ms or s. Further digits are cut off.
pub(super) fn span(ns: u64) -> String {
    let (unit, per_unit) = match ns {
        0..1_000_000 => ("us", 1_000),
        1_000_000..1_000_000_000 => ("ms", 1_000_000),
        1_000_000_000.. => ("s", 1_000_000_000),
    };
    format!("{}.{:03}{unit}", ns / per_unit, ns % per_unit * 1000 / per_unit)
}

/// A count with its noun: `1 row`, `2 rows`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn columns_fit_their_widest_cell_and_empty_ones_vanish() {
        let rows = [row(&["a", "", "7", "x"]), row(&["bcd", "", "1234", ""])];
        assert_eq!(align(&rows, &[2]), ["a       7  x", "bcd  1234"]);
        assert!(align(&[], &[]).is_empty());
    }

    #[test]
    fn styles_take_no_columns() {
        let bad = crate::report::style::Tone::Bad.word("bad");
        let rows = [row(&[&bad, "x"]), row(&["four", "y"])];
        assert_eq!(
            align(&rows, &[]).iter().map(|line| plain(line).into_owned()).collect::<Vec<_>>(),
            ["bad   x", "four  y"]
        );
        let wrapped = |word: &str| {
            let mut out = String::new();
            wrap(&mut out, 0, &format!("{word} ").repeat(30));
            plain(&out).into_owned()
        };
        assert_eq!(wrapped(&bad), wrapped("bad"));
    }

    #[test]
    fn long_text_breaks_between_words() {
        let mut out = String::new();
        wrap(&mut out, 2, &"word ".repeat(30));
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].len() <= WIDTH && lines[1].starts_with("    word"));
        out.clear();
        wrap(&mut out, 1, "");
        assert_eq!(out, " \n");
    }

    #[test]
    fn spans_choose_their_unit() {
        let all = [0, 999, 1_234, 999_999, 1_000_000, 1_234_567_890].map(span);
        assert_eq!(all, ["0.000us", "0.999us", "1.234us", "999.999us", "1.000ms", "1.234s"]);
        assert_eq!(span(u64::MAX), "18446744073.709s");
    }
}
