//! The mutator: a few small changes make a new input of samples. It knows bytes, words, lines and brackets, and the words of a
//! format, but no grammar. Deterministic by its seed.

use std::ops::Range;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The longest input, in bytes.
const LEN_MAX: usize = 1 << 17;

/// Numbers at the edges of types and of the bounds of the formats, and texts that are nearly numbers.
const NUMBERS: [&str; 44] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "16",
    "63",
    "64",
    "65",
    "255",
    "256",
    "1000",
    "4095",
    "4096",
    "65535",
    "65536",
    "1048576",
    "16777216",
    "16777217",
    "33554432",
    "33554433",
    "1073741824",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0.5",
    "1e9",
    "1e-9",
    "1e999",
    "-0.0",
    "NaN",
    "inf",
    "0x10",
    "1_000",
];

/// Control, invisible and bidirectional characters, quotes, and bytes that are not UTF-8.
const HOSTILE: [&[u8]; 36] = [
    b"\0",
    b"\x07",
    b"\x08",
    b"\x0c",
    b"\r",
    b"\r\n",
    b"\n",
    b"\t",
    b"\x1b[31m",
    b"\x1b]0;title\x07",
    b"\x7f",
    b"\\",
    b"\"",
    b"'",
    b"`",
    b"$(x)",
    b"%s",
    b"../",
    b"#",
    b"//",
    "\u{85}".as_bytes(),
    "\u{9b}31m".as_bytes(),
    "\u{ad}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{2066}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{e0041}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{661}".as_bytes(),
    "\u{1f600}".as_bytes(),
    "\u{10ffff}".as_bytes(),
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
];

/// A change of a text; the second argument holds all samples.
type Step = fn(&mut Mutator, &mut Vec<u8>, &[Vec<u8>]);

/// Changes that often keep a text readable.
const GENTLE: [Step; 8] = [
    Mutator::odd_number,
    Mutator::near_number,
    Mutator::near_number,
    Mutator::exchange_words,
    Mutator::known_word,
    Mutator::copy_line,
    Mutator::remove_line,
    Mutator::exchange_lines,
];

/// Changes that often make a text unreadable.
const HARSH: [Step; 12] = [
    Mutator::flip,
    Mutator::set,
    Mutator::remove,
    Mutator::remove_word,
    Mutator::copy,
    Mutator::foreign,
    Mutator::splice,
    Mutator::insert_word,
    Mutator::hostile,
    Mutator::truncate,
    Mutator::line_breaks,
    Mutator::nest,
];

/// Makes inputs of samples.
pub struct Mutator {
    random: ChaCha8Rng,
    words: Vec<Vec<u8>>,
}

#[expect(clippy::ptr_arg, reason = "every step takes a `Vec`")]
impl Mutator {
    /// A mutator that inserts these words of the format.
    pub fn new(seed: u64, words: Vec<String>) -> Mutator {
        let words = words.into_iter().map(String::into_bytes).collect();
        Mutator { random: ChaCha8Rng::seed_from_u64(seed), words }
    }

    /// A changed copy of one of the samples, mostly of an accepted one. `accepted` has their indices.
    pub fn mutate(&mut self, samples: &[Vec<u8>], accepted: &[usize]) -> Vec<u8> {
        let sample =
            if accepted.is_empty() || self.below(5) == 0 { self.below(samples.len()) } else { *self.one_of(accepted) };
        let mut text = samples[sample].clone();
        let gentle = self.below(3) > 0;
        for _ in 0..=self.below(4) {
            let step = match gentle {
                true => GENTLE[self.below(GENTLE.len())],
                false => HARSH[self.below(HARSH.len())],
            };
            step(self, &mut text, samples);
        }
        text.truncate(LEN_MAX);
        text
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.random.random_range(0..end) }
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A range of the text, mostly short.
    fn range(&mut self, text: &[u8]) -> Range<usize> {
        let from = self.below(text.len() + 1);
        let longest = *self.one_of(&[1, 4, 16, 64, 1024]);
        from..text.len().min(from + 1 + self.below(longest))
    }

    /// A word of the text that is as `wanted`.
    fn word(&mut self, text: &[u8], wanted: fn(&[u8]) -> bool) -> Option<Range<usize>> {
        let words: Vec<Range<usize>> = words(text).into_iter().filter(|word| wanted(&text[word.clone()])).collect();
        (!words.is_empty()).then(|| self.one_of(&words).clone())
    }

