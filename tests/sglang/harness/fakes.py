"""Small stand-ins for what a run without a device or a network does not have, and readers that fit every release."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any, Callable

import torch


class Null:
    """Swallows metrics, output and IPC calls."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Null()

    def __call__(self, *a, **k):
        return None

    def __bool__(self):
        return False

    def _same(self, other):
        return self

    __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __mod__ = _same

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False


class BeamNull(Null):
    """No beam search."""

    def pending_member_rows(self, *a, **k):
        return 0

    def commit_decode(self, batch):
        return set()

    def maybe_select_and_relay(self, *a, **k):
        return None

    def retire_group(self, *a, **k):
        return None


class Loose(SimpleNamespace):
    """Fields that are not set read as None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class NullContext:
    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False


class Event:
    """A device event that has always happened."""

    def __init__(self, *a, **k):
        pass

    def record(self, *a, **k):
        pass

    def synchronize(self):
        pass

    def wait(self, *a, **k):
        pass

    def query(self):
        return True


class Stream:
    """A device stream that has nothing to wait for."""

    def wait_stream(self, other):
        pass

    def wait_event(self, event):
        pass

    def synchronize(self):
        pass


def field(req: Any, name: str, default: Any = None) -> Any:
    """A field of a request, which lives on it (up to 0.5.18) or on its `kv` (later)."""
    kv = getattr(req, "kv", None)
    if kv is not None and hasattr(kv, name):
        return getattr(kv, name)
    return getattr(req, name, default)


def call(function: Callable, /, **arguments: Any) -> Any:
    """Calls with those of the arguments that this version's signature knows."""
    signature = inspect.signature(function)
    if any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values()):
        return function(**arguments)
    return function(**{k: v for k, v in arguments.items() if k in signature.parameters})


def slot_of(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        return int(value.view(-1)[0])
    return int(value[0]) if hasattr(value, "__len__") else int(value)
