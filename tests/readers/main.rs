//! Every reader takes any bytes: the soak of scenario files, traces, recordings, shards, scripts of keys, command lines and values,
//! and of the program as a whole. docs/testing.md says what is checked and how to run it for hours.

mod keys;
mod line;
mod mutate;
mod program;
mod recording;
mod replay;
mod scenario;
mod shard;
mod soak;
mod trace;
