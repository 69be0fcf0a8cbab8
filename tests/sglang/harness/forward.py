"""The worker that stands in the place of a model: device work is applied at launch, in launch order.

That is the order of the stream: clears, then copies of cached states, then the advance of each row, then the copy
to its track slot.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from .fakes import call
from .states import ZERO, fold, fold_all, sample


class FakeWorker:
    def __init__(self, recorder: Any):
        self.recorder = recorder
        self.model_runner = SimpleNamespace(
            attn_backend=SimpleNamespace(needs_cpu_seq_lens=True),
            prefill_aware_swa=False,
            canary_manager=None,
            ngram_embedding_manager=None,
            model_is_mrope=False,
            decode_prefill_aware_swa=False,
        )
        self.war_fastpath_runner = SimpleNamespace(war_fastpath_read_done_event=None)

    def __getattr__(self, name):
        if name in ("prepare_for_kv_cache_release", "note_request_finished"):
            return None
        raise AttributeError(name)

    def forward_batch_generation(self, batch, *a, **k):
        from sglang.srt.managers.utils import GenerationBatchResult

        self.recorder.stream = "forward"
        tokens = forward(self.recorder, batch)
        self.recorder.stream = "schedule"
        result = call(GenerationBatchResult, logits_output=None, next_token_ids=tokens, can_run_cuda_graph=False)
        result.copy_to_cpu = lambda *a, **k: None
        return result


def forward(recorder: Any, b: Any) -> torch.Tensor:
    """Runs a prefill, decode or mixed batch; returns the sampled tokens."""
    mode = "decode" if b.forward_mode.is_decode() else ("mixed" if b.forward_mode.is_mixed() else "extend")
    recorder.event("launch", batch=b._rec_id, mode=mode, rids=[r.rid for r in b.reqs])
    _initialise_slots(recorder, b)
    active = b.req_to_token_pool.get_mamba_indices(b.req_pool_indices).tolist()
    tokens = b.input_ids.tolist()
    untracked = b.mamba_track_mask is None
    mask = [False] * len(b.reqs) if untracked else b.mamba_track_mask.tolist()
    slots = [-1] * len(b.reqs) if untracked else b.mamba_track_indices.tolist()
    if mode == "decode":
        out = _decode(recorder, b, active, tokens, mask, slots)
    else:
        tail = getattr(b, "_rec_tail", 0) if mode == "mixed" else 0
        out = _extend(recorder, b, active, tokens, mask, slots, tail)
    return torch.tensor(out, dtype=torch.int64)


def _initialise_slots(recorder: Any, b: Any) -> None:
    """The deferred initialisation of slots, first thing on the forward stream."""
    store = recorder.store
    if b.mamba_clear_indices is not None:
        for slot in b.mamba_clear_indices.tolist():
            store[slot] = ZERO
            recorder.event("clear", slot=slot)
    if b.mamba_cow_src_indices is not None:
        for src, dst in zip(b.mamba_cow_src_indices.tolist(), b.mamba_cow_dst_indices.tolist()):
            store[dst] = store.get(src, ZERO)
            recorder.event("cow", src=src, dst=dst, n=store[dst][0])
    b.mamba_clear_indices = b.mamba_cow_src_indices = b.mamba_cow_dst_indices = None


def check_active(recorder: Any, rid: str, length: int, held: Any, expected: Any) -> None:
    if held != expected:
        recorder.stats["active_bad"] += 1
        recorder.tainted.add(rid)
        recorder.event("active_mismatch", rid=rid, seq_len=length, n=held[0])


def _decode(recorder: Any, b: Any, active: list, tokens: list, mask: list, slots: list) -> list[int]:
    store, out = recorder.store, []
    for j, r in enumerate(b.reqs):
        slot, length = active[j], int(b.seq_lens[j])
        store[slot] = fold(store.get(slot, ZERO), tokens[j])
        history = recorder.history[r.rid]
        expected = fold_all(ZERO, history[:length])
        if len(history) < length or history[length - 1] != tokens[j]:
            recorder.event("assert", message=f"{r.rid}: decode input token mismatch at {length}", kind="token")
        check_active(recorder, r.rid, length, store[slot], expected)
        if mask[j]:
            store[slots[j]] = store[slot]
            recorder.event("track_write", rid=r.rid, slot=slots[j], n=store[slot][0])
        token = sample(expected)
        if len(history) == length:
            history.append(token)
        out.append(token)
    return out


def _extend(recorder: Any, b: Any, active: list, tokens: list, mask: list, slots: list, tail: int) -> list[int]:
    store, out, at = recorder.store, [], 0
    tracked_at = getattr(b, "_rec_tracked", None) or {}
    for j, r in enumerate(b.reqs):
        slot, prefix, extend = active[j], b.prefix_lens[j], b.extend_lens[j]
        if tail and j >= len(b.reqs) - tail:  # a decode row: the row length is the truth
            length = int(b.seq_lens[j])
            if prefix != length - 1 or extend != 1:
                recorder.event("prefix_mismatch", rid=r.rid, prefix_len=prefix, extend_len=extend, seq_len=length)
            prefix, extend = length - 1, 1
        ids = tokens[at : at + extend]
        at += extend
        state = store.get(slot, ZERO)
        history = recorder.history[r.rid]
        check_active(recorder, r.rid, prefix, state, fold_all(ZERO, history[:prefix]))
        if ids != list(history[prefix : prefix + extend]):
            recorder.event("assert", message=f"{r.rid}: extend input mismatch", kind="token")
        tracked = tracked_at.get(r.rid)
        for x, token in enumerate(ids):
            state = fold(state, token)
            if mask[j] and tracked is not None and prefix + x + 1 == tracked:
                store[slots[j]] = state
                recorder.event("track_write", rid=r.rid, slot=slots[j], n=state[0])
        store[slot] = state
        length = prefix + extend
        token = sample(fold_all(ZERO, history[:length]))
        if length == len(history):  # the last chunk (a middle chunk ends before the history does)
            history.append(token)
        elif length < len(history):
            token = history[length]
        out.append(token)
    return out
