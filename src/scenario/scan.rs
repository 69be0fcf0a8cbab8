//! The tokens of RON text, as far as walking it needs: brackets, commas, colons, strings and the rest as words.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `(`, `[` or `{`
    Open,
    /// `)`, `]` or `}`
    Close,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// A string or character literal.
    Text,
    /// A name, a number, or anything else.
    Word,
    /// The end of the text.
    End,
}

/// A token and its byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RonToken {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

/// Reads tokens one by one. Every token but the last takes at least one byte, so loops over it end.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    comment: Option<Range<usize>>,
    open_comment: Option<usize>,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Scanner { text, at: 0, comment: None, open_comment: None }
    }

    /// The text of a token.
    pub fn slice(&self, token: &RonToken) -> &'a str {
        &self.text[token.start..token.end]
    }

    /// The first line comment that was passed, without its slashes.
    pub fn comment(&self) -> Option<&'a str> {
        let text = &self.text[self.comment.clone()?];
        Some(text.trim_start_matches('/').trim_start_matches('!').trim())
    }

    /// Where a block comment begins that the text does not close.
    pub fn unclosed_comment(mut self) -> Option<usize> {
        while self.take().kind != TokenKind::End {}
        self.open_comment
    }

    /// The next token, left where it is.
    pub fn peek(&self) -> RonToken {
        self.clone().take()
    }

    /// Takes the next token.
    pub fn take(&mut self) -> RonToken {
        self.skip_blank();
        let start = self.at;
        let rest = &self.text[start..];
        let (kind, len) = match rest.chars().next() {
            None => (TokenKind::End, 0),
            Some('(' | '[' | '{') => (TokenKind::Open, 1),
            Some(')' | ']' | '}') => (TokenKind::Close, 1),
            Some(',') => (TokenKind::Comma, 1),
            Some(':') => (TokenKind::Colon, 1),
            Some('"') => (TokenKind::Text, quoted_len(rest, '"')),
            Some('\'') => (TokenKind::Text, quoted_len(rest, '\'')),
            Some(first) => match prefixed_string_len(rest) {
                Some(len) => (TokenKind::Text, len),
                None => (TokenKind::Word, word_len(rest).max(first.len_utf8())),
            },
        };
        self.at += len;
        RonToken { kind, start, end: self.at }
    }

    /// Moves past one value, to the comma, colon, closing bracket or end behind it, and gives its range.
    pub fn skip_value(&mut self) -> Range<usize> {
        let first = self.peek();
        let mut end = first.start;
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::End => break,
                TokenKind::Comma | TokenKind::Colon | TokenKind::Close if depth == 0 => break,
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth -= 1,
                TokenKind::Comma | TokenKind::Colon | TokenKind::Text | TokenKind::Word => {}
            }
            self.take();
            end = token.end;
        }
        first.start..end
    }

    /// Moves past blanks, comments and `#![..]` attributes at the head of a file.
    pub fn skip_attributes(&mut self) {
        loop {
            self.skip_blank();
            if !self.text[self.at..].starts_with("#!") {
                return;
            }
            self.at += 2;
            if self.take().kind == TokenKind::Open {
                // The list inside, then its closing bracket.
                self.skip_list();
            }
        }
    }

    fn skip_list(&mut self) {
        loop {
            self.skip_value();
            if matches!(self.take().kind, TokenKind::Close | TokenKind::End) {
                return;
            }
        }
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = &rest[blank..];
            if rest.starts_with("//") {
                let len = rest.find('\n').unwrap_or(rest.len());
                if self.comment.is_none() {
                    self.comment = Some(self.at..self.at + len);
                }
                self.at += len;
            } else if rest.starts_with("/*") {
                let closed = block_comment_len(rest);
                self.open_comment = self.open_comment.or(closed.is_none().then_some(self.at));
                self.at += closed.unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }
}

fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// `r"..", r#".."#, b"..", br#".."#`; a raw name such as `r#do` is a word.
fn prefixed_string_len(rest: &str) -> Option<usize> {
    let (prefix_len, raw) = match rest.as_bytes() {
        [b'b', b'r', ..] => (2, true),
        [b'r', ..] => (1, true),
        [b'b', b'"' | b'\'', ..] => (1, false),
        _ => return None,
    };
    let body = &rest[prefix_len..];
    if !raw {
        let quote = if body.starts_with('"') { '"' } else { '\'' };
        return Some(prefix_len + quoted_len(body, quote));
    }
    let hashes = body.len() - body.trim_start_matches('#').len();
    if !body[hashes..].starts_with('"') {
        return None;
    }
    let closing = format!("\"{}", "#".repeat(hashes));
    let open = prefix_len + hashes + 1;
    Some(rest[open..].find(&closing).map_or(rest.len(), |at| open + at + closing.len()))
}

fn word_len(rest: &str) -> usize {
    let stop = |c: char| c.is_whitespace() || "()[]{},:\"'".contains(c);
    let plain = rest.find(stop).unwrap_or(rest.len());
    let comment = rest[..plain].find("//").or_else(|| rest[..plain].find("/*"));
    comment.unwrap_or(plain)
}

fn block_comment_len(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        if tail.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}
