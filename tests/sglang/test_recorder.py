"""What the recorder says of a request's state, without torch and without SGLang: stand-ins for the names it imports."""

from __future__ import annotations

import io
import json
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness.states import ZERO, fold_all  # noqa: E402


def imported() -> types.ModuleType:
    """`harness.recorder` with nothing of the release behind it."""
    names = ("sglang", "sglang.srt", "sglang.srt.managers", "sglang.srt.managers.schedule_batch", "torch")
    fakes = {name: types.ModuleType(name) for name in names}
    fakes["sglang.srt.managers.schedule_batch"].FINISH_ABORT = type("FINISH_ABORT", (), {})
    fakes["torch"].tensor = None
    own = ("harness.recorder", "harness.results", "harness.fakes")
    with mock.patch.dict(sys.modules, fakes):
        for name in own:
            sys.modules.pop(name, None)
        from harness import recorder
    for name in own:
        sys.modules.pop(name, None)
    return recorder


class Tainted(unittest.TestCase):
    def test_a_retraction_takes_it_back(self) -> None:
        recorder = imported()
        out = io.StringIO()
        run = recorder.Recorder(dict(config=dict(track_interval=4), requests=[]), out)
        run.history["a"], run.store[3] = [1, 2, 3, 4], fold_all(ZERO, [1, 2])
        run.results = types.SimpleNamespace(snapshot=lambda req: None)
        req = types.SimpleNamespace(rid="a")
        offer = types.SimpleNamespace(mamba_value=types.SimpleNamespace(view=lambda _: [3]), key=[1, 2, 3, 4])
        run.tainted.add("a")
        with mock.patch.object(recorder, "slot_of", lambda value: 3):
            run.on_donate(req, False, types.SimpleNamespace(mamba_exist=False), offer)
            run.event("retract", rid="a", output_len=0)
            run.on_donate(req, False, types.SimpleNamespace(mamba_exist=False), offer)
        donations = [e for e in map(json.loads, out.getvalue().splitlines()) if e["ev"] == "donate"]
        self.assertEqual([(e["ok"], e["tainted"]) for e in donations], [(False, True), (False, False)])
        self.assertEqual((run.stats["donate_bad"], run.stats["donate_bad_root"]), (2, 1))


if __name__ == "__main__":
    unittest.main()
