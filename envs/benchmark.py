"""Measures plies per second of every face, beside other libraries where they are installed."""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeAlias

import numpy as np

from envs import cli
from envs.engine import kernels
from envs.engine.header import KEY_DTYPE, ROW_DTYPE
from envs.engine.jit import available_threads
from envs.engine.vector import MAX_GAMES, VectorGames
from envs.games import GAMES, find_game

Row: TypeAlias = dict[str, Any]
CHUNK: Final = 1_000_000  # plies of a rollout between two looks at the clock
STEPS: Final = 200  # of an environment between two looks at the clock


def plies_per_second(play: Callable[[], int], limit: float) -> float:
    """How fast `play`, which returns the plies it played, goes on for the time; its first call is not counted."""
    play()
    plies, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < limit:
        plies += play()
    return plies / passed


def rollout(game: str, games: int, threads: int, rules: dict[str, Any]) -> Callable[[], int]:
    """Random games inside a kernel, on one core."""
    record = find_game(game)
    options = record.checked_options(rules, batch=True)
    row = np.zeros(record.row_size, ROW_DTYPE)
    record.write_options(row, options)
    history = np.zeros(record.history_size(options), KEY_DTYPE)
    stream = np.array([88172645463325252], np.uint64)
    return lambda: int(kernels.random_games(record.tag, row, history, stream, CHUNK))


def batch(game: str, games: int, threads: int, rules: dict[str, Any]) -> Callable[[], int]:
    """The batch engine with observation, mask and restart, random legal actions included."""
    batch = VectorGames(game, games, threads=threads, **rules)

    def play() -> int:
        batch.step(batch.random_actions())
        return games

    return play


def vecenv(game: str, games: int, threads: int, rules: dict[str, Any]) -> Callable[[], int]:
    """The Stable-Baselines3 face."""
    from envs.adapters.sb3 import SelfPlayVecEnv

    env = SelfPlayVecEnv(game, games, threads=threads, **rules)

    def play() -> int:
        env.step(env.games.random_actions())
        return games

    return play


def aec(game: str, games: int, threads: int, rules: dict[str, Any]) -> Callable[[], int]:
    """The bare PettingZoo face, one game, driven through `last()`."""
    return drive_aec(import_module(f"envs.{game}_v0").raw_env(**rules))


def connect_four() -> Callable[[], int]:
    """PettingZoo's own connect four, driven the same way."""
    from pettingzoo.classic import connect_four_v3

    return drive_aec(connect_four_v3.raw_env())


def drive_aec(env: Any) -> Callable[[], int]:
    """Random legal moves through `last()`."""
    chance = random.Random(0)
    env.reset()

    def play() -> int:
        plies = 0
        while plies < STEPS:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
            else:
                env.step(chance.choice(np.flatnonzero(observation["action_mask"]).tolist()))
                plies += 1
        return plies

    return play


def open_spiel(game: str) -> Callable[[], int]:
    """OpenSpiel driven from Python with observation and mask, random legal moves."""
    import pyspiel

    record = pyspiel.load_game(game)
    chance = random.Random(0)
    states = [record.new_initial_state()]

    def play() -> int:
        for _ in range(STEPS):
            state = states[0]
            if state.is_terminal():
                state = states[0] = record.new_initial_state()
            state.observation_tensor(state.current_player())
            state.legal_actions_mask(state.current_player())
            state.apply_action(chance.choice(state.legal_actions()))
        return STEPS

    return play


FACES: Final = {"rollout": rollout, "batch": batch, "vecenv": vecenv, "aec": aec}
OPEN_SPIEL_GAMES: Final = ("oware",)


def measurements(games_named: list[str], games: int, threads: int, limit: float, rules: list[str]) -> Iterator[Row]:
    """One row a game and face, then what other libraries do; faces whose library is missing are left out."""
    for game in games_named:
        options = cli.read_rules(game, rules)
        for face, make in FACES.items():
            count, used = (games, threads) if face in ("batch", "vecenv") else (1, 1)
            yield from _measured(game, face, count, used, partial(make, game, count, used, options), limit)
        if game in OPEN_SPIEL_GAMES:
            yield from _measured(game, "open_spiel", 1, 1, partial(open_spiel, game), limit)
    yield from _measured("connect_four", "pettingzoo", 1, 1, connect_four, limit)


def _measured(
    game: str, face: str, games: int, threads: int, make: Callable[[], Callable[[], int]], limit: float
) -> Iterator[Row]:
    try:
        play = make()
    except ImportError as error:
        print(f"left out {game} {face}: {error}", file=sys.stderr)
        return
    speed = round(plies_per_second(play, limit))
    yield {"game": game, "face": face, "games": games, "threads": threads, "plies_per_second": speed}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "envs.benchmark",
        "Measures plies per second of random play through each face of the games, beside OpenSpiel and PettingZoo's\n"
        "connect four where they are installed. `rollout` plays inside a kernel on one core; `batch` is the batch engine\n"
        "with observation, mask and restart; `vecenv` the Stable-Baselines3 face; `aec` the bare PettingZoo face. Give it\n"
        "an idle machine: a busy neighbour can make two threads slower than one.",
    )
    parser.add_argument("game", nargs="*", metavar="GAME", help=f"some of: {cli.game_names()} (default: all)")
    parser.add_argument("--games", type=cli.whole_number(1, MAX_GAMES), default=4096, help="games in a batch (default 4096)")
    parser.add_argument(
        "--threads", type=cli.whole_number(1, available_threads()), default=1, help="threads of a batch (default 1)"
    )
    parser.add_argument("--seconds", type=cli.seconds, default=2.0, help="time for each measurement (default 2)")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    cli.add_rules(parser)
    given = parser.parse_intermixed_args(arguments)
    names = given.game or list(GAMES)
    for name in names:
        cli.read_rules(find_game(name).name, given.option)
    rows = []
    for row in measurements(names, given.games, given.threads, given.seconds, given.option):
        rows.append(row)
        if not given.json:
            print(
                f"{row['game']:14} {row['face']:11} {row['games']:7,} games {row['threads']:2} threads"
                f" {row['plies_per_second']:12,} plies/s",
                flush=True,
            )
    if given.json:
        print(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    cli.run(main, "envs.benchmark")
