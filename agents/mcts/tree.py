"""The search tree as arrays, and what one simulation does to it: a way is chosen, a node added, a result taken back up.

A tree is nodes and edges, allocated one after the other. A node is a position; its edges are its legal actions (where chance
deals, what may be dealt), which lie together. All that is known of a node is kept with the edge that leads to it; edge 0 leads
to the root. There are no transpositions, so a node stands for one line from the root, with all its history.

Values are seat 0's throughout. Where seat 0 is to move it takes the highest, seat 1 the lowest: nothing changes sign from ply
to ply, and a player who moves twice in a row is no special case.

Proven results. Every edge has bounds of the value that perfect play leads to: -1 and 1 at first, the result where a game is
over. A node's bounds are the best of its edges' bounds for its mover; where chance deals, their averages (so a proven value can
lie between two results). An edge whose bounds meet is settled: it is not searched further. What follows from bounds is exact,
also where a game ends by repetition or at a limit, as every node has its own history. (After Winands' MCTS-Solver, 2008, and
the bounds of Cazenave and Saffidine, 2010.)
"""

from math import inf, log, sqrt
from typing import Final, NamedTuple

import numpy as np

from envs.engine import kernels
from envs.engine.header import CHANCE, MOVER, NONE
from envs.engine.jit import kernel, routine

ROOT: Final = 0
ROOT_EDGE: Final = 0
UNEXPANDED: Final = NONE  # an edge's `child` before there is a node
NODES: Final = 0  # in `used`
EDGES: Final = 1


class Tree(NamedTuple):
    """Arrays of T trees with N nodes and E edges each; in kernels mostly one tree's, without the first axis."""

    used: np.ndarray  # int64[T, 2]: nodes and edges allocated
    first: np.ndarray  # int32[T, N]: the node's first edge
    branches: np.ndarray  # int16[T, N]: how many it has
    mover: np.ndarray  # int8[T, N]: 0, 1 or CHANCE
    parent: np.ndarray  # int32[T, N]: the node before, NONE at the root
    edge: np.ndarray  # int32[T, N]: the edge that leads here
    action: np.ndarray  # int16[T, E]
    child: np.ndarray  # int32[T, E]: the node it leads to, or UNEXPANDED
    visits: np.ndarray  # int32[T, E]: simulations that went through it
    total: np.ndarray  # float64[T, E]: the sum of their values
    low: np.ndarray  # float32[T, E]: what seat 0 is sure of
    high: np.ndarray  # float32[T, E]: what seat 0 can hope for
    prior: np.ndarray  # float32[T, E]: the network's probability; [T, 0] in trees without a network
    waiting: np.ndarray  # int32[T, E]: simulations below it that wait for the network; [T, 0] without one


NODE_FIELDS: Final[dict[str, type]] = {
    "first": np.int32,
    "branches": np.int16,
    "mover": np.int8,
    "parent": np.int32,
    "edge": np.int32,
}
EDGE_FIELDS: Final[dict[str, type]] = {
    "action": np.int16,
    "child": np.int32,
    "visits": np.int32,
    "total": np.float64,
    "low": np.float32,
    "high": np.float32,
}
NETWORK_FIELDS: Final[dict[str, type]] = {"prior": np.float32, "waiting": np.int32}


def new_trees(count: int, nodes: int, edges: int, network: bool) -> Tree:
    """Room for so many trees; what is in them means nothing until they are planted."""
    sizes = {
        **{name: (nodes, dtype) for name, dtype in NODE_FIELDS.items()},
        **{name: (edges, dtype) for name, dtype in EDGE_FIELDS.items()},
        **{name: (edges if network else 0, dtype) for name, dtype in NETWORK_FIELDS.items()},
    }
    arrays: dict[str, np.ndarray] = {name: np.empty((count, size), dtype) for name, (size, dtype) in sizes.items()}
    return Tree(used=np.zeros((count, 2), np.int64), **arrays)


def tree_bytes(nodes: int, edges: int, network: bool) -> int:
    """What one tree takes."""
    kinds = [(nodes, NODE_FIELDS), (edges, EDGE_FIELDS), (edges if network else 0, NETWORK_FIELDS)]
    return sum(size * np.dtype(dtype).itemsize for size, fields in kinds for dtype in fields.values())


@kernel
def tree_at(trees: Tree, index: int) -> Tree:
    """One of the trees."""
    return Tree(
        trees.used[index],
        trees.first[index],
        trees.branches[index],
        trees.mover[index],
        trees.parent[index],
        trees.edge[index],
        trees.action[index],
        trees.child[index],
        trees.visits[index],
        trees.total[index],
        trees.low[index],
        trees.high[index],
        trees.prior[index],
        trees.waiting[index],
    )


# A tree grows.


@kernel
def plant(game: kernels.Tag, tree: Tree, row: np.ndarray, mask: np.ndarray) -> None:
    """The tree is its root, the row, whose actions nobody has tried."""
    tree.used[NODES] = 0
    tree.used[EDGES] = 1
    open_edge(tree, ROOT_EDGE, NONE)
    expand(game, tree, NONE, ROOT_EDGE, row, mask)


