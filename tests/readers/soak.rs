//! The soak of a reader: every file of its corpus, then inputs that the mutator makes of the samples. An input with a new outcome
//! becomes a sample.
//!
//! A fault is a panic of the reader or of a check in `Reader::read`. The inputs of faults are saved; the first of them is shown. An
//! abort of the process or an endless loop leaves the input in `NAME.input` of the same directory.

use std::alloc::System;
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use super::mutate::Mutator;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The allocator counts for the whole process, so one soak runs at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How long one input may take. A count of allocated bytes bounds the work; the time is for loops that allocate nothing.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Soaks end after so many different faults.
const FAULTS_MAX: usize = 20;

/// What came of an input.
pub struct Outcome {
    /// The input was accepted, not refused with an error.
    pub accepted: bool,
    /// What was seen: shapes of errors, verdicts, goals.
    pub signs: Vec<String>,
}

impl Outcome {
    /// A refusal.
    pub fn refused(error: &str) -> Outcome {
        Outcome { accepted: false, signs: vec![shape(error)] }
    }
}

/// A reader of inputs.
pub trait Reader {
    /// Its directory in `tests/corpus`.
    const NAME: &'static str;
    /// The number of inputs, unless OVERLAPSIM_INPUTS gives one.
    const INPUTS: u64;
    /// The most bytes that may be allocated for one input, those freed again included.
    const BYTES_MAX: usize = 256 << 20;

    /// Words of the format.
    fn words(&self) -> Vec<String>;

    /// Samples beside the corpus.
    fn samples(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Reads an input and asserts all that must hold of any input.
    fn read(&mut self, input: &[u8]) -> Outcome;
}

/// The files of a reader's corpus, in the order of their names.
pub fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a file of the corpus"))).collect()
}

/// A text without what differs from input to input: numbers, and texts in quotes.
pub fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut quoted = None;
    for c in text.chars() {
        match quoted {
            Some(quote) if c == quote => quoted = None,
            Some(_) => continue,
            None if c == '"' || c == '`' => quoted = Some(c),
            None if !c.is_ascii() => continue,
            None => {}
        }
        if !(c.is_ascii_digit() && shape.ends_with('0')) {
            shape.push(if c.is_ascii_digit() { '0' } else { c });
        }
    }
    shape.truncate(160);
    shape
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, not a number")))
}

/// Runs a soak and panics if it found a fault.
pub fn soak<R: Reader>(mut reader: R) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let seed = number("OVERLAPSIM_SEED").unwrap_or(1);
    let inputs = number("OVERLAPSIM_INPUTS").unwrap_or(R::INPUTS);
    let mut soak = Soak::new::<R>(seed);
    for (path, input) in corpus(R::NAME) {
        soak.try_one(&mut reader, input, Some(&path));
    }
    for sample in reader.samples() {
        soak.try_one(&mut reader, sample, None);
    }
    assert!(!soak.samples.is_empty(), "{}: no sample can be read", R::NAME);
    let mut mutator = Mutator::new(seed, reader.words());
    for _ in 0..inputs {
        let input = mutator.mutate(&soak.samples, &soak.readable);
        soak.try_one(&mut reader, input, None);
        if soak.faults.len() >= FAULTS_MAX {
            break;
        }
    }
    soak.end(R::NAME);
}

/// A soak that is running.
struct Soak {
    /// Where inputs are saved.
    folder: PathBuf,
    /// The file of the input that is being read.
    current: PathBuf,
    samples: Vec<Vec<u8>>,
    /// The indices of samples that are accepted.
    readable: Vec<usize>,
    signs: BTreeSet<String>,
    faults: Vec<String>,
    shapes: BTreeSet<String>,
    tried: u64,
    accepted: u64,
    bytes_most: usize,
    /// New samples are saved.
    keep: bool,
    /// Tells the watch that an input is done.
    done: Sender<()>,
}

impl Soak {
    fn new<R: Reader>(seed: u64) -> Soak {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers");
        std::fs::create_dir_all(&folder).expect("a directory");
        let current = folder.join(format!("{}-{seed}.input", R::NAME));
        let (done, waiting) = channel();
        let shown = current.display().to_string();
        std::thread::spawn(move || watch(&waiting, &shown));
        Soak {
            folder,
            current,
            samples: Vec::new(),
            readable: Vec::new(),
            signs: BTreeSet::new(),
            faults: Vec::new(),
            shapes: BTreeSet::new(),
            tried: 0,
            accepted: 0,
            bytes_most: 0,
            keep: number("OVERLAPSIM_INPUTS").is_some(),
            done,
        }
    }

    /// Reads an input, and keeps it if its outcome is new.
    fn try_one<R: Reader>(&mut self, reader: &mut R, input: Vec<u8>, file: Option<&Path>) {
        std::fs::write(&self.current, &input).expect("the input can be saved");
        let region = Region::new(ALLOCATOR);
        let read = catch_unwind(AssertUnwindSafe(|| reader.read(&input)));
        let bytes = region.change().bytes_allocated;
        let _ = self.done.send(());
        self.tried += 1;
        self.bytes_most = self.bytes_most.max(bytes);
        let outcome = match read {
            Ok(_) if bytes > R::BYTES_MAX => {
                return self.fault::<R>(&input, file, &format!("{bytes} bytes are allocated"));
            }
            Ok(outcome) => outcome,
            Err(panic) => return self.fault::<R>(&input, file, words_of(&*panic)),
        };
        self.accepted += u64::from(outcome.accepted);
        let mut is_new = file.is_some();
        for sign in outcome.signs {
            is_new |= self.signs.insert(sign);
        }
        if is_new {
            if self.keep && file.is_none() {
                let path = self.folder.join(format!("{}-{:04}.new", R::NAME, self.samples.len()));
                std::fs::write(path, &input).expect("the input can be saved");
            }
            if outcome.accepted {
                self.readable.push(self.samples.len());
            }
            self.samples.push(input);
        }
    }

    fn fault<R: Reader>(&mut self, input: &[u8], file: Option<&Path>, message: &str) {
        if !self.shapes.insert(shape(message)) && file.is_none() {
            return;
        }
        let saved = self.folder.join(format!("{}-{:02}.fault", R::NAME, self.faults.len()));
        std::fs::write(&saved, input).expect("the input can be saved");
        let path = file.unwrap_or(&saved).display();
        self.faults.push(format!("{path}: {message}"));
    }

    fn end(self, name: &str) {
        let Soak { tried, accepted, signs, samples, faults, bytes_most, current, .. } = self;
        let mib = bytes_most as f64 / f64::from(1 << 20);
        println!(
            "{name}: {tried} inputs, {accepted} accepted, {} signs, {} samples, at most {mib:.1} MiB allocated, {} faults",
            signs.len(),
            samples.len(),
            faults.len()
        );
        let _ = std::fs::remove_file(current);
        assert!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n\n"));
        assert!(accepted * 20 >= tried, "{name}: few inputs are accepted, so little beyond the reader is tried");
    }
}

/// Ends the process if an input takes too long.
fn watch(done: &Receiver<()>, current: &str) {
    // The soak itself may wait for a long time before its first input.
    if done.recv().is_err() {
        return;
    }
    loop {
        match done.recv_timeout(TIME_MAX) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                eprintln!("{current}: this input takes longer than {TIME_MAX:?}");
                std::process::abort();
            }
        }
    }
}

/// The message of a panic.
fn words_of(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
