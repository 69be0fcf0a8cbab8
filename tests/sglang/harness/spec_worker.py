"""Speculative decoding without a draft model.

The accept length of each verify is read from a sequence, the accepted tokens are the true continuation.
Preparation, allocation, the track plan, the relay, the crossing rule and the result processing are the release's
own; the scatter of the states is applied here, at launch: the last accepted step to the active slot, the crossing
step to the track slot.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

from .fakes import Event, call
from .forward import check_active, forward
from .states import ZERO, fold, fold_all, sample


def server_fields(config: dict) -> dict[str, Any]:
    d = config["spec"]["draft_tokens"]
    return dict(
        speculative_algorithm="EAGLE",
        speculative_num_draft_tokens=d,
        speculative_num_steps=d - 1,
        speculative_eagle_topk=1,
    )


def replace_kernels() -> None:
    """The two device kernels on the way: write the reserved locations, gather the relay."""
    torch.Tensor.record_stream = lambda self, stream: None
    if not hasattr(torch.cpu, "Event"):
        torch.cpu.Event = Event

    def assign(req_pool_indices, req_to_token, start_offset, end_offset, out_cache_loc, batch_size, *a, **k):
        at = 0
        for row, start, end in zip(req_pool_indices.tolist(), start_offset.tolist(), end_offset.tolist()):
            n = int(end) - int(start)
            if n > 0:
                req_to_token[int(row), int(start) : int(end)] = out_cache_loc[at : at + n].to(req_to_token.dtype)
                at += n

    def gather(indices, topk_p, topk_index, tokens, hidden=None, *a, **k):
        i = indices.long()
        return topk_p[i], topk_index[i], tokens[i], None if hidden is None else hidden[i]

    from sglang.srt.managers import overlap_utils

    if hasattr(overlap_utils, "gather_spec_extras"):
        overlap_utils.gather_spec_extras = gather
    for name, module in list(sys.modules.items()):
        if name.startswith("sglang.") and hasattr(module, "assign_req_to_token_pool_func"):
            module.assign_req_to_token_pool_func = assign


class SpecWorker:
    """`forward_batch_generation` of a speculative worker."""

    def __init__(self, recorder: Any, base: Any):
        self.recorder, self.base = recorder, base
        self.spec = recorder.config["spec"]
        self.d = self.spec["draft_tokens"]
        self.model_runner = base.model_runner
        self.war_fastpath_runner = base.war_fastpath_runner
        self.draws: dict[str, random.Random] = {}
        self.verifies: dict[str, int] = {}

    def __getattr__(self, name):
        if name in ("prepare_for_kv_cache_release", "note_request_finished"):
            return None
        raise AttributeError(name)

    def on_verify_complete_cpu(self, *a, **k):
        pass

    def accept(self, rid: str) -> int:
        """1..draft_tokens: the list in turn, or a seeded sequence for each request."""
        lens = self.spec["accept"]
        if self.spec.get("cycle"):
            n = self.verifies.get(rid, 0)
            self.verifies[rid] = n + 1
            return lens[n % len(lens)]
        r = self.draws.setdefault(rid, random.Random(f"accept-{self.spec['seed']}-{rid}"))
        return r.choice(lens)

    def draft_input(self, bonus: list[int]) -> Any:
        from sglang.srt.speculative.eagle_info import EagleDraftInput

        n = len(bonus)
        return EagleDraftInput(
            topk_p=torch.zeros(n, 1),
            topk_index=torch.zeros(n, 1, dtype=torch.int64),
            hidden_states=torch.zeros(n, 1),
            bonus_tokens=torch.tensor(bonus, dtype=torch.int64),
        )

    def forward_batch_generation(self, batch, on_publish=None, grammar_barrier=None, **kw):
        from sglang.srt.managers.utils import GenerationBatchResult

        self.recorder.stream = "forward"
        made: dict[str, Any] = dict(logits_output=None, can_run_cuda_graph=False)
        if batch.forward_mode.is_extend():
            tokens = forward(self.recorder, batch)
            made.update(next_token_ids=tokens, new_seq_lens=batch.seq_lens)
            made.update(next_draft_input=self.draft_input(tokens.tolist()))
        else:
            ids, lens = self.verify(batch)
            made.update(
                next_token_ids=torch.tensor(ids, dtype=torch.int64),
                accept_lens=torch.tensor(lens, dtype=torch.int64),
                speculative_num_draft_tokens=self.d,
                new_seq_lens=batch.seq_lens + torch.tensor(lens, dtype=batch.seq_lens.dtype),
                next_draft_input=self.draft_input([ids[j * self.d + n - 1] for j, n in enumerate(lens)]),
            )
        result = call(GenerationBatchResult, **made)
        self.recorder.stream = "schedule"
        if on_publish is not None:
            on_publish(result.new_seq_lens)
        result.copy_to_cpu = lambda *a, **k: None
        return result

    def steps(self, batch: Any, lens: list[int]) -> tuple[list[int], list[int] | None]:
        """The release's own rule for the crossing step (-1: none)."""
        from sglang.srt.speculative import spec_utils

        index = torch.full((len(lens), self.d), -1, dtype=torch.int64)
        for j, n in enumerate(lens):
            index[j, :n] = torch.arange(j * self.d, j * self.d + n)
        last, track = spec_utils._verify_commit_step_indices(
            batch=batch,
            accept_index=index,
            accept_lens=torch.tensor(lens, dtype=torch.int64),
            draft_token_num=self.d,
        )
        return last.tolist(), None if track is None else track.tolist()

    def verify(self, b: Any) -> tuple[list[int], list[int]]:
        from sglang.srt.speculative import spec_utils

        rec = self.recorder
        store = rec.store
        rec.event("launch", batch=b._rec_id, mode="verify", rids=[r.rid for r in b.reqs])
        # The initialisation of slots is an extend forward's business: the releases gate it so.
        spec_utils.prepare_mamba_track_for_verify(b)
        lens = [self.accept(r.rid) for r in b.reqs]
        last, track = self.steps(b, lens)
        slots = b.mamba_track_indices.tolist() if b.mamba_track_indices is not None else [-1] * len(b.reqs)
        active = b.req_to_token_pool.get_mamba_indices(b.req_pool_indices).tolist()
        given = b.spec_info.bonus_tokens.tolist()
        out: list[int] = []
        for j, r in enumerate(b.reqs):
            length, n, slot = int(b.seq_lens[j]), lens[j], active[j]
            history = rec.history[r.rid]
            while len(history) < length + n + 1:
                history.append(sample(fold_all(ZERO, history)))
            if given[j] != history[length]:
                rec.event("assert", message=f"{r.rid}: verify input token mismatch at {length}", kind="token")
            state = store.get(slot, ZERO)
            check_active(rec, r.rid, length, state, fold_all(ZERO, history[:length]))
            step = -1 if track is None else track[j]
            rec.event("verify", rid=r.rid, seq_len=length, accept=n, track_step=step, slot=slots[j])
            kept = None
            for k in range(n):
                state = fold(state, history[length + k])
                if k == step:
                    kept = state
                if k == last[j]:
                    store[slot] = state
            if kept is not None and slots[j] >= 0:
                store[slots[j]] = kept
                rec.event("track_write", rid=r.rid, slot=slots[j], n=kept[0])
            out += history[length + 1 : length + n + 1] + [0] * (self.d - n)
        return out, lens