@kernel
def open_edge(tree: Tree, edge: int, action: int) -> None:
    """The edge is an action that nobody has tried."""
    tree.action[edge] = action
    tree.child[edge] = UNEXPANDED
    tree.visits[edge] = 0
    tree.total[edge] = 0.0
    tree.low[edge] = -1.0
    tree.high[edge] = 1.0


@kernel
def has_room(tree: Tree, actions: int) -> bool:
    """Whether a node of so many actions can be added."""
    return tree.used[NODES] < tree.first.shape[0] and tree.used[EDGES] + actions <= tree.action.shape[0]


@routine
def expand(game: kernels.Tag, tree: Tree, parent: int, edge: int, row: np.ndarray, mask: np.ndarray) -> int:
    """The edge of the node `parent` leads to a new node, the running position `row`; returns the node.

    The tree must have room for it; `mask` is overwritten.
    """
    kernels.legal(game, row, mask)
    node, first = tree.used[NODES], tree.used[EDGES]
    count = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            open_edge(tree, first + count, action)
            count += 1
    tree.used[NODES] += 1
    tree.used[EDGES] += count
    tree.first[node] = first
    tree.branches[node] = count
    tree.mover[node] = row[MOVER]
    tree.parent[node] = parent
    tree.edge[node] = edge
    tree.child[edge] = node
    return node


@kernel
def shuffle(tree: Tree, node: int, streams: np.ndarray, index: int) -> None:
    """The new node's actions are in random order, so that which are tried first does not hang on their numbers."""
    first = tree.first[node]
    for left in range(tree.branches[node], 1, -1):
        place = first + ((kernels.next_draw(streams, index) * left) >> 32)
        last = first + left - 1
        action = tree.action[last]
        tree.action[last] = tree.action[place]
        tree.action[place] = action


# A way is chosen.


@kernel
def action_of(tree: Tree, edge: int) -> int:
    """The edge's action, as wide a number as rules reckon with."""
    return int(tree.action[edge])


@kernel
def sign_of(mover: int) -> int:
    """1 where seat 0 is to move, else -1: a value times the sign is the mover's."""
    return 1 if mover == 0 else -1


@kernel
def is_settled(tree: Tree, edge: int) -> bool:
    """Whether the edge's value is known."""
    return tree.low[edge] == tree.high[edge]


@kernel
def sure_of(tree: Tree, edge: int, sign: int) -> float:
    """What the player of that sign can be sure of."""
    return tree.low[edge] if sign > 0 else -tree.high[edge]


@kernel
def hopes_for(tree: Tree, edge: int, sign: int) -> float:
    """What the player of that sign can hope for."""
    return tree.high[edge] if sign > 0 else -tree.low[edge]


@routine
def choose_uct(tree: Tree, node: int, c: float) -> int:
    """The edge of highest upper confidence bound (UCT, Kocsis and Szepesvari 2006); untried ones come first.

    Actions that cannot be better than what is sure are left out, settled ones among them. The node is not settled.
    """
    above = tree.edge[node]
    sign = sign_of(tree.mover[node])
    sure = sure_of(tree, above, sign)
    width = c * sqrt(log(max(1, tree.visits[above])))
    best, highest = NONE, -inf
    for edge in range(tree.first[node], tree.first[node] + tree.branches[node]):
        if hopes_for(tree, edge, sign) <= sure:
            continue
        visits = tree.visits[edge]
        if visits == 0:
            return edge
        score = sign * tree.total[edge] / visits + width / sqrt(visits)
        if best == NONE or score > highest:
            best, highest = edge, score
    return best


@routine
def choose_puct(tree: Tree, node: int, c: float) -> int:
    """The edge of highest value plus bonus c * prior * sqrt(visits of the node) / (1 + visits) (PUCT as in AlphaZero).

    An untried action counts as worth what the node is on average so far: neither does a won position try everything, as it
    would if it counted as a loss, nor does a lost one stick to what it tried first. A simulation that waits for the network
    counts as lost for the mover, so that the next one goes elsewhere. Otherwise as `choose_uct`.
    """
    above = tree.edge[node]
    sign = sign_of(tree.mover[node])
    sure = sure_of(tree, above, sign)
    average = sign * tree.total[above] / tree.visits[above]
    width = c * sqrt(tree.visits[above] + tree.waiting[above])
    best, highest = NONE, -inf
    for edge in range(tree.first[node], tree.first[node] + tree.branches[node]):
        if hopes_for(tree, edge, sign) <= sure:
            continue
        visits = tree.visits[edge] + tree.waiting[edge]
        value = (sign * tree.total[edge] - tree.waiting[edge]) / visits if visits else average
        score = value + width * tree.prior[edge] / (1 + visits)
        if best == NONE or score > highest:
            best, highest = edge, score
    return best


