"""Seeded random scenarios, small ones, and the same turned to one subject ("features"). Standard library only.

The same seed gives the same scenario everywhere: nothing here may draw in another order.
"""

from __future__ import annotations

import random
from typing import Any

Scenario = dict[str, Any]
FEATURES = ("nooverlap", "retract", "abort", "mixed", "page", "slots", "lazyfail", "spec")
# Slots per running request that the releases' own configurator budgets.
SLOTS_PER_REQUEST = {"extra_buffer_lazy": 4, "extra_buffer": 5, "no_buffer": 5}


def scenario(seed: int, strategy: str, overlap: bool = True, policy: str = "native") -> Scenario:
    r = random.Random(f"{seed}")
    interval = r.choice([4, 4, 5, 6, 8, 8, 8, 64])
    chunk = r.choice([c for c in (1, 2, 3, 4, 5, 8, 16, 64) if interval % c == 0 and c > 1] or [interval])
    if interval == 64:
        chunk = r.choice([16, 64])
    dense = seed % 2 == 1  # dense arrivals: prefills interleave with decode often
    running = r.randint(2, 6) if dense else r.randint(1, 5)
    count = r.randint(4, 12) if dense else r.randint(2, 8)
    small = r.random() < 0.25
    kv = r.choice([160, 192, 224]) if (r.random() < 0.25 and interval != 64) else 4096
    pool = SLOTS_PER_REQUEST[strategy] * running + r.randint(0, 3) if small else 5 * running + 40
    config = dict(
        policy=policy,
        overlap=overlap,
        strategy=strategy,
        track_interval=interval,
        page_size=1,
        mamba_chunk=chunk,
        chunk_size=r.choice([16, 32, 64, 64, 256]) if interval != 64 else r.choice([64, 256]),
        mamba_pool=pool,
        max_running=running,
        kv_tokens=kv,
        conservativeness=r.choice([1.0, 0.3, 0.05]) if kv < 4096 else 1.0,
        seed=seed,
    )
    return dict(config=config, requests=_requests(r, count, dense, interval))


def _requests(r: random.Random, count: int, dense: bool, interval: int) -> list[dict]:
    requests = []
    t = 1
    base = [r.randrange(1000) for _ in range(40)]
    for k in range(count):
        t += r.choice([1, 2, 2, 3, 3, 4]) if dense else r.choice([0, 1, 1, 2, 2, 3, 4, 6, 9])
        rid = f"r{k}"
        most = r.randint(1, 40) if interval != 64 else r.randint(1, 90)
        if k and r.random() < 0.35:
            source = f"r{r.randrange(k)}"
            drop = r.choice([0, 0, 0, 1, 2, 3, 5])
            tail = [r.randrange(1000) for _ in range(r.randint(0, 6))]
            requests.append(dict(rid=rid, arrival=t, follow=source, drop=drop, tail=tail, max_new_tokens=most))
            continue
        n = r.randint(3, 40)
        if r.random() < 0.4:
            shared = r.randint(0, n - 1)
            ids = base[:shared] + [r.randrange(1000) for _ in range(n - shared)]
        else:
            ids = [r.randrange(1000) for _ in range(n)]
        requests.append(dict(rid=rid, arrival=t, prompt=ids, max_new_tokens=most))
    for q in requests:
        if r.random() < 0.4:
            q["stop_at"] = r.randint(1, q["max_new_tokens"])
    return requests


def feature(name: str, seed: int, strategy: str, overlap: bool = True, policy: str = "native") -> Scenario:
    """The seeded scenario, made smaller and turned to one subject."""
    r = random.Random(f"{name}-{seed}")
    scn = _small(scenario(seed, strategy, overlap=overlap, policy=policy), r)
    config = scn["config"]
    config["feature"] = name
    if strategy == "no_buffer":  # every release refuses the overlap schedule with it
        config["overlap"] = False
    turn = {
        "nooverlap": _nooverlap,
        "retract": _retract,
        "abort": _abort,
        "mixed": _mixed,
        "page": _page,
        "slots": _slots,
        "spec": _spec,
        "lazyfail": lambda scn, r: scn["config"].update(lazy_alloc_fail=True),
    }
    turn[name](scn, r)
    return scn


def _small(scn: Scenario, r: random.Random) -> Scenario:
    requests = scn["requests"][: r.randint(3, 7)]
    kept = {q["rid"] for q in requests}
    for q in requests:
        q["max_new_tokens"] = min(q["max_new_tokens"], r.randint(2, 24))
        if q.get("stop_at"):
            q["stop_at"] = min(q["stop_at"], q["max_new_tokens"])
        if "follow" in q and q["follow"] not in kept:
            q.pop("follow"), q.pop("drop"), q.pop("tail")
            q["prompt"] = [r.randrange(1000) for _ in range(r.randint(3, 24))]
        if "prompt" in q:
            q["prompt"] = q["prompt"][:24]
    scn["requests"] = requests
    c = scn["config"]
    if c["track_interval"] == 64:
        c["track_interval"], c["mamba_chunk"], c["chunk_size"] = 8, r.choice([2, 4, 8]), r.choice([16, 32, 64])
    return scn


