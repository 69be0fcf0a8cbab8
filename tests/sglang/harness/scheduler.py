"""The real `Scheduler` without its `__init__`: attributes are set by hand, everything around the loop is swallowed."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import torch
from sglang.srt.disaggregation.utils import DisaggregationMode
from sglang.srt.managers import scheduler as scheduler_module
from sglang.srt.managers.io_struct import AbortReq
from sglang.srt.managers.schedule_batch import ScheduleBatch
from sglang.srt.managers.schedule_policy import SchedulePolicy
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.managers.scheduler_components.batch_result_processor import SchedulerBatchResultProcessor as Processor
from sglang.srt.managers.scheduler_components.new_token_ratio_tracker import NewTokenRatioTracker
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

from . import pools, recorder as rec, spec_worker
from .arrivals import Receiver
from .fakes import BeamNull, Event, Null, NullContext, Stream, call
from .forward import FakeWorker


class QuietScheduler(Scheduler):
    def __getattr__(self, name):  # features this run does not use
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("enable_"):
            return False
        if name.startswith("total_"):
            return 0
        return None

    def _record_step_counters(self, *a, **k):
        pass

    def process_input_requests(self, recv_reqs):
        for q in recv_reqs:
            if isinstance(q, AbortReq):
                rec.current.event("abort", rid=q.rid, where=self.request_receiver.where(q.rid))
                self.abort_request(q)
            else:
                self._add_request_to_queue(q)

    def ingest_requests(self):  # what newer versions call receive and process
        self.process_input_requests(self.request_receiver.recv_requests())

    def publish_load_snapshot(self, *a, **k):
        pass

    def on_idle(self):
        pass

    def send_abort_output(self, abort, req=None, *a, **k):
        _abort_output(abort, req)


def _abort_output(abort: Any, req: Any = None) -> None:
    rid = getattr(req, "rid", None) or getattr(abort, "rid", None)
    rec.current.dropped.add(rid)
    rec.current.event("abort_output", rid=rid)


class Ipc(Null):
    """Swallows IPC; an abort answered to the tokenizer is an event."""

    def send_output(self, obj=None, req=None, *a, **k):
        if isinstance(obj, AbortReq):
            _abort_output(obj, req)

    @property
    def send_to_tokenizer(self):
        return self


def build(recorder: Any) -> QuietScheduler:
    """A scheduler with pools, tree and result processor, ready for its event loop."""
    config = recorder.config
    pools.switches(config)
    args = pools.server_args(recorder)
    pool, allocator, model = pools.request_pool(config), pools.kv_allocator(config), pools.model_config(config)
    tree = pools.tree(config, args, pool, allocator, model)
    s = QuietScheduler.__new__(QuietScheduler)
    worker: Any = FakeWorker(recorder)
    if config.get("spec"):
        worker = spec_worker.SpecWorker(recorder, worker)
    s.__dict__.update(
        server_args=args,
        tree_cache=tree,
        req_to_token_pool=pool,
        token_to_kv_pool_allocator=allocator,
        model_config=model,
        tp_worker=worker,
        model_worker=worker,
        **_sizes(config),
        **_unused(),
    )
    if hasattr(scheduler_module, "BeamCoordinator"):
        s.beam_coordinator = BeamNull()
    s.policy = _policy(args, tree)
    s.new_token_ratio_tracker = _ratio_tracker(args)
    _streams(s)
    s.future_map = call(
        s.spec_algorithm.create_future_map,
        device="cpu",
        req_to_token_pool=pool,
        needs_cpu_seq_lens=True,
        needs_confidence_relay=False,
    )
    s.batch_result_processor = _processor(s, config)
    s.request_receiver = Receiver(recorder, s)
    return s


def _sizes(config: dict[str, Any]) -> dict[str, Any]:
    longest = config.get("context", pools.DEFAULT_CONTEXT) - 24
    return dict(
        page_size=config.get("page_size", 1),
        enable_overlap=config["overlap"],
        max_prefill_tokens=pools.max_prefill_tokens(config),
        chunked_prefill_size=config["chunk_size"],
        max_running_requests=config["max_running"],
        max_total_num_tokens=config.get("kv_tokens", 4096),
        max_req_len=longest,
        max_req_input_len=longest,
        is_mixed_chunk=bool(config.get("mixed_chunk")),
        spec_algorithm=SpeculativeAlgorithm.from_string("EAGLE" if config.get("spec") else None),
    )


def _unused() -> dict[str, Any]:
    """Attributes of features that are off, of parts that are swallowed, and of a scheduler that has just started."""
    grammar = SimpleNamespace(
        has_waiting_grammars=lambda: False,
        get_ready_grammar_requests=lambda: [],
        abort_requests=lambda r: None,
    )
    ranks = dict(dp_size=1, tp_size=1, pp_size=1, tp_rank=0, pp_rank=0, attn_tp_rank=0, attn_tp_size=1)
    adapter = SimpleNamespace(
        maybe_prepare_mlp_sync_batch=lambda b, **k: b,
        maybe_convert_decode_to_extend=lambda b: b,
    )
    off = (
        "enable_overlap_mlx enable_hierarchical_cache enable_hicache_storage enable_priority_scheduling "
        "enable_priority_preemption schedule_low_priority_values_first abort_on_priority_when_disabled enable_lora "
        "enable_lora_overlap_loading enable_hisparse enable_fpm enable_pdmux is_hybrid_swa require_mlp_sync "
        "enable_dp_attention enable_unified_memory enable_dynamic_chunking _war_barrier_enabled _engine_paused "
        "gracefully_exit enable_skip_finishing_decode _sched_idled attn_dp_enabled enable_decode_hicache"
    ).split()
    nothing = (
        "draft_worker lora_drainer hisparse_coordinator dllm_config truncation_align_size prefill_delayer "
        "min_free_slots_delayer chunked_req _pending_chunked_abort_req decode_offload_manager forward_sleep_time "
        "scripted_scheduler_hook external_corpus_manager cur_batch_for_debug last_batch _confidence_budget_prepare "
        "default_max_new_tokens max_new_tokens_limit swa_tokens_per_layer full_tokens_per_layer sliding_window_size "
        "max_queued_requests scheduler_stage_metrics beam_coordinator"
    ).split()
    swallowed = (
        "dllm_manager metrics_collector profiler_manager session_controller metrics_reporter invariant_checker "
        "load_inquirer load_publisher"
    ).split()
    zero = (
        "max_prefill_bs forward_ct processed_tokens_counter prefill_decode_interval "
        "_prefill_decode_interval_remaining prefill_decode_interval_min_bs"
    ).split()
    return dict(
        {name: False for name in off},
        **{name: None for name in nothing},
        **{name: Null() for name in swallowed},
        **{name: 0 for name in zero},
        is_generation=True,
        is_hybrid_ssm=True,
        skip_tokenizer_init=True,
        device="cpu",
        schedule_policy="fcfs",
        stream_interval=1,
        priority_scheduling_preemption_threshold=10,
        disaggregation_mode=DisaggregationMode.NULL,
        return_health_check_ipcs=[],
        waiting_queue=[],
        running_batch=ScheduleBatch(reqs=[], batch_is_full=False),
        grammar_manager=grammar,
        ipc_channels=Ipc(),
        dp_attn_adapter=adapter,
        ngram_embedding_manager=SimpleNamespace(prepare_for_forward=lambda b, **k: b),
        ps=SimpleNamespace(dp_rank=None, dcp_size=1, **ranks),
    )


def _policy(args: Any, tree: Any) -> SchedulePolicy:
    if "server_args" in inspect.signature(SchedulePolicy.__init__).parameters:
        return SchedulePolicy(schedule_policy="fcfs", tree_cache=tree, server_args=args)
    return call(
        SchedulePolicy,
        policy="fcfs",
        tree_cache=tree,
        enable_hierarchical_cache=False,
        enable_priority_scheduling=False,
        schedule_low_priority_values_first=False,
    )


def _ratio_tracker(args: Any) -> NewTokenRatioTracker:
    if hasattr(NewTokenRatioTracker, "from_server_args"):
        return NewTokenRatioTracker.from_server_args(args)
    names = ("create", "from_config", "from_runtime_context")
    return next(getattr(NewTokenRatioTracker, name) for name in names if hasattr(NewTokenRatioTracker, name))()


def _streams(s: Any) -> None:
    cpu = torch.cpu
    s.device_module = SimpleNamespace(
        Event=Event, Stream=cpu.Stream, stream=cpu.stream, current_stream=cpu.current_stream
    )
    s.forward_stream, s.schedule_stream, s.copy_stream = Stream(), Stream(), Stream()
    s.forward_stream_ctx, s.copy_stream_ctx = NullContext(), NullContext()
    s.batch_record_buf = [None] * 2
    s.batch_record_ct = 0


def _processor(s: Any, config: dict[str, Any]) -> Processor:
    given = dict(
        is_generation=True,
        disaggregation_mode=DisaggregationMode.NULL,
        enable_overlap=config["overlap"],
        enable_overlap_mlx=False,
        server_args=s.server_args,
        model_config=s.model_config,
        token_to_kv_pool_allocator=s.token_to_kv_pool_allocator,
        tree_cache=s.tree_cache,
        req_to_token_pool=s.req_to_token_pool,
        model_worker=s.model_worker,
        abort_request=s.abort_request,
        hisparse_coordinator=None,
        decode_offload_manager=None,
        draft_worker=None,
        metrics_collector=Null(),
        metrics_reporter=Null(),
        logprob_result_processor=Null(),
        output_streamer=Null(),
    )
    parameters = inspect.signature(Processor).parameters
    if "beam_coordinator" in parameters:
        given["beam_coordinator"] = BeamNull()
    for name, parameter in parameters.items():
        if name not in given and parameter.default is parameter.empty:
            given[name] = Null()
    return call(Processor, **given)
