"""`python -m agents.endgames`: see `command.py`."""

from envs import cli
from envs.extras import need_extra

need_extra("train", "agents.endgames")

from agents.endgames.command import main

cli.run(main, "agents.endgames")
