#!/usr/bin/env python3
"""`agree.py RECORDING CAPTURE..`: whether what capture.py wrote of a run agrees with the full recording of that run.

Every captured event must be in the recording, in the same order and with the same values of all fields that both have;
what the capture leaves out must be what it may leave out. Standard library only.
"""

from __future__ import annotations

import gzip
import json
import sys
from typing import Any, Iterator

# Events that a capture does not have, fields that it adds, and fields of the recording that it does not have.
NOT_CAPTURED = {
    "launch",
    "clear",
    "cow",
    "copy",
    "track_write",
    "active_mismatch",
    "tree_mismatch",
    "abort_output",
    "assert",
}
ONLY_CAPTURED = {"ignore_eos", "prompt", "rows_left_out", "output_ids", "left", "joined"}
# What the row of a result does not have: marks of the harness, not facts of the scheduler.
MARKS = {"second_fire", "unrecorded", "missed"}
UNKNOWN = {"n", "hash", "expected", "ok", "tainted", "stop_token", "track_step", "slot"}


def read(path: str) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def main(arguments: list[str]) -> int:
    recorded = [e for e in read(arguments[0]) if e["ev"] not in NOT_CAPTURED | {"meta", "end"}]
    captured = [e for path in arguments[1:] for e in read(path) if e["ev"] not in ("meta", "end")]
    problems = list(compare(recorded, captured))
    for problem in problems[:5]:
        print(problem)
    print(f"{arguments[0]}: {len(captured)} captured of {len(recorded)} events, {len(problems)} disagree")
    return 1 if problems else 0


def compare(recorded: list[dict], captured: list[dict]) -> Iterator[str]:
    """Walks both; between two events that match, the recording may have only what was counted."""
    at = 0
    expected_steps = 0
    verifies = [e for e in recorded if e["ev"] == "verify"]
    if [(e["rid"], e["accept"]) for e in _by_rid(verifies)] != [
        (e["rid"], e["accept"]) for e in _by_rid([e for e in captured if e["ev"] == "verify"])
    ] and not _same_prefixes(verifies, [e for e in captured if e["ev"] == "verify"]):
        yield "verifies differ"
    recorded = [e for e in recorded if e["ev"] != "verify"]
    yield from _prompts(recorded, captured)
    rows: list[str] = []  # of the decode batch before, as the capture tells it
    for event in captured:
        if event["ev"] == "verify":
            continue
        if event["ev"] == "steps":
            expected_steps += event["count"]
            continue
        skipped = 0
        while at < len(recorded) and not _is_same(recorded[at], event):
            kind = recorded[at]["ev"]
            if kind == "prepare_decode":
                skipped += 1
            elif not (kind == "result" and recorded[at]["mode"] == "decode"):
                yield f"not captured: {json.dumps(recorded[at])[:300]}\n  next captured: {json.dumps(event)[:300]}"
            at += 1
        if at == len(recorded):
            yield f"not in the recording: {json.dumps(event)[:400]}"
            return
        yield from _fields(recorded[at], event)
        if event["ev"] == "prepare_decode":
            rows = _composition(rows, event)
            if rows != recorded[at]["rids"]:
                yield f"i {event['i']} prepare_decode: the rows are {rows}, recorded are {recorded[at]['rids']}"
        if skipped != expected_steps:
            yield f"{skipped} steps left out before i {event['i']}, {expected_steps} counted"
        expected_steps = 0
        at += 1


def _prompts(recorded: list[dict], captured: list[dict]) -> Iterator[str]:
    """Tokens may be hashed: the same one is always the same number, and no two are."""
    numbers: dict[int, int] = {}
    known = {e["rid"]: e["prompt"] for e in recorded if e["ev"] == "arrive"}
    for event in captured:
        if event["ev"] == "arrive":
            if len(known[event["rid"]]) != len(event["prompt"]):
                yield f"arrive {event['rid']}: the prompt has another length"
            for token, number in zip(known[event["rid"]], event["prompt"]):
                if numbers.setdefault(token, number) != number:
                    yield f"arrive {event['rid']}: token {token} is {number} and {numbers[token]}"
    if len(set(numbers.values())) != len(numbers):
        yield "two tokens have the same number"


def _composition(rows: list[str], event: dict) -> list[str]:
    if "rows_left_out" not in event:
        return event["rids"]
    return [rid for rid in rows if rid not in event.get("left", ())] + event.get("joined", [])


def _by_rid(events: list[dict]) -> list[dict]:
    return sorted(events, key=lambda e: e["rid"])


def _same_prefixes(recorded: list[dict], captured: list[dict]) -> bool:
    """A verify whose request was over when its result came is not captured: only the last ones may be missing."""
    for rid in {e["rid"] for e in recorded + captured}:
        full = [e["accept"] for e in recorded if e["rid"] == rid]
        seen = [e["accept"] for e in captured if e["rid"] == rid]
        if full[: len(seen)] != seen or len(full) - len(seen) > 1:
            return False
    return True


def _is_same(recorded: dict, event: dict) -> bool:
    keys = ("i", "ev", "batch", "rid", "n") if event["ev"] == "slot_alloc" else ("i", "ev", "batch", "rid")
    return all(recorded.get(key) == event.get(key) for key in keys)


def _fields(recorded: dict, event: dict) -> Iterator[str]:
    if event["ev"] == "prepare_decode" and "rows_left_out" in event:
        places = [recorded["rids"].index(rid) for rid in event["rids"]]
        if len(recorded["rids"]) != len(places) + event["rows_left_out"]:
            yield f"i {event['i']} prepare_decode: {event['rows_left_out']} rows left out of {len(recorded['rids'])}"
        cut = {k: [v[j] for j in places] for k, v in recorded.items() if isinstance(v, list)}
        recorded = dict(recorded, **cut)
    for name, value in event.items():
        if name in ONLY_CAPTURED or (name in UNKNOWN and name not in recorded):
            continue
        if name == "reqs":
            yield from _rows(recorded, event)
        elif name == "prepared" and value is not None:
            if value != recorded.get(name):
                yield f"i {event['i']} {event['ev']}: prepared {value} is {recorded.get(name)} in the recording"
        elif name == "next_mask" and value is None:
            continue  # made by the harness for a rule that the release does not carry
        elif name != "stop_token" and recorded.get(name, "absent") != value:
            yield f"i {event['i']} {event['ev']}: {name} {value} is {recorded.get(name)} in the recording"


def _rows(recorded: dict, event: dict) -> Iterator[str]:
    rows = {row["rid"]: row for row in recorded["reqs"]}
    for row in event["reqs"]:
        full = rows.pop(row["rid"], None)
        if full is None:
            yield f"i {event['i']} result: row of {row['rid']} is not in the recording"
            continue
        for name, value in row.items():
            if name not in ONLY_CAPTURED and full.get(name, "absent") != value:
                yield f"i {event['i']} result {row['rid']}: {name} {value} is {full.get(name)} in the recording"
        for name in full.keys() - row.keys() - MARKS:
            yield f"i {event['i']} result {row['rid']}: {name} is missing"
    if len(rows) != event.get("rows_left_out", 0):
        yield f"i {event['i']} result: {len(rows)} rows left out, {event.get('rows_left_out', 0)} counted"
    for row in rows.values():
        if row.get("fired") or row.get("finished"):
            yield f"i {event['i']} result: the row of {row['rid']} fired or finished and was left out"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
