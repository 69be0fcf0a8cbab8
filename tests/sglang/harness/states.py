"""The fake model: what a state slot holds, and which token is sampled after a prefix.

A state is `(n, h)`: n tokens folded, and a 64-bit hash of exactly those tokens. Standard library only.
"""

from __future__ import annotations

from typing import Iterable

State = tuple[int, int]

ZERO: State = (0, 0xCBF29CE484222325)
VOCAB = 1000
_MASK = (1 << 64) - 1


def fold(state: State, token: int) -> State:
    n, h = state
    return (n + 1, ((h ^ (token + 1)) * 0x100000001B3) & _MASK)


def fold_all(state: State, tokens: Iterable[int]) -> State:
    for token in tokens:
        state = fold(state, token)
    return state


def sample(state: State) -> int:
    """The next token. It depends on the true history only, so a wrong slot never changes outputs."""
    return (state[1] >> 17) % VOCAB


def continuation(tokens: Iterable[int], count: int) -> list[int]:
    """The next `count` tokens that are sampled after `tokens`."""
    state = fold_all(ZERO, tokens)
    out = []
    for _ in range(count):
        out.append(sample(state))
        state = fold(state, out[-1])
    return out
