//! Examples of every command: the end of its help. A test runs every line that begins with `overlapsim`.

/// The lines of examples, and the notes below them.
pub(super) fn parts(after_help: &str) -> (Vec<&str>, String) {
    let (examples, notes): (Vec<&str>, Vec<&str>) =
        after_help.lines().filter(|line| !line.is_empty()).skip(1).partition(|line| line.starts_with("  "));
    (examples.into_iter().map(str::trim_start).collect(), notes.join(" "))
}

pub(super) const PROGRAM: &str = "Examples:
  overlapsim run scenarios/double-fire.ron
  overlapsim diff scenarios/double-fire.ron
  overlapsim check scenarios/check/interleaved.ron --rule all

Exit codes: 0 clean or lossy; 1 corrupt or broken, or an expectation failed; 2 a mistake in the command line or a file; \
3 a bound ended the run (inconclusive). With --fail-on lossy also 1 for lossy; with --fail-on never 0 in place of 1 and 3.";

pub(super) const RUN: &str = "Examples:
  overlapsim run scenarios/double-fire.ron
  overlapsim run scenarios/double-fire.ron --rule all
  overlapsim run scenarios/double-fire.ron --rule completed-mask --timeline
  overlapsim run scenarios/double-fire.ron --timeline --turns 3..4
  overlapsim run scenarios/natural-jitter.ron --seed 7 --format json
  overlapsim run scenarios/double-fire.ron --skew
  overlapsim run scenarios/lost-checkpoint.ron --fail-on lossy";

pub(super) const REPORT: &str = "Examples:
  overlapsim report scenarios/double-fire.ron -o double-fire.html
  overlapsim report scenarios/double-fire.ron --rule all -o double-fire.html
  overlapsim report scenarios/natural-jitter.ron --seed 7 --turns 10..40 -o jitter.html";

pub(super) const DIFF: &str = "Examples:
  overlapsim diff scenarios/double-fire.ron";

pub(super) const KL: &str = "Examples:
  overlapsim kl scenarios/kl-row2.ron
  overlapsim kl scenarios/kl-row2.ron --rule token-len --state-seed 7 --format json";

pub(super) const JITTER: &str = "Examples:
  overlapsim jitter scenarios/double-fire.ron
  overlapsim jitter scenarios/no-interleaving.ron --request a --all 6 --from 3
  overlapsim jitter scenarios/double-fire.ron --pattern 010 -o jitter-010.ron
  overlapsim run jitter-010.ron --rule mask-lookahead --timeline";

pub(super) const COST: &str = "Examples:
  overlapsim cost scenarios/steady-decode.ron
  overlapsim cost scenarios/cpu-bound-decode.ron --batch 100,1000 --rule token-len,paired
  overlapsim cost scenarios/double-fire.ron --outputs 64 --cpu python-0.5.17 --format json

Exit code 0 even for a corrupt run: the runs are measured, not judged. 1 if an assertion of the modelled system ends a run, 3 if a \
bound does, 2 if no batch size has a steady decode step.";

pub(super) const TEST: &str = "Examples:
  overlapsim test scenarios/
  overlapsim test scenarios/double-fire.ron scenarios/lost-checkpoint.ron
  overlapsim test scenarios/no-interleaving.ron --fail-on lossy

Exit code 1 if an expectation failed; with --fail-on lossy or corrupt also if a verdict is that or worse, even if it is expected, \
or inconclusive.";

pub(super) const CONFORM: &str = "Examples:
  overlapsim conform tests/recordings/
  overlapsim conform tests/recordings/partial.jsonl.gz --format json
  overlapsim conform tests/recordings/whole/cases.jsonl.gz#17 --plan own

Exit code 1 if a recording differs from the model, 2 if one cannot be read (the others are still compared). With --fail-on never 0 \
in place of 1.";

pub(super) const IMPORT: &str = "Examples:
  overlapsim import tests/recordings/whole/cases.jsonl.gz#17 -o case-17.ron
  overlapsim import tests/recordings/whole/cases.jsonl.gz#17 -o case-17.ron --release 0.5.18

Exit code 1 if the replay differs from the recording; the file is written all the same, and the first line that differs is named.";

pub(super) const SCENARIO: &str = "Examples:
  overlapsim scenario scenarios/double-fire.ron
  overlapsim scenario scenarios/double-fire.ron --format json";

pub(super) const CHECK: &str = "Examples:
  overlapsim check scenarios/check/interleaved.ron
  overlapsim check scenarios/check/interleaved.ron --rule all --out found
  overlapsim check scenarios/check/interleaved.ron --rule paired --max-states 1000000 --format json

Exit code 1 if any timing is corrupt or broken, 3 if a bound ended the search before it was complete. With --fail-on lossy also 1 \
if any timing loses a checkpoint.";

pub(super) const FUZZ: &str = "Examples:
  overlapsim fuzz scenarios/check/interleaved.ron --seeds 0..2000 --rule all
  overlapsim fuzz --generate small --seeds 0..500 --out found
  overlapsim fuzz --generate all --seeds 0.. --max-time 2s --second-judge
  overlapsim fuzz --generate wide --seeds 0..4000 --shard JOB_COMPLETION_INDEX/16 --out reports";

pub(super) const MERGE: &str = "Examples:
  overlapsim merge reports/
  overlapsim merge node-0/fuzz-0-of-2.json node-1/fuzz-1-of-2.json --format json";

pub(super) const GRAPH: &str = "Examples:
  overlapsim graph scenarios/torn-chunk-snapshot.ron
  overlapsim graph scenarios/torn-chunk-snapshot.ron --around 1 | dot -Tsvg > torn.svg
  overlapsim graph scenarios/double-fire.ron --rule completed-mask --format json";

pub(super) const EXPLORE: &str = "Examples:
  overlapsim explore scenarios/double-fire.ron
  overlapsim explore scenarios/check/interleaved.ron --rule completed-mask --vary arrivals,stops
  overlapsim explore scenarios/double-fire.ron --script ffr --ascii
  overlapsim explore scenarios/double-fire.ron --script fmr= --size 100x30

Press ? for the keys. Exit code 0 even for a corrupt run.";

pub(super) const COMPLETIONS: &str = "Examples:
  overlapsim completions bash > ~/.local/share/bash-completion/completions/overlapsim
  overlapsim completions zsh > ~/.zfunc/_overlapsim
  overlapsim completions fish > ~/.config/fish/completions/overlapsim.fish";

pub(super) const MAN: &str = "Examples:
  overlapsim man ~/.local/share/man/man1";

pub(super) const TRACE: &str = "Examples:
  overlapsim trace scenarios/double-fire.ron -o double-fire.json
  overlapsim trace scenarios/double-fire.ron --rule completed-mask --turns 3..4 -o part.json

Open the file at ui.perfetto.dev or in chrome://tracing. Times are virtual and to scale: the
trace of a real server can be opened beside it.";
