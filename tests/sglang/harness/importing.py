"""Everything that must happen before SGLang is imported on a machine without an accelerator.

Import this module first. `OVERLAPSIM_STUBS=a,b` puts empty modules in the place of third-party packages that are
missing (never of SGLang itself); none was needed with the pinned list.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import logging
import os
import sys
import types
import warnings
from typing import Any

warnings.filterwarnings("ignore")
os.environ.setdefault("SGLANG_USE_CPU_ENGINE", "0")


class _Anything:
    """Accepts any call, attribute or decoration."""

    def __init__(self, *a, **k):
        pass

    def __call__(self, *a, **k):
        if len(a) == 1 and callable(a[0]) and not k:
            return a[0]
        return _Anything()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _Anything()

    def __getitem__(self, key):
        return _Anything()

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False

    def __or__(self, other):
        return _Anything()

    __ror__ = __or__

    def __mro_entries__(self, bases):
        return (object,)


class _Stub(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = type(name, (object,), {"__init__": lambda self, *a, **k: None}) if name[:1].isupper() else _Anything()
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: list[str]):
        self.names = set(names)

    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] in self.names or fullname in self.names:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        module = _Stub(spec.name)
        module.__path__ = []
        module.__version__ = "99.0"
        return module

    def exec_module(self, module):
        pass


def _stub_missing() -> None:
    names = [name for name in os.environ.get("OVERLAPSIM_STUBS", "").split(",") if name]
    if names:
        sys.meta_path.append(_Finder(names))


def _allow_known_models() -> None:
    """A newer transformers already knows some model types; let them be registered again."""
    from transformers.models.auto import configuration_auto

    register = configuration_auto.CONFIG_MAPPING.register
    configuration_auto.CONFIG_MAPPING.register = lambda key, value, exist_ok=False: register(key, value, exist_ok=True)


def _without_pinning() -> None:
    """There is no accelerator to pin memory for."""
    import torch

    torch.set_num_threads(1)
    torch.Tensor.pin_memory = lambda self, *a, **k: self

    def unpinned(make):
        def wrapped(*a, **k):
            k.pop("pin_memory", None)
            return make(*a, **k)

        return wrapped

    for name in ("tensor", "empty", "zeros", "full", "arange", "ones"):
        setattr(torch, name, unpinned(getattr(torch, name)))


_stub_missing()
_allow_known_models()
_without_pinning()
logging.disable(logging.CRITICAL)


def version() -> str:
    try:
        from sglang.version import __version__
    except ImportError:
        return "?"
    return __version__
