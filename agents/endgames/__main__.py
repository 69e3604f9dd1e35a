"""`python -m agents.endgames`: see `command.py`."""

from agents.endgames.command import main
from envs import cli

cli.run(main, "agents.endgames")
