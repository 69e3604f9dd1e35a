"""Simulations over the kernels: plain ones, and those of which a network judges the last position.

A simulation plays its line from the root anew, in one row and one history that belong to the worker, not to the tree: so nodes
need no rows, and the history is right on every line, whatever others have written.
"""

from math import tanh
from typing import Final

import numba
import numpy as np

from agents.mcts.tree import (
    ROOT,
    ROOT_EDGE,
    UNEXPANDED,
    Tree,
    action_of,
    backward,
    choose_outcome,
    choose_puct,
    choose_uct,
    expand,
    has_room,
    hold,
    is_settled,
    mix_into_priors,
    plant,
    set_priors,
    settle,
    shuffle,
    sign_of,
    tree_at,
)
from agents.minimax.evaluation import tuned_balance
from envs.engine import kernels
from envs.engine.header import CHANCE, END, KEYS, MOVER, PLY, RESULT
from envs.engine.jit import BatchEntry, kernel, routine

LINE_PLIES: Final = 2000  # a line that runs on beyond so many plies from the root counts as a draw, if nothing judges it
NO_LEAF: Final = -1  # the simulation is counted already
BUSY: Final = -2  # it would end where another one waits for the network

# What is reported of every root, and of each of its actions. Values are seat 0's.
ROOT_VALUE: Final = 0  # the average over all simulations, the proven value where there is one
ROOT_LOW: Final = 1
ROOT_HIGH: Final = 2
REPORT: Final = 3


@kernel
def leaf_value(game: kernels.Tag, row: np.ndarray, weights: np.ndarray) -> float:
    """What seat 0 may expect of a running position, between -1 and 1, by its tuned evaluation."""
    return tanh(tuned_balance(game, row, weights) / 2000.0)  # of odds in millilogits


@routine
def rollout(game: kernels.Tag, row: np.ndarray, history: np.ndarray, last_ply: int, streams: np.ndarray, index: int) -> float:
    """Seat 0's result of a game played on at random by the stream; 0 if it still runs at the last ply."""
    while row[END] == 0 and row[PLY] < last_ply:
        kernels.play(game, row, history, kernels.pick(game, row, kernels.next_draw(streams, index)))
    return float(row[RESULT])


@kernel
def begin_line(root: np.ndarray, keys: np.ndarray, row: np.ndarray, history: np.ndarray) -> None:
    """Row and history are the root's, whose history is `keys`."""
    kernels.copy_row(root, row)
    for place in range(root[KEYS]):
        history[place] = keys[place]


# Plain simulations.


@routine
def simulate(
    game: kernels.Tag,
    tree: Tree,
    root: np.ndarray,
    keys: np.ndarray,
    c: float,
    weights: np.ndarray,
    row: np.ndarray,
    history: np.ndarray,
    mask: np.ndarray,
    streams: np.ndarray,
    index: int,
) -> None:
    """One simulation has been counted. Its last position was judged by its evaluation, or without weights by a rollout.

    An action is judged when it is first tried, and becomes a node when it is tried again.
    """
    begin_line(root, keys, row, history)
    last_ply = root[PLY] + LINE_PLIES
    node = ROOT
    while True:
        # 1. An edge is chosen. A draw of which the outcome is settled needs no playing.
        if tree.mover[node] == CHANCE:
            edge = choose_outcome(tree, node, streams, index)
        else:
            edge = choose_uct(tree, node, c)
        if is_settled(tree, edge):
            value = float(tree.low[edge])
            break
        # 2. It is played; from a node that is known the search goes on.
        kernels.play(game, row, history, action_of(tree, edge))
        if tree.child[edge] != UNEXPANDED:
            node = tree.child[edge]
            continue
        # 3. A finished game is a proven result; a position that is new, or too far or too much to be kept, is judged.
        if row[END]:
            value = float(row[RESULT])
            settle(tree, edge, value)
            break
        fits = row[PLY] < last_ply and has_room(tree, mask.shape[0])
        if not fits or (tree.visits[edge] == 0 and row[MOVER] != CHANCE):
            if weights.shape[0]:
                value = leaf_value(game, row, weights)
            else:
                value = rollout(game, row, history, last_ply, streams, index)
            break
        # 4. A known position becomes a node, and so does one where chance deals: a draw is judged once it is dealt.
        node = expand(game, tree, node, edge, row, mask)
        shuffle(tree, node, streams, index)
    backward(tree, node, edge, value)


