"""Runs one scenario through the real event loop, from `meta` to `end`."""

from __future__ import annotations

import os
import traceback
from typing import Any, TextIO

from . import recorder as rec
from . import tree_core, tree_walk
from .importing import version
from .jobs import Refused
from .recorder import Recorder
from .scheduler import build
from .states import ZERO, fold_all

HERE = os.path.dirname(os.path.abspath(__file__))


def run_scenario(scenario: dict[str, Any], out: TextIO | None) -> Recorder:
    """Raises `Refused` if the scenario turns out to be one that cannot be run."""
    run = Recorder(scenario, out)
    rec.current = run
    try:
        config = scenario["config"]
        scheduler = build(run)
        core = tree_core.name(scheduler.tree_cache)
        run.event("meta", version=version(), policy=config.get("policy"), tree_core=core, config=config)
        try:
            if config["overlap"]:
                scheduler.event_loop_overlap()
            else:
                scheduler.event_loop_normal()
        except Refused:
            raise
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(frame.filename)}:{frame.name}"
            if os.path.dirname(frame.filename) == HERE and not where.startswith("rules.py"):
                _show_traceback()
                raise Refused(f"the harness does not fit this version here ({where}: {error})") from error
            run.event("assert", message=f"{type(error).__name__}: {str(error)[:300]}", where=where, kind="raised")
            _show_traceback()
        _end(run, scheduler)
    finally:
        rec.current = None
    return run


def _end(run: Recorder, scheduler: Any) -> None:
    """What the tree holds, what leaked, and the totals."""
    try:
        held = tree_walk.states(scheduler.tree_cache)
    except Exception as error:
        run.event("assert", message=f"tree walk: {type(error).__name__} {error}", kind="harness")
        _show_traceback()
        held = []
    bad = 0
    for tokens, slot in held:
        got = run.store.get(slot, ZERO)
        if got != fold_all(ZERO, tokens):
            bad += 1
            run.event("tree_mismatch", label=len(tokens), slot=slot, n=got[0])
    receiver, pool = scheduler.request_receiver, scheduler.req_to_token_pool
    free = pool.mamba_allocator.available_size()
    total = run.config["mamba_pool"]
    leak = total - free - len(held)
    open_ = sum(not r.finished() and r.rid not in run.dropped for r in receiver.live) + len(receiver.todo)
    run.stats.update(tree_bad=bad, leak=leak, asserts=run.asserts, unfinished=open_, iters=run.iter)
    free_reqs = pool.available_size()
    run.event("end", free=free, tree=len(held), total=total, leak=leak, free_reqs=free_reqs, stats=run.stats)


def _show_traceback() -> None:
    if os.environ.get("OVERLAPSIM_TRACEBACK"):
        traceback.print_exc()
