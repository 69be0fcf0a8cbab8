"""Turns the `engine` of a scenario into the configuration of a run, or refuses what a release does not have.

Standard library only. The table of differences is that of `docs/releases.md`.
"""

from __future__ import annotations

from typing import Any

from . import jobs
from .jobs import Refused

# What a field is in 0.5.16, 0.5.17, 0.5.18 and 0.5.23. All others are the same in all of them, see `FIXED`.
DIFFERENCES: dict[str, tuple] = {
    "grid": ("interval", "interval", "interval", "lcm"),
    "skip_finishing_decode": (False, False, False, True),
    "filter_before_prefill": (False, False, False, True),
    "lazy_prealloc_evicts": (True, False, False, False),
    "refused_prealloc_clears_label": (False, False, False, True),
    "kv_eviction": ("whole", "shortfall", "shortfall", "shortfall"),
    "finish_order": ("length_first", "length_first", "token_first", "token_first"),
    "slot_headroom": ("per_request", "per_request", "per_request", "exact"),
    "mixed_tracking": ("dropped", "dropped", "dropped", "kept"),
    "caches_through_stop": (False, False, False, True),
    "previous_checkpoint": (False, False, False, True),
    "branching_beyond_state": (False, True, True, True),
    "split_refreshes_state": (True, True, True, False),
    "tombstone_lock": ("steal", "skip", "skip", "count"),
    "admission_forgets_skip": (True, True, True, False),
    "fixed_length_reserves_all": (False, False, False, True),
    "waiting_prefix_refresh": (False, False, False, True),
    "rematch_after_insert": (True, True, True, False),
    "handover_unlocks_state": (False, False, False, True),
}

# Variants that no release has: the only value that can be run.
FIXED: dict[str, str] = {
    "result_queue": "copy",
    "snapshot": "hand_over",
    "copy_on_write": "deferred",
    "slot_free": "at_result",
    "exhaustion": "assert",
}

STRATEGIES = ("no_buffer", "extra_buffer", "extra_buffer_lazy")
# Some values of the harness that scenarios of the generator leave out, and so does `meta.config` then.
DEFAULT_MAX_PREFILL_TOKENS = 4096
DEFAULT_CONTEXT = 1024


def refuse_variants(engine: dict[str, Any], preset: list[str], version: str) -> None:
    """Refuses every field that a scenario sets to something that this version is not."""
    for field, value in FIXED.items():
        if engine.get(field, value) != value:
            raise Refused(f"no release has {field}: {engine[field]}")
    column = jobs.VERSIONS.index(jobs.newest(version))
    for field in preset:
        if field in FIXED:
            continue
        if field not in DIFFERENCES:
            raise Refused(f"{field} is set, and it is not known what {version} does there")
        real = DIFFERENCES[field][column]
        if field in engine and engine[field] != real:
            raise Refused(f"{field}: {_word(engine[field])} is set, {version} has {_word(real)}")


def config(engine: dict[str, Any], policy: str, lengths: list[int]) -> dict[str, Any]:
    """The configuration of a run; `lengths` are prompt plus `max_new` of each request."""
    if engine["strategy"] not in STRATEGIES:
        raise Refused(f"unknown strategy {engine['strategy']}")
    page = engine["page_size"]
    chunk = engine.get("chunked_prefill_size")
    out = dict(
        policy=policy,
        overlap=engine["overlap"],
        strategy=engine["strategy"],
        track_interval=engine["track_interval"],
        page_size=page,
        mamba_chunk=engine["mamba_chunk"],
        chunk_size=_above(max(engine["max_prefill_tokens"], sum(lengths)), page) if chunk is None else chunk,
        mamba_pool=engine["mamba_slots"],
        max_running=engine["max_running"],
        kv_tokens=engine["kv_tokens"],
        conservativeness=engine["conservativeness"],
    )
    if engine["max_prefill_tokens"] != DEFAULT_MAX_PREFILL_TOKENS:
        out["max_prefill_tokens"] = engine["max_prefill_tokens"]
    context = max(lengths) + 64
    if context > DEFAULT_CONTEXT:
        out["context"] = context
    if engine.get("mixed_chunk"):
        out["mixed_chunk"] = True
    if engine.get("disable_consecutive_prefill_overlap"):
        out["disable_consecutive_prefill_overlap"] = True
    if engine.get("spec") is not None:
        out["spec"] = _spec(engine["spec"])
    return out


def _spec(spec: dict[str, Any]) -> dict[str, Any]:
    accept = spec["accept"]
    if "fixed" not in accept:
        raise Refused("accept lengths drawn from a seed are not those of the harness: write them as a fixed list")
    return dict(draft_tokens=spec["draft"] + 1, seed=0, accept=list(accept["fixed"]), cycle=True)


def _above(tokens: int, page: int) -> int:
    """A multiple of the page that is no limit for so many tokens."""
    return -(-(tokens + 1) // page) * page


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