@BatchEntry
def search_batch(
    game: kernels.Tag,
    simulations: int,
    c: float,
    weights: np.ndarray,
    rows: np.ndarray,
    keys: np.ndarray,
    streams: np.ndarray,
    trees: Tree,
    lines: np.ndarray,
    histories: np.ndarray,
    masks: np.ndarray,
    visits: np.ndarray,
    values: np.ndarray,
    bounds: np.ndarray,
    reports: np.ndarray,
) -> None:
    """Every row has been searched by so many simulations, fewer where its value was proven before; see `report`.

    `rows[B, R]`, `keys[B, H]` their histories, `streams[B]` their random streams. Every worker has a tree, a row in `lines`, a
    history with `line_keys` for one line, and a mask. `weights[F]` are those of `tuned_balance`; with none, rollouts judge.
    """
    workers = lines.shape[0]
    for worker in numba.prange(workers):
        tree = tree_at(trees, worker)
        for index in range(worker, rows.shape[0], workers):
            plant(game, tree, rows[index], masks[worker])
            shuffle(tree, ROOT, streams, index)
            for _ in range(simulations):
                simulate(
                    game,
                    tree,
                    rows[index],
                    keys[index],
                    c,
                    weights,
                    lines[worker],
                    histories[worker],
                    masks[worker],
                    streams,
                    index,
                )
                if is_settled(tree, ROOT_EDGE):
                    break
            report(tree, visits[index], values[index], bounds[index], reports[index])


@kernel
def report(tree: Tree, visits: np.ndarray, values: np.ndarray, bounds: np.ndarray, root: np.ndarray) -> None:
    """`visits[A]`, `values[A]` and `bounds[A, 2]` are those of the root's actions, left alone for others; `root[REPORT]` is its
    own. A value is the proven one, else the average of the simulations, else the root's."""
    root[ROOT_VALUE] = value_of(tree, ROOT_EDGE, 0.0)
    root[ROOT_LOW] = tree.low[ROOT_EDGE]
    root[ROOT_HIGH] = tree.high[ROOT_EDGE]
    for edge in range(tree.first[ROOT], tree.first[ROOT] + tree.branches[ROOT]):
        action = tree.action[edge]
        visits[action] = tree.visits[edge]
        values[action] = value_of(tree, edge, root[ROOT_VALUE])
        bounds[action, 0] = tree.low[edge]
        bounds[action, 1] = tree.high[edge]


@kernel
def value_of(tree: Tree, edge: int, otherwise: float) -> float:
    """The edge's value for seat 0: the proven one, else the average of its simulations, if there are any."""
    if is_settled(tree, edge):
        return float(tree.low[edge])
    return tree.total[edge] / tree.visits[edge] if tree.visits[edge] else otherwise


# Simulations that a network judges: `gather_batch` goes down to positions that are new, `absorb_batch` takes up what they are
# worth.


@routine
def descend(
    game: kernels.Tag,
    tree: Tree,
    root: np.ndarray,
    keys: np.ndarray,
    c: float,
    row: np.ndarray,
    history: np.ndarray,
    mask: np.ndarray,
    streams: np.ndarray,
    index: int,
) -> int:
    """A new node, the position `row`, whose simulation now waits for the network; else NO_LEAF, with a simulation counted that
    needs no network, or BUSY, with none."""
    begin_line(root, keys, row, history)
    node = ROOT
    while True:
        # 1. An edge is chosen, if the node has been judged. A draw of which the outcome is settled needs no playing.
        if tree.mover[node] == CHANCE:
            edge = choose_outcome(tree, node, streams, index)
        elif tree.visits[tree.edge[node]] == 0:
            return BUSY
        else:
            edge = choose_puct(tree, node, c)
        if is_settled(tree, edge):
            value = float(tree.low[edge])
            break
        # 2. It is played; from a node that is known the search goes on.
        kernels.play(game, row, history, action_of(tree, edge))
        if tree.child[edge] != UNEXPANDED:
            node = tree.child[edge]
            continue
        # 3. A finished game is a proven result; one that is too far or too much to be kept counts as a draw.
        if row[END]:
            value = float(row[RESULT])
            settle(tree, edge, value)
            break
        if row[PLY] >= root[PLY] + LINE_PLIES or not has_room(tree, mask.shape[0]):
            value = 0.0
            break
        # 4. A new position becomes a node. It waits for the network, or for what chance deals.
        child = expand(game, tree, node, edge, row, mask)
        if row[MOVER] != CHANCE:
            tree.waiting[edge] = 0
            hold(tree, child, 1)
            return child
        open_waiting(tree, child)
        node = child
    backward(tree, node, edge, value)
    return NO_LEAF


