"""One run's recording: what each hook writes, and the contents of the slots beside it.

The fields and their order are the format of the recordings. `current` is the run that the hooks write to.
"""

from __future__ import annotations

import json
from typing import Any, TextIO

from .fakes import field, slot_of
from .results import ResultRows
from .states import ZERO, State, fold_all

current: "Recorder | None" = None  # hooks do nothing without one

COUNTERS = (
    "donate",
    "donate_bad",
    "donate_finished_bad",
    "donate_bad_root",
    "active_bad",
    "tree_bad",
    "retract",
    "fired",
    "fired_same_boundary",
    "missed_boundary",
    "missed_record",
    "boundary",
)


class Recorder:
    def __init__(self, scenario: dict[str, Any], out: TextIO | None):
        self.scenario = scenario
        self.config = scenario["config"]
        self.out = out
        self.iter = 0
        self.batches = 0
        self.store: dict[int, State] = {}  # what each slot holds
        self.history: dict[str, list[int]] = {}  # the true tokens of each request
        self.stream = "schedule"
        self.grid = self.config["track_interval"]
        self.tainted: set[str] = set()  # requests whose active state is wrong: they reused a bad checkpoint
        self.dropped: set[str] = set()  # requests the scheduler gave up without finishing them
        self.asserts = 0
        self.reason: str | None = None  # why slots are given up, if it is not an ordinary end
        self.prepared: dict | None = None  # the donation being prepared
        self.stats: dict[str, Any] = dict(lookahead=[0, 0], **{name: 0 for name in COUNTERS})
        self.results = ResultRows(self)

    def event(self, ev_: str, **fields: Any) -> None:
        if ev_ == "assert":
            self.asserts += 1
        if ev_ == "retract":
            self.stats["retract"] += 1
            self.tainted.discard(fields["rid"])  # the wrong state went with the slot
        if self.out is not None:
            self.out.write(json.dumps(dict(i=self.iter, ev=ev_, **fields), separators=(",", ":")) + "\n")

    def next_batch(self, batch: Any, decode_batch_idx: list[int] | None) -> int:
        self.batches += 1
        batch._rec_id = self.batches
        batch._rec_decode_idx = decode_batch_idx
        return self.batches

    # ---- prepare ---------------------------------------------------------
    def on_prepare_decode(self, b: Any) -> None:
        counters = [r.decode_batch_idx for r in b.reqs]
        number = self.next_batch(b, counters)
        next_mask = getattr(b, "mamba_track_mask_next_cpu", None)
        if next_mask is None and self.config.get("policy") == "mask-lookahead" and b.enable_overlap:
            interval = self.config["track_interval"]
            next_mask = (b.seq_lens_cpu % interval == interval - 1).tolist()
        spec = {}
        if self.config.get("spec"):
            allocated = [field(r, "kv_allocated_len") for r in b.reqs]
            spec = dict(kv_allocated=allocated, plan=getattr(b, "mamba_lazy_spec_track_positions_cpu", None))
        self.event(
            "prepare_decode",
            batch=number,
            rids=[r.rid for r in b.reqs],
            seq_lens=None if b.seq_lens_cpu is None else b.seq_lens_cpu.tolist(),
            decode_batch_idx=list(counters),
            kv_committed=[field(r, "kv_committed_len") for r in b.reqs],
            mask=[bool(x) for x in b.mamba_track_mask.tolist()] if b.mamba_track_mask is not None else None,
            next_mask=next_mask,
            track_slots=b.mamba_track_indices.tolist() if b.mamba_track_indices is not None else None,
            next_idx=[field(r, "mamba_next_track_idx") for r in b.reqs],
            active=[int(field(r, "mamba_pool_idx")) for r in b.reqs],
            **spec,
        )

    def on_prepare_extend(self, b: Any) -> None:
        number = self.next_batch(b, None)
        untracked = b.mamba_track_mask is None  # no_buffer keeps no track slots
        masks = [False] * len(b.reqs) if untracked else b.mamba_track_mask.tolist()
        slots = [-1] * len(b.reqs) if untracked else b.mamba_track_indices.tolist()
        lengths = [-1] * len(b.reqs) if untracked else b.mamba_track_seqlens.tolist()
        tracked_at = getattr(b, "_rec_tracked", None) or {}
        for j, r in enumerate(b.reqs):
            tracked = field(r, "mamba_last_track_seqlen") if masks[j] else None
            self.event(
                "prepare_extend",
                batch=number,
                rid=r.rid,
                prefix_len=b.prefix_lens[j],
                extend_len=b.extend_lens[j],
                mask=bool(masks[j]),
                slot=int(slots[j]),
                tracked=tracked,
                track_seqlen_arg=int(lengths[j]),
                branching=getattr(r, "mamba_branching_seqlen", None),
                active=int(field(r, "mamba_pool_idx")),
                kv_committed=field(r, "kv_committed_len"),
                next_idx=field(r, "mamba_next_track_idx"),
                chunked=bool(getattr(r, "inflight_middle_chunks", 0)),
            )
            tracked_at[r.rid] = tracked
        b._rec_tracked = tracked_at

    def on_mix(self, b: Any, info: dict[str, Any]) -> None:
        """Decode rows joined an extend batch; their own prepare_decode came just before."""
        n = len(info["rids"])
        b._rec_tail = n
        self.event(
            "mix",
            batch=b._rec_id,
            **info,
            prefix_lens=list(b.prefix_lens[-n:]) if n else [],
            next_idx=[field(r, "mamba_next_track_idx") for r in b.reqs[-n:]] if n else [],
            prefill_track_kept=b.mamba_track_mask is not None,
        )

    # ---- slots -----------------------------------------------------------
    def on_copy(self, src: Any, dst: Any) -> None:
        for x, y in zip(src.view(-1).tolist(), dst.view(-1).tolist()):
            self.store[int(y)] = self.store.get(int(x), ZERO)
            self.event("copy", src=int(x), dst=int(y), n=self.store[int(y)][0], stream=self.stream)

    def on_slot_alloc(self, slots: Any, count: int, free: int) -> None:
        given = None if slots is None else [int(x) for x in slots]
        self.event("slot_alloc", slots=given, n=count, free=free)

    def on_slot_free(self, slots: list[int], free_list: list[int]) -> None:
        self.event("slot_free", slots=slots, free=len(free_list))
        if len(set(free_list)) != len(free_list):
            self.event("assert", message=f"double free: slots {slots}", kind="double_free")
        if any(x <= 0 for x in slots):
            self.event("assert", message=f"freed invalid slot: {slots}", kind="bad_free")

    # ---- the tree --------------------------------------------------------
    def on_match(self, req: Any, prefix_len: int, slot: int | None, branching: int | None) -> None:
        held = None if slot is None else self.store.get(slot, ZERO)[0]
        self.event("match", rid=req.rid, prefix_len=prefix_len, slot=slot, branching=branching, n=held)

    def on_donate(self, req: Any, is_finished: bool, insert_result: Any, insert_params: Any) -> None:
        self.results.snapshot(req)
        prepared, self.prepared = self.prepared, None
        slot = slot_of(getattr(insert_params, "mamba_value", None)) if insert_params is not None else None
        reason = self.reason or ("finished" if is_finished else "unfinished")
        if insert_result is None:
            self.event("no_insert", rid=req.rid, reason=reason, prepared=prepared)
            return
        key = getattr(insert_params, "key", None)
        label = len(key) if key is not None else (prepared or {}).get("label")
        exists = bool(getattr(insert_result, "mamba_exist", False))
        if slot is None or not label:
            self.event("no_insert", rid=req.rid, reason=reason, label=label, slot=slot)
            return
        expected = fold_all(ZERO, self.history[req.rid][:label])
        got = self.store.get(slot, ZERO)
        tainted = req.rid in self.tainted
        self._count_donation(got == expected, exists, is_finished, reason, tainted)
        self.event(
            "donate",
            rid=req.rid,
            label=label,
            slot=slot,
            n=got[0],
            hash=f"{got[1]:016x}",
            expected=f"{expected[1]:016x}",
            ok=got == expected,
            reason=reason,
            already_in_tree=exists,
            tainted=tainted,
        )

    def _count_donation(self, ok: bool, exists: bool, is_finished: bool, reason: str, tainted: bool) -> None:
        self.stats["donate"] += 1
        if ok or exists:
            return
        self.stats["donate_bad"] += 1
        if is_finished:
            self.stats["donate_finished_bad"] += 1
        if not tainted:
            self.stats["donate_bad_root"] += 1
            key = "donate_bad_root_" + reason
            self.stats[key] = self.stats.get(key, 0) + 1