def _nooverlap(scn: Scenario, r: random.Random) -> None:
    c = scn["config"]
    c["overlap"] = False
    if c["strategy"] == "no_buffer":
        c["mamba_pool"] = 2 * c["max_running"] + r.choice([1, 2, 4, 40])


def _retract(scn: Scenario, r: random.Random) -> None:
    """A KV pool too small for all, or the releases' own forced retraction."""
    c, requests = scn["config"], scn["requests"]
    c["max_running"] = max(c["max_running"], 3)
    c["mamba_pool"] = SLOTS_PER_REQUEST[c["strategy"]] * c["max_running"] + r.choice([0, 2, 40])
    for q in requests:
        q["max_new_tokens"] = max(q["max_new_tokens"], 8)
    if r.random() < 0.5:
        c["test_retract"] = r.choice([3, 5, 7, 11])
        c["kv_tokens"] = 4096
    else:
        c["max_prompt"] = 40  # follow-ups too: any one request must fit alone
        need = 40 + max(q["max_new_tokens"] for q in requests)
        c["kv_tokens"] = need + r.choice([8, 16, 24, 40])
        c["conservativeness"] = r.choice([0.05, 0.0])
    for q in requests:
        q["arrival"] = 1 + (q["arrival"] - 1) // 2


def _abort(scn: Scenario, r: random.Random) -> None:
    c, requests = scn["config"], scn["requests"]
    if r.random() < 0.6:  # middle chunks
        c["chunk_size"] = r.choice([4, 5, 8, 16])
    for q in requests:  # an abort takes every id that begins with the given one
        q["rid"] = q["rid"].replace("r", "r0") if len(q["rid"]) == 2 else q["rid"]
        if "follow" in q and len(q["follow"]) == 2:
            q["follow"] = q["follow"].replace("r", "r0")
    aborts = []
    for q in requests:
        if r.random() < 0.6:
            when = r.choice(["waiting", "prefill", "chunk", "chunk", "decode", "decode", "finish"])
            abort = dict(rid=q["rid"], when=when)
            if when == "decode":
                abort["outputs"] = r.randint(1, max(1, q["max_new_tokens"] - 1))
            short = "prompt" in q and len(q["prompt"]) < 2 * c["chunk_size"]
            if when == "chunk" and c["chunk_size"] <= 16 and short:
                q["prompt"] += [r.randrange(1000) for _ in range(2 * c["chunk_size"])]
            aborts.append(abort)
    if r.random() < 0.5:
        c["max_running"] = max(1, c["max_running"] - 2)  # so that some wait
    scn["aborts"] = aborts


def _mixed(scn: Scenario, r: random.Random) -> None:
    c = scn["config"]
    c["mixed_chunk"] = True
    c["chunk_size"] = r.choice([8, 12, 16, 24, 32])
    c["max_running"] = max(c["max_running"], 3)
    c["mamba_pool"] = max(c["mamba_pool"], 5 * c["max_running"])
    for q in scn["requests"]:
        q["max_new_tokens"] = max(q["max_new_tokens"], r.randint(2, 12))
        if q.get("stop_at"):
            q["stop_at"] = r.randint(1, q["max_new_tokens"])


def _page(scn: Scenario, r: random.Random) -> None:
    c = scn["config"]
    p = r.choice([2, 4, 8])
    c["page_size"] = p
    c["track_interval"] = p * r.choice([1, 2, 2, 3, 3, 4])  # every release wants a multiple of the page
    # Multiples of the page, and numbers that do not divide the interval.
    c["mamba_chunk"] = r.choice([1, p, p, 2 * p, 2 * p, 3 * p])
    c["kv_tokens"] = -(-max(c["kv_tokens"], 256) // p) * p
    c["chunk_size"] = -(-c["chunk_size"] // p) * p


def _slots(scn: Scenario, r: random.Random) -> None:
    """State pools from what the running requests hold at least up to what the configurator budgets."""
    c = scn["config"]
    per = {"no_buffer": [2, 3, 3], "extra_buffer_lazy": [3, 3, 4, 4], "extra_buffer": [4, 4, 5, 5]}[c["strategy"]]
    c["max_running"] = r.randint(1, 5)
    c["mamba_pool"] = max(4, r.choice(per) * c["max_running"] + r.choice([-1, 0, 0, 0, 1, 2]))
    c["kv_tokens"] = 4096
    for q in scn["requests"]:
        q["arrival"] = 1 + (q["arrival"] - 1) // 2


def _spec(scn: Scenario, r: random.Random) -> None:
    c = scn["config"]
    interval = c["track_interval"]
    d = r.choice([2, 3, 4, 4, 5])
    accept = r.choice([list(range(1, d + 1)), [1, 1, d], [d], [1, 2]])
    c["spec"] = dict(draft_tokens=d, seed=c["seed"], accept=accept)
    # Releases ask for at least draft_tokens.
    c["track_interval"] = max(interval, d) if r.random() < 0.3 else max(interval, 2 * d)
    if c["track_interval"] % c["mamba_chunk"]:
        c["mamba_chunk"] = c["track_interval"]
    c["kv_tokens"] = 4096
