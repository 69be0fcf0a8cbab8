"""The rows of a `result` event: what a request was before its row was processed, and what it is after."""

from __future__ import annotations

from typing import Any

from sglang.srt.managers.schedule_batch import FINISH_ABORT

from .fakes import field


class ResultRows:
    def __init__(self, recorder: Any):
        self.recorder = recorder
        self.spec = bool(recorder.config.get("spec"))
        self.rows: list[dict] = []
        self.open: dict | None = None  # the row being processed
        self.result: Any = None
        self.fired_at: dict[tuple[str, int], int] = {}  # firings by request and boundary

    def begin(self, result: Any) -> None:
        self.rows = []
        self.open = None
        self.result = result

    def before_row(self, req: Any, batch: Any, i: int) -> None:
        self._close_row()
        counters = getattr(batch, "_rec_decode_idx", None)
        lookahead = None
        if batch.forward_mode.is_decode() and counters is not None:
            lookahead = req.decode_batch_idx - counters[i]
        row = dict(
            rid=req.rid,
            lookahead=lookahead,
            fired=False,
            track_seqlen=None,
            kv_committed=field(req, "kv_committed_len"),
            output_len=len(req.output_ids),
            finished=bool(req.finished()),
            next_before=field(req, "mamba_next_track_idx"),
            last_seqlen_before=field(req, "mamba_last_track_seqlen"),
        )
        row["seq_len"] = req.seqlen - 1 if self.spec else int(batch.seq_lens_cpu[i])
        if self.spec:
            lens = self.result.accept_lens if self.result is not None else None
            row["accept"] = 0 if lens is None else int(lens[i])
        row["_req"] = req
        self.open = row
        if lookahead in (0, 1):
            self.recorder.stats["lookahead"][lookahead] += 1

    def committed_at_boundary(self) -> None:
        """The lazy commit of a boundary ran for the open row."""
        if self.open is not None:
            self.open["fired"] = True

    def after_update(self, req: Any, label_before: Any, next_before: Any) -> None:
        """The rule ran for the open row."""
        row = self.open
        if row is None:
            return
        label = field(req, "mamba_last_track_seqlen")
        if field(req, "mamba_next_track_idx") != next_before or label != label_before:
            row["fired"] = True
        if row["fired"]:
            row["track_seqlen"] = label
        self.snapshot(req)

    def snapshot(self, req: Any) -> None:
        """What the rule left behind; taken before the request gives its slots back."""
        row = self.open
        if row is None or row.get("rid") != req.rid or "next_idx" in row:
            return
        row["next_idx"] = field(req, "mamba_next_track_idx")
        row["last_idx"] = field(req, "mamba_last_track_idx")
        row["last_track_seqlen"] = field(req, "mamba_last_track_seqlen")
        if not row["fired"]:
            row["fired"] = row["next_idx"] != row["next_before"]

    def end(self, batch: Any, mode: str) -> None:
        self._close_row()
        rows = [self._finish_row(row) for row in self.rows]
        if mode == "extend":
            if batch.forward_mode.is_mixed():
                mode = "mixed"
            rows = self._extend_rows(batch, mode)
        by_rid = {}
        for r in batch.reqs:
            by_rid.setdefault(r.rid, r)
        for row in rows:
            r = by_rid[row["rid"]]
            if isinstance(r.finished_reason, FINISH_ABORT):
                row["aborted"] = True
            if r.is_retracted:
                row["retracted"] = True
        self.recorder.event("result", batch=getattr(batch, "_rec_id", None), mode=mode, reqs=rows)
        self.rows = []

    def _extend_rows(self, batch: Any, mode: str) -> list[dict]:
        decoding = {r.rid for r in (batch.decoding_reqs or [])} if mode == "mixed" else set()
        rows = []
        for r in batch.reqs:
            row = dict(rid=r.rid, finished=bool(r.finished()), output_len=len(r.output_ids))
            if r.rid in decoding:
                row.update(
                    decode=True,
                    next_idx=field(r, "mamba_next_track_idx"),
                    last_idx=field(r, "mamba_last_track_idx"),
                    last_track_seqlen=field(r, "mamba_last_track_seqlen"),
                    kv_committed=field(r, "kv_committed_len"),
                )
            rows.append(row)
        return rows

    def _close_row(self) -> None:
        if self.open is not None:
            self.rows.append(self.open)
            self.open = None

    def _finish_row(self, row: dict) -> dict:
        req = row.pop("_req")
        if "next_idx" not in row:
            self.open = row
            self.snapshot(req)
            self.open = None
        if row["lookahead"] is not None and not self.spec:
            self._judge_row(row)
        return row

    def _judge_row(self, row: dict) -> None:
        """Marks a boundary that fired twice, was not recorded, or never fired."""
        stats, grid, length = self.recorder.stats, self.recorder.grid, row["seq_len"]
        if row["fired"]:
            stats["fired"] += 1
            boundary = length if length % grid == 0 else (length + 1 if (length + 1) % grid == 0 else length)
            key = (row["rid"], boundary)
            self.fired_at[key] = self.fired_at.get(key, 0) + 1
            if self.fired_at[key] == 2:
                stats["fired_same_boundary"] += 1
                row["second_fire"] = boundary
        if length % grid == 0 and self.recorder.config["strategy"] != "no_buffer":
            stats["boundary"] += 1
            if row["last_track_seqlen"] != length:
                stats["missed_record"] += 1
                row["unrecorded"] = length
            if not self.fired_at.get((row["rid"], length)):
                stats["missed_boundary"] += 1
                row["missed"] = length
