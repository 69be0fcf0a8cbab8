"""Names that the command line and the worker share: rules, versions, and what a refusal looks like.

Standard library only.
"""

from __future__ import annotations

VERSIONS = ("0.5.16", "0.5.17", "0.5.18", "0.5.23")
OLDER = ("0.5.16", "0.5.17")

# What a rule is called in recordings (`meta.policy`).
POLICIES = {
    "release": "native",
    "committed-len": "committed",
    "token-len": "tokens",
    "mask-lookahead": "mask-lookahead",
    "completed-mask": "native",
}


class Refused(Exception):
    """The real code cannot be made to do what a scenario asks for."""


def newest(version: str) -> str:
    """The known release whose differences a version is compared with: itself, or the last known one before it."""
    if version in VERSIONS:
        return version
    known = [v for v in VERSIONS if _parts(v) <= _parts(version)]
    return known[-1] if known else VERSIONS[-1]


def policy(rule: str, version: str) -> str:
    """The policy that carries a rule on a version; raises `Refused` if none does."""
    if rule not in POLICIES:
        raise Refused(f"unknown rule {rule}: one of {', '.join(POLICIES)}")
    older = newest(version) in OLDER
    if rule == "committed-len" and not older:
        raise Refused(f"committed-len is the rule of 0.5.16 and 0.5.17; {version} cannot carry it")
    if rule == "token-len" and not older:
        raise Refused(f"token-len is put in the place of a function of 0.5.16 and 0.5.17; {version} does not have it")
    if rule == "mask-lookahead" and newest(version) != "0.5.17":
        raise Refused(f"mask-lookahead is put on 0.5.17 only; {version} cannot carry it")
    if rule == "completed-mask" and older:
        raise Refused(f"completed-mask is the rule of 0.5.18 and later; {version} cannot carry it")
    return POLICIES[rule]


def _parts(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.split("."):
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits) if digits else 0)
    return tuple(numbers)
