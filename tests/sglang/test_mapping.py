"""From a scenario of overlapsim, as JSON, to one of the harness: what is mapped, and what is refused."""

from __future__ import annotations

import copy
import hashlib
import json
import sys
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import jobs, scenario_map, seeded, states  # noqa: E402
from harness.jobs import Refused  # noqa: E402

ENGINE: dict[str, Any] = dict(
    release="0.5.17",
    strategy="extra_buffer",
    overlap=True,
    track_interval=4,
    mamba_chunk=4,
    page_size=1,
    grid="interval",
    mamba_slots=256,
    kv_tokens=65536,
    max_running=64,
    max_prefill_tokens=16384,
    conservativeness=1.0,
    result_queue="copy",
    chunked_prefill_size=None,
    mixed_chunk=False,
    disable_consecutive_prefill_overlap=False,
    spec=None,
    snapshot="hand_over",
    copy_on_write="deferred",
    slot_free="at_result",
    exhaustion="assert",
)

DOUBLE_FIRE: dict[str, Any] = dict(
    name="double-fire",
    rule="mask-lookahead",
    seed=0,
    turns_max=500,
    engine=ENGINE,
    preset=[],
    requests=[
        dict(id="a", arrive=dict(turn=0), prompt=dict(tokens=[1000]), stop=dict(token=4), max_new=20),
        dict(
            id="b",
            arrive=dict(before=dict(request="a", step=5)),
            prompt=dict(tokens=[1001]),
            stop="length",
            max_new=1,
        ),
    ],
    events=[],
)


def changed(engine: dict | None = None, **fields: Any) -> dict[str, Any]:
    scenario = copy.deepcopy(DOUBLE_FIRE)
    scenario["engine"].update(engine or {})
    scenario.update(fields)
    return scenario


def mapped(scenario: dict[str, Any], version: str = "0.5.17", policy: str = "native") -> dict[str, Any]:
    return scenario_map.to_harness(scenario, version, policy)


class Mapping(unittest.TestCase):
    def refused(self, scenario: dict[str, Any], pattern: str, version: str = "0.5.17") -> None:
        with self.assertRaisesRegex(Refused, pattern):
            mapped(scenario, version)

    def test_engine_and_requests(self) -> None:
        out = mapped(DOUBLE_FIRE, policy="mask-lookahead")
        self.assertEqual(
            out["config"],
            dict(
                policy="mask-lookahead",
                overlap=True,
                strategy="extra_buffer",
                track_interval=4,
                page_size=1,
                mamba_chunk=4,
                chunk_size=16385,
                mamba_pool=256,
                max_running=64,
                kv_tokens=65536,
                conservativeness=1.0,
                max_prefill_tokens=16384,
            ),
        )
        self.assertEqual(
            out["requests"],
            [
                dict(rid="a", arrival=1, prompt=[1000], max_new_tokens=20, stop_output=4),
                dict(rid="b", before=["a", 5], prompt=[1001], max_new_tokens=1),
            ],
        )
        self.assertEqual(out.keys(), {"config", "requests"})

    def test_no_chunk_size_is_one_that_is_no_limit(self) -> None:
        long = changed(dict(page_size=8, max_prefill_tokens=100, track_interval=8))
        long["requests"][0]["prompt"] = dict(tokens=list(range(3000)))
        config = mapped(long)["config"]
        self.assertGreater(config["chunk_size"], 3001)
        self.assertEqual(config["chunk_size"] % 8, 0)
        self.assertGreaterEqual(config["context"], 3020)
        self.assertEqual(mapped(changed(dict(chunked_prefill_size=32)))["config"]["chunk_size"], 32)

    def test_spec(self) -> None:
        spec = dict(draft=3, accept=dict(fixed=[1, 4, 2]))
        out = mapped(changed(dict(spec=spec)), "0.5.18")["config"]["spec"]
        self.assertEqual(out, dict(draft_tokens=4, seed=0, accept=[1, 4, 2], cycle=True))
        self.refused(changed(dict(spec=spec)), "0.5.17 and later", "0.5.16")
        self.refused(changed(dict(spec=dict(draft=3, accept=dict(seeded=0.7)))), "drawn from a seed")

    def test_prompts_of_other_requests(self) -> None:
        scenario = changed()
        of = dict(request="a", keep=None, tokens=[1004])
        scenario["requests"][1].update(arrive=dict(after="a"), prompt=dict(of=of))
        q = mapped(scenario)["requests"][1]
        self.assertEqual((q["after"], q["of"]), ("a", dict(rid="a", keep=None, tokens=[1004])))

    def test_events_happen_in_their_turn(self) -> None:
        events = [dict(turn=t, do=do, request="a") for t, do in ((3, "abort"), (4, "retract"), (7, "fail_alloc"))]
        out = mapped(changed(events=events))
        self.assertEqual(out["aborts"], [dict(rid="a", when="turn", at=4)])
        self.assertEqual([(e["do"], e["at"]) for e in out["script"]], [("retract", 5), ("fail_alloc", 8)])
        self.assertEqual(out["config"]["script"], out["script"])

    def test_an_abort_that_would_take_others_is_refused(self) -> None:
        scenario = changed(events=[dict(turn=3, do="abort", request="a")])
        scenario["requests"][1]["id"] = "ab"
        self.refused(scenario, "takes every id that begins so, here ab")

    def test_virtual_times_are_refused(self) -> None:
        scenario = changed()
        scenario["requests"][0]["arrive"] = dict(at_ns=12_500_000)
        self.refused(scenario, "virtual time")

    def test_late_turns_and_long_requests_are_refused(self) -> None:
        late = changed()
        late["requests"][0]["arrive"] = dict(turn=1 << 30)
        self.refused(late, "does not jump")
        long = changed()
        long["requests"][0]["max_new"] = 1 << 20
        self.refused(long, "the harness goes to")

    def test_variants_that_no_release_has_are_refused(self) -> None:
        for field, value in (
            ("result_queue", "alias"),
            ("snapshot", "copy"),
            ("copy_on_write", "immediate"),
            ("slot_free", "deferred"),
            ("slot_free", "masked"),
            ("exhaustion", "skip"),
        ):
            self.refused(changed({field: value}, preset=[]), f"no release has {field}: {value}")

    def test_a_field_is_compared_with_the_release_that_runs(self) -> None:
        scenario = changed(dict(grid="lcm", skip_finishing_decode=True), preset=["grid", "skip_finishing_decode"])
        self.refused(scenario, "grid: lcm is set, 0.5.17 has interval")
        self.assertEqual(mapped(scenario, "0.5.23")["config"]["track_interval"], 4)
        self.assertEqual(mapped(scenario, "0.5.24.dev1")["config"]["track_interval"], 4)
        self.refused(changed(dict(novelty=True), preset=["novelty"]), "not known what 0.5.17 does")


