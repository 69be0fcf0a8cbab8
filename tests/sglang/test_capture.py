"""capture.py against a small pretended server: what it writes, and that it stays out of the way."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import types
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import capture as capture_file  # noqa: E402
from harness import tree_core  # noqa: E402

GRID = 8


class RustTreeCore:
    """The releases' compiled tree cores are named like this."""


class Kv:
    def __init__(self) -> None:
        self.kv_committed_len = 0
        self.mamba_next_track_idx = 0
        self.mamba_last_track_idx = 1
        self.mamba_last_track_seqlen = None
        self.mamba_cow_src_index = None


class Req:
    def __init__(self, rid: str, prompt: list[int], outputs: int):
        self.rid, self.origin_input_ids, self.output_ids, self.most = rid, prompt, [], outputs
        self.sampling_params = types.SimpleNamespace(max_new_tokens=outputs, ignore_eos=True)
        self.kv, self.decode_batch_idx = Kv(), 0
        self.finished_reason, self.is_retracted = None, False


def server() -> tuple[types.SimpleNamespace, "Loop"]:
    """A new set of classes each time: hooks change classes."""

    class Mode:
        def __init__(self, word: str):
            self.word = word

        def is_extend(self) -> bool:
            return self.word == "extend"

        def is_mixed(self) -> bool:
            return False

    class Pool:
        enable_mamba_extra_buffer = True
        enable_mamba_extra_buffer_lazy = False

        def __init__(self) -> None:
            self.mamba_allocator = Allocator()

        def get_mamba_indices(self, rows: list[int]) -> list[int]:
            return [100 + row for row in rows]

    class Allocator:
        size = 64

        def __init__(self) -> None:
            self.free_slots = list(range(1, 65))

        def _do_alloc(self, need_size: int):
            given, self.free_slots = self.free_slots[:need_size], self.free_slots[need_size:]
            return given

        def free(self, free_index: list[int]) -> None:
            self.free_slots += free_index

    class Batch:
        def __init__(self, reqs: list[Req], pool: Pool):
            self.reqs, self.req_to_token_pool = reqs, pool
            self.mamba_track_seqlens = None

        def prepare_for_extend(self) -> None:
            self.forward_mode = Mode("extend")
            self.prefix_lens = [0 for _ in self.reqs]
            self.extend_lens = [len(r.origin_input_ids) for r in self.reqs]
            self.seq_lens_cpu = list(self.extend_lens)
            self.req_pool_indices = list(range(len(self.reqs)))
            self.mamba_track_mask = [False for _ in self.reqs]
            self.mamba_track_indices = [7 for _ in self.reqs]
            self.mamba_track_seqlens = [-1 for _ in self.reqs]
            for r in self.reqs:
                r.kv.kv_committed_len = len(r.origin_input_ids)

        def prepare_for_decode(self) -> None:
            self.forward_mode = Mode("decode")
            self.seq_lens_cpu = [n + 1 for n in self.seq_lens_cpu]
            self.req_pool_indices = list(range(len(self.reqs)))
            self.mamba_track_mask = [n % GRID == 0 for n in self.seq_lens_cpu]
            self.mamba_track_indices = [7 for _ in self.reqs]
            for r in self.reqs:
                r.decode_batch_idx += 1
                r.kv.kv_committed_len += 1

        def copy(self) -> "Batch":
            made = Batch(self.reqs[:], self.req_to_token_pool)
            made.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("reqs", "_cap")})
            made.reqs = self.reqs[:]
            return made

    processor_module = types.SimpleNamespace(release_kv_cache=lambda req, tree: None)

    class Processor:
        def process_batch_result_prefill(self, batch: Batch, result) -> None:
            for r in batch.reqs:
                r.output_ids.append(500)

        def process_batch_result_decode(self, batch: Batch, result) -> None:
            for j, r in enumerate(batch.reqs):
                if r.finished_reason is not None:
                    continue
                r.output_ids.append(500 + len(r.output_ids))
                if batch.seq_lens_cpu[j] % GRID == 0:
                    r.kv.mamba_last_track_seqlen = batch.seq_lens_cpu[j]
                    r.kv.mamba_next_track_idx ^= 1
                if len(r.output_ids) >= r.most:
                    r.finished_reason = "length"
                    processor_module.release_kv_cache(r, None)

    class Receiver:
        def recv_requests(self) -> list:
            return []

    class Scheduler:
        enable_overlap = True
        page_size, chunked_prefill_size, max_running_requests = 1, 64, 16
        max_total_num_tokens, max_prefill_tokens = 4096, 4096
        server_args = types.SimpleNamespace(
            mamba_radix_cache_strategy="extra_buffer",
            mamba_track_interval=GRID,
            _mamba_cache_chunk_size=4,
            schedule_conservativeness=1.0,
        )

        def __init__(self) -> None:
            self.req_to_token_pool, self.waiting_queue, self.last_batch = Pool(), [], None

        def _add_request_to_queue(self, req: Req, is_retracted: bool = False) -> None:
            self.waiting_queue.append(req)

        def abort_request(self, recv_req) -> None:
            self.waiting_queue = [r for r in self.waiting_queue if not r.rid.startswith(recv_req.rid)]

    nothing = type("Nothing", (), {})
    modules = capture_file.Modules()
    modules.version = "0.5.23"
    modules.batch, modules.processor, modules.processor_module = Batch, Processor, processor_module
    modules.scheduler, modules.receiver, modules.allocator = Scheduler, Receiver, Allocator
    modules.component = modules.tree = nothing
    return types.SimpleNamespace(modules=modules), Loop(Scheduler(), Processor(), Receiver(), Batch)


