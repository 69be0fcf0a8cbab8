//! Compressed files where a plain file is expected: the error names the format and the command that unpacks it.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The first bytes of a compressed file, and the command that unpacks it.
const PACKED: [(&str, &[u8], &str); 4] = [
    ("zst", b"\x28\xb5\x2f\xfd\x24\x00", "zstd -d"),
    ("zip", b"PK\x03\x04\x14\x00", "unzip"),
    ("xz", b"\xfd7zXZ\0\0\x04", "xz -dk"),
    ("bz2", b"BZh91AY&SY\x00", "bzip2 -dk"),
];

#[test]
fn a_compressed_file_is_named_as_such_with_the_command_to_unpack_it() {
    let folder = std::env::temp_dir().join(format!("overlapsim-packed-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(b"TIMESTAMP,ContextTokens,GeneratedTokens\n").unwrap();
    let gzip = gzip.finish().unwrap();
    let mut all = PACKED.to_vec();
    all.push(("gz", &gzip, "gzip -dk"));
    let fails = |args: &[&str], unpack: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).current_dir(&folder).output().unwrap();
        // `test` prints the error in the line of the file.
        let error = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        let is_named = error.contains("compressed with") || error.contains("zip archive");
        assert!(is_named && error.contains(&format!("unpack it first, as with `{unpack} FILE`")), "{args:?}: {error}");
    };
    for (end, bytes, unpack) in all {
        // The bytes decide, not the name.
        for name in [format!("trace.csv.{end}"), "trace.csv".to_string()] {
            fs::write(folder.join(&name), bytes).unwrap();
            for format in ["AzureCsv", "MooncakeJsonl"] {
                let scenario = format!("(trace: (format: {format}, path: \"{name}\"))");
                fs::write(folder.join("x.ron"), scenario).unwrap();
                fails(&["run", "x.ron"], unpack);
            }
        }
        let name = format!("packed.{end}");
        fs::write(folder.join(&name), bytes).unwrap();
        fails(&["run", &name], unpack);
        fails(&["test", &name], unpack);
        fails(&["merge", &name], unpack);
        // Recordings are read from gzip.
        if end != "gz" {
            fails(&["conform", &name], unpack);
            fails(&["import", &name, "-o", "y.ron"], unpack);
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
