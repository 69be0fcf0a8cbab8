#!/usr/bin/env python3
"""Records many seeded random scenarios of the harness into one archive.

The archive is a `.jsonl.gz`: for each seed a line `{"scenario": ..}`, then the events of its run. The same seed
gives the same bytes. `--feature` turns the scenarios to one subject (see `harness/seeded.py`).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import record  # noqa: E402
from harness import engine_map, jobs, seeded  # noqa: E402
from harness.environment import Unusable, say  # noqa: E402
from harness.jobs import Refused  # noqa: E402


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    try:
        policy = jobs.policy(options.rule, options.version)
        if options.strategy == "no_buffer" and not options.feature and not options.no_overlap:
            raise Refused("every release refuses no_buffer with overlap: give --no-overlap, or --feature nooverlap")
        first, last = seeds(options.seeds)
        work = [dict(name=str(seed), scenario=make(options, seed, policy)) for seed in range(first, last + 1)]
        options.out.parent.mkdir(parents=True, exist_ok=True)
        answers = record.run_worker(dict(policy=policy, jobs=work, archive=str(options.out.resolve())), options)
    except (Refused, Unusable) as error:
        say(f"error: {error}")
        return 2
    asserts = sum(1 for answer in answers if answer.get("asserts"))
    print(f"{len(answers)} recorded, 0 skipped ({asserts} with an assertion of the recorded system)")
    return 0 if len(answers) == len(work) else 2


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_environment_options(parser)
    parser.add_argument("--rule", default="release", help=f"one of {', '.join(jobs.POLICIES)} (default: release)")
    parser.add_argument("--strategy", required=True, choices=engine_map.STRATEGIES)
    parser.add_argument("--feature", choices=seeded.FEATURES)
    parser.add_argument("--seeds", required=True, metavar="A..B", help="the first and the last seed")
    parser.add_argument("--no-overlap", action="store_true")
    parser.add_argument("--out", type=Path, required=True, help="the archive, FILE.jsonl.gz")
    return parser.parse_args(arguments)


def seeds(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if not found or int(found[1]) > int(found[2]):
        raise Refused(f"--seeds {text}: give the first and the last one, such as 0..99")
    return int(found[1]), int(found[2])


def make(options: argparse.Namespace, seed: int, policy: str) -> seeded.Scenario:
    overlap = not options.no_overlap
    if options.feature:
        return seeded.feature(options.feature, seed, options.strategy, overlap=overlap, policy=policy)
    return seeded.scenario(seed, options.strategy, overlap=overlap, policy=policy)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
