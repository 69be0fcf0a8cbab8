"""`python -m harness.bench JOBS.json`: what capture.py costs at a batch of many requests, in the release's own code.

Steps with and without the capture take turns, so that what the machine does meanwhile hits both. What the writer's
thread uses is told apart; that it takes turns with the scheduler at the interpreter hits both kinds of steps.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import importing
from . import recorder as rec
from .fakes import call
from .recorder import Recorder
from .scheduler import build

WARM = 50  # steps before the first one that counts


def main(path: str) -> int:
    work = json.loads(Path(path).read_text())
    if work.get("check"):
        print(json.dumps(dict(version=importing.version())), flush=True)
        return 0
    for job in work["jobs"]:
        print(json.dumps(measure(job["strategy"], job["requests"], job["steps"], job["options"])), flush=True)
    return 0


class ZeroWorker:
    """A model that samples token 0."""

    def __init__(self, like: Any):
        self.model_runner, self.war_fastpath_runner = like.model_runner, like.war_fastpath_runner

    def __getattr__(self, name):
        if name in ("prepare_for_kv_cache_release", "note_request_finished"):
            return None
        raise AttributeError(name)

    def forward_batch_generation(self, batch, *a, **k):
        result = _result(len(batch.reqs))
        result.copy_to_cpu = lambda *a, **k: None
        return result


def _result(count: int) -> Any:
    import torch
    from sglang.srt.managers.utils import GenerationBatchResult

    tokens = torch.zeros(count, dtype=torch.int64)
    return call(GenerationBatchResult, logits_output=None, next_token_ids=tokens, can_run_cuda_graph=False)


def scenario(strategy: str, requests: int, steps: int) -> dict[str, Any]:
    r = random.Random(5)
    config = dict(
        policy="native",
        overlap=True,
        strategy=strategy,
        track_interval=256,
        page_size=1,
        mamba_chunk=64,
        chunk_size=10**6,
        mamba_pool=6 * requests + 8,
        max_running=requests,
        kv_tokens=(steps + 400) * requests + 1000,
        conservativeness=0.1,
        context=steps + 500,
        max_prefill_tokens=10**6,
    )
    rows = []
    for k in range(requests):  # lengths over more than an interval: some row is at a boundary at nearly every step
        prompt = [r.randrange(1000) for _ in range(r.randint(3, 300))]
        rows.append(dict(rid=f"{r.getrandbits(128):032x}", arrival=1, prompt=prompt, max_new_tokens=steps + 100))
    return dict(config=config, requests=rows)


def measure(strategy: str, requests: int, steps: int, options: dict[str, Any]) -> dict[str, Any]:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import capture as capture_file

    from .arrivals import Receiver

    with tempfile.TemporaryDirectory() as directory:
        run = Recorder(scenario(strategy, requests, steps), None)
        rec.current = run
        scheduler = build(run)
        scheduler.tp_worker = scheduler.model_worker = ZeroWorker(scheduler.tp_worker)
        capture = capture_file.install(out_dir=directory, receiver=Receiver, waiting_max=1 << 20, **options)
        batch = _running_batch(scheduler, requests)
        _drain(capture)
        capture.writer.files.flush()
        before = sum(path.stat().st_size for path in Path(directory).iterdir())
        times = _alternate(scheduler, batch, capture, steps)
        capture_file.uninstall()
        size = sum(path.stat().st_size for path in Path(directory).iterdir()) - before
    rec.current = None
    out = dict(
        version=importing.version(), strategy=strategy, requests=requests, options=options, errors=capture.errors
    )
    out["bytes_per_step"] = round(size / max(1, times["on_steps"]))
    out["writer_ms"] = round(1e3 * times["writer"], 4)
    for part in ("process", "all"):
        on, off = times["on"][part], times["off"][part]
        out[f"{part}_ms"] = round(1e3 * statistics.median(off), 4)
        # Neighbours are compared: what else the machine does hits both.
        out[f"{part}_more_ms"] = round(1e3 * statistics.median(x - y for x, y in zip(on, off)), 4)
    return out


def _running_batch(s: Any, requests: int) -> Any:
    """Runs the loop until every request decodes, and ends it with nothing in flight."""
    receiver, receive = s.request_receiver, type(s.request_receiver).recv_requests

    def recv(*a, **k):
        out = receive(receiver)
        running = len(s.running_batch.reqs) + (len(s.last_batch.reqs) if s.last_batch else 0)
        if running >= requests and receiver.recorder.iter > 3:
            s.gracefully_exit = True
        return out

    receiver.recv_requests = recv
    s.event_loop_overlap()
    while s.result_queue:
        queued, result = s.result_queue.popleft()
        s.process_batch_result(queued, result)
    batch, last = s.running_batch, s.last_batch
    if last is not None and last is not batch and last.reqs and last.forward_mode.is_extend():
        last.filter_batch()
        if batch.is_empty():
            batch = last
        else:
            batch.merge_batch(last)
    assert len(batch.reqs) == requests, len(batch.reqs)
    return batch


def _alternate(s: Any, batch: Any, capture: Any, steps: int) -> dict[str, Any]:
    clock = time.perf_counter
    times: dict[str, Any] = {arm: dict(process=[], all=[]) for arm in ("off", "on")}
    _drain(capture)
    gc.collect()
    gc.disable()
    writer_before = capture.writer.cpu_s
    for step in range(steps):
        arm = "off" if step % 2 else "on"
        _switch(capture, arm == "on")
        process = type(s.batch_result_processor).process_batch_result_decode
        result = _result(len(batch.reqs))
        t0 = clock()
        if arm == "on":
            capture.next_iteration()
        batch.prepare_for_decode()
        queued = batch.copy()
        t1 = clock()
        process(s.batch_result_processor, queued, result)
        t2 = clock()
        if step >= WARM:
            times[arm]["process"].append(t2 - t1)
            times[arm]["all"].append(t2 - t0)
        if step % 100 == 99:
            gc.collect()
    _drain(capture)
    gc.enable()
    times["on_steps"] = (steps + 1) // 2
    times["writer"] = (capture.writer.cpu_s - writer_before) / times["on_steps"]
    return times


def _drain(capture: Any) -> None:
    capture.hand_over()
    while not capture.writer.queue.empty():
        time.sleep(0.01)
    time.sleep(0.1)


def _switch(capture: Any, on: bool) -> None:
    for owner, name, original, wrapper in capture.wrapped:
        setattr(owner, name, wrapper if on else original)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
