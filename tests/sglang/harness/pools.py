"""Pools, radix tree and server arguments of a run: the release's own, small and on the CPU."""

from __future__ import annotations

import os
import re
from types import SimpleNamespace
from typing import Any

import torch
from sglang.srt import runtime_context as context
from sglang.srt.configs import mamba_utils
from sglang.srt.managers import scheduler as scheduler_module
from sglang.srt.mem_cache import memory_pool
from sglang.srt.mem_cache.allocator import TokenToKVPoolAllocator
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.registry import TreeCacheBuildContext, create_tree_cache

from . import paged_cpu, recorder as rec, scripted, spec_worker
from .engine_map import DEFAULT_CONTEXT, DEFAULT_MAX_PREFILL_TOKENS
from .fakes import Loose, Null, call, field, slot_of
from .states import VOCAB

_installed: list[Any] = []  # the override of server arguments that is in force


def switches(config: dict[str, Any]) -> None:
    """The release's own test switches and environment variables."""
    scheduler_module.TEST_RETRACT = bool(config.get("test_retract"))
    scheduler_module.TEST_RETRACT_INTERVAL = config.get("test_retract") or 3
    on = {
        scripted.REFUSE: config.get("lazy_alloc_fail"),
        "SGLANG_DISABLE_CONSECUTIVE_PREFILL_OVERLAP": config.get("disable_consecutive_prefill_overlap"),
    }
    for name, value in on.items():
        os.environ.pop(name, None)
        if value:
            os.environ[name] = "1"


def max_prefill_tokens(config: dict[str, Any]) -> int:
    return config.get("max_prefill_tokens", DEFAULT_MAX_PREFILL_TOKENS)


def server_args(recorder: Any) -> Any:
    """Publishes the configuration through the release's own override of `ServerArgs`."""
    config = recorder.config
    fields = dict(
        device="cpu",
        page_size=config.get("page_size", 1),
        attention_backend="torch_native",
        sampling_backend="pytorch",
        mamba_radix_cache_strategy=config["strategy"],
        mamba_track_interval=config["track_interval"],
        chunked_prefill_size=config["chunk_size"],
        max_prefill_tokens=max_prefill_tokens(config),
        schedule_policy="fcfs",
        disable_overlap_schedule=not config["overlap"],
        max_running_requests=config["max_running"],
        pp_max_micro_batch_size=config["max_running"],
        skip_tokenizer_init=True,
        disable_radix_cache=False,
        enable_mixed_chunk=bool(config.get("mixed_chunk")),
        schedule_conservativeness=config.get("conservativeness", 1.0),
        _mamba_cache_chunk_size=max(_chunk(config), config.get("page_size", 1)),
    )
    if config.get("spec"):
        spec_worker.replace_kernels()
        fields.update(spec_worker.server_fields(config))
    while _installed:
        _installed.pop().restore()
    while True:
        try:
            override = context.get_context().override_server_args(**fields)
            args = override.install()
            break
        except ValueError as error:  # names that this version does not have are in the message
            unknown = [name for name in re.findall(r"'(\w+)'", str(error)) if name in fields]
            if not unknown:
                raise
            for name in unknown:
                fields.pop(name)
    _installed.append(override)
    if hasattr(context, "mamba_track_grid"):  # newer releases track on a common multiple
        recorder.grid = context.mamba_track_grid(config.get("page_size", 1))
    try:
        one = dict(tp_rank=0, tp_size=1, pp_rank=0, pp_size=1, attn_tp_rank=0, attn_tp_size=1, dcp_enabled=False)
        context.get_parallel().override_permanently(**one)
    except Exception:
        pass
    return args


def _chunk(config: dict[str, Any]) -> int:
    return config.get("mamba_chunk", config["track_interval"])


def request_pool(config: dict[str, Any]) -> Any:
    shape = call(
        mamba_utils.Mamba2StateShape.create,
        tp_world_size=1,
        intermediate_size=4,
        n_groups=1,
        num_heads=1,
        head_dim=4,
        state_size=4,
        conv_kernel=2,
    )
    return call(
        memory_pool.HybridReqToTokenPool,
        size=config["max_running"],
        mamba_size=config["mamba_pool"],
        mamba_spec_state_size=config["max_running"],
        max_context_len=config.get("context", DEFAULT_CONTEXT),
        device="cpu",
        enable_memory_saver=False,
        cache_params=mamba_utils.Mamba2CacheParams(shape=shape, layers=[0]),
        mamba_layer_ids=[0],
        enable_mamba_extra_buffer=config["strategy"] != "no_buffer",
        enable_mamba_extra_buffer_lazy=config["strategy"] == "extra_buffer_lazy",
        enable_overlap_schedule=config["overlap"],
    )


def kv_allocator(config: dict[str, Any]) -> Any:
    page = config.get("page_size", 1)
    common = dict(
        size=config.get("kv_tokens", 4096), dtype=torch.float16, device="cpu", kvcache=Null(), need_sort=False
    )
    if page == 1:
        return call(TokenToKVPoolAllocator, **common)
    return call(paged_cpu.allocator_class(), page_size=page, **common)


def model_config(config: dict[str, Any]) -> Any:
    return Loose(
        is_encoder_decoder=False,
        is_multimodal=False,
        vocab_size=VOCAB,
        think_end_id=None,
        think_end_ids=None,
        context_len=config.get("context", DEFAULT_CONTEXT),
        hf_config=SimpleNamespace(),
        hf_text_config=SimpleNamespace(mamba_chunk_size=_chunk(config)),
        is_generation=True,
        num_key_value_heads=1,
        hf_eos_token_id=None,
        is_hybrid_swa=False,
        sliding_window_size=None,
        is_multimodal_gen=False,
        dtype=torch.float32,
    )


def tree(config: dict[str, Any], args: Any, pool: Any, allocator: Any, model: Any) -> Any:
    """The tree that the release's own factory picks for a hybrid model; matches are observed."""
    params = call(
        CacheInitParams,
        disable=False,
        req_to_token_pool=pool,
        token_to_kv_pool_allocator=allocator,
        page_size=config.get("page_size", 1),
        enable_mamba_extra_buffer=config["strategy"] != "no_buffer",
        enable_mamba_extra_buffer_lazy=config["strategy"] == "extra_buffer_lazy",
        chunked_prefill_size=config["chunk_size"],
    )
    built = create_tree_cache(
        call(
            TreeCacheBuildContext,
            server_args=args,
            params=params,
            is_hybrid_swa=False,
            is_hybrid_ssm=True,
            enable_hierarchical_cache=False,
            disable_radix_cache=False,
            effective_chunked_prefill_size=config["chunk_size"],
            tp_worker=Null(),
            model_config=model,
            tp_size=1,
            tp_rank=0,
            tp_group=None,
            full_tokens_per_layer=None,
        )
    )
    match_before = built.match_prefix

    def match_prefix(params, *a, **k):
        found = match_before(params, *a, **k)
        req = getattr(params, "req", None)
        if req is not None and getattr(params, "cow_mamba", False):
            slot = slot_of(field(req, "mamba_cow_src_index"))
            branching = getattr(found, "mamba_branching_seqlen", None)
            rec.current.on_match(req, _matched(found), slot, branching)
        return found

    built.match_prefix = match_prefix
    return built


def _matched(found: Any) -> int | None:
    indices = getattr(found, "device_indices", None)
    n = len(indices) if indices is not None else getattr(found, "device_prefix_len", None)
    return getattr(found, "prefix_len", None) if n is None else n
