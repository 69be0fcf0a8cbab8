"""Records what a running SGLang server decides about its cached states, so that `overlapsim conform` can replay it.

One file, nothing but the standard library; torch only as what the server has imported. Put it on PYTHONPATH and
either

    import capture; capture.install(out_dir="/var/tmp/capture")          # in the scheduler's process

or set OVERLAPSIM_CAPTURE_DIR and have `import capture` run at the start of every process (README.md says how): then
it installs itself as soon as the scheduler is imported.

What it owns: hooks around functions that the scheduler calls once a batch, or once for a request that arrives, is
prefilled or ends; a background writer; rotating files. What it refuses: to raise into the server, to wait for the
device, and to write tokens as they are unless told to. The format is that of `docs/conformance.md`, less what it
cannot know: contents.

| variable | default | meaning |
|---|---|---|
| OVERLAPSIM_CAPTURE_DIR | - | directory of the files; without it nothing is installed |
| OVERLAPSIM_CAPTURE_TOKENS | 0 | 1: token ids as they are; otherwise salted hashes |
| OVERLAPSIM_CAPTURE_RIDS | 1 | 0: requests are numbered in place of their ids |
| OVERLAPSIM_CAPTURE_GZ | 0 | 1: compressed files |
| OVERLAPSIM_CAPTURE_MIB | 64 | size at which a file is ended and the next one begun |
| OVERLAPSIM_CAPTURE_KEEP | 8 | files kept; older ones are removed |
| OVERLAPSIM_CAPTURE_FULL_ROWS | 64 | larger decode batches: only what changed, and rows near a boundary |
| OVERLAPSIM_CAPTURE_QUEUE | 512 | loop iterations that may wait for the writer; more are dropped and counted |
"""

from __future__ import annotations

import atexit
import gzip
import hashlib
import importlib
import importlib.util
import json
import os
import queue
import secrets
import sys
import threading
import time
from typing import Any, Callable

SCHEDULER = "sglang.srt.managers.scheduler"
ERRORS_MAX = 10  # internal errors after which it disables itself
FULL_EVERY = 1000  # decode batches between two that are written in full whatever their size
FLUSH_EVERY_S = 1.0
# The writer wakes up by the clock, not for every iteration: two threads that take turns at the interpreter cost both.
DRAIN_EVERY_S = 0.02

_active: "Capture | None" = None


