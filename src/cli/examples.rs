//! What every command looks like in use: the end of its help.

pub(super) const RUN: &str = "Examples:
  overlapsim run scenarios/double-fire.ron
  overlapsim run scenarios/double-fire.ron --rule all
  overlapsim run scenarios/double-fire.ron --rule completed-mask --timeline
  overlapsim run scenarios/double-fire.ron --timeline --turns 3..4
  overlapsim run scenarios/natural-jitter.ron --seed 7 --format json
  overlapsim run scenarios/double-fire.ron --skew";

pub(super) const DIFF: &str = "Examples:
  overlapsim diff scenarios/double-fire.ron";

pub(super) const KL: &str = "Examples:
  overlapsim kl scenarios/kl-row2.ron
  overlapsim kl scenarios/kl-row2.ron --rule token-len --state-seed 7 --format json";

pub(super) const TEST: &str = "Examples:
  overlapsim test scenarios/
  overlapsim test scenarios/double-fire.ron my-incident.ron";

pub(super) const CONFORM: &str = "Examples:
  overlapsim conform tests/recordings/
  overlapsim conform run.jsonl.gz --plan own --format json
  overlapsim conform archive.jsonl.gz#17 --rule mask-lookahead

Exit code 1 if any recording differs, 2 if one cannot be read (the others are still compared).";

pub(super) const IMPORT: &str = "Examples:
  overlapsim import incident.jsonl -o incident.ron
  overlapsim import archive.jsonl.gz#17 -o case-17.ron

Exit code 1 if the replay leaves the recording; the file is written all the same, and the line is named.";

pub(super) const SCENARIO: &str = "Examples:
  overlapsim scenario scenarios/double-fire.ron
  overlapsim scenario scenarios/double-fire.ron --format json";

pub(super) const CHECK: &str = "Examples:
  overlapsim check scenarios/check/interleaved.ron
  overlapsim check scenarios/check/interleaved.ron --rule all --out found
  overlapsim check scenarios/check/interleaved.ron --rule paired --max-states 1000000 --format json

Exit code 1 if any timing is corrupt or broken, 3 if a bound ended the search before all was seen.";

pub(super) const FUZZ: &str = "Examples:
  overlapsim fuzz scenarios/check/interleaved.ron --seeds 0..10000 --rule all
  overlapsim fuzz --generate small --seeds 0..1000 --out found
  overlapsim fuzz --generate wide --seeds 0..1000000 --shard JOB_COMPLETION_INDEX/16 --out reports";

pub(super) const MERGE: &str = "Examples:
  overlapsim merge reports/
  overlapsim merge node-0/fuzz-0-of-2.json node-1/fuzz-1-of-2.json --format json";

pub(super) const GRAPH: &str = "Examples:
  overlapsim graph scenarios/torn-chunk-snapshot.ron
  overlapsim graph scenarios/torn-chunk-snapshot.ron --around 1
  overlapsim graph scenarios/double-fire.ron --rule completed-mask --format json";

pub(super) const TRACE: &str = "Examples:
  overlapsim trace scenarios/double-fire.ron -o double-fire.json
  overlapsim trace scenarios/double-fire.ron --rule completed-mask --turns 3..4 -o part.json

Open the file at ui.perfetto.dev or in chrome://tracing. One unit of time in it is one virtual nanosecond, which viewers
show as a microsecond: what they call 8 s are 8 ms.";
