"""The command lines of record.py and generate.py: what they refuse, without SGLang; and what agree.py finds."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import agree  # noqa: E402
import generate  # noqa: E402
import record  # noqa: E402
from harness import environment  # noqa: E402
from test_mapping import DOUBLE_FIRE, changed  # noqa: E402


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = Path(directory.name)

    def run_main(self, main, *arguments: object) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(a) for a in arguments])
            except SystemExit as end:
                code = int(end.code or 0)
        return code, out.getvalue(), err.getvalue()

    def record(self, *arguments: object) -> tuple[int, str, str]:
        return self.run_main(record.main, "--out", self.dir / "out", *arguments)

    def scenario(self, name: str, scenario: dict) -> Path:
        path = self.dir / f"{name}.json"
        path.write_text(json.dumps(scenario))
        return path

    def test_missing_arguments(self) -> None:
        code, _, err = self.record()
        self.assertEqual(code, 2)
        self.assertIn("--version", err)

    def test_rules(self) -> None:
        path = self.scenario("a", DOUBLE_FIRE)
        code, _, err = self.record("--version", "0.5.18", "--rule", "mask-lookahead", "--scenarios", path)
        self.assertEqual(
            (code, err.strip()), (2, "error: mask-lookahead is put on 0.5.17 only; 0.5.18 cannot carry it")
        )
        code, _, err = self.record("--version", "0.5.18", "--rule", "best", "--scenarios", path)
        self.assertEqual(code, 2)
        self.assertIn("unknown rule best", err)

    def test_a_scenario_of_another_release_is_refused(self) -> None:
        path = self.scenario("a", DOUBLE_FIRE)
        refused = "skipped a: it is about release 0.5.17, and 0.5.23 is recorded: give --version 0.5.17, or --any-release"
        for version, more, expected in (
            ("0.5.23", [], f"{refused} to record it all the same\n0 recorded, 1 skipped"),
            ("0.5.24.dev1", [], "skipped a: it is about release 0.5.17, and 0.5.24.dev1 is recorded"),
        ):
            code, _, err = self.record("--version", version, "--scenarios", path, *more)
            self.assertEqual(code, 2)
            self.assertIn(expected, err)

    def test_a_scenario_of_another_release_is_recorded_if_asked_for_and_told(self) -> None:
        path = self.scenario("a", DOUBLE_FIRE)
        for version, note in (
            ("0.5.23", "note: recorded on 0.5.23 and written for another release: a\n"),
            ("0.5.17", ""),
        ):
            with mock.patch.object(record, "run_worker", return_value=[dict(name="a", events=3)]):
                code, out, err = self.record("--version", version, "--any-release", "--scenarios", path)
            self.assertEqual((code, out.strip(), err), (0, "1 recorded, 0 skipped", note))

    def test_directories_are_read_with_all_below_them(self) -> None:
        (self.dir / "in" / "findings" / "deep").mkdir(parents=True)
        (self.dir / "in" / ".hidden").mkdir()
        for name in ("in/a", "in/findings/a", "in/findings/deep/b-0.5.23", "in/.hidden/c"):
            self.scenario(name, DOUBLE_FIRE)
        names = ["a", "findings-a", "findings-deep-b-0.5.23"]
        with mock.patch.object(
            record, "run_worker", return_value=[dict(name=name, events=1) for name in names]
        ) as worker:
            code, out, err = self.record("--version", "0.5.17", "--scenarios", self.dir / "in")
        self.assertEqual((code, out.strip(), err), (0, "3 recorded, 0 skipped", ""))
        jobs = worker.call_args[0][0]["jobs"]
        self.assertEqual([job["name"] for job in jobs], names)
        self.assertTrue(jobs[1]["out"].endswith("out/findings-a.0.5.17.release.jsonl"))

    def test_two_files_of_one_recording_are_refused(self) -> None:
        (self.dir / "in").mkdir()
        first, second = self.scenario("in/a", DOUBLE_FIRE), self.scenario("a", DOUBLE_FIRE)
        code, _, err = self.record("--version", "0.5.17", "--scenarios", self.dir / "in", second)
        self.assertEqual(code, 2)
        self.assertIn(f"{first} and {second} would both be recorded as a", err)

    def test_scenarios_that_are_not_there(self) -> None:
        code, _, err = self.record("--version", "0.5.23", "--scenarios", self.dir / "none.ron")
        self.assertEqual(code, 2)
        self.assertIn("no such file or directory", err)
        code, _, err = self.record("--version", "0.5.23", "--scenarios", self.dir)
        self.assertIn("no scenarios", err)

    def test_nothing_that_can_be_recorded(self) -> None:
        alias = self.scenario("alias", changed(dict(result_queue="alias")))
        broken = self.dir / "broken.json"
        broken.write_text("{")
        code, _, err = self.record("--version", "0.5.23", "--scenarios", alias, broken)
        self.assertEqual(code, 2)
        lines = err.splitlines()
        self.assertEqual(lines[0], "skipped alias: no release has result_queue: alias")
        self.assertTrue(lines[1].startswith("skipped broken: not JSON"))
        self.assertEqual(lines[2], "0 recorded, 2 skipped")

    def test_the_others_still_run(self) -> None:
        alias = self.scenario("alias", changed(dict(result_queue="alias")))
        good = self.scenario("good", DOUBLE_FIRE)
        late = self.scenario("late", DOUBLE_FIRE)
        answers = [dict(name="good", events=3), dict(name="late", skipped="the stop token is already output 2")]
        with mock.patch.object(record, "run_worker", return_value=answers) as worker:
            code, out, err = self.record("--version", "0.5.17", "--scenarios", alias, good, late)
        self.assertEqual((code, out.strip()), (0, "1 recorded, 2 skipped"))
        self.assertIn("skipped late: the stop token is already output 2", err)
        request = worker.call_args[0][0]
        self.assertEqual(request["policy"], "native")
        self.assertTrue(request["jobs"][0]["out"].endswith("out/good.0.5.17.release.jsonl"))

    def test_the_binary(self) -> None:
        ron = self.dir / "a.ron"
        ron.write_text("(requests: [])")
        missing = self.dir / "overlapsim"
        code, _, err = self.record("--version", "0.5.23", "--scenarios", ron, "--overlapsim", missing)
        self.assertEqual(code, 2)
        self.assertIn("--overlapsim PATH", err)
        for status, word, expected in (
            (2, "error: unrecognized subcommand", "no command `scenario`"),
            (2, "x bad", "skipped a: x bad"),
        ):
            missing.write_text(f"#!/bin/sh\necho '{word}' >&2\nexit {status}\n")
            missing.chmod(0o755)
            code, _, err = self.record("--version", "0.5.23", "--scenarios", ron, "--overlapsim", missing)
            self.assertEqual(code, 2)
            self.assertIn(expected, err)

    def test_a_checkout_without_the_package(self) -> None:
        path = self.scenario("a", DOUBLE_FIRE)
        code, _, err = self.record("--version", "0.5.17", "--scenarios", path, "--source", self.dir)
        self.assertEqual(code, 2)
        self.assertIn("holds no sglang", err)

    def test_an_interpreter_without_the_package(self) -> None:
        path = self.scenario("a", DOUBLE_FIRE)
        failed = mock.Mock(returncode=1, stdout="", stderr="ModuleNotFoundError: No module named 'torch'\n")
        with mock.patch.object(record.subprocess, "run", return_value=failed):
            code, _, err = self.record("--version", "0.5.17", "--no-venv", "--scenarios", path)
        self.assertEqual(code, 2)
        self.assertIn("cannot be imported in this interpreter (--no-venv): ModuleNotFoundError", err)

    def test_an_environment_that_cannot_be_made(self) -> None:
        path = self.scenario("a", DOUBLE_FIRE)
        failed = mock.Mock(returncode=1, stdout="no index\n")
        with mock.patch.object(environment.subprocess, "run", return_value=failed), mock.patch.object(
            environment.sys, "version_info", (3, 11, 2)
        ):
            code, _, err = self.record("--version", "0.5.17", "--venv", self.dir / "v", "--scenarios", path)
        self.assertEqual(code, 2)
        self.assertIn("no index", err)
        self.assertIn("--no-venv", err)

    def test_another_python(self) -> None:
        with mock.patch.object(environment.sys, "version_info", (3, 9, 1)), mock.patch.object(environment, "say"):
            with self.assertRaisesRegex(environment.Unusable, "for Python 3.11"):
                environment.make("0.5.23", self.dir / "v", False)

    def test_generate(self) -> None:
        given = ["--version", "0.5.23", "--out", self.dir / "a.jsonl.gz"]
        code, _, err = self.run_main(generate.main, *given, "--strategy", "extra_buffer", "--seeds", "5..2")
        self.assertEqual(code, 2)
        self.assertIn("--seeds 5..2", err)
        code, _, err = self.run_main(generate.main, *given, "--strategy", "no_buffer", "--seeds", "0..2")
        self.assertIn("--no-overlap", err)
        with mock.patch.object(record, "run_worker", return_value=[dict(name="0", asserts=1), dict(name="1")]):
            code, out, _ = self.run_main(
                generate.main, *given, "--strategy", "extra_buffer", "--seeds", "0..1", "--feature", "page"
            )
        self.assertEqual((code, out.strip()), (0, "2 recorded, 0 skipped (1 with an assertion of the recorded system)"))


class Agreement(unittest.TestCase):
    PREPARE = dict(ev="prepare_decode", batch=2, rids=["a", "b"], seq_lens=[3, 8])
    RESULT = dict(ev="result", batch=2, mode="decode", reqs=[dict(rid="a", fired=False), dict(rid="b", fired=True)])

    def recorded(self) -> list[dict]:
        return [
            dict(i=1, ev="prepare_decode", batch=1, rids=["a", "b"], seq_lens=[2, 7]),
            dict(i=2, **self.PREPARE),
            dict(i=3, **self.RESULT),
        ]

    def test_what_is_left_out_may_be(self) -> None:
        captured = [
            dict(i=1, ev="prepare_decode", batch=1, rids=["a", "b"], seq_lens=[2, 7]),
            dict(i=2, ev="prepare_decode", batch=2, rids=["b"], seq_lens=[8], rows_left_out=1),
            dict(i=3, ev="result", batch=2, mode="decode", reqs=[dict(rid="b", fired=True)], rows_left_out=1),
        ]
        self.assertEqual(list(agree.compare(self.recorded(), captured)), [])

    def test_steps_are_counted(self) -> None:
        counted = [dict(i=2, ev="steps", count=2, first_i=1, last_i=2), dict(i=3, **self.RESULT, rows_left_out=0)]
        self.assertEqual(list(agree.compare(self.recorded(), counted)), [])
        counted[0]["count"] = 1
        self.assertIn("2 steps left out before i 3, 1 counted", list(agree.compare(self.recorded(), counted)))

    def test_a_row_that_fired_may_not_be_left_out(self) -> None:
        captured = self.recorded()[:2]
        captured.append(
            dict(i=3, ev="result", batch=2, mode="decode", reqs=[dict(rid="a", fired=False)], rows_left_out=1)
        )
        problems = list(agree.compare(self.recorded(), captured))
        self.assertEqual(problems, ["i 3 result: the row of b fired or finished and was left out"])

    def test_other_values_are_found(self) -> None:
        captured = [dict(event, batch=event["batch"]) for event in self.recorded()]
        captured[1]["seq_lens"] = [3, 9]
        self.assertIn("seq_lens [3, 9] is [3, 8]", list(agree.compare(self.recorded(), captured))[0])


if __name__ == "__main__":
    unittest.main()
