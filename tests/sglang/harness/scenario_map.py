"""Turns a scenario of overlapsim, as JSON, into a scenario of the harness, or refuses it with a reason.

Standard library only. Turns of a scenario count from 0, iterations of a recording from 1.

A harness scenario is `{"config", "requests", "aborts"?, "script"?}`. Its requests have `rid`, the prompt (`prompt`,
or `of`: rid, keep, tokens), `max_new_tokens`, `stop_output` or nothing, and one of `arrival` (iteration), `after`
(rid), `before` (rid, step).
"""

from __future__ import annotations

from typing import Any

from . import engine_map, jobs
from .jobs import Refused

LATEST_TURN = 20_000  # the real loop does not jump over idle turns
LONGEST_REQUEST = 65_536


def to_harness(scenario: dict[str, Any], version: str, policy: str) -> dict[str, Any]:
    """`scenario` is what `overlapsim scenario FILE --format json` prints."""
    engine, specs = scenario["engine"], scenario["requests"]
    engine_map.refuse_variants(engine, scenario.get("preset", []), version)
    if engine.get("spec") is not None and jobs.newest(version) == "0.5.16":
        raise Refused("speculative decoding is recorded on 0.5.17 and later: 0.5.16 has its crossing rule elsewhere")
    by_id = {spec["id"]: spec for spec in specs}
    lengths = [_prompt_len(spec, by_id) + spec["max_new"] for spec in specs]
    if max(lengths) > LONGEST_REQUEST:
        raise Refused(f"a request of {max(lengths)} tokens; the harness goes to {LONGEST_REQUEST}")
    config = engine_map.config(engine, policy, lengths)
    requests = [_request(spec) for spec in specs]
    out: dict[str, Any] = dict(config=config, requests=requests)
    aborts, script = _events(scenario.get("events", []), by_id, config)
    if aborts:
        out["aborts"] = aborts
    if script:
        out["script"] = script
        config["script"] = script  # so that a reader of the recording knows it
    turns = [q["arrival"] for q in requests if "arrival" in q] + [e["at"] for e in aborts + script]
    if max(turns, default=0) > LATEST_TURN:
        raise Refused(f"turn {max(turns) - 1}: the real loop does not jump, and the harness goes to {LATEST_TURN}")
    most = max(turns, default=0) + 64 + 4 * sum(spec["max_new"] + 4 for spec in specs)
    if most > 4000:
        config["max_iter"] = most
    return out


def is_of_another_release(scenario: dict[str, Any], version: str) -> bool:
    """Whether a scenario names a release other than the one that `version` is, or is like."""
    release = scenario["engine"].get("release")
    return release is not None and release != jobs.newest(version)


def another_release(scenario: dict[str, Any], version: str) -> Refused:
    release = scenario["engine"]["release"]
    return Refused(
        f"it is about release {release}, and {version} is recorded: give --version {release}, or --any-release to record "
        "it all the same"
    )


def _request(spec: dict[str, Any]) -> dict[str, Any]:
    q: dict[str, Any] = dict(rid=spec["id"])
    arrive = spec["arrive"]
    if "turn" in arrive:
        q["arrival"] = arrive["turn"] + 1
    elif "after" in arrive:
        q["after"] = arrive["after"]
    elif "before" in arrive:
        q["before"] = [arrive["before"]["request"], arrive["before"]["step"]]
    else:
        raise Refused(
            f"{spec['id']} arrives at a virtual time; the real loop has none: use a turn, `After` or `Before`"
        )
    prompt = spec["prompt"]
    if "tokens" in prompt:
        q["prompt"] = list(prompt["tokens"])
    else:
        of = prompt["of"]
        q["of"] = dict(rid=of["request"], keep=of["keep"], tokens=list(of["tokens"]))
    q["max_new_tokens"] = spec["max_new"]
    if isinstance(spec["stop"], dict):
        q["stop_output"] = spec["stop"]["token"]
    return q


def _prompt_len(spec: dict[str, Any], by_id: dict[str, Any], depth: int = 0) -> int:
    """The longest that the prompt can be."""
    prompt = spec["prompt"]
    if "tokens" in prompt:
        return len(prompt["tokens"])
    if depth > len(by_id):
        raise Refused("prompts go round in a circle")
    of = prompt["of"]
    if of["keep"] is not None:
        return of["keep"] + len(of["tokens"])
    source = by_id[of["request"]]
    # What a verify accepted beyond a stop may still be part of the outputs.
    return _prompt_len(source, by_id, depth + 1) + source["max_new"] + len(of["tokens"])


def _events(events: list[dict], by_id: dict[str, Any], config: dict[str, Any]) -> tuple[list[dict], list[dict]]:
    aborts, script = [], []
    for event in events:
        rid, at, do = event["request"], event["turn"] + 1, event["do"]
        if do == "abort":
            also = [other for other in by_id if other != rid and other.startswith(rid)]
            if also:
                raise Refused(f"an abort of {rid} takes every id that begins so, here {also[0]} too: rename one")
            aborts.append(dict(rid=rid, when="turn", at=at))
        elif do == "retract":
            script.append(dict(do="retract", rid=rid, at=at))
        elif do == "fail_alloc":
            if config.get("spec"):
                raise Refused("a refused second slot under spec is not scripted here")
            script.append(dict(do="fail_alloc", rid=rid, at=at))
        else:
            raise Refused(f"unknown event {do}")
    return aborts, script
