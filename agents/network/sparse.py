"""Embedding, residual layers and legal logits as functions of torch's, each with a gradient of its own, for the CPU.

Torch has all of them, but looks at every row of an embedding, computes the logits of hundreds of actions of which a few are
legal, and goes through memory once an operation.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from agents.network import kernels
from agents.network.encoding import Seen


class EmbeddingSum(Function):
    """float32[B, W]: `relu(bias [W] + the rows of weight [R, W] that picked int16[B, K] names)`."""

    @staticmethod
    def forward(ctx: Any, picked: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """See the class."""
        features = torch.empty(len(picked), weight.shape[1])
        kernels.sum_rows(picked.numpy(), plain(weight), plain(bias), features.numpy())
        ctx.save_for_backward(picked, features)
        ctx.rows = len(weight)
        return features

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, Tensor]:
        """The gradients of weight and bias."""
        picked, features = ctx.saved_tensors
        width = features.shape[1]
        weight, bias, change = torch.zeros(ctx.rows, width), torch.zeros(width), np.empty(width, np.float32)
        kernels.spread_rows(picked.numpy(), plain(features), plain(gradient), change, weight.numpy(), bias.numpy())
        return None, weight, bias


class Residual(Function):
    """float32[B, W]: `features + relu(features @ weight.T + bias)`, the products in bfloat16 if `brief`."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, brief: bool) -> Tensor:
        """See the class."""
        kind = torch.bfloat16 if brief else torch.float32
        factor, matrix = features.to(kind), weight.to(kind)
        added = torch.addmm(bias.to(kind), factor, matrix.t()).relu_()
        ctx.save_for_backward(factor, matrix, added)
        return features + added

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """The gradients of features, weight and bias."""
        factor, matrix, added = ctx.saved_tensors
        change = torch.ops.aten.threshold_backward(gradient.to(factor.dtype), added, 0)
        features = gradient + torch.mm(change, matrix)
        return features, torch.mm(change.t(), factor).float(), change.sum(dim=0, dtype=torch.float32), None


def log_policy(seen: Seen, features: Tensor, weight: Tensor, bias: Tensor) -> np.ndarray:
    """float32[N]: the logarithms of the legal actions' probabilities, given the policy's head, [R, W] and [R]."""
    logs = np.empty(len(seen.actions), np.float32)
    kernels.legal_log_policy(plain(features), plain(weight), plain(bias), seen.starts, seen.picked_by_actions, logs)
    return logs


class Judgement(Function):
    """float32[B] each: the logarithm of a chosen action's probability, and how far the policy is from a reference.

    That is the policy's mean of its logarithm less the reference's [N]: minus the entropy if that is 0. The policy's head is
    weight [R, W] and bias [R].
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, seen: Seen, chosen: Tensor, reference: np.ndarray
    ) -> tuple[Tensor, Tensor]:
        """See the class."""
        logs = log_policy(seen, features, weight, bias)
        chances, divergences = torch.empty(len(features)), torch.empty(len(features))
        answers = (chances.numpy(), divergences.numpy())
        kernels.judge_actions(logs, reference, seen.starts, seen.actions, chosen.numpy(), *answers)
        ctx.save_for_backward(features, weight, chosen, divergences)
        ctx.rest = seen, logs, reference
        return chances, divergences

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_chance: Tensor, by_divergence: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of features, weight and bias."""
        features, weight, chosen, divergences = ctx.saved_tensors
        seen, logs, reference = ctx.rest
        answers = torch.zeros_like(features), torch.zeros_like(weight), torch.zeros(len(weight))
        kernels.spread_judgements(
            plain(features),
            plain(weight),
            logs,
            reference,
            seen.starts,
            seen.actions,
            seen.picked_by_actions,
            chosen.numpy(),
            plain(divergences),
            plain(by_chance),
            plain(by_divergence),
            *(answer.numpy() for answer in answers),
        )
        return *answers, None, None, None


def plain(tensor: Tensor) -> np.ndarray:
    """The tensor's numbers, row by row."""
    array: np.ndarray = tensor.detach().contiguous().numpy()
    return array
