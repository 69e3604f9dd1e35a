"""Tensors and texts in one file. Reading one cannot run code from it."""

import os
from collections.abc import Mapping

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from envs.files import replacing


def write_tensors(path: str | os.PathLike[str], tensors: Mapping[str, Tensor], texts: Mapping[str, str]) -> None:
    """The file holds both, or is as it was if writing fails. Raises `OSError`."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with replacing(path) as partial:
        partial.write_bytes(save(plain, dict(texts)))


def read_tensors(path: str | os.PathLike[str], wanted: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and texts of a file whose text `format` is as wanted. Raises `ValueError`, saying what is wrong with it."""
    try:
        with safe_open(path, framework="pt") as file:
            texts = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path} cannot be read: it is missing, damaged or something else ({error})") from None
    if texts.get("format") != wanted:
        raise ValueError(f"{path} cannot be read: its format is {texts.get('format')!r}, not {wanted!r}")
    return tensors, texts
