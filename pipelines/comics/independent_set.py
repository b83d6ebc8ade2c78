"""The heaviest independent set of a small graph: which of many rivals to keep, when some rule each other out.

Here belongs the search alone; what conflicts with what, and what each is worth, is the caller's.
"""

from __future__ import annotations

import numpy as np

_MOST_NODES = 5000
"""Steps of the search in one group of rivals, after which the best set found so far is taken."""


def heaviest(weight: np.ndarray, conflict: np.ndarray) -> list[int]:
    """Places of the heaviest set of nodes, of positive weights (n,), of which no two are in conflict (n, n), symmetric.

    What cannot be in it goes first, then each group of rivals is solved by itself: exactly, but for groups that take more than
    `_MOST_NODES` steps.
    """
    left = _undominated(weight, conflict)
    group_of = _groups(conflict[np.ix_(left, left)])
    chosen: list[int] = []
    for group in np.unique(group_of):
        members = left[group_of == group]
        chosen += members[_search(weight[members], conflict[np.ix_(members, members)])].tolist()
    return chosen


def _groups(conflict: np.ndarray) -> np.ndarray:
    """For each place the lowest one that a chain of conflicts leads to: equal in a group, different between groups."""
    near = conflict | np.eye(len(conflict), dtype=bool)
    lowest = np.arange(len(conflict))
    while True:
        reached = np.where(near, lowest, len(lowest)).min(axis=1, initial=len(lowest))
        if (reached == lowest).all():
            return lowest
        lowest = reached


def _undominated(weight: np.ndarray, conflict: np.ndarray) -> np.ndarray:
    """Places without those that a rival outweighs which rules out nothing more: exchanging the two never loses."""
    left = np.arange(len(weight))
    while len(left):
        near = conflict[np.ix_(left, left)] | np.eye(len(left), dtype=bool)
        more = near.astype(np.float32) @ (~near).T.astype(np.float32)
        heavy, place = weight[left], np.arange(len(left))
        first = (heavy[:, None] > heavy) | ((heavy[:, None] == heavy) & (place[:, None] < place))
        dominated = ((more == 0) & near & first).any(axis=0)
        if not dominated.any():
            break
        left = left[~dominated]
    return left


def _search(weight: np.ndarray, conflict: np.ndarray) -> list[int]:
    """The heaviest independent set, by branch and bound; the best one found when the nodes run out."""
    count = len(weight)
    rivals = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in conflict]
    value = weight.tolist()
    best: list[int] = []
    best_value, nodes = 0.0, 0
    stack: list[tuple[int, float, list[int]]] = [((1 << count) - 1, 0.0, [])]
    while stack and nodes < _MOST_NODES:
        open_, gained, chosen = stack.pop()
        nodes += 1
        if gained > best_value:
            best_value, best = gained, chosen
        if not open_ or gained + _bound(open_, value, rivals) <= best_value + 1e-9:
            continue
        pivot = (open_ & -open_).bit_length() - 1
        without = open_ & ~(1 << pivot)
        if rivals[pivot] & open_:
            stack.append((without, gained, chosen))
        stack.append((without & ~rivals[pivot], gained + value[pivot], [*chosen, pivot]))
    return best


def _bound(open_: int, value: list[float], rivals: list[int]) -> float:
    """No independent set within `open_` weighs more: of each clique of rivals only the heaviest can be in."""
    total = 0.0
    while open_:
        pivot = (open_ & -open_).bit_length() - 1
        total += value[pivot]
        clique = open_ & rivals[pivot]
        open_ &= ~(1 << pivot)
        while clique:
            member = (clique & -clique).bit_length() - 1
            open_ &= ~(1 << member)
            clique &= rivals[member]
    return total