@kernel
def open_waiting(tree: Tree, node: int) -> None:
    """No simulation waits below the new node's edges, nor has the network a say in which is chosen."""
    for edge in range(tree.first[node], tree.first[node] + tree.branches[node]):
        tree.waiting[edge] = 0
        tree.prior[edge] = 0.0


@BatchEntry
def gather_batch(
    game: kernels.Tag,
    fresh: bool,
    simulations: int,
    c: float,
    rows: np.ndarray,
    keys: np.ndarray,
    streams: np.ndarray,
    trees: Tree,
    lines: np.ndarray,
    histories: np.ndarray,
    masks: np.ndarray,
    leaves: np.ndarray,
    observations: np.ndarray,
    legal: np.ndarray,
) -> None:
    """`leaves[T, K]` are nodes of every tree that wait for the network, NO_LEAF where there are fewer,
    `observations[T, K, O]` what their movers see, and `legal` int8[T, K, A] what they may do.

    A tree without any is done: so many simulations are counted, or its root's value is proven. With `fresh` trees are planted
    first; a root's own evaluation is no simulation.
    """
    workers = lines.shape[0]
    for worker in numba.prange(workers):
        for index in range(worker, rows.shape[0], workers):
            tree = tree_at(trees, index)
            root = rows[index]
            for slot in range(leaves.shape[1]):
                leaves[index, slot] = NO_LEAF
            if fresh:
                plant(game, tree, root, masks[worker])
                tree.waiting[ROOT_EDGE] = 0
                hold(tree, ROOT, 1)
                leaves[index, 0] = ROOT
                kernels.observe(game, root, root[MOVER], observations[index, 0])
                kernels.legal(game, root, legal[index, 0])
                continue
            slot = 0
            row = lines[worker]
            while slot < leaves.shape[1] and not is_settled(tree, ROOT_EDGE) and begun(tree) < simulations:
                leaf = descend(game, tree, root, keys[index], c, row, histories[worker], masks[worker], streams, index)
                if leaf == BUSY:
                    break
                if leaf != NO_LEAF:
                    leaves[index, slot] = leaf
                    kernels.observe(game, row, row[MOVER], observations[index, slot])
                    kernels.legal(game, row, legal[index, slot])
                    slot += 1


@kernel
def begun(tree: Tree) -> int:
    """Simulations of an evaluated root that are counted or wait for the network."""
    return tree.visits[ROOT_EDGE] - 1 + tree.waiting[ROOT_EDGE]


@BatchEntry
def absorb_batch(
    trees: Tree,
    leaves: np.ndarray,
    places: np.ndarray,
    logits: np.ndarray,
    worths: np.ndarray,
    share: float,
    noise: np.ndarray,
) -> None:
    """Every leaf has its priors, and its simulation is counted.

    `places[T, K]` says where in `logits` float32[M, A] and `worths` float32[M], the values for the movers, a leaf's are. That
    share of the roots' priors is noise in proportion to `noise` float64[T, A].
    """
    for index in numba.prange(leaves.shape[0]):
        tree = tree_at(trees, index)
        for slot in range(leaves.shape[1]):
            leaf = leaves[index, slot]
            if leaf == NO_LEAF:
                continue
            place = places[index, slot]
            set_priors(tree, leaf, logits[place])
            if leaf == ROOT and share > 0:
                mix_into_priors(tree, ROOT, noise[index], share)
            hold(tree, leaf, -1)
            value = sign_of(tree.mover[leaf]) * min(1.0, max(-1.0, worths[place]))
            backward(tree, tree.parent[leaf], tree.edge[leaf], value)


@BatchEntry
def report_batch(trees: Tree, visits: np.ndarray, values: np.ndarray, bounds: np.ndarray, reports: np.ndarray) -> None:
    """`visits[T, A]`, `values[T, A]`, `bounds[T, A, 2]` and `reports[T, REPORT]` are what `report` says of each tree."""
    for index in numba.prange(visits.shape[0]):
        report(tree_at(trees, index), visits[index], values[index], bounds[index], reports[index])
