error: tests/recordings/whole/releases.jsonl.gz#x: cannot be read: there is no such file
help: give the path of a recording: .jsonl or .jsonl.gz
