#!/usr/bin/env python3
"""Which of a random sample of mutants do the tests notice? README.md explains. `measure.py --help` lists the options.

All mutants of the sample are compiled into one copy of the tree, behind a switch that an environment variable sets: one build, one
run of the test programs for each mutant.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mutate

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["rule", "judge", "model", "search"]
# The cheapest first: a mutant is run until the first program notices it.
PROGRAMS = ["overlapsim", "judge", "model", "search", "cli"]
# Tests that no mutant is run with: a browser draws the page, and none of the modules takes part.
SKIPPED = {"cli": ["browser::"]}
SECONDS_MIN, TIMES_NORMAL = 60, 5
SWITCH = """//! Which mutant of this copy is on.
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
static ACTIVE: LazyLock<usize> = LazyLock::new(|| match std::env::var("OVERLAPSIM_MUTANT") {
    Ok(number) => number.parse().expect("the number of a mutant"),
    Err(_) => 0,
});
static REACH: LazyLock<Option<std::path::PathBuf>> = LazyLock::new(|| std::env::var_os("OVERLAPSIM_REACH").map(Into::into));
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
#[inline]
pub(crate) fn on(number: usize) -> bool {
    if let Some(folder) = &*REACH && !REACHED[number].swap(true, Ordering::Relaxed) {
        std::fs::File::create(folder.join(number.to_string())).expect("a writable folder");
    }
    *ACTIVE == number
}
"""


@dataclasses.dataclass
class Outcome:
    """What became of a mutant: `caught`, `timeout`, `survived` or `unreached`; by which test of which program."""

    kind: str
    by: str = ""


def sources():
    """The files that are mutated."""
    for module in MODULES:
        for path in sorted((ROOT / "src" / module).rglob("*.rs")):
            if path.name != "tests.rs" and "tests" not in path.parts:
                yield path.relative_to(ROOT)


def all_mutants():
    return [mutant for path in sources() for mutant in mutate.find(str(path), (ROOT / path).read_bytes())]


def copy_tree(tree):
    """Copies what git knows or would add; files that have not changed keep their time, so that cargo builds little again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in [path for path in tree.rglob("*") if path.is_file() and str(path.relative_to(tree)) not in names]:
        path.unlink()
    for name in names:
        write(tree / name, (ROOT / name).read_bytes(), ROOT / name)


def write(path, content, like=None):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if like is not None:
            shutil.copymode(like, path)


def mutate_tree(tree, sample):
    """Writes the sources of the copy with the mutants in; returns the text of each file."""
    rendered = {}
    for path in sources():
        numbered = {number: mutant for number, mutant in sample.items() if mutant.path == str(path)}
        rendered[str(path)] = mutate.render((ROOT / path).read_bytes(), numbered)
        write(tree / path, rendered[str(path)].encode())
    write(tree / "src/mutant.rs", SWITCH.replace("COUNT", str(max(sample) + 1)).encode())
    lib = (ROOT / "src/lib.rs").read_text().rstrip() + "\n#[allow(missing_docs)]\nmod mutant;\n"
    write(tree / "src/lib.rs", lib.encode())
    return rendered


