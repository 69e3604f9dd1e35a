"""Any game as a Stable-Baselines3 `VecEnv` in which the learner plays both seats, or one of them in some of the games.

Where it plays both, every ply is a sample: observation and mask are the mover's, the reward is the actor's. As the next
observation may be the other player's, whoever computes returns must know who acted and who is to move: `actor` and `mover`
say so, and `training.rollout` has the buffer that reads them. Where it plays one seat, opponents given from outside answer
within the step until the learner is to move again: then a sample has a `span` of several plies, its actor is also the next
mover, and the reward is all that these plies brought the learner. Nothing is ever truncated; the rules end every game.
"""

import time
from collections.abc import Iterable
from typing import Any, Final, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from envs.adapters.aec import observation_box
from envs.engine.header import OCCURRENCES, EndReason
from envs.engine.vector import VectorGames
from envs.games import find_game

BOTH: Final = -1  # in `Opponents.seats`: the learner has both


class Opponents(Protocol):
    """Whoever plays the seats that the learner does not have."""

    seats: np.ndarray  # int8[B]: the learner's seat in each game, or `BOTH`

    def reset(self) -> None:
        """All games are about to begin anew, and `seats` says who plays what in them."""

    def act(self, games: VectorGames, waiting: np.ndarray) -> np.ndarray:
        """int64[B]: a legal action for every game that `waiting` bool[B] marks; what stands elsewhere does not matter."""

    def next_games(self, ended: np.ndarray, results: np.ndarray) -> None:
        """Games `ended` int64[N], in which the learner had one seat, ended with these `results` float32[N] for it; others begin
        in their places, and `seats` says who plays what in them."""


