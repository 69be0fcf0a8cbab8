#!/usr/bin/env python3
"""Measures what capture.py costs a scheduler that decodes many requests, and prints a table.

The release's own prepare, copy and result processing run on a CPU without a model. Standard library only; the
measurement runs in the environment of the release (`harness/bench.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import record  # noqa: E402
from harness.environment import Unusable, say  # noqa: E402

COLUMNS = (
    "| release | strategy | rows | result processing | more with capture | a whole step | more with capture "
    "| writer's CPU a step | both, of result processing | bytes a step |\n|" + "---|" * 10
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    record.add_environment_options(parser)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--compress", action="store_true", help="compressed files")
    parser.add_argument("--full-rows", type=int, default=64, help="as OVERLAPSIM_CAPTURE_FULL_ROWS")
    parser.add_argument("--json", action="store_true", help="all numbers")
    options = parser.parse_args(arguments)
    given = dict(compress=options.compress, full_rows=options.full_rows)
    strategies = ("extra_buffer", "extra_buffer_lazy")
    size = dict(requests=options.requests, steps=options.steps, options=given)
    try:
        work = [dict(strategy=strategy, **size) for strategy in strategies]
        answers = record.run_worker(dict(jobs=work), options, module="harness.bench")
    except Unusable as error:
        say(f"error: {error}")
        return 2
    if options.json:
        print(json.dumps(answers, indent=1))
    else:
        print(COLUMNS)
        for answer in answers:
            print(line(answer))
    return 0 if answers and not any(answer["errors"] for answer in answers) else 1


def line(a: dict) -> str:
    """Wall clock: the median, and the median difference between neighbouring steps."""

    def pair(part: str) -> str:
        whole, more = a[f"{part}_ms"], a[f"{part}_more_ms"]
        return f"{whole:.2f} ms | {more:.2f} ms ({100 * more / whole:.1f} %)"

    share = 100 * (a["all_more_ms"] + a["writer_ms"]) / a["process_ms"]
    head = f"| {a['version']} | {a['strategy']} | {a['requests']} | {pair('process')} | {pair('all')} "
    return head + f"| {a['writer_ms']:.2f} ms | {share:.1f} % | {a['bytes_per_step']} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