def cargo(tree, target, *arguments):
    """The messages of cargo, and whether it succeeded."""
    command = ["cargo", *arguments, "--message-format=json"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_TERM_QUIET": "true"}
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode == 0


def culprits(messages, rendered):
    """The mutants that the errors of the compiler point into."""
    found = set()
    for message in messages:
        message = message.get("message") or {}
        if isinstance(message, dict) and message.get("level") == "error":
            for span in sorted(message["spans"], key=lambda span: not span["is_primary"]):
                number = span["file_name"] in rendered and mutate.enclosing(rendered[span["file_name"]], span["byte_start"])
                if number:
                    found.add(number)
                    break
            else:
                if message["spans"]:
                    print(f"no mutant at: {message['rendered']}", file=sys.stderr)
    return found


def draw(order, count, tree, target):
    """The first `count` mutants of the order that compile, numbered from 1, and those before them that do not."""
    left, refused = list(order), []
    while True:
        sample = dict(enumerate(left[:count], 1))
        rendered = mutate_tree(tree, sample)
        messages, succeeded = cargo(tree, target, "check", "--lib")
        if succeeded:
            return sample, refused
        bad = culprits(messages, rendered)
        if not bad:
            sys.exit("the copy does not compile, and no mutant is the reason")
        print(f"{len(bad)} do not compile", flush=True)
        refused += [sample[number] for number in sorted(bad)]
        left = [mutant for mutant in left if mutant not in refused]


def build(tree, target):
    """The test programs by name, in the order in which they run. The sources of the copy are the original ones afterwards."""
    tests = [word for name in PROGRAMS[1:] for word in ("--test", name)]
    messages, succeeded = cargo(tree, target, "test", "--no-run", "--lib", *tests)
    if not succeeded:
        sys.exit("the tests of the copy do not compile")
    built = {m["target"]["name"]: m["executable"] for m in messages if m.get("executable") and m["profile"]["test"]}
    # Tests that read the sources must see the original ones.
    copy_tree(tree)
    return {name: built[name] for name in PROGRAMS}


class Runner:
    """Runs test programs in the copy."""

    def __init__(self, tree, programs):
        self.tree, self.programs = tree, programs

    def run(self, program, number, seconds, extra=(), reach=None):
        """The name of the first test that fails, `timeout`, `exit N` if the program ends otherwise, or None."""
        skips = [word for name in SKIPPED.get(program, []) for word in ("--skip", name)]
        with tempfile.TemporaryDirectory() as folder:
            environment = {
                **os.environ,
                "OVERLAPSIM_MUTANT": str(number),
                "TMPDIR": folder,
                "INSTA_UPDATE": "no",
                "INSTA_WORKSPACE_ROOT": str(self.tree),
                "CARGO_MANIFEST_DIR": str(self.tree),
                "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
                "PROPTEST_RNG_SEED": "1",
            }
            if reach is not None:
                environment["OVERLAPSIM_REACH"] = str(reach)
            child = subprocess.Popen(
                [self.programs[program], "--test-threads=1", *skips, *extra],
                cwd=self.tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True, text=True, errors="replace",
            )  # fmt: skip
            timed_out = threading.Event()
            timer = threading.Timer(seconds, lambda: (timed_out.set(), end(child)))
            timer.start()
            failed = None
            for line in child.stdout:
                if line.startswith("test ") and line.rstrip().endswith("FAILED"):
                    failed = line.split()[1]
                    end(child)
                    break
            child.stdout.close()
            code = child.wait()
            timer.cancel()
        if failed is None and timed_out.is_set():
            return "timeout"
        return failed or (f"exit {code}" if code != 0 else None)

    def normal(self, program):
        """Runs a program without a mutant. Returns how long it takes, and the mutants that it reaches."""
        with tempfile.TemporaryDirectory() as reach:
            start = time.monotonic()
            failed = self.run(program, 0, 3600, reach=reach)
            if failed is not None:
                sys.exit(f"without a mutant {program} fails: {failed}")
            return time.monotonic() - start, {int(name) for name in os.listdir(reach)}

    def notices(self, program, number, seconds):
        """The test that fails, and fails again when it is run alone; `timeout`; or None."""
        unsteady = []
        while True:
            failed = self.run(program, number, seconds, [word for name in unsteady for word in ("--skip", name)])
            if failed is None or failed == "timeout" or failed.startswith("exit "):
                return failed
            if self.run(program, number, seconds, ["--exact", failed]) is not None:
                return failed
            unsteady.append(failed)

    def measure(self, numbers, jobs, tell):
        """The outcome of each mutant. Program by program, so that the expensive ones run with few mutants."""
        outcomes = {number: Outcome("unreached") for number in numbers}
        for program in self.programs:
            normal, reached = self.normal(program)
            left = [n for n in numbers if n in reached and outcomes[n].kind in ("unreached", "survived")]
            print(f"{program}: {normal:.0f} s, reaches {len(reached)} mutants, runs with {len(left)}", flush=True)
            seconds = max(SECONDS_MIN, TIMES_NORMAL * normal)
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                running = {pool.submit(self.notices, program, number, seconds): number for number in left}
                for done in concurrent.futures.as_completed(running):
                    number, failed = running[done], done.result()
                    kind = "survived" if failed is None else "timeout" if failed == "timeout" else "caught"
                    outcomes[number] = Outcome(kind, "" if failed is None else f"{program} {failed}")
                    if failed is not None:
                        tell(number, outcomes[number])
        return outcomes


def end(child):
    """Ends a program and what it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def describe(number, mutant, outcome):
    return f"{number:4} {outcome.kind:9} {mutant}{'  [' + outcome.by + ']' if outcome.by else ''}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--count", type=int, default=150, help="mutants in the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are run at once")
    parser.add_argument("--only", help="run only these numbers of the sample, as 3,17")
    parser.add_argument("--list", action="store_true", help="print all mutants and run nothing")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/mutants", help="folder of the copy and the results")
    options = parser.parse_args()
    mutants = all_mutants()
    if options.list:
        print("\n".join(map(str, mutants)))
        return
    kinds = collections.Counter(mutant.kind for mutant in mutants)
    print(f"{len(mutants)} mutants: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}", flush=True)
    order = random.Random(options.seed).sample(mutants, len(mutants))
    tree = options.work / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    copy_tree(tree)
    sample, refused = draw(order, options.count, tree, options.work / "build")
    print(f"seed {options.seed}: {len(sample)} drawn, {len(refused)} more do not compile:", flush=True)
    print("\n".join(f"     refused   {mutant}" for mutant in refused), flush=True)
    runner = Runner(tree, build(tree, options.work / "build"))
    numbers = [int(number) for number in options.only.split(",")] if options.only else list(sample)
    outcomes = runner.measure(numbers, options.jobs, lambda n, it: print(describe(n, sample[n], it), flush=True))
    report = [describe(number, sample[number], outcomes[number]) for number in sorted(outcomes)]
    (options.work / f"seed-{options.seed}.txt").write_text("\n".join(report) + "\n")
    print("\n".join(line for line in report if line.split()[1] in ("survived", "unreached")))
    counts = collections.Counter(outcome.kind for outcome in outcomes.values())
    print(f"{len(outcomes)} run: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}")


if __name__ == "__main__":
    main()