@routine
def choose_outcome(tree: Tree, node: int, streams: np.ndarray, index: int) -> int:
    """One of the outcomes that was dealt least often, by the stream.

    Over as many visits as there are outcomes each comes once, in random order: every visit is a fair draw, and the average
    over the visits has no noise from the draws, as if outcomes were weighted.
    """
    first, count = tree.first[node], tree.branches[node]
    fewest, tied = tree.visits[first], 0
    for edge in range(first, first + count):
        if tree.visits[edge] < fewest:
            fewest, tied = tree.visits[edge], 0
        tied += tree.visits[edge] == fewest
    left = (kernels.next_draw(streams, index) * tied) >> 32
    edge = first
    while tree.visits[edge] != fewest or left > 0:
        left -= tree.visits[edge] == fewest
        edge += 1
    return edge


# A result is taken back up.


@kernel
def settle(tree: Tree, edge: int, value: float) -> None:
    """The edge's value is known."""
    tree.low[edge] = value
    tree.high[edge] = value


@routine
def backward(tree: Tree, node: int, edge: int, value: float) -> None:
    """A simulation that went through the node's edge and was worth so much is counted on the whole way from the root."""
    news = is_settled(tree, edge)
    while True:
        tree.visits[edge] += 1
        tree.total[edge] += value
        if node == NONE:
            return
        news = news and narrow(tree, node)
        value = worth_above(tree, node, edge, value)
        edge = tree.edge[node]
        node = tree.parent[node]


@kernel
def worth_above(tree: Tree, node: int, edge: int, value: float) -> float:
    """What a simulation through the node's edge that was worth so much is worth above the node.

    A proven value is known better than by any simulation. And a mover would not take an action that has done worse than what
    it is sure of elsewhere: simulations go on to look for something better there, but what it is sure of is what they are
    worth. (The action's average is compared, not the one simulation: the better of it and what is sure would be too much.)
    """
    above = tree.edge[node]
    if is_settled(tree, above):
        return float(tree.low[above])
    if tree.mover[node] == CHANCE:
        return value
    sign = sign_of(tree.mover[node])
    sure = sure_of(tree, above, sign)
    return float(sign * sure) if sign * tree.total[edge] < sure * tree.visits[edge] else value


@kernel
def narrow(tree: Tree, node: int) -> bool:
    """The bounds of the edge that leads to the node follow from the node's own edges; returns whether they have changed."""
    edge, first, count = tree.edge[node], tree.first[node], tree.branches[node]
    if tree.mover[node] == CHANCE:
        low, high = average_bounds(tree, first, count)
    else:
        low, high = best_bounds(tree, first, count, sign_of(tree.mover[node]))
    changed = low != tree.low[edge] or high != tree.high[edge]
    tree.low[edge] = low
    tree.high[edge] = high
    return changed


@kernel
def average_bounds(tree: Tree, first: int, count: int) -> tuple[np.float32, np.float32]:
    """What seat 0 is sure of and can hope for where each edge is as likely."""
    low, high = 0.0, 0.0
    for edge in range(first, first + count):
        low += tree.low[edge]
        high += tree.high[edge]
    return np.float32(low / count), np.float32(high / count)


@kernel
def best_bounds(tree: Tree, first: int, count: int, sign: int) -> tuple[np.float32, np.float32]:
    """What seat 0 is sure of and can hope for where the player of that sign chooses."""
    low, high = tree.low[first], tree.high[first]
    for edge in range(first + 1, first + count):
        if sign > 0:
            low, high = max(low, tree.low[edge]), max(high, tree.high[edge])
        else:
            low, high = min(low, tree.low[edge]), min(high, tree.high[edge])
    return low, high


# Simulations that wait for the network.


@kernel
def hold(tree: Tree, node: int, by: int) -> None:
    """So many more simulations wait on the whole way from the root to the node."""
    while node != NONE:
        tree.waiting[tree.edge[node]] += by
        node = tree.parent[node]


@routine
def set_priors(tree: Tree, node: int, logits: np.ndarray) -> None:
    """The priors of the node's actions are the softmax of their logits, float32[A]."""
    first, count = tree.first[node], tree.branches[node]
    highest = -inf
    for edge in range(first, first + count):
        tree.waiting[edge] = 0
        highest = max(highest, logits[tree.action[edge]])
    total = 0.0
    for edge in range(first, first + count):
        tree.prior[edge] = np.exp(logits[tree.action[edge]] - highest)
        total += tree.prior[edge]
    for edge in range(first, first + count):
        tree.prior[edge] /= total


@kernel
def mix_into_priors(tree: Tree, node: int, weights: np.ndarray, share: float) -> None:
    """That share of the priors is now in proportion to the actions' weights, float64[A]."""
    first, count = tree.first[node], tree.branches[node]
    total = 0.0
    for edge in range(first, first + count):
        total += weights[tree.action[edge]]
    for edge in range(first, first + count):
        part = weights[tree.action[edge]] / total if total > 0 else 1 / count
        tree.prior[edge] = (1 - share) * tree.prior[edge] + share * part
