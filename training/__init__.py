"""Self-play training and evaluation."""

from envs.extras import need_extra

need_extra("train", "training")
