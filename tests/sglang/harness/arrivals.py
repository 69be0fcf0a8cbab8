"""Hands requests and aborts to the real loop in the iteration in which they are due; ends it when all is done."""

from __future__ import annotations

from array import array
from typing import Any

from sglang.srt.managers.io_struct import AbortReq
from sglang.srt.managers.schedule_batch import Req
from sglang.srt.sampling.sampling_params import SamplingParams

from .fakes import field
from .jobs import Refused
from .states import VOCAB, ZERO, continuation, fold, fold_all, sample


class Receiver:
    """Stands in the place of the scheduler's request receiver."""

    def __init__(self, recorder: Any, scheduler: Any):
        self.recorder, self.scheduler = recorder, scheduler
        requests = recorder.scenario["requests"]
        scripted = any("after" in q or "before" in q for q in requests)
        self.todo = list(requests) if scripted else sorted(requests, key=lambda q: q["arrival"])
        self.specs = {q["rid"]: q for q in requests}
        self.aborts = [dict(a) for a in recorder.scenario.get("aborts", [])]
        self.live: list[Req] = []
        self.by_rid: dict[str, Req] = {}
        self.ended: list[str] = []  # in the order in which their end was seen
        self.idle = 0

    def recv_requests(self, *a, **k) -> list:
        run = self.recorder
        run.iter += 1
        self._note_ends()
        ready = [q for q in self.todo if self._is_ready(q)]
        ready.sort(key=self._moment)
        self.todo = [q for q in self.todo if not any(q is r for r in ready)]
        out: list[Any] = [self._request(q) for q in ready]
        out += self._due_aborts(out)
        self._watch_end(out)
        return out

    # ---- arrivals ----------------------------------------------------------
    def _over(self, rid: str) -> bool:
        r = self.by_rid.get(rid)
        return r is not None and (r.finished() or rid in self.recorder.dropped)

    def _note_ends(self) -> None:
        over = [r.rid for r in self.live if r.rid not in self.ended and self._over(r.rid)]
        self.ended.extend(over)

    def _is_ready(self, q: dict) -> bool:
        if "follow" in q and not self._over(q["follow"]):
            return False
        if "after" in q:
            return self._over(q["after"])
        if "before" in q:
            rid, step = q["before"]
            if self._over(rid):
                return True
            r = self.by_rid.get(rid)
            waits = r is None or any(r is w for w in self.scheduler.waiting_queue)
            return not waits and field(r, "kv_committed_len") + 1 >= step
        return self.recorder.iter >= q["arrival"]

    def _moment(self, q: dict) -> tuple[int, int]:
        """Those that waited for an end come first, in the order of these ends."""
        return (0, self.ended.index(q["after"])) if "after" in q else (1, 0)

    def _prompt(self, q: dict) -> list[int]:
        if "prompt" in q:
            return list(q["prompt"])
        if "of" in q:
            of = q["of"]
            return self._known(of["rid"])[: of["keep"]] + list(of["tokens"])
        full = self._known(q["follow"])
        ids = full[: max(1, len(full) - q.get("drop", 0))] + list(q.get("tail", []))
        return ids[: self.recorder.config.get("max_prompt", 100)]

    def _known(self, rid: str) -> list[int]:
        """Prompt and outputs so far of another request, or its prompt if it has not come yet."""
        r = self.by_rid.get(rid)
        if r is None:
            return self._prompt(self.specs[rid])
        return list(r.origin_input_ids) + list(r.output_ids)

    def _stop_token(self, q: dict, ids: list[int]) -> int | None:
        if q.get("stop_at"):  # the token that is output number `stop_at`, wherever it comes first
            return continuation(ids, q["stop_at"])[-1]
        if q.get("stop_output"):
            outputs = continuation(ids, q["stop_output"])
            if outputs.index(outputs[-1]) + 1 != q["stop_output"]:
                first = outputs.index(outputs[-1]) + 1
                raise Refused(f"{q['rid']}: the token at output {q['stop_output']} is already output {first}")
            return outputs[-1]
        return None

    def _request(self, q: dict) -> Req:
        ids = self._prompt(q)
        stop = self._stop_token(q, ids)
        sampling = SamplingParams(
            max_new_tokens=q["max_new_tokens"],
            ignore_eos=stop is None,
            temperature=0,
            stop_token_ids=None if stop is None else [stop],
        )
        try:
            sampling.normalize(None)
        except Exception:
            pass
        r = Req(
            rid=q["rid"],
            origin_input_text="",
            origin_input_ids=array("q", ids),
            sampling_params=sampling,
            vocab_size=VOCAB,
            eos_token_ids=set(),
        )
        self.recorder.history[r.rid] = list(ids)
        self.recorder.event("arrive", rid=r.rid, prompt=ids, max_new_tokens=q["max_new_tokens"], stop_token=stop)
        self.live.append(r)
        self.by_rid[r.rid] = r
        return r

    # ---- aborts ------------------------------------------------------------
    def where(self, rid: str) -> str:
        """State of a request before this iteration's scheduling: what an abort meets."""
        s = self.scheduler
        r = self.by_rid.get(rid)
        if r is None or rid in self.recorder.dropped:
            return "gone"
        if r.finished():
            return "finished"
        if s.chunked_req is r:
            return "chunk"
        if any(q is r for q in s.waiting_queue):
            return "waiting"
        last = s.last_batch
        if last is not None and any(q is r for q in last.reqs) and last.forward_mode.is_extend() and not r.output_ids:
            return "prefill"
        return "decode"

    def _outputs_at_finish(self, r: Req) -> int:
        """How many outputs the request has when it finishes by itself."""
        stop = set(r.sampling_params.stop_token_ids or ())
        state = fold_all(ZERO, r.origin_input_ids)
        for n in range(1, r.sampling_params.max_new_tokens + 1):
            token = sample(state)
            state = fold(state, token)
            if token in stop:
                return n
        return r.sampling_params.max_new_tokens

    def _due_aborts(self, fresh: list) -> list[AbortReq]:
        run = self.recorder
        due, keep = [], []
        for a in self.aborts:
            r = self.by_rid.get(a["rid"])
            open_ = r is not None and not r.finished() and r.rid not in run.dropped
            if open_ and self._is_due(a, r, fresh):
                due.append(AbortReq(rid=r.rid))
            elif r is None or open_:
                keep.append(a)
        self.aborts = keep
        return due

    def _is_due(self, a: dict, r: Req, fresh: list) -> bool:
        run, s = self.recorder, self.scheduler
        if a["when"] == "turn":
            return run.iter == a["at"]
        if a["when"] == "iter":
            return run.iter >= a["at"]
        w = "waiting" if any(q is r for q in fresh) else self.where(r.rid)
        if a["when"] == "finish":  # the iteration whose result would finish it anyway
            last = s.last_batch
            in_flight = not run.config["overlap"] or last is not None and any(q is r for q in last.reqs)
            return w in ("decode", "prefill") and len(r.output_ids) == self._outputs_at_finish(r) - 1 and in_flight
        return w == a["when"] and len(r.output_ids) >= a.get("outputs", 0) and run.iter >= a.get("at", 0)

    # ---- the end -----------------------------------------------------------
    def _watch_end(self, out: list) -> None:
        run, s = self.recorder, self.scheduler
        running = not s.running_batch.is_empty() or s.chunked_req is not None
        busy = bool(out or self.todo or s.waiting_queue or s.last_batch or running)
        all_over = all(r.finished() or r.rid in run.dropped for r in self.live) and not self.todo and not out
        self.idle = self.idle + 1 if not busy or all_over else 0
        if self.idle >= 3:
            s.gracefully_exit = True
        if run.iter > run.config.get("max_iter", 4000):
            run.event("assert", message="no progress: iteration limit", kind="stall")
            s.gracefully_exit = True
