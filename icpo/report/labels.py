"""What arms are called in tables and figures, and in which order they stand."""

import re
from collections.abc import Iterable
from dataclasses import replace

from icpo.report.cells import BASE, ArmKey

REWARD_NAMES = {"majority": "", "none": "w/o reward", "oracle": "oracle"}
SELECTOR_NAMES = {"entropy": "", "random": "w/o entropy", "none": "every attempt kept"}
FULL = "full"
BUDGET = {"num_rounds": "n", "num_candidates": "k", "num_lookaheads": "m"}


def arm_labels(keys: Iterable[ArmKey]) -> dict[ArmKey, str]:
    """A label for each line (a key without its benchmark): base, w/ ME-ICPO, or a method's own label.

    Several lines of ME-ICPO are told apart by what differs among them: rules by the paper's names (Table
    "Ablation study"), n, k and m by number; rules other than the full method's are named in any case. A line
    with a label of its own keeps it.
    """
    lines = dict.fromkeys(line_of(key) for key in keys)
    ours = [line for line in lines if line.method == "me_icpo"]
    varying = [name for name in BUDGET if len({getattr(x, name) for x in ours if not _own_label(x)}) > 1]
    named = len({(line.reward, line.selector, _own_label(line)) for line in ours}) > 1
    return {line: _label(line, len(ours) == 1, named, varying) for line in lines}


def line_of(key: ArmKey) -> ArmKey:
    """What the arms of one line share."""
    return replace(key, benchmark="")


def is_full(key: ArmKey) -> bool:
    """Whether it is the paper's algorithm with nothing left out or changed, whatever its n, k and m."""
    return key.method == "me_icpo" and rules_name(key.reward, key.selector) == FULL and not _own_label(key)


def base_label(method: str) -> str:
    """`base`, or `base (empty_history)` where the prompt is not the plain one; `full` of ME-ICPO."""
    if method == "me_icpo":
        return FULL
    return "base" if method == BASE else f"base ({method.removeprefix(f'{BASE}_')})"


def rules_name(reward: str | None, selector: str | None) -> str:
    """`full`, `w/o reward`, `w/o entropy`, `w/o reward, w/o entropy`, `oracle`, `inverted reward`, ..."""
    names = (
        REWARD_NAMES.get(reward or "", f"{reward} reward"),
        SELECTOR_NAMES.get(selector or "", f"{selector} selector"),
    )
    return ", ".join(filter(None, names)) or FULL


def place(key: ArmKey) -> tuple[object, ...]:
    """Sorts lines: bases, then methods by name; n, k and m as numbers; the full rules before the others."""
    budget = (getattr(key, name) or 0 for name in BUDGET)
    rules = (_rank(key.reward, REWARD_NAMES), _rank(key.selector, SELECTOR_NAMES))
    return not key.is_base, key.method, _own_label(key) != "", *budget, *rules, _natural(key.label)


def _label(line: ArmKey, alone: bool, named: bool, varying: Iterable[str]) -> str:
    if line.is_base:
        return base_label(line.method)
    if line.method != "me_icpo":
        return line.label or line.method
    if alone and is_full(line):
        return "w/ ME-ICPO"
    if own := _own_label(line):
        return f"ME-ICPO, {own}"
    rules = [rules_name(line.reward, line.selector)] if named or not is_full(line) else []
    return ", ".join(["ME-ICPO", *rules, *(f"{BUDGET[name]}={getattr(line, name)}" for name in varying)])


def _own_label(line: ArmKey) -> str:
    """The label that tells what no other field does; "" for ME-ICPO's usual one."""
    usual = f"me_icpo-{line.reward}-{line.selector}-n"
    return "" if line.label.startswith(usual) else line.label.removeprefix("me_icpo-")


def _rank(name: str | None, known: dict[str, str]) -> int:
    order = [*list(known)[:2], "", list(known)[2]]  # others stand before the last of the known ones
    return order.index(name if name in known else "")


def _natural(label: str) -> list[tuple[int, str]]:
    """`s16` before `s128`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", label)]
