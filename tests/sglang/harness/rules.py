"""Boundary rules that no release carries, put in the place of the release's own.

| policy | what is done |
|---|---|
| native, committed | nothing: the release as it is |
| tokens | `_mamba_check_track_boundary` answers by prompt plus outputs less one |
| mask-lookahead | the batch's own host masks, this step's or the next one's by the distance of the decode counter |
"""

from __future__ import annotations

from typing import Any

from sglang.srt import runtime_context
from sglang.srt.managers.schedule_batch import ScheduleBatch
from sglang.srt.managers.scheduler_components.batch_result_processor import SchedulerBatchResultProcessor as Processor


def apply(policy: str) -> None:
    if policy == "tokens":
        _tokens()
    elif policy == "mask-lookahead":
        _mask_lookahead()
    elif policy not in ("native", "committed"):
        raise ValueError(policy)


def _interval() -> int:
    try:
        return runtime_context.get_exec().mamba.mamba_track_interval
    except Exception:
        return runtime_context.get_server_args().mamba_track_interval


def _tokens() -> None:
    def check(self, req, batch, result, i):
        n = len(req.origin_input_ids) + len(req.output_ids) - 1
        return (True, n) if n % _interval() == 0 else (False, 0)

    Processor._mamba_check_track_boundary = check


def _mask_lookahead() -> None:
    _build_masks()
    update_before = Processor._mamba_prefix_cache_update
    check_before = Processor._mamba_check_track_boundary

    def update(self, req, batch, result, i, *a, **k):
        """Called for every request; the masks decide whether it is at a boundary."""
        if req.mamba_ping_pong_track_buffer is None or batch._mask is None:
            return update_before(self, req, batch, result, i)
        ahead = req.decode_batch_idx - batch._mask_counters[i]
        assert ahead in (0, 1), f"lookahead {ahead} for {req.rid}"
        if not (batch._mask[i] if ahead == 0 else batch._mask_next[i]):
            return
        assert req.output_ids
        gap = req.kv_committed_len - (len(req.origin_input_ids) + len(req.output_ids) - 1)
        assert gap in (0, 1), f"committed leads tokens by {gap} for {req.rid}"
        assert req.kv_committed_len % _interval() == 0
        batch._mask_known = True
        try:
            update_before(self, req, batch, result, i)
        finally:
            batch._mask_known = False

    def check(self, req, batch, result, i):
        if getattr(batch, "_mask_known", False):
            return True, req.kv_committed_len
        return check_before(self, req, batch, result, i)

    Processor._mamba_prefix_cache_update = update
    Processor._mamba_check_track_boundary = check


def _build_masks() -> None:
    """Masks are made at prepare, live through a copy, and are lost by a filter or a merge."""
    B: Any = ScheduleBatch
    B._mask = B._mask_next = B._mask_counters = None
    prepare, copy, filter_batch, merge = B.prepare_for_decode, B.copy, B.filter_batch, B.merge_batch

    def drop(self):
        self._mask = self._mask_next = self._mask_counters = None

    def with_masks(self, *a, **k):
        r = prepare(self, *a, **k)
        if not self.spec_algorithm.is_none():  # no masks there: the release's own path
            drop(self)
            return r
        remainder = self.seq_lens_cpu % _interval()
        self._mask = (remainder == 0).tolist()
        self._mask_next = (remainder == _interval() - 1).tolist() if self.enable_overlap else None
        self._mask_counters = [q.decode_batch_idx for q in self.reqs]
        return r

    def copied(self, *a, **k):
        r = copy(self, *a, **k)
        r._mask, r._mask_next, r._mask_counters = self._mask, self._mask_next, self._mask_counters
        return r

    def filtered(self, *a, **k):
        n = len(self.reqs)
        r = filter_batch(self, *a, **k)
        if len(self.reqs) != n:
            drop(self)
        return r

    def merged(self, *a, **k):
        r = merge(self, *a, **k)
        drop(self)
        return r

    B.prepare_for_decode, B.copy, B.filter_batch, B.merge_batch = with_masks, copied, filtered, merged