def install(out_dir: str | None = None, **options: Any) -> "Capture | None":
    """Wraps the server's functions; returns None, and leaves the server alone, if that cannot be done."""
    global _active
    try:
        uninstall()
        given = out_dir or os.environ.get("OVERLAPSIM_CAPTURE_DIR")
        if not given:
            raise ValueError("no directory: give out_dir or OVERLAPSIM_CAPTURE_DIR")
        capture = Capture(Files(given, **_file_options(options)), **_options(options))
        capture.hook()
        _active = capture
        return capture
    except Exception as error:
        print(f"capture: not installed: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def uninstall() -> None:
    """Gives the server its own functions back, and ends the recording."""
    global _active
    capture, _active = _active, None
    if capture is not None:
        capture.unhook()
        capture.close()


def _flag(name: str, default: str) -> str:
    return os.environ.get(f"OVERLAPSIM_CAPTURE_{name}", default)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    return dict(
        tokens=given.get("tokens", _flag("TOKENS", "0") == "1"),
        rids=given.get("rids", _flag("RIDS", "1") != "0"),
        full_rows=given.get("full_rows", int(_flag("FULL_ROWS", "64"))),
        waiting_max=given.get("waiting_max", int(_flag("QUEUE", "512"))),
        known=given.get("known"),
        receiver=given.get("receiver"),
        modules=given.get("modules"),
    )


def _file_options(given: dict[str, Any]) -> dict[str, Any]:
    return dict(
        prefix=given.get("prefix", f"capture-{os.getpid()}-{int(time.time())}"),
        compress=given.get("compress", _flag("GZ", "0") == "1"),
        limit_bytes=given.get("limit_bytes", int(float(_flag("MIB", "64")) * (1 << 20))),
        keep=given.get("keep", int(_flag("KEEP", "8"))),
    )


# ---- values that are on the device ----


class Later:
    """Values of a device tensor: copied to the host with others of the same iteration, read by the writer."""

    __slots__ = ("tensor", "first", "values")

    def __init__(self, tensor: Any, first: bool):
        self.tensor, self.first, self.values = tensor, first, None

    def get(self) -> Any:
        if self.values is None:
            return None
        return self.values[0] if self.first and self.values else self.values


class Moved:
    """One copy to the host, in the order of the stream that issued it; the writer waits for it, never the scheduler."""

    def __init__(self, cells: list[Later]):
        import torch

        flat = [cell.tensor.reshape(-1).to(torch.int64) for cell in cells]
        self.cells, self.sizes = cells, [len(part) for part in flat]
        self.host = torch.cat(flat).to("cpu", non_blocking=True)
        self.done = torch.cuda.Event()
        self.done.record()
        for cell in cells:
            cell.tensor = None

    def settle(self) -> None:
        self.done.synchronize()
        values, at = self.host.tolist(), 0
        for cell, size in zip(self.cells, self.sizes):
            cell.values = values[at : at + size]
            at += size


# ---- what the hooks note ----


class FullDecode:
    """A `prepare_decode` event, kept as the server's own lists until the writer turns it into text."""

    __slots__ = (
        "i",
        "batch",
        "rids",
        "lens",
        "counters",
        "committed",
        "grid",
        "next",
        "tracks",
        "indices",
        "active",
        "spec",
        "mask",
    )


class Mark:
    """What a batch carries from its prepare to its result."""

    __slots__ = ("batch", "near", "lens", "counters")

    def __init__(self, batch: int, near: list[int] | None, lens: Any, counters: list[int] | None):
        self.batch, self.near, self.lens, self.counters = batch, near, lens, counters


class Open:
    """A result that is being processed."""

    def __init__(self) -> None:
        self.before: dict[int, tuple] = {}  # by place in the batch: what the rule will change
        self.finishing: dict[int, tuple] = {}  # by identity of the request: what it had when it gave its slots back
        self.committed: set[int] = set()  # lazy: requests whose boundary was committed
        self.labels = False  # whether a new label is a firing
        self.skipped = 0  # rows of requests that are over already


def _field(req: Any, name: str) -> Any:
    """A field of a request, which lives on it (up to 0.5.18) or on its `kv` (later)."""
    kv = getattr(req, "kv", None)
    if kv is not None:
        try:
            return getattr(kv, name)
        except AttributeError:
            pass
    return getattr(req, name, None)


def _list(values: Any) -> list:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _given(a: tuple, k: dict, place: int, name: str) -> Any:
    """An argument of a wrapped call, by place or by name."""
    return a[place] if len(a) > place else k.get(name)


def _difference(old: list, new: list) -> tuple[list, list | None]:
    """Who left and who joined: the others stay in order and the new ones follow them. Not so: None in place of them."""
    stay = {id(r) for r in new}
    left = [r for r in old if id(r) not in stay]
    kept = [r for r in old if id(r) in stay] if left else old
    return (left, new[len(kept) :]) if new[: len(kept)] == kept else (left, None)


def _trues(flags: list[bool]) -> list[int]:
    found, at = [], -1
    try:
        while True:
            at = flags.index(True, at + 1)
            found.append(at)
    except ValueError:
        return found


def _is_over(req: Any) -> bool:
    return req.finished_reason is not None or req.is_retracted


class Capture:
    """The hooks. Everything here runs in the scheduler's thread."""

    def __init__(
        self,
        files: "Files",
        tokens: bool,
        rids: bool,
        full_rows: int,
        waiting_max: int,
        known: dict[str, Any] | None = None,
        receiver: Any = None,
        modules: Any = None,
    ):
        self.off = False
        self.i = 0
        self.batches = 0
        self.grid = 0
        self.spec = self.on_kv = False
        self.config: dict[str, Any] | None = None
        self.live: dict[str, Any] = {}  # requests that have arrived and are not over
        self.names: dict[str, str] | None = None if rids else {}
        self.tick: list[Any] = []  # events of this iteration
        self.cells: list[Later] = []  # and their values on the device
        self.steps: list[int] | None = None  # count, first and last iteration of decode steps not written in full
        self.open: Open | None = None
        self.prepared: dict | None = None  # the donation being prepared
        self.reason: str | None = None
        self.scan_until = 0  # up to this batch, rows may be of requests that are over
        self.reqs: list | None = None  # composition of the last decode batch that was written
        self.full_rows = full_rows
        self.full_until = 0  # up to this batch, large ones may be written by what changed
        self.rids: list[str] = []
        self.active: Any = None
        self.errors: list[str] = []
        self.totals = dict(steps=0, results=0, rows_left_out=0, dropped=0, errors=0)
        self.dropped = 0
        self.writer = Writer(files, tokens, waiting_max, self.totals, self.on_new_file)
        self.wrapped: list[tuple[Any, str, Any, Any]] = []
        self.known = known or {}  # what the caller knows of the configuration
        self.receiver = receiver
        self.modules = modules or find_modules()

    # ---- installing ------------------------------------------------------
    def hook(self) -> None:
        m = self.modules
        batch, processor, scheduler = m.batch, m.processor, m.scheduler
        self._wrap(self.receiver or m.receiver, "recv_requests", before=lambda c, s, a, k: c.next_iteration())
        self._wrap(scheduler, "_add_request_to_queue", before=Capture.on_queue)
        self._wrap(scheduler, "abort_request", before=Capture.on_abort)
        self._wrap(batch, "prepare_for_extend", after=lambda c, s, a, k, r, t: c.on_prepare_extend(s))
        self._wrap(batch, "prepare_for_decode", after=lambda c, s, a, k, r, t: c.on_prepare_decode(s))
        self._wrap(batch, "copy", after=Capture.on_copy)
        self._wrap(batch, "mix_with_running", before=Capture.before_mix, after=Capture.after_mix)
        self._wrap(batch, "retract_decode", before=Capture.before_retract, after=Capture.after_retract)
        self._wrap(processor, "process_batch_result_decode", before=Capture.before_decode, after=Capture.after_decode)
        self._wrap(processor, "process_batch_result_prefill", before=Capture.before_extend, after=Capture.after_extend)
        self._wrap(processor, "mamba_lazy_post_decode_at_boundary", before=Capture.on_commit)
        self._wrap(m.processor_module, "release_kv_cache", before=Capture.on_release)
        self._wrap(m.allocator, "_do_alloc", after=Capture.on_alloc)
        self._wrap(m.allocator, "free", before=Capture.before_free, after=Capture.after_free)
        self._wrap(m.component, "prepare_for_caching_req", after=Capture.on_prepare_donation)
        self._wrap(m.component, "cleanup_after_caching_req", before=Capture.on_donate)
        self._wrap(m.tree, "match_prefix", after=Capture.on_match)
        atexit.register(self.close)
        try:  # processes made by multiprocessing run these at their end, and not what atexit has
            from multiprocessing.util import Finalize

            Finalize(self, self.close, exitpriority=100)
        except Exception:
            pass

    def unhook(self) -> None:
        while self.wrapped:
            owner, name, original, wrapper = self.wrapped.pop()
            if getattr(owner, name, None) is wrapper:
                setattr(owner, name, original)

    def _wrap(self, owner: Any, name: str, before: Callable | None = None, after: Callable | None = None) -> None:
        """`before(capture, self, args, kwargs)` gives what `after(.., result, given)` takes."""
        original = getattr(owner, name, None)
        if original is None:
            return
        capture = self

        def wrapper(*a, **k):
            if capture.off:
                return original(*a, **k)
            given = None
            if before is not None:
                try:
                    given = before(capture, a[0] if a else None, a, k)
                except Exception as error:
                    capture.trouble(name, error)
            result = original(*a, **k)
            if after is not None and not capture.off:
                try:
                    after(capture, a[0] if a else None, a, k, result, given)
                except Exception as error:
                    capture.trouble(name, error)
            return result

        wrapper.__name__ = name
        wrapper.__wrapped__ = original
        setattr(owner, name, wrapper)
        self.wrapped.append((owner, name, original, wrapper))

    def trouble(self, where: str, error: Exception) -> None:
        """An error of ours: counted, and the last straw disables the capture. It never leaves this file."""
        try:
            self.totals["errors"] += 1
            self.errors.append(f"{where}: {type(error).__name__}: {str(error)[:200]}")
            if len(self.errors) >= ERRORS_MAX:
                self.emit("disabled", errors=self.errors[-3:])
                self.close()
        except Exception:
            self.off = True

    def on_new_file(self) -> None:
        """Called by the writer: every file is to have a decode batch in full early on."""
        self.full_until = 0

    def close(self) -> None:
        if self.off:
            return
        self.off = True
        try:
            self.flush_steps()
            self.hand_over()
            self.writer.stop(self.i)
        except Exception:
            pass

    # ---- events ----------------------------------------------------------
    def emit(self, ev_: str, **fields: Any) -> None:
        if self.steps is not None:
            self.flush_steps()
        self.tick.append(dict(i=self.i, ev=ev_, **fields))

    def flush_steps(self) -> None:
        steps, self.steps = self.steps, None
        if steps is not None:
            self.tick.append(dict(i=self.i, ev="steps", count=steps[0], first_i=steps[1], last_i=steps[2]))

    def next_iteration(self) -> None:
        if self.tick:
            self.hand_over()
        self.i += 1
        self.open = self.reason = None  # in case that the server's own function raised

    def hand_over(self) -> None:
        """Gives the events of the iteration to the writer, or drops and counts them."""
        tick, self.tick = self.tick, []
        cells, self.cells = self.cells, []
        events = len(tick)
        if self.dropped:
            tick.insert(0, dict(i=self.i, ev="dropped", count=self.dropped))
        if self.writer.put(Moved(cells) if cells else None, tick):
            self.dropped = 0
        else:
            self.dropped += events
            self.totals["dropped"] += events

    def on_host(self, tensor: Any, first: bool = False) -> Any:
        """The values of a tensor: now if it is on the host, later if it is on the device."""
        if tensor is None:
            return None
        if getattr(tensor, "is_cuda", False):
            cell = Later(tensor.clone(), first)  # its slot may be written over before the copy
            self.cells.append(cell)
            return cell
        values = tensor.reshape(-1).tolist() if hasattr(tensor, "reshape") else _list(tensor)
        return values[0] if first else values

    def name(self, req: Any) -> str:
        if self.names is None:
            return req.rid
        return self.names.get(req.rid) or self.names.setdefault(req.rid, f"r{len(self.names)}")

    # ---- requests --------------------------------------------------------
    def on_queue(self, scheduler: Any, a: tuple, k: dict) -> None:
        req = _given(a, k, 1, "req")
        retracted = _given(a, k, 2, "is_retracted")
        if self.config is None:
            self.on_kv = hasattr(getattr(req, "kv", None), "kv_committed_len")
            self.begin(scheduler)
        if retracted or self.live.get(req.rid) is req or self.off:
            return
        self.live[req.rid] = req
        params = req.sampling_params
        self.emit(
            "arrive",
            rid=self.name(req),
            prompt=Tokens(req.origin_input_ids[:]),
            max_new_tokens=params.max_new_tokens,
            stop_token=None,
            ignore_eos=bool(params.ignore_eos),
        )

    def holder(self, req: Any) -> Any:
        """What has a request's slots and lengths: its `kv`, or in older releases itself."""
        return req.kv if self.on_kv else req

    def begin(self, scheduler: Any) -> None:
        """The first request: what the recording is of. Ranks behind the first one would write the same again."""
        rank = getattr(getattr(scheduler, "ps", None), "tp_rank", None) or getattr(scheduler, "tp_rank", 0) or 0
        if rank:
            self.off = True
            return
        self.config = dict(config_of(scheduler), **self.known)
        self.grid = self.modules.grid(self.config)
        self.spec = bool(self.config.get("spec"))
        self.writer.begin(self.modules.version, tree_core_of(scheduler), self.config)

    def on_abort(self, scheduler: Any, a: tuple, k: dict) -> None:
        asked = _given(a, k, 1, "recv_req")
        everybody = getattr(asked, "abort_all", False)
        hit = [r for rid, r in self.live.items() if everybody or rid.startswith(asked.rid)]
        for req in hit:
            where = self._where(scheduler, req)
            self.emit("abort", rid=self.name(req), where=where)
            if where == "waiting":
                self.live.pop(req.rid, None)
        if not hit and self.names is None and self.config is not None:
            self.emit("abort", rid=asked.rid, where="gone")

    @staticmethod
    def _where(s: Any, req: Any) -> str:
        if req.finished_reason is not None:
            return "finished"
        if getattr(s, "chunked_req", None) is req:
            return "chunk"
        if any(q is req for q in s.waiting_queue):
            return "waiting"
        last = s.last_batch
        if last and any(q is req for q in last.reqs) and last.forward_mode.is_extend() and not req.output_ids:
            return "prefill"
        return "decode"

    def on_release(self, req: Any, a: tuple, k: dict) -> None:
        """A request gives its slots back: its last values, before they are gone."""
        if self.open is not None and req.finished_reason is not None:
            names = ("kv_committed_len", "mamba_next_track_idx", "mamba_last_track_idx", "mamba_last_track_seqlen")
            self.open.finishing[id(req)] = (req, *(_field(req, name) for name in names))
            self.scan_until = self.batches
            self.live.pop(req.rid, None)

    # ---- prepare ---------------------------------------------------------
    def on_prepare_extend(self, b: Any) -> None:
        self.batches += 1
        b._cap = Mark(self.batches, None, None, None)
        masks, slots = self.on_host(b.mamba_track_mask), self.on_host(b.mamba_track_indices)
        lengths = self.on_host(b.mamba_track_seqlens)
        active = self._active(b)
        for j, r in enumerate(b.reqs):
            label = _field(r, "mamba_last_track_seqlen")
            row = dict(
                batch=self.batches,
                rid=self.name(r),
                prefix_len=b.prefix_lens[j],
                extend_len=b.extend_lens[j],
                mask=Row(masks, j, False),
                slot=Row(slots, j, -1),
                tracked=Row(masks, j, False, label),
                track_seqlen_arg=Row(lengths, j, -1),
                branching=getattr(r, "mamba_branching_seqlen", None),
                active=Row(active, j, None),
                kv_committed=_field(r, "kv_committed_len"),
                next_idx=_field(r, "mamba_next_track_idx"),
                chunked=bool(getattr(r, "inflight_middle_chunks", 0)),
            )
            self.emit("prepare_extend", **row)

    def _active(self, b: Any) -> Any:
        return self.on_host(b.req_to_token_pool.get_mamba_indices(b.req_pool_indices))

    def on_prepare_decode(self, b: Any) -> None:
        self.batches += 1
        reqs, lens = b.reqs, b.seq_lens_cpu
        near = self._near(b, lens)
        counters = [r.decode_batch_idx for r in reqs] if self.spec else None
        b._cap = Mark(self.batches, near, lens, counters)
        changed = self.reqs != reqs
        if not changed and not near and not self.spec:
            self.totals["steps"] += 1
            steps = self.steps
            if steps is not None and steps[2] + 1 == self.i:
                steps[0] += 1
                steps[2] = self.i
            else:
                self.flush_steps()
                self.steps = [1, self.i, self.i]
            return
        if self.spec or len(reqs) <= self.full_rows or self.batches > self.full_until or self.reqs is None:
            return self._full_decode(b, changed, counters)
        change: dict[str, Any] = {}
        if changed:
            left, joined = _difference(self.reqs, reqs)
            if joined is None:
                return self._full_decode(b, changed, counters)
            self.reqs = reqs[:]
            change = dict(left=[self.name(r) for r in left], joined=[self.name(r) for r in joined])
        self._few_rows(b, near, change)

    def _few_rows(self, b: Any, near: list[int], change: dict[str, Any]) -> None:
        """A large batch that is the one before but for `change`, with its rows near a boundary."""
        reqs = [b.reqs[j] for j in near]
        lens = [int(b.seq_lens_cpu[j]) for j in near]
        tracked = b.mamba_track_mask is not None
        mask_next = getattr(b, "mamba_track_mask_next_cpu", None)
        self.emit(
            "prepare_decode",
            batch=self.batches,
            rids=[self.name(r) for r in reqs],
            seq_lens=lens,
            decode_batch_idx=[r.decode_batch_idx for r in reqs],
            kv_committed=[_field(r, "kv_committed_len") for r in reqs],
            mask=[n % self.grid == 0 for n in lens] if tracked else None,
            next_mask=[mask_next[j] for j in near] if mask_next is not None else None,
            track_slots=self._at(b.mamba_track_indices, near),
            next_idx=[_field(r, "mamba_next_track_idx") for r in reqs],
            active=self._active_at(b, near),
            rows_left_out=len(b.reqs) - len(near),
            **change,
        )

    def _at(self, tensor: Any, places: list[int]) -> Any:
        """Some rows. To index on the device by places of the host would wait for it: there the writer picks."""
        if tensor is None:
            return None
        if hasattr(tensor, "dtype") and not tensor.is_cuda:
            return tensor[places].tolist()
        return Pick(self.on_host(tensor), places)

    def _active_at(self, b: Any, places: list[int]) -> Any:
        rows = b.req_pool_indices
        if hasattr(rows, "dtype") and not rows.is_cuda:
            return _list(b.req_to_token_pool.get_mamba_indices(rows[places]))
        return Pick(self._active(b), places)

    def _near(self, b: Any, lens: Any) -> list[int]:
        """Places of the rows at a boundary, and of those one step before."""
        grid = self.grid
        if lens is None or not grid:
            return []
        mask, mask_next = getattr(b, "mamba_track_mask_cpu", None), getattr(b, "mamba_track_mask_next_cpu", None)
        if mask is not None and mask_next is not None and not self.spec:
            return sorted(_trues(mask) + _trues(mask_next)) if grid > 1 else _trues(mask)
        if not hasattr(lens, "nonzero"):
            return [j for j, n in enumerate(lens) if n % grid in (0, grid - 1)]
        return lens.add(1).remainder_(grid).lt_(2).nonzero().view(-1).tolist()

    def _full_decode(self, b: Any, changed: bool, counters: list[int] | None) -> None:
        if changed or self.batches > self.full_until:
            self.reqs = b.reqs[:]
            self.rids = [self.name(r) for r in b.reqs]
            self.active = self._active(b)
            self.full_until = self.batches + FULL_EVERY
        event = FullDecode()
        event.i, event.batch, event.rids, event.active = self.i, self.batches, self.rids, self.active
        event.lens = None if b.seq_lens_cpu is None else _list(b.seq_lens_cpu)
        counters = counters or getattr(b, "mamba_decode_batch_idx_cpu", None)
        event.counters = counters if counters is not None else [r.decode_batch_idx for r in b.reqs]
        # A plain decode step has the length of its row committed when it is prepared.
        event.committed = [_field(r, "kv_committed_len") for r in b.reqs] if self.spec else None
        event.grid = self.grid if b.mamba_track_mask is not None and event.lens is not None else 0
        event.next = getattr(b, "mamba_track_mask_next_cpu", None) is not None
        event.tracks = self.on_host(b.mamba_track_indices)
        indices = getattr(b, "mamba_track_buffer_indices", None)
        event.indices = indices if indices is not None else [_field(r, "mamba_next_track_idx") for r in b.reqs]
        event.spec = event.mask = None
        if self.spec:
            event.grid, event.mask = 0, self.on_host(b.mamba_track_mask)
            allocated = [_field(r, "kv_allocated_len") for r in b.reqs]
            event.spec = dict(kv_allocated=allocated, plan=getattr(b, "mamba_lazy_spec_track_positions_cpu", None))
            event.indices = [_field(r, "mamba_next_track_idx") for r in b.reqs]
        self.flush_steps()
        self.tick.append(event)

    def on_copy(self, b: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        made._cap = getattr(b, "_cap", None)

    # ---- mixed batches ---------------------------------------------------
    def before_mix(self, b: Any, a: tuple, k: dict) -> dict:
        running = _given(a, k, 1, "running_batch")
        lens = None if running.seq_lens_cpu is None else _list(running.seq_lens_cpu)
        mark = getattr(running, "_cap", None)
        near = [running.reqs[j] for j in mark.near or []] if mark else []
        info = dict(decode_batch=mark.batch if mark else None, rids=[self.name(r) for r in running.reqs], seq_lens=lens)
        return dict(info=info, near={id(r) for r in near}, lens=lens)

    def after_mix(self, b: Any, a: tuple, k: dict, made: Any, given: dict | None) -> None:
        if given is None:
            return
        n = len(given["info"]["rids"])
        mark = getattr(b, "_cap", None)
        if mark is not None:
            b._cap = Mark(mark.batch, None, None, None)
            b._cap.near = given["near"]  # type: ignore[assignment]  # identities, for the result of this batch
        self.reqs = None  # the next decode batch is written in full
        self.emit(
            "mix",
            batch=mark.batch if mark else None,
            **given["info"],
            prefix_lens=list(b.prefix_lens[-n:]) if n else [],
            next_idx=[_field(r, "mamba_next_track_idx") for r in b.reqs[-n:]] if n else [],
            prefill_track_kept=b.mamba_track_mask is not None,
        )

    # ---- results ---------------------------------------------------------
    def _begin(self, batch: Any) -> Open:
        self.open = open_ = Open()
        mark = getattr(batch, "_cap", None)
        if mark is not None and mark.batch <= self.scan_until:
            open_.skipped = sum(1 for r in batch.reqs if r.finished_reason is not None or r.is_retracted)
        return open_

    def before_decode(self, processor: Any, a: tuple, k: dict) -> None:
        batch = _given(a, k, 1, "batch")
        open_ = self._begin(batch)
        mark = getattr(batch, "_cap", None)
        if mark is None:
            return
        places = range(len(batch.reqs)) if self.spec else mark.near
        for j in places:
            r = batch.reqs[j]
            if not _is_over(r):
                held = self.holder(r)
                open_.before[j] = (held.kv_committed_len, held.mamba_next_track_idx, held.mamba_last_track_seqlen)

    def on_commit(self, processor: Any, a: tuple, k: dict) -> None:
        if self.open is not None:
            self.open.committed.add(id(_given(a, k, 1, "req")))

    def after_decode(self, processor: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        open_, self.open = self.open, None
        batch = _given(a, k, 1, "batch")
        mark = getattr(batch, "_cap", None)
        if open_ is None or mark is None:
            return
        accepts = None
        if self.spec:
            result = _given(a, k, 2, "result")
            accepts = result.accept_lens  # the server has copied them to the host by now
            accepts = None if accepts is None or getattr(accepts, "is_cuda", False) else _list(accepts)
        places = list(open_.before)
        if open_.finishing:
            known = {id(batch.reqs[j]) for j in places}
            left = set(open_.finishing) - known
            if left:
                places = sorted(places + [j for j, r in enumerate(batch.reqs) if id(r) in left])
        # Without host masks the label is set where the index is flipped; with them a label alone is no firing.
        open_.labels = self.spec or getattr(batch, "mamba_track_mask_cpu", None) is None
        rows = []
        for j in places:
            row = self._row(batch.reqs[j], j, mark, open_, accepts)
            if row is not None:
                rows.append(row)
        left_out = len(batch.reqs) - open_.skipped - len(rows)
        self.totals["rows_left_out"] += left_out
        if rows:
            self.emit("result", batch=mark.batch, mode="decode", reqs=rows, rows_left_out=left_out)
        else:
            self.totals["results"] += 1

    def _row(self, r: Any, j: int, mark: Mark, open_: Open, accepts: list | None) -> dict | None:
        ended = open_.finishing.get(id(r))
        if ended is not None:
            _, committed, index, last, label = ended
        else:
            held = self.holder(r)
            committed, index = held.kv_committed_len, held.mamba_next_track_idx
            last, label = getattr(held, "mamba_last_track_idx", None), held.mamba_last_track_seqlen
        _, index_before, label_before = open_.before.get(j, (committed, index, label))
        fired = id(r) in open_.committed or index != index_before or (open_.labels and label != label_before)
        extra: dict[str, Any] = {}
        if accepts is None:
            length = int(mark.lens[j])
            lookahead = committed - length
        else:
            length = r.seqlen - 1
            lookahead = r.decode_batch_idx - mark.counters[j]
            accept = int(accepts[j])
            self.emit("verify", rid=self.name(r), seq_len=length - accept, accept=accept)
            crossed = self.grid and length // self.grid != (length - accept) // self.grid
            if not (fired or crossed or ended):
                return None
            extra["accept"] = accept
        row = dict(
            rid=self.name(r),
            lookahead=lookahead,
            fired=fired,
            track_seqlen=label if fired else None,
            kv_committed=committed,
            output_len=len(r.output_ids),
            finished=ended is not None,
            next_before=index_before,
            last_seqlen_before=label_before,
            seq_len=length,
            **extra,
            next_idx=index,
            last_idx=last,
            last_track_seqlen=label,
        )
        return self._ending(row, r, ended)

    def _ending(self, row: dict, r: Any, ended: Any) -> dict:
        if type(r.finished_reason).__name__ == "FINISH_ABORT":
            row["aborted"] = True
        if r.is_retracted:
            row["retracted"] = True
        if ended is not None:
            # Up to the stop: a verify may have accepted tokens beyond it, which nobody gets to see.
            row["output_ids"] = Tokens(r.output_ids[: getattr(r, "finished_len", None)])
        return row

    def before_extend(self, processor: Any, a: tuple, k: dict) -> None:
        self._begin(_given(a, k, 1, "batch"))

    def after_extend(self, processor: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        open_, self.open = self.open, None
        batch = _given(a, k, 1, "batch")
        mark = getattr(batch, "_cap", None)
        if open_ is None or mark is None:
            return
        mixed = batch.forward_mode.is_mixed()
        decoding = {id(r) for r in batch.decoding_reqs or []} if mixed else set()
        rows, left_out = [], 0
        for r in batch.reqs:
            ended = open_.finishing.get(id(r))
            rides = id(r) in decoding
            finished = r.finished_reason is not None
            if rides and not finished and id(r) not in (mark.near or ()):
                left_out += 1
                continue
            row = dict(rid=self.name(r), finished=finished, output_len=len(r.output_ids))
            if rides:
                row.update(decode=True, next_idx=_field(r, "mamba_next_track_idx"))
                row.update(last_idx=_field(r, "mamba_last_track_idx"))
                row.update(last_track_seqlen=_field(r, "mamba_last_track_seqlen"))
                row.update(kv_committed=_field(r, "kv_committed_len"))
            rows.append(self._ending(row, r, ended))
        self.totals["rows_left_out"] += left_out
        mode = "mixed" if mixed else "extend"
        self.emit("result", batch=mark.batch, mode=mode, reqs=rows, rows_left_out=left_out)

    # ---- retraction ------------------------------------------------------
    def before_retract(self, b: Any, a: tuple, k: dict) -> None:
        self.reason = "retract"

    def after_retract(self, b: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        self.reason = None
        self.scan_until = self.batches
        for r in made[0]:
            self.emit("retract", rid=self.name(r), output_len=len(r.output_ids))

    # ---- slots and the tree ----------------------------------------------
    def on_alloc(self, allocator: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        need = _given(a, k, 1, "need_size")
        self.emit("slot_alloc", slots=self.on_host(made), n=need, free=len(allocator.free_slots))

    def before_free(self, allocator: Any, a: tuple, k: dict) -> Any:
        return self.on_host(_given(a, k, 1, "free_index"))

    def after_free(self, allocator: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        self.emit("slot_free", slots=given, free=len(allocator.free_slots))

    def on_match(self, tree: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        params = _given(a, k, 1, "params")
        req = getattr(params, "req", None)
        if req is None or not getattr(params, "cow_mamba", False):
            return
        indices = getattr(made, "device_indices", None)
        n = len(indices) if indices is not None else getattr(made, "device_prefix_len", None)
        slot = self.on_host(_field(req, "mamba_cow_src_index"), first=True)
        branching = getattr(made, "mamba_branching_seqlen", None)
        self.emit("match", rid=self.name(req), prefix_len=n, slot=slot, branching=branching)

    def on_prepare_donation(self, component: Any, a: tuple, k: dict, made: Any, given: Any) -> None:
        req, params = _given(a, k, 1, "req"), _given(a, k, 2, "insert_params")
        finished = _given(a, k, 4, "is_finished")
        slot = self.on_host(params.mamba_value, first=True)
        self.prepared = dict(rid=self.name(req), label=made, slot=slot, finished=finished)

    def on_donate(self, component: Any, a: tuple, k: dict) -> None:
        req = _given(a, k, 1, "req")
        finished = _given(a, k, 2, "is_finished")
        result = _given(a, k, 3, "insert_result")
        params = _given(a, k, 4, "insert_params")
        prepared, self.prepared = self.prepared, None
        reason = self.reason or ("finished" if finished else "unfinished")
        if result is None:
            self.emit("no_insert", rid=self.name(req), reason=reason, prepared=prepared)
            return
        key = getattr(params, "key", None)
        label = len(key) if key is not None else (prepared or {}).get("label")
        value = getattr(params, "mamba_value", None)
        slot = self.on_host(value, first=True)
        if value is None or not label:
            self.emit("no_insert", rid=self.name(req), reason=reason, label=label, slot=slot)
            return
        exists = bool(getattr(result, "mamba_exist", False))
        self.emit("donate", rid=self.name(req), label=label, slot=slot, reason=reason, already_in_tree=exists)


# ---- the server ----


class Modules:
    """The classes whose functions are wrapped, of whichever release is imported."""

    version = "?"
    batch = processor = processor_module = scheduler = receiver = allocator = component = tree = None

    def grid(self, config: dict[str, Any]) -> int:
        """The decode grid: a common multiple in newer releases, the interval before."""
        context = sys.modules.get("sglang.srt.runtime_context")
        if hasattr(context, "mamba_track_grid"):
            return int(context.mamba_track_grid(config["page_size"]))
        return int(config["track_interval"] or 0)


def find_modules() -> Modules:
    def load(*names: str) -> Any:
        for name in names:
            try:
                return importlib.import_module(f"sglang.srt.{name}")
            except ImportError:
                continue
        return None

    m = Modules()
    m.version = getattr(importlib.import_module("sglang.version"), "__version__", "?")
    m.scheduler = load("managers.scheduler").Scheduler
    m.batch = load("managers.schedule_batch").ScheduleBatch
    m.processor_module = load("managers.scheduler_components.batch_result_processor")
    m.processor = m.processor_module.SchedulerBatchResultProcessor
    m.receiver = load("managers.scheduler_components.request_receiver").SchedulerRequestReceiver
    m.allocator = load("mem_cache.allocator.mamba").MambaSlotAllocator
    components = load("mem_cache.unified_cache.components", "mem_cache.unified_cache_components.mamba_component")
    m.component = components.MambaComponent
    m.tree = load("mem_cache.unified_radix_cache").UnifiedRadixCache
    return m


def tree_core_of(scheduler: Any) -> str | None:
    """The implementation of the radix tree: compiled (`rust`) or `python`; null if there is no tree to be seen."""
    tree = getattr(scheduler, "tree_cache", None)
    if tree is None:
        return None
    core = getattr(tree, "tree_core", None)
    return "rust" if core is not None and type(core).__name__.startswith("Rust") else "python"


def config_of(scheduler: Any) -> dict[str, Any]:
    """The configuration as far as the scheduler and the published settings tell; what they do not is null."""
    args = getattr(scheduler, "server_args", None)
    context = sys.modules.get("sglang.srt.runtime_context")
    pool = getattr(scheduler, "req_to_token_pool", None)
    allocator = getattr(pool, "mamba_allocator", None)
    page = getattr(scheduler, "page_size", None)
    chunk_size = getattr(scheduler, "chunked_prefill_size", None)
    config = dict(
        policy="native",
        overlap=bool(getattr(scheduler, "enable_overlap", True)),
        strategy=_strategy(scheduler, args, pool),
        track_interval=_setting(context, "get_exec", "mamba.mamba_track_interval", args),
        page_size=page,
        mamba_chunk=_mamba_chunk(scheduler, context, args),
        chunk_size=chunk_size if chunk_size and chunk_size > 0 else None,
        mamba_pool=getattr(allocator, "size", None),
        max_running=getattr(scheduler, "max_running_requests", None),
        kv_tokens=getattr(scheduler, "max_total_num_tokens", None),
        conservativeness=_setting(context, "get_schedule", "schedule_conservativeness", args),
        max_prefill_tokens=getattr(scheduler, "max_prefill_tokens", None),
    )
    if getattr(scheduler, "is_mixed_chunk", False):
        config["mixed_chunk"] = True
    algorithm = getattr(scheduler, "spec_algorithm", None)
    if algorithm is not None and not algorithm.is_none():
        config["spec"] = dict(draft_tokens=_setting(context, "get_spec", "speculative_num_draft_tokens", args))
    return config


def _setting(context: Any, bag: str, path: str, args: Any) -> Any:
    """A setting as it is in force (newer releases keep it apart from the arguments), or as the arguments have it."""
    try:
        value = getattr(context, bag)()
        for name in path.split("."):
            value = getattr(value, name)
        return value
    except Exception:
        return getattr(args, path.split(".")[-1], None)


def _strategy(scheduler: Any, args: Any, pool: Any) -> str:
    tree = getattr(scheduler, "tree_cache", None)
    for owner in (tree, pool):
        if getattr(owner, "enable_mamba_extra_buffer_lazy", False):
            return "extra_buffer_lazy"
    named = getattr(args, "mamba_radix_cache_strategy", None)
    if named in ("no_buffer", "extra_buffer", "extra_buffer_lazy"):
        return named
    return "extra_buffer" if any(getattr(o, "enable_mamba_extra_buffer", False) for o in (tree, pool)) else "no_buffer"


def _mamba_chunk(scheduler: Any, context: Any, args: Any) -> Any:
    """The model's own chunk; what the server makes of it is the larger of that and a page."""
    model = getattr(getattr(scheduler, "model_config", None), "hf_text_config", None)
    own = getattr(model, "mamba_chunk_size", None)
    if own is not None:
        return own
    for owner in (context, args):
        for name in ("mamba_cache_chunk_size", "_mamba_cache_chunk_size"):
            try:
                value = getattr(owner, name)
                value = value() if callable(value) else value
            except Exception:
                continue
            if value is not None:
                return value
    return None


# ---- writing ----


class Tokens:
    """Token ids that become numbers of the recording when they are written."""

    __slots__ = ("ids",)

    def __init__(self, ids: Any):
        self.ids = ids


class Row:
    """One row of a list that may come later; with `label`, that if the row is set and null otherwise."""

    __slots__ = ("values", "j", "absent", "label")

    def __init__(self, values: Any, j: int, absent: Any, label: Any = ...):
        self.values, self.j, self.absent, self.label = values, j, absent, label

    def get(self) -> Any:
        values = self.values.get() if isinstance(self.values, Later) else self.values
        value = self.absent if values is None else values[self.j]
        if self.label is not ...:
            return self.label if value else None
        return bool(value) if self.absent is False else value


class Pick:
    """Some places of a list that may come later."""

    __slots__ = ("values", "places")

    def __init__(self, values: Any, places: list[int]):
        self.values, self.places = values, places

    def get(self) -> Any:
        values = self.values.get() if isinstance(self.values, Later) else self.values
        return None if values is None else [values[j] for j in self.places]


class Salted:
    """Token ids as 31-bit numbers: the same token the same number within a process, by a salt that is never written."""

    def __init__(self) -> None:
        self.salt = secrets.token_bytes(32)
        self.of: dict[int, int] = {}
        self.taken: set[int] = set()

    def __call__(self, token: int) -> int:
        number = self.of.get(token)
        if number is None:
            attempt = 0
            while number is None or number in self.taken:  # no two tokens may look alike: prefixes would be shared
                text = f"{token}.{attempt}".encode()
                digest = hashlib.blake2b(text, key=self.salt, digest_size=4).digest()
                number, attempt = int.from_bytes(digest, "big") >> 1, attempt + 1
            self.taken.add(number)
            self.of[token] = number
        return number


class Files:
    """Numbered parts of limited size; the oldest ones are removed."""

    def __init__(self, out_dir: str, prefix: str, compress: bool, limit_bytes: int, keep: int):
        self.out_dir, self.prefix, self.compress = out_dir, prefix, compress
        self.limit_bytes, self.keep = limit_bytes, max(1, keep)
        self.part = 0
        self.raw: Any = None
        self.file: Any = None
        os.makedirs(out_dir, exist_ok=True)

    def path(self, part: int) -> str:
        return os.path.join(self.out_dir, f"{self.prefix}.{part:04d}.jsonl" + (".gz" if self.compress else ""))

    def next(self) -> None:
        self.close()
        self.part += 1
        self.raw = open(self.path(self.part), "wb")
        self.file = gzip.GzipFile("", "wb", fileobj=self.raw, mtime=0, compresslevel=4) if self.compress else self.raw
        old = self.part - self.keep
        if old > 0 and os.path.exists(self.path(old)):
            os.remove(self.path(old))

    def write(self, text: str) -> None:
        self.file.write(text.encode())

    def is_full(self) -> bool:
        return self.raw is not None and self.raw.tell() >= self.limit_bytes

    def flush(self) -> None:
        if self.file is not None:
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.raw.close()
            self.file = self.raw = None


class Writer:
    """A thread that turns events into lines. It alone touches the files."""

    def __init__(
        self, files: Files, tokens: bool, waiting_max: int, totals: dict[str, int], on_new_file: Callable[[], None]
    ):
        self.files, self.totals, self.on_new_file = files, totals, on_new_file
        self.number: Callable[[int], int] = (lambda token: token) if tokens else Salted()
        self.hashed = not tokens
        self.queue: queue.SimpleQueue = queue.SimpleQueue()
        self.waiting_max = waiting_max
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None
        self.meta: dict[str, Any] | None = None
        self.written: dict[str, int] = {}
        self.unfinished: dict[str, int] = {}  # requests that have arrived and are not over: length of the prompt
        self.texts: dict[str, tuple[Any, str]] = {}  # lists that rarely change, by field
        self.cpu_s = 0.0  # used by this thread so far
        self.failed = False
        self.i = 0
        self.encode = json.JSONEncoder(separators=(",", ":"), default=self._plain).encode

    # ---- called by the scheduler's thread ----------------------------------
    def begin(self, version: str, tree_core: str | None, config: dict[str, Any]) -> None:
        known = dict(version=version, policy="native", tree_core=tree_core)
        self.meta = dict(known, partial=True, hashed=self.hashed, config=config)

    def put(self, moved: Moved | None, tick: list[Any]) -> bool:
        """Whether the events were taken; false if too many wait already."""
        if self.failed or self.meta is None:
            return True
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="overlapsim-capture", daemon=True)
            self.thread.start()
        if self.queue.qsize() >= self.waiting_max:
            return False
        self.queue.put((moved, tick))
        return True

    def stop(self, i: int) -> None:
        if self.thread is not None and self.thread.is_alive():
            self.queue.put(("end", i))
            self.stopping.set()
            self.thread.join(timeout=30)

    # ---- called by its own thread ------------------------------------------
    def _run(self) -> None:
        flushed = time.monotonic()
        try:
            while True:
                if self.queue.empty():
                    self.stopping.wait(DRAIN_EVERY_S)
                while not self.queue.empty():
                    moved, tick = self.queue.get()
                    if moved == "end":
                        self._end(tick, rotated=False)
                        self.files.close()
                        return
                    if moved is not None:
                        moved.settle()
                    self._write(tick)
                self.cpu_s = time.thread_time()
                if time.monotonic() - flushed > FLUSH_EVERY_S:
                    self.files.flush()
                    flushed = time.monotonic()
        except Exception as error:
            self.failed = True
            print(f"capture: the writer gave up: {type(error).__name__}: {error}", file=sys.stderr)

    def _write(self, tick: list[Any]) -> None:
        if self.files.file is None:
            self._next_file()
        elif self.files.is_full():
            self._end(self.i, rotated=True)
            self._next_file()
        lines = []
        for event in tick:
            if isinstance(event, FullDecode):
                lines.append(self._full_decode(event))
                self._count("prepare_decode", event.i)
                continue
            self._follow(event)
            lines.append(self.encode(event))
            self._count(event["ev"], event["i"])
        if lines:
            self.files.write("\n".join(lines) + "\n")

    def _count(self, ev: str, i: int) -> None:
        self.written[ev] = self.written.get(ev, 0) + 1
        self.i = i

    def _follow(self, event: dict[str, Any]) -> None:
        """Which requests are open, for a file that goes on from another."""
        ev = event["ev"]
        if ev == "arrive":
            self.unfinished[event["rid"]] = len(event["prompt"].ids)
        elif ev == "result":
            for row in event["reqs"]:
                if row["finished"]:
                    self.unfinished.pop(row["rid"], None)
        elif ev == "abort" and event["where"] == "waiting":
            self.unfinished.pop(event["rid"], None)

    def _next_file(self) -> None:
        self.files.next()
        self.texts = {}
        meta = dict(i=0, ev="meta", **(self.meta or {}), part=self.files.part, continues=self.files.part > 1)
        if self.files.part > 1:
            self.on_new_file()
            meta["open"] = [dict(rid=rid, prompt_len=n) for rid, n in self.unfinished.items()]
        self.files.write(self.encode(meta) + "\n")

    def _end(self, i: int, rotated: bool) -> None:
        if self.files.file is None:
            return
        totals = dict(self.totals, unfinished=len(self.unfinished), written=self.written)
        self.files.write(self.encode(dict(i=i, ev="end", rotated=rotated, totals=totals)) + "\n")

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Tokens):
            return [self.number(token) for token in value.ids]
        if isinstance(value, (Row, Pick, Later)):
            return value.get()
        if hasattr(value, "tolist"):
            return value.tolist()
        return str(value)

    def _full_decode(self, event: FullDecode) -> str:
        """Built by hand: a thousand rows at every step are a lot of text, and most of it is that of the step before."""
        lens = _numbers(event.lens)
        committed = lens if event.committed is None else _numbers(event.committed)
        mask = mask_next = "null"
        if event.mask is not None:
            known = event.mask.get() if isinstance(event.mask, Later) else event.mask
            mask = _booleans(len(known), [j for j, on in enumerate(known) if on])
        if event.grid:
            grid, n = event.grid, len(event.lens)
            mask = _booleans(n, [j for j, length in enumerate(event.lens) if not length % grid])
            if event.next:
                mask_next = _booleans(n, [j for j, length in enumerate(event.lens) if length % grid == grid - 1])
        more = "".join(f',"{name}":{self.encode(value)}' for name, value in (event.spec or {}).items())
        return (
            f'{{"i":{event.i},"ev":"prepare_decode","batch":{event.batch},"rids":{self._text("rids", event.rids)},'
            f'"seq_lens":{lens},"decode_batch_idx":{_numbers(event.counters)},"kv_committed":{committed},'
            f'"mask":{mask},"next_mask":{mask_next},"track_slots":{self._text("tracks", event.tracks)},'
            f'"next_idx":{self._text("indices", event.indices)},"active":{self._text("active", event.active)}{more}}}'
        )

    def _text(self, field: str, value: Any) -> str:
        plain = value.get() if isinstance(value, Later) else value
        known = self.texts.get(field)
        if known is not None and (known[0] is plain or known[0] == plain):
            return known[1]
        text = self.encode(plain) if field == "rids" else _numbers(plain)
        self.texts[field] = (plain, text)
        return text


def _numbers(values: list | None) -> str:
    """Text of a list of numbers; several times as fast as the encoder."""
    return "null" if values is None else str(values).replace(" ", "").replace("None", "null")


def _booleans(n: int, true: list[int]) -> str:
    words = ["false"] * n
    for j in true:
        words[j] = "true"
    return "[" + ",".join(words) + "]"


# ---- installing itself ----


class _WhenImported:
    """Finds nothing itself; installs the capture right after the scheduler's module has run."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != SCHEDULER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            install()

        spec.loader.exec_module = exec_module
        return spec


def _by_environment() -> None:
    if not os.environ.get("OVERLAPSIM_CAPTURE_DIR"):
        return
    if SCHEDULER in sys.modules:
        install()
    else:
        sys.meta_path.insert(0, _WhenImported())


_by_environment()
