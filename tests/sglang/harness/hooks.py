"""Wraps functions of the release so that the run in progress sees them. Observation only; installed once a process.

A rule must be applied after the hooks (`rules.apply`), so that its functions see the same batches.
"""

from __future__ import annotations

from typing import Any, Callable

from sglang.srt.managers.schedule_batch import ScheduleBatch
from sglang.srt.managers.scheduler_components.batch_result_processor import SchedulerBatchResultProcessor as Processor
from sglang.srt.mem_cache import memory_pool
from sglang.srt.mem_cache.allocator.mamba import MambaSlotAllocator

from . import recorder as rec
from .fakes import field, slot_of

try:
    from sglang.srt.mem_cache.unified_cache.components import MambaComponent
except ImportError:
    from sglang.srt.mem_cache.unified_cache_components.mamba_component import MambaComponent


def install() -> None:
    _prepares()
    _batches()
    _results()
    _retraction()
    _slots()
    _donations()


def _wrap(cls: Any, name: str, make: Callable[[Callable], Callable]) -> None:
    setattr(cls, name, make(getattr(cls, name)))


def _prepares() -> None:
    def decode(orig):
        def prepare_for_decode(self, *a, **k):
            r = orig(self, *a, **k)
            if rec.current:
                rec.current.on_prepare_decode(self)
            return r

        return prepare_for_decode

    def extend(orig):
        def prepare_for_extend(self, *a, **k):
            r = orig(self, *a, **k)
            if rec.current:
                rec.current.on_prepare_extend(self)
            return r

        return prepare_for_extend

    _wrap(ScheduleBatch, "prepare_for_decode", decode)
    _wrap(ScheduleBatch, "prepare_for_extend", extend)


def _batches() -> None:
    def copying(orig):
        def copy(self, *a, **k):
            r = orig(self, *a, **k)
            r._rec_id = getattr(self, "_rec_id", None)
            r._rec_decode_idx = getattr(self, "_rec_decode_idx", None)
            return r

        return copy

    def mixing(orig):
        def mix_with_running(self, running, *a, **k):
            lens = running.seq_lens_cpu.tolist() if running.seq_lens_cpu is not None else None
            number = getattr(running, "_rec_id", None)
            info = dict(decode_batch=number, rids=[r.rid for r in running.reqs], seq_lens=lens)
            r = orig(self, running, *a, **k)
            if rec.current:
                rec.current.on_mix(self, info)
            return r

        return mix_with_running

    _wrap(ScheduleBatch, "copy", copying)
    _wrap(ScheduleBatch, "mix_with_running", mixing)


def _results() -> None:
    def finishing(orig):
        def handle(self, req, batch, result, i, logits_output):
            if rec.current:
                rec.current.results.before_row(req, batch, i)
            return orig(self, req, batch, result, i, logits_output)

        return handle

    def updating(orig):
        def update(self, req, batch, result, i, *a, **k):
            label, index = field(req, "mamba_last_track_seqlen"), field(req, "mamba_next_track_idx")
            r = orig(self, req, batch, result, i, *a, **k)
            if rec.current:
                rec.current.results.after_update(req, label, index)
            return r

        return update

    def committing(orig):
        def post(self, req, batch, *a, **k):
            if rec.current:
                rec.current.results.committed_at_boundary()
            return orig(self, req, batch, *a, **k)

        return post

    def whole(mode):
        def make(orig):
            def process(self, batch, result, *a, **k):
                if rec.current:
                    rec.current.results.begin(result)
                r = orig(self, batch, result, *a, **k)
                if rec.current:
                    rec.current.results.end(batch, mode)
                return r

            return process

        return make

    _wrap(Processor, "_handle_finish_state_updated_req", finishing)
    _wrap(Processor, "_mamba_prefix_cache_update", updating)
    _wrap(Processor, "mamba_lazy_post_decode_at_boundary", committing)
    _wrap(Processor, "process_batch_result_decode", whole("decode"))
    _wrap(Processor, "process_batch_result_prefill", whole("extend"))


def _retraction() -> None:
    def retracting(orig):
        def retract_decode(self, *a, **k):
            if rec.current:
                rec.current.reason = "retract"
            try:
                r = orig(self, *a, **k)
            finally:
                if rec.current:
                    rec.current.reason = None
            if rec.current:
                for q in r[0]:
                    rec.current.event("retract", rid=q.rid, output_len=len(q.output_ids))
            return r

        return retract_decode

    _wrap(ScheduleBatch, "retract_decode", retracting)


def _slots() -> None:
    def allocating(orig):
        def alloc(self, need_size):
            r = orig(self, need_size)
            if rec.current:
                rec.current.on_slot_alloc(r, need_size, len(self.free_slots))
            return r

        return alloc

    def freeing(orig):
        def free(self, free_index):
            r = orig(self, free_index)
            if rec.current:
                slots = [int(x) for x in free_index.view(-1)]
                rec.current.on_slot_free(slots, self.free_slots.tolist())
            return r

        return free

    def copying(orig):
        def copy_from(self, src, dst, *a, **k):
            r = orig(self, src, dst, *a, **k)
            if rec.current:
                rec.current.on_copy(src, dst)
            return r

        return copy_from

    _wrap(MambaSlotAllocator, "_do_alloc", allocating)
    _wrap(MambaSlotAllocator, "free", freeing)
    _wrap(memory_pool.MambaPool, "copy_from", copying)


def _donations() -> None:
    """Where the tree takes a state under the length of a key."""

    def preparing(orig):
        def prepare(self, req, insert_params, token_ids_len, is_finished, *a, **k):
            r = orig(self, req, insert_params, token_ids_len, is_finished, *a, **k)
            if rec.current:
                slot = slot_of(insert_params.mamba_value)
                rec.current.prepared = dict(rid=req.rid, label=r, slot=slot, finished=is_finished)
            return r

        return prepare

    def cleaning(orig):
        def cleanup(self, req, is_finished, insert_result=None, insert_params=None, *a, **k):
            if rec.current:
                rec.current.on_donate(req, is_finished, insert_result, insert_params)
            return orig(self, req, is_finished, insert_result, insert_params, *a, **k)

        return cleanup

    _wrap(MambaComponent, "prepare_for_caching_req", preparing)
    _wrap(MambaComponent, "cleanup_after_caching_req", cleaning)