class Loop:
    """Prefill, then decode steps, each with its result one iteration later."""

    def __init__(self, scheduler, processor, receiver, batch_class):
        self.scheduler, self.processor, self.receiver = scheduler, processor, receiver
        self.batch_class, self.queue, self.batch = batch_class, [], None

    def start(self, reqs: list[Req]) -> None:
        self.receiver.recv_requests()
        for r in reqs:
            self.scheduler._add_request_to_queue(r)
        self.scheduler.waiting_queue = []
        self.scheduler.req_to_token_pool.mamba_allocator._do_alloc(len(reqs))
        self.batch = self.batch_class(reqs, self.scheduler.req_to_token_pool)
        self.batch.prepare_for_extend()
        self.queue.append(self.batch.copy())

    def step(self) -> None:
        self.receiver.recv_requests()
        live = [j for j, r in enumerate(self.batch.reqs) if r.finished_reason is None]
        if len(live) < len(self.batch.reqs):
            self.batch.reqs = [self.batch.reqs[j] for j in live]
            self.batch.seq_lens_cpu = [self.batch.seq_lens_cpu[j] for j in live]
        if self.batch.reqs:
            self.batch.prepare_for_decode()
            self.queue.append(self.batch.copy())
        done = self.queue.pop(0) if self.queue else None
        if done is None:
            return
        if done.forward_mode.is_extend():
            self.processor.process_batch_result_prefill(done, None)
        else:
            self.processor.process_batch_result_decode(done, None)


class CaptureTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.addCleanup(capture_file.uninstall)
        self.dir = Path(directory.name)

    def install(self, **options):
        fake, loop = server()
        capture = capture_file.install(str(self.dir), prefix="c", modules=fake.modules, **options)
        self.assertIsNotNone(capture)
        return capture, loop

    def run_some(self, requests: int = 2, outputs: int = 30, **options) -> list[dict]:
        _, loop = self.install(**options)
        reqs = [Req(f"r{k}", [7, 8, 9][: k % 3 + 1], outputs + k) for k in range(requests)]
        loop.start(reqs)
        for _ in range(outputs + requests + 4):
            loop.step()
        capture_file.uninstall()
        return self.read()

    def read(self) -> list[dict]:
        lines = []
        for path in sorted(self.dir.glob("c.*.jsonl")):
            lines += [json.loads(line) for line in path.read_text().splitlines()]
        return lines

    def test_meta_comes_first_and_says_what_is_known(self) -> None:
        meta = self.run_some()[0]
        self.assertEqual((meta["ev"], meta["policy"], meta["partial"], meta["hashed"]), ("meta", "native", True, True))
        self.assertEqual((meta["version"], meta["part"], meta["continues"]), ("0.5.23", 1, False))
        self.assertEqual(meta["config"]["strategy"], "extra_buffer")
        self.assertEqual(self.run_some(known=dict(script=[]))[0]["config"]["script"], [])
        self.assertEqual((meta["config"]["track_interval"], meta["config"]["mamba_pool"]), (GRID, 64))

    def test_meta_says_which_tree_core_runs(self) -> None:
        self.assertIsNone(self.run_some()[0]["tree_core"], "the pretended server has no tree")
        for core, word in ((None, "python"), (type("PythonTreeCore", (), {})(), "python"), (RustTreeCore(), "rust")):
            tree = types.SimpleNamespace() if core is None else types.SimpleNamespace(tree_core=core)
            self.assertEqual(capture_file.tree_core_of(types.SimpleNamespace(tree_cache=tree)), word)
            self.assertEqual(tree_core.name(tree), word)

    def test_tokens_are_hashed_alike_and_the_salt_is_not_written(self) -> None:
        events = self.run_some(requests=3)
        prompts = [e["prompt"] for e in events if e["ev"] == "arrive"]
        self.assertEqual(prompts[2][:1], prompts[0])
        self.assertEqual(prompts[2][:2], prompts[1])
        self.assertTrue(all(0 <= token < 2**31 for prompt in prompts for token in prompt))
        self.assertFalse({7, 8, 9} & {token for prompt in prompts for token in prompt})
        first = capture_file.Salted()
        self.assertEqual(first(7), first(7))
        self.assertNotEqual([first(t) for t in range(64)], [capture_file.Salted()(t) for t in range(64)])
        self.assertEqual(len({first(t) for t in range(5000)}), 5000)

    def test_tokens_as_they_are_if_wanted(self) -> None:
        events = self.run_some(tokens=True)
        self.assertFalse(events[0]["hashed"])
        self.assertEqual([e["prompt"] for e in events if e["ev"] == "arrive"], [[7], [7, 8]])

    def test_ids_are_numbered_if_wanted(self) -> None:
        events = self.run_some(rids=False)
        self.assertEqual([e["rid"] for e in events if e["ev"] == "arrive"], ["r0", "r1"])

    def test_full_steps_and_counted_ones_add_up(self) -> None:
        events = self.run_some()
        full = [e for e in events if e["ev"] == "prepare_decode"]
        counted = sum(e["count"] for e in events if e["ev"] == "steps")
        batches = max(e["batch"] for e in full)
        self.assertGreater(counted, 0)
        self.assertEqual(len(full) + counted, batches - 1)  # the first batch was the prefill
        for event in full[1:]:
            near = any(n % GRID in (0, GRID - 1) for n in event["seq_lens"])
            self.assertTrue(near or len(event["rids"]) == 1)
        for event in events:
            if event["ev"] == "steps":
                self.assertEqual(event["last_i"] - event["first_i"] + 1, event["count"])

    def test_result_rows_are_those_of_interest(self) -> None:
        events = self.run_some(requests=3)
        rows = [row for e in events if e["ev"] == "result" and e["mode"] == "decode" for row in e["reqs"]]
        self.assertTrue(rows)
        for row in rows:
            near = row["seq_len"] % GRID in (0, GRID - 1)
            self.assertTrue(near or row["finished"], row)
            self.assertEqual(row["fired"], row["seq_len"] % GRID == 0)
        ends = [row for row in rows if row["finished"]]
        self.assertEqual(len(ends), 3)
        self.assertTrue(all(len(row["output_ids"]) == row["output_len"] for row in ends))
        for event in events:
            if event["ev"] == "result" and event["mode"] == "decode":
                self.assertGreaterEqual(event["rows_left_out"], 0)

    def test_large_batches_are_written_by_what_changed(self) -> None:
        events = self.run_some(requests=6, full_rows=2)
        rows: list[str] = []
        for event in (e for e in events if e["ev"] == "prepare_decode"):
            if "rows_left_out" not in event:
                rows = event["rids"]
                continue
            rows = [rid for rid in rows if rid not in event.get("left", [])] + event.get("joined", [])
            self.assertEqual(len(rows), len(event["rids"]) + event["rows_left_out"])
            self.assertTrue(set(event["rids"]) <= set(rows))
            self.assertTrue(all(n % GRID in (0, GRID - 1) for n in event["seq_lens"]))
        self.assertTrue(any("left" in e for e in events))

    def test_end_has_the_totals(self) -> None:
        end = self.run_some()[-1]
        self.assertEqual((end["ev"], end["rotated"]), ("end", False))
        self.assertEqual((end["totals"]["dropped"], end["totals"]["errors"], end["totals"]["unfinished"]), (0, 0, 0))
        self.assertEqual(end["totals"]["written"]["arrive"], 2)

    def test_files_rotate_and_say_what_is_open(self) -> None:
        _, loop = self.install(limit_bytes=1500, keep=2)
        loop.start([Req("a", [1, 2], 200), Req("b", [3], 200)])
        for _ in range(120):
            loop.step()
        capture_file.uninstall()
        paths = sorted(self.dir.glob("c.*.jsonl"))
        self.assertEqual(len(paths), 2)
        self.assertNotIn("c.0001.jsonl", [path.name for path in paths])
        first, last = [[json.loads(line) for line in path.read_text().splitlines()] for path in paths]
        self.assertEqual((last[0]["ev"], last[0]["continues"]), ("meta", True))
        self.assertEqual(last[0]["part"], first[0]["part"] + 1)
        self.assertEqual([r["rid"] for r in last[0]["open"]], ["a", "b"])
        self.assertEqual((first[-1]["ev"], first[-1]["rotated"]), ("end", True))

    def test_a_full_queue_drops_and_counts(self) -> None:
        capture, loop = self.install(waiting_max=1)
        stuck = mock.Mock()
        stuck.is_alive.return_value = True
        capture.writer.thread = stuck
        loop.start([Req("a", [1], 40)])
        for _ in range(20):
            loop.step()
        lost = capture.totals["dropped"]
        self.assertGreater(lost, 0)
        self.assertEqual(capture.dropped, lost)
        capture.writer.queue.get_nowait()
        capture.writer.thread = None
        capture.hand_over()
        capture_file.uninstall()
        dropped = [e for e in self.read() if e["ev"] == "dropped"]
        self.assertEqual([e["count"] for e in dropped], [lost])

    def test_it_never_raises_and_gives_up_in_the_end(self) -> None:
        capture, loop = self.install()
        loop.start([Req("a", [1], 60)])
        capture.grid = "eight"  # every step is an error of ours now
        for _ in range(30):
            loop.step()
        self.assertTrue(capture.off)
        self.assertEqual(len(capture.errors), capture_file.ERRORS_MAX)
        self.assertGreater(len(loop.batch.reqs[0].output_ids), 25)
        disabled = [e for e in self.read() if e["ev"] == "disabled"]
        self.assertIn("prepare_for_decode: TypeError", disabled[0]["errors"][0])

    def test_errors_of_the_server_pass_unchanged(self) -> None:
        capture, loop = self.install()
        loop.start([Req("a", [1], 60)])
        loop.step()
        loop.batch.seq_lens_cpu = None
        with self.assertRaisesRegex(TypeError, "NoneType.* is not iterable"):
            loop.step()
        self.assertEqual(capture.errors, [])

    def test_a_writer_that_cannot_write_leaves_the_server_alone(self) -> None:
        capture, loop = self.install()
        capture.writer.files.next = mock.Mock(side_effect=OSError("no room"))
        with mock.patch("sys.stderr"):
            loop.start([Req("a", [1], 10)])
            for _ in range(14):
                loop.step()
            capture_file.uninstall()
        self.assertTrue(capture.writer.failed)
        self.assertEqual(len(loop.batch.reqs), 0)

    def test_uninstall_gives_the_functions_back(self) -> None:
        fake, _ = server()
        before = dict(vars(fake.modules.batch))
        capture_file.install(str(self.dir), prefix="c", modules=fake.modules)
        self.assertIsNot(fake.modules.batch.copy, before["copy"])
        capture_file.uninstall()
        self.assertIs(fake.modules.batch.copy, before["copy"])

    def test_values_on_the_device_are_read_by_the_writer(self) -> None:
        waited = []

        class Tensor:
            """As much of a device tensor as the capture touches."""

            is_cuda = True

            def __init__(self, values: list[int]):
                self.values = values

            def clone(self) -> "Tensor":
                return Tensor(list(self.values))

            def reshape(self, shape: int) -> "Tensor":
                return self

            def to(self, *a, **k) -> "Tensor":
                return self

            def __len__(self) -> int:
                return len(self.values)

            def tolist(self) -> list[int]:
                if threading.current_thread() is threading.main_thread():
                    raise AssertionError("the scheduler waits for the device")
                return self.values

        class Event:
            def record(self) -> None:
                pass

            def synchronize(self) -> None:
                waited.append(threading.current_thread().name)

        torch = types.ModuleType("torch")
        torch.int64, torch.cuda = "int64", types.SimpleNamespace(Event=Event)
        torch.cat = lambda parts: Tensor([value for part in parts for value in part.values])
        with mock.patch.dict(sys.modules, torch=torch):
            capture, loop = self.install(full_rows=1)
            pool = loop.scheduler.req_to_token_pool
            indices = pool.get_mamba_indices
            pool.get_mamba_indices = lambda rows: Tensor(indices(rows))
            alloc = type(pool.mamba_allocator)._do_alloc
            type(pool.mamba_allocator)._do_alloc = lambda self, n: Tensor(alloc(self, n))
            loop.start([Req("a", [1], 30), Req("b", [1, 2], 30)])
            for _ in range(25):
                loop.step()
            capture_file.uninstall()
        self.assertEqual(capture.errors, [])
        self.assertEqual(set(waited), {"overlapsim-capture"})
        events = self.read()
        self.assertEqual([e["slots"] for e in events if e["ev"] == "slot_alloc"], [[1, 2]])
        self.assertEqual([e["active"] for e in events if e["ev"] == "prepare_extend"], [100, 101])
        few = [e for e in events if e["ev"] == "prepare_decode" and "rows_left_out" in e]
        self.assertIn([101], [e["active"] for e in few])

    def test_other_ranks_write_nothing(self) -> None:
        capture, loop = self.install()
        loop.scheduler.tp_rank = 1
        loop.start([Req("a", [1], 5)])
        for _ in range(8):
            loop.step()
        capture_file.uninstall()
        self.assertEqual(self.read(), [])

    def test_aborts_and_retractions(self) -> None:
        capture, loop = self.install()
        loop.start([Req("a", [1], 50), Req("bb", [1], 50)])
        loop.step()
        loop.step()
        late = Req("b", [5], 9)
        loop.scheduler._add_request_to_queue(late)
        loop.scheduler.abort_request(types.SimpleNamespace(rid="b", abort_all=False))
        capture_file.uninstall()
        aborts = [(e["rid"], e["where"]) for e in self.read() if e["ev"] == "abort"]
        self.assertEqual(aborts, [("bb", "decode"), ("b", "waiting")])

    def test_a_place_that_cannot_be_used_is_no_error_of_the_server(self) -> None:
        fake, _ = server()
        (self.dir / "file").write_text("")
        with mock.patch("sys.stderr") as stderr:
            self.assertIsNone(capture_file.install(str(self.dir / "file" / "x"), modules=fake.modules))
        self.assertIn("not installed", "".join(str(call) for call in stderr.mock_calls))

    def test_it_installs_itself_when_the_scheduler_is_imported(self) -> None:
        package = self.dir / "sglang" / "srt" / "managers"
        package.mkdir(parents=True)
        for folder in (package, package.parent, package.parent.parent):
            (folder / "__init__.py").write_text("")
        (package / "scheduler.py").write_text("MARK = 1\n")
        names = ["sglang", "sglang.srt", "sglang.srt.managers", "sglang.srt.managers.scheduler"]
        self.addCleanup(lambda: [sys.modules.pop(name, None) for name in names])
        with mock.patch.dict("os.environ", OVERLAPSIM_CAPTURE_DIR=str(self.dir)), mock.patch.object(
            capture_file, "install"
        ) as install, mock.patch.object(sys, "path", [str(self.dir), *sys.path]):
            capture_file._by_environment()
            install.assert_not_called()
            __import__("sglang.srt.managers.scheduler")
            install.assert_called_once_with()
        self.assertFalse([f for f in sys.meta_path if type(f).__name__ == "_WhenImported"])


if __name__ == "__main__":
    unittest.main()
