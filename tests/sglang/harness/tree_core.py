"""Which implementation of the radix tree a run used: newer releases carry a compiled one, and fall back without a word."""

from __future__ import annotations

from typing import Any


def name(tree: Any) -> str:
    """`rust` or `python`."""
    core = getattr(tree, "tree_core", None)
    return "rust" if core is not None and type(core).__name__.startswith("Rust") else "python"