class SelfPlayVecEnv(VecEnv):
    """`num_envs` games in which one policy plays both sides, or one side against `opponents`.

    `actor` int8[B] is who played the last action of the learner's, `mover` int8[B] who is to move, and `span` int64[B] the
    plies from that action until then: 1, and more where opponents answered. The reward is the actor's result if one of these
    plies ended the game, plus `shaping` times what they brought the actor ahead in scores (seeds, kings; Eiyiu has none), less
    `repetition_cost` for each that brought back a position, which the other player gains; what comes n plies after the action
    counts `gamma` to the power n, as it would if every ply were a sample.
    An info has content only where a game ended: `episode` (`r` is seat 0's result, `l` the plies, an opening's included),
    `terminal_observation` (the learner's in games of one seat, else the side's that would be next), `end`, `scores`.
    """

    render_mode = None

    def __init__(
        self,
        game: str,
        num_envs: int,
        seed: int = 0,
        shaping: float = 0.0,
        threads: int | None = None,
        opening_plies: int = 0,
        opponents: Opponents | None = None,
        gamma: float = 1.0,
        repetition_cost: float = 0.0,
        **options: Any,
    ) -> None:
        """Every game begins with up to `opening_plies` random plies, of which there are no samples. Without `opponents` the
        learner has both seats everywhere, and `gamma` does not matter. Raises `BadOption`."""
        rules = find_game(game).checked_options(options, batch=True)
        self.games = VectorGames(game, num_envs, seed=seed, threads=threads, **rules)
        self.steps = 0  # taken since the environment was made
        self.shaping = shaping
        self.repetition_cost = repetition_cost
        self.opening_plies = opening_plies
        self.opponents = opponents
        self.gamma = gamma
        self.actor = self.games.mover.copy()
        self.span = np.ones(num_envs, np.int64)
        self._began = time.time()
        self._actions = np.zeros(num_envs, np.int64)
        record = find_game(game)
        super().__init__(num_envs, observation_box(record), spaces.Discrete(record.actions))

    @property
    def mover(self) -> np.ndarray:
        """int8[B]: who is to move."""
        return self.games.mover

    def reset(self) -> np.ndarray:
        """Every game is at its start; a seed given by `seed()` begins the games' random streams anew.

        The start is where the learner moves first: behind an opening, and an opponent's first turn.
        """
        self.games.reset(self._seeds[0])
        if self.opponents is not None:
            self.opponents.reset()
        self._play_openings(np.arange(self.num_envs))
        nobody_acted = np.ones(self.num_envs, np.bool_)  # as if all had just ended: what comes now counts for nobody
        self._let_opponents_answer(np.zeros(self.num_envs, np.float32), nobody_acted, [])
        self._reset_seeds()
        self._reset_options()
        return self.games.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """The actions are kept for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Observations of who is to move now, rewards of who acted, ends, infos."""
        games = self.games
        self.actor = games.mover.copy()
        games.step(self._actions)
        self.steps += 1
        rewards = self._worth_of_plies(np.arange(self.num_envs), self.actor)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(games.ended):
            infos[index] = self._final_info(int(index))
        ended = games.ended.copy()
        self._begin_next_games()
        self._let_opponents_answer(rewards, ended, infos)
        return games.observation.copy(), rewards, ended, infos

    def _worth_of_plies(self, which: np.ndarray, actors: np.ndarray) -> np.ndarray:
        """float32[N]: what the last plies of games `which` int64[N] brought `actors` int8[N], who played them.

        To be asked before other games begin in the places of those that these plies ended.
        """
        games = self.games
        worth = games.rewards[which, actors] + np.float32(self.shaping) * games.gains[which]
        if self.repetition_cost:
            ends = games.end_reason[which] == EndReason.REPETITION
            repeats = np.where(games.ended[which], ends, games.rows[which, OCCURRENCES] > 1)
            worth -= np.float32(self.repetition_cost) * repeats
        return worth

    def _let_opponents_answer(self, rewards: np.ndarray, ended: np.ndarray, infos: list[dict[str, Any]]) -> None:
        """The learner is to move in every game that it plays one seat of; what was on the way there is added to all three.

        `ended` bool[B] are the games in which the learner's action was the last of its game: what follows belongs to the next
        game, which the learner has not seen yet, and counts for no action of its.
        """
        games, opponents = self.games, self.opponents
        if opponents is None:
            return
        self.span = np.ones(self.num_envs, np.int64)
        while (waiting := (opponents.seats != BOTH) & (games.mover != opponents.seats)).any():
            games.step(opponents.act(games, waiting), waiting)
            counted = np.flatnonzero(waiting & ~ended)
            theirs = self._worth_of_plies(counted, 1 - opponents.seats[counted])
            rewards[counted] -= self.gamma ** self.span[counted] * theirs
            self.span[counted] += 1
            for index in np.flatnonzero(games.ended & ~ended):
                infos[index] = self._final_info(int(index))
            ended |= games.ended
            self._begin_next_games()

    def _begin_next_games(self) -> None:
        """In the place of every game that the last ply ended another one has begun, its seats given out, its opening played."""
        games = self.games
        openings = np.where(games.ended, games.final_plies, 0)
        if self.opponents is not None:
            seats = self.opponents.seats
            ended = np.flatnonzero(games.ended & (seats != BOTH))
            if len(ended):
                self.opponents.next_games(ended, games.rewards[ended, seats[ended]])
        self._play_openings(openings)

    def _play_openings(self, numbers: np.ndarray) -> None:
        """Each game has made as many random plies as its number says, modulo the most that an opening has.

        The plies of the game before serve as numbers: they vary, and a batch that is restored has them again.
        """
        plies = numbers % (self.opening_plies + 1)
        while (active := plies > 0).any():
            self.games.step(self.games.random_actions(active), active)
            plies -= active

    def _final_info(self, index: int) -> dict[str, Any]:
        games = self.games
        one_seat = self.opponents is not None and self.opponents.seats[index] != BOTH
        viewer = self.actor[index] if one_seat else 1 - self.actor[index]
        return {
            "episode": {
                "r": float(games.rewards[index, 0]),
                "l": int(games.final_plies[index]),
                "t": round(time.time() - self._began, 6),
            },
            "terminal_observation": games.final_observation[index, viewer].copy(),
            "end": EndReason(int(games.end_reason[index])).label,
            "scores": games.final_scores[index].tolist(),
        }

    def action_masks(self) -> np.ndarray:
        """bool[B, A]: the legal actions of who is to move."""
        return self.games.action_mask.astype(np.bool_)

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute, once for every index; raises `AttributeError` if there is none."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """The attribute has the value; the games share it."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """The method's answer for every index; `action_masks` answers game by game."""
        answer = getattr(self, method_name)(*args, **kwargs)
        chosen: Iterable[int] = self._get_indices(indices)
        if method_name == "action_masks":
            return [answer[index] for index in chosen]
        return [answer for _ in chosen]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """No game is wrapped in anything."""
        return [False for _ in self._get_indices(indices)]
