//! Compressed files: recognized by their first bytes, described and with an unpack command for error messages. Nothing
//! is read or unpacked here.

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// A zip archive.
    Zip,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
}

impl Packed {
    /// The compression of a file with these first bytes, if it has one. A text has none.
    pub fn of(bytes: &[u8]) -> Option<Packed> {
        const MAGIC: [(&[u8], Packed); 6] = [
            (b"\x1f\x8b", Packed::Gzip),
            (b"\x28\xb5\x2f\xfd", Packed::Zstd),
            (b"PK\x03\x04", Packed::Zip),
            (b"PK\x05\x06", Packed::Zip),
            (b"\xfd7zXZ\0", Packed::Xz),
            (b"BZh", Packed::Bzip2),
        ];
        let found = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, packed)| *packed);
        // `BZh` could begin a text. In a bzip2 file a digit follows, and then the mark of a block or of the end.
        found.filter(|packed| *packed != Packed::Bzip2 || matches!(bytes.get(4..6), Some(b"\x31\x41" | b"\x17\x72")))
    }

    /// A description, as the end of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Packed::Gzip => "it is compressed with gzip",
            Packed::Zstd => "it is compressed with zstd",
            Packed::Zip => "it is a zip archive",
            Packed::Xz => "it is compressed with xz",
            Packed::Bzip2 => "it is compressed with bzip2",
        }
    }

    /// The remedy: the command that unpacks it.
    pub fn remedy(self) -> &'static str {
        match self {
            Packed::Gzip => "unpack it first, as with `gzip -dk FILE`",
            Packed::Zstd => "unpack it first, as with `zstd -d FILE`",
            Packed::Zip => "unpack it first, as with `unzip FILE`",
            Packed::Xz => "unpack it first, as with `xz -dk FILE`",
            Packed::Bzip2 => "unpack it first, as with `bzip2 -dk FILE`",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(Packed::of(b"\x1f\x8b\x08"), Some(Packed::Gzip));
        assert_eq!(Packed::of(b"BZh91AY&SY"), Some(Packed::Bzip2));
        for text in [&b"BZh9 is no header"[..], b"PKs", b"", b"(seed: 1)", b"{\"ev\": \"meta\"}"] {
            assert_eq!(Packed::of(text), None);
        }
    }
}