class Rules(unittest.TestCase):
    def test_policies(self) -> None:
        for rule, version, policy in (
            ("release", "0.5.16", "native"),
            ("release", "0.5.23", "native"),
            ("committed-len", "0.5.16", "committed"),
            ("token-len", "0.5.17", "tokens"),
            ("mask-lookahead", "0.5.17", "mask-lookahead"),
            ("completed-mask", "0.5.18", "native"),
            ("completed-mask", "0.6.0", "native"),
        ):
            self.assertEqual(jobs.policy(rule, version), policy)

    def test_rules_that_a_version_cannot_carry(self) -> None:
        for rule, version in (
            ("committed-len", "0.5.18"),
            ("token-len", "0.5.23"),
            ("mask-lookahead", "0.5.16"),
            ("mask-lookahead", "0.5.18"),
            ("completed-mask", "0.5.17"),
        ):
            with self.assertRaisesRegex(Refused, f"{version} (cannot carry|does not have)"):
                jobs.policy(rule, version)
        with self.assertRaisesRegex(Refused, "unknown rule"):
            jobs.policy("best", "0.5.23")


class Generator(unittest.TestCase):
    def test_the_same_seed_is_the_same_scenario(self) -> None:
        made = [seeded.scenario(seed, strategy) for seed in range(20) for strategy in seeded.SLOTS_PER_REQUEST]
        made += [seeded.feature(name, seed, "extra_buffer") for seed in range(20) for name in seeded.FEATURES]
        digest = hashlib.sha256(json.dumps(made).encode()).hexdigest()
        self.assertEqual(digest[:16], "a158d444dfbe4509")

    def test_the_fake_model(self) -> None:
        self.assertEqual(states.fold(states.ZERO, 7), (1, states.fold_all(states.ZERO, [7])[1]))
        outputs = states.continuation([1000], 4)
        self.assertEqual(outputs[-1], 392)
        self.assertEqual(states.continuation([1000, *outputs[:2]], 2), outputs[2:])


if __name__ == "__main__":
    unittest.main()