    /// A line of the text, with its line break.
    fn line(&mut self, text: &[u8]) -> Range<usize> {
        let mut at = 0;
        let lines: Vec<Range<usize>> = text
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| {
                at += line.len();
                at - line.len()..at
            })
            .collect();
        if lines.is_empty() { 0..0 } else { self.one_of(&lines).clone() }
    }

    fn insert(&mut self, text: &mut Vec<u8>, what: &[u8]) {
        let at = self.below(text.len() + 1);
        text.splice(at..at, what.iter().copied());
    }

    fn odd_number(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        if let Some(at) = self.word(text, is_number) {
            let number = *self.one_of(&NUMBERS);
            text.splice(at, number.bytes());
        }
    }

    /// A number becomes one a little above or below.
    fn near_number(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let Some(at) = self.word(text, is_number) else { return };
        let number: Option<i128> = std::str::from_utf8(&text[at.clone()]).ok().and_then(|text| text.parse().ok());
        if let Some(number) = number {
            let near = number.saturating_add([-2, -1, 1, 2, 3, 7][self.below(6)]);
            text.splice(at, near.max(0).to_string().into_bytes());
        }
    }

    /// A word or a number becomes another one of the text.
    fn exchange_words(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let Some(to) = self.word(text, is_word) else { return };
        let wanted = if is_number(&text[to.clone()]) { is_number } else { is_word };
        if let Some(from) = self.word(text, wanted) {
            let from = text[from].to_vec();
            text.splice(to, from);
        }
    }

    /// A word of the text becomes one of the format.
    fn known_word(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        if let Some(at) = self.word(text, is_word)
            && !self.words.is_empty()
        {
            let pick = self.below(self.words.len());
            let word = self.words[pick].clone();
            text.splice(at, word);
        }
    }

    fn copy_line(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let (from, to) = (self.line(text), self.line(text));
        let line = text[from].to_vec();
        text.splice(to.start..to.start, line);
    }

    fn remove_line(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let line = self.line(text);
        text.drain(line);
    }

    fn exchange_lines(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let (one, other) = (self.line(text), self.line(text));
        if one.end <= other.start {
            text[one.start..other.end].rotate_left(one.len());
        }
    }

    fn flip(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let at = self.below(text.len());
        let bit = 1 << self.below(8);
        if let Some(byte) = text.get_mut(at) {
            *byte ^= bit;
        }
    }

    fn set(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let at = self.below(text.len());
        let value = self.below(256) as u8;
        if let Some(byte) = text.get_mut(at) {
            *byte = value;
        }
    }

    fn remove(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let range = self.range(text);
        text.drain(range);
    }

    fn remove_word(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        if let Some(at) = self.word(text, |_| true) {
            text.drain(at);
        }
    }

    fn copy(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let range = self.range(text);
        let part = text[range].to_vec();
        self.insert(text, &part);
    }

    fn foreign(&mut self, text: &mut Vec<u8>, samples: &[Vec<u8>]) {
        let other = self.below(samples.len());
        let range = self.range(&samples[other]);
        self.insert(text, &samples[other][range]);
    }

    /// The rest of the text becomes that of another sample.
    fn splice(&mut self, text: &mut Vec<u8>, samples: &[Vec<u8>]) {
        let other = self.below(samples.len());
        let from = self.below(samples[other].len());
        text.truncate(self.below(text.len() + 1));
        text.extend_from_slice(&samples[other][from..]);
    }

    fn insert_word(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        if !self.words.is_empty() {
            let pick = self.below(self.words.len());
            let word = self.words[pick].clone();
            self.insert(text, &word);
        }
    }

    fn hostile(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let what = *self.one_of(&HOSTILE);
        self.insert(text, what);
    }

    fn truncate(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        text.truncate(self.below(text.len() + 1));
    }

    /// All lines end otherwise.
    fn line_breaks(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let ends: [&[u8]; 4] = [b"\r\n", b"\r", b"\n\n", b"\0"];
        let end = *self.one_of(&ends);
        *text = text.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(end);
    }

    /// A part of the text, many times; an opening bracket, if there is one.
    fn nest(&mut self, text: &mut Vec<u8>, _: &[Vec<u8>]) {
        let part = match self.below(3) {
            0 => {
                let range = self.range(text);
                text[range].to_vec()
            }
            _ => self.one_of(&[&b"("[..], b"[", b"{", b"Some(", b"[(", b"/*", b"{\"a\":", b"<", b"\""]).to_vec(),
        };
        let times = *self.one_of(&[3, 30, 300, 3000]);
        let many = part.repeat(times.min(LEN_MAX / part.len().max(1)));
        self.insert(text, &many);
    }
}

/// The words, numbers and single marks of a text.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte >= 0x80;
    let mut words = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let len = text[at..].iter().take_while(|byte| inside(**byte)).count().max(1);
        if !text[at].is_ascii_whitespace() {
            words.push(at..at + len);
        }
        at += len;
    }
    words
}

fn is_number(word: &[u8]) -> bool {
    word[0].is_ascii_digit() || (word[0] == b'-' && word.len() > 1)
}

fn is_word(word: &[u8]) -> bool {
    word[0].is_ascii_alphanumeric() || word[0] == b'_'
}
