"""Sums over a few rows of a matrix a position: the embedding and the logits of legal actions, forward and backward.

Matrices are float32 and row by row in memory. `starts` int64[B + 1] says where each position's entries begin in what is given
for legal actions one after the other.
"""

import numpy as np

from agents.network.relations import NO_ROW
from envs.engine.jit import entry, kernel, summing_entry


@summing_entry
def sum_rows(picked: np.ndarray, weight: np.ndarray, bias: np.ndarray, features: np.ndarray) -> None:
    """`features` [B, W] holds the bias [W] plus the rows of `weight` [R, W] that `picked` int16[B, K] names, cut at 0."""
    width = weight.shape[1]
    for index in range(len(picked)):
        for place in range(width):
            features[index, place] = bias[place]
        for row in picked[index]:
            if row == NO_ROW:
                break
            for place in range(width):
                features[index, place] += weight[row, place]
        for place in range(width):
            features[index, place] = max(features[index, place], np.float32(0))


@summing_entry
def spread_rows(
    picked: np.ndarray, features: np.ndarray, gradient: np.ndarray, change: np.ndarray, weight: np.ndarray, bias: np.ndarray
) -> None:
    """`weight` and `bias` have grown by their gradients, given that of the features [B, W]. `change` [W] is overwritten."""
    width = weight.shape[1]
    for index in range(len(picked)):
        for place in range(width):
            change[place] = gradient[index, place] if features[index, place] > 0 else np.float32(0)
            bias[place] += change[place]
        for row in picked[index]:
            if row == NO_ROW:
                break
            for place in range(width):
                weight[row, place] += change[place]


@summing_entry
def legal_log_policy(
    features: np.ndarray, weight: np.ndarray, bias: np.ndarray, starts: np.ndarray, picked: np.ndarray, logs: np.ndarray
) -> None:
    """`logs` [N] holds the logarithms of the legal actions' probabilities.

    A logit is the sum of `weight @ features + bias` over the rows that `picked` int16[N, K] names for the action.
    """
    for index in range(len(features)):
        first, last = starts[index], starts[index + 1]
        for spot in range(first, last):
            logit = np.float32(0)
            for row in picked[spot]:
                if row == NO_ROW:
                    break
                logit += bias[row]
                for place in range(weight.shape[1]):
                    logit += features[index, place] * weight[row, place]
            logs[spot] = logit
        normalise(logs, first, last)


@kernel
def normalise(logs: np.ndarray, first: int, last: int) -> None:
    """The entries, which were logits, are the logarithms of probabilities."""
    most = logs[first]
    for spot in range(first + 1, last):
        most = max(most, logs[spot])
    total = np.float32(0)
    for spot in range(first, last):
        logs[spot] -= most
        total += np.exp(logs[spot])
    for spot in range(first, last):
        logs[spot] -= np.log(total)


@entry
def draw_actions(
    logs: np.ndarray, starts: np.ndarray, actions: np.ndarray, numbers: np.ndarray, drawn: np.ndarray, chances: np.ndarray
) -> None:
    """`drawn` int64[B] holds an action of each position, `chances` [B] the logarithm of its probability.

    A number of `numbers` float32[B], in [0, 1), decides; a negative one takes the most probable action, of equals the first.
    """
    for index in range(len(drawn)):
        first, last = starts[index], starts[index + 1]
        chosen = first
        if numbers[index] < 0:
            for spot in range(first + 1, last):
                if logs[spot] > logs[chosen]:
                    chosen = spot
        else:
            rest = numbers[index]
            for spot in range(first, last):
                share = np.exp(logs[spot])
                if share > 0:
                    chosen = spot  # rounding may leave a little at the end: it is the last possible action's
                    if rest < share:
                        break
                rest -= share
        drawn[index] = actions[chosen]
        chances[index] = logs[chosen]


@entry
def judge_actions(
    logs: np.ndarray,
    reference: np.ndarray,
    starts: np.ndarray,
    actions: np.ndarray,
    chosen: np.ndarray,
    chances: np.ndarray,
    divergences: np.ndarray,
) -> None:
    """`chances` [B] holds the logarithm of the probability of each position's `chosen` int64[B] action.

    `divergences` [B] holds the policy's mean of `logs` less `reference`, both [N]: minus the entropy where `reference` is 0.
    A chosen action that is not legal has the chance `-inf`.
    """
    for index in range(len(chances)):
        chances[index] = -np.inf
        divergence = np.float32(0)
        for spot in range(starts[index], starts[index + 1]):
            divergence += np.exp(logs[spot]) * (logs[spot] - reference[spot])
            if actions[spot] == chosen[index]:
                chances[index] = logs[spot]
        divergences[index] = divergence


@summing_entry
def spread_judgements(
    features: np.ndarray,
    weight: np.ndarray,
    logs: np.ndarray,
    reference: np.ndarray,
    starts: np.ndarray,
    actions: np.ndarray,
    picked: np.ndarray,
    chosen: np.ndarray,
    divergences: np.ndarray,
    by_chance: np.ndarray,
    by_divergence: np.ndarray,
    features_gradient: np.ndarray,
    weight_gradient: np.ndarray,
    bias_gradient: np.ndarray,
) -> None:
    """The last three have grown by their gradients, given those of what `judge_actions` writes, `by_...` [B]."""
    for index in range(len(features)):
        for spot in range(starts[index], starts[index + 1]):
            share = np.exp(logs[spot])
            change = by_divergence[index] * share * (logs[spot] - reference[spot] - divergences[index])
            change -= by_chance[index] * share
            if actions[spot] == chosen[index]:
                change += by_chance[index]
            for row in picked[spot]:
                if row == NO_ROW:
                    break
                bias_gradient[row] += change
                for place in range(weight.shape[1]):
                    features_gradient[index, place] += change * weight[row, place]
                    weight_gradient[row, place] += change * features[index, place]
