"""Lists the states that the radix tree of any release holds at the end of a run."""

from __future__ import annotations

from typing import Any

try:
    from sglang.srt.mem_cache.unified_cache.component_type import ComponentType
except ImportError:
    from sglang.srt.mem_cache.unified_cache_components.tree_component import ComponentType


def states(tree: Any) -> list[tuple[list[int], int]]:
    """(prefix tokens, slot) for every state in the tree."""
    core = getattr(tree, "tree_core", None) or getattr(tree, "core", None) or tree
    root = getattr(core, "root_node", None) or getattr(tree, "root_node", None)
    found: list[tuple[list[int], int]] = []

    def visit(node: Any, before: list[int]) -> None:
        tokens = before + _key_tokens(node.key)
        value = _value(node)
        if value is not None:
            found.append((tokens, int(value.view(-1)[0])))
        for child in node.children.values():
            visit(child, tokens)

    for child in root.children.values():
        visit(child, [])
    return found


def _value(node: Any) -> Any:
    data = getattr(node, "component_data", None)
    if data is None:
        return getattr(node, "mamba_value", None)
    return data[ComponentType.MAMBA].value


def _key_tokens(key: Any) -> list[int]:
    if key is None:
        return []
    for name in ("raw_token_ids", "token_ids"):
        tokens = getattr(key, name, None)
        if tokens is not None:
            return list(tokens() if callable(tokens) else tokens)
    return list(key)
