"""What a scenario scripts for a named request in a turn, by the release's own test switches.

The releases can force a retraction every so many forwards, and refuse every lazy second slot. Here the first switch
is on only for the check that precedes one retraction, whose order is given the named request as the one to go
first; and the second one only while the named request asks.
"""

from __future__ import annotations

import os
from typing import Any

from sglang.srt.managers import scheduler as scheduler_module
from sglang.srt.managers.schedule_batch import ScheduleBatch

from . import recorder as rec

REFUSE = "SGLANG_TEST_MAMBA_LAZY_ALLOC_FAIL"
_goes_first: list[str] = []


def install() -> None:
    _retractions()
    _refusals()


def due(do: str) -> list[dict]:
    run = rec.current
    if run is None:
        return []
    return [e for e in run.scenario.get("script", ()) if e["do"] == do and e["at"] == run.iter]


def _retractions() -> None:
    check_before = ScheduleBatch.check_decode_mem
    retract_before = ScheduleBatch.retract_decode
    order_before = ScheduleBatch._get_decode_retraction_order

    def check(self, selected_indices=None, *a, **k):
        fits = check_before(self, selected_indices, *a, **k)
        events = due("retract") if selected_indices is None else []
        if events and not _goes_first and len(self.reqs) > 1:
            named = [e["rid"] for e in events if any(r.rid == e["rid"] for r in self.reqs)]
            if named:
                _goes_first.append(named[0])
                scheduler_module.TEST_RETRACT = True
                scheduler_module.TEST_RETRACT_INTERVAL = 1
        return fits

    def order(reqs, *a, **k):
        indices = order_before(reqs, *a, **k)
        for rid in _goes_first:
            first = [i for i in indices if reqs[i].rid == rid]
            indices = [i for i in indices if reqs[i].rid != rid] + first
        return indices

    def retract(self, *a, **k):
        try:
            return retract_before(self, *a, **k)
        finally:
            if _goes_first:
                _goes_first.clear()
                scheduler_module.TEST_RETRACT = False

    ScheduleBatch.check_decode_mem = check
    ScheduleBatch._get_decode_retraction_order = staticmethod(order)
    ScheduleBatch.retract_decode = retract


def _refusals() -> None:
    prealloc_before = ScheduleBatch.mamba_lazy_prealloc_at_boundary

    def prealloc(self, *a, **k):
        refused = {e["rid"] for e in due("fail_alloc")}
        if not refused.intersection(r.rid for r in self.reqs):
            return prealloc_before(self, *a, **k)
        reqs, lens = self.reqs, self.seq_lens_cpu
        try:
            for i, r in enumerate(reqs):  # one request at a time, so that the switch is on for the named one only
                self.reqs, self.seq_lens_cpu = [r], lens[i : i + 1]
                _switch(r.rid in refused)
                prealloc_before(self, *a, **k)
        finally:
            _switch(False)
            self.reqs, self.seq_lens_cpu = reqs, lens

    ScheduleBatch.mamba_lazy_prealloc_at_boundary = prealloc


def _switch(on: Any) -> None:
    os.environ.pop(REFUSE, None)
    if on:
        os.environ[REFUSE] = "1"
