"""Any game as Gymnasium environments: one learner a game, against an opponent that is an object.

An opponent has `act(rows, histories, observations, masks, rng)`: one legal action a row, for a batch of positions in which
it is to move (see `agents.agent`).
"""

from typing import Any, Final, Literal, Protocol, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from envs.adapters.aec import RENDER_MODES, checked_render_mode, observation_box, rendered
from envs.engine.header import EndReason
from envs.engine.vector import VectorGames
from envs.errors import BadOption, IllegalMove
from envs.games import find_game
from envs.numbers import read_action

Seat: TypeAlias = Literal["alternate", 0, 1]
Illegal: TypeAlias = Literal["raise", "lose"]
SEATS: Final = ("alternate", 0, 1)
ILLEGAL: Final = ("raise", "lose")


class Opponent(Protocol):
    """Whatever answers for the other seat."""

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """int64[B]: one legal action a row."""


class Duels:
    """Games of one learner each against an opponent; between steps the learner is to move in all of them.

    With `seat="alternate"` the learner of game i has seat i mod 2 at first, and the other one after each game. With `restart`
    a game that ended begins anew in the same step; without, it stays over until `reset`.
    """

    def __init__(self, game: str, opponent: Opponent, num_games: int, seat: Seat, restart: bool, **options: Any) -> None:
        """Nothing is at its start before `reset`. Raises `BadOption`."""
        if seat not in SEATS or isinstance(seat, bool):
            raise BadOption(f"seat must be 'alternate', 0 or 1, not {seat!r}")
        rules = find_game(game).checked_options(options, batch=True)
        unforeseen = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])  # what chance deals before a seeded reset
        self.games = VectorGames(game, num_games, seed=unforeseen, restart=restart, **rules)
        self.opponent = opponent
        self.seat = seat
        limit = find_game(game).history_limit
        if limit and self.games.options[limit] == 1:
            raise BadOption(f"{limit}=1 can end a game before the learner has moved; give 2 or more")
        self.seats = np.full(num_games, 0, np.int8)
        self._first_seats(turned=True)
        self.rng = np.random.default_rng()
        self.rewards = np.zeros(num_games, np.float64)
        self.ended = np.zeros(num_games, np.bool_)
        self.final_observation = np.zeros_like(self.games.observation)
        self.final_info: dict[int, dict[str, Any]] = {}

    def reset(self, seed: int | None = None) -> None:
        """Every game is new, and the learner is to move; with a seed, all that follows is reproducible."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
            self._first_seats(turned=False)
        else:
            self._next_seat(np.ones(len(self.seats), np.bool_))
        self.games.reset(seed)
        self._begin_step()
        self._let_opponent_move()

    def step(self, actions: np.ndarray, active: np.ndarray | None = None) -> None:
        """The learner has played in the active games, and the opponent has answered.

        Of games that ended, `rewards`, `ended`, `final_observation` and `final_info` are the learner's.
        """
        self._begin_step()
        self.games.step(actions, active)
        self._collect()
        self._let_opponent_move()

    def lose(self, index: int) -> None:
        """The learner has lost game `index` by an illegal action. Call it after `step`."""
        self.final_observation[index] = self.games.observation[index]
        self.final_info[index] = {"end": "illegal_action"}
        self.rewards[index] = -1
        self.ended[index] = True
        if self.games.restart:
            only = np.arange(self.games.num_games) == index
            self.games.reset(active=only)
            self._next_seat(only)
            self._let_opponent_move()

    def _begin_step(self) -> None:
        self.rewards[:] = 0
        self.ended[:] = False
        self.final_info = {}

    def _let_opponent_move(self) -> None:
        """The opponent has played wherever it was to move."""
        games = self.games
        while (waiting := games.running & (games.mover != self.seats)).any():
            actions = np.full(games.num_games, -1, np.int64)
            actions[waiting] = self.opponent.act(
                games.rows[waiting],
                games.histories[waiting],
                games.observation[waiting],
                games.action_mask[waiting],
                self.rng,
            )
            games.step(actions, waiting)
            self._collect()

    def _collect(self) -> None:
        """What the games that just ended say is the learner's."""
        games = self.games
        for index in np.flatnonzero(games.ended):
            seat = self.seats[index]
            self.ended[index] = True
            self.rewards[index] = games.rewards[index, seat]
            self.final_observation[index] = games.final_observation[index, seat]
            end = EndReason(int(games.end_reason[index])).label
            self.final_info[int(index)] = {"end": end, "scores": games.final_scores[index].tolist()}
        if games.restart:
            self._next_seat(games.ended)

    def _first_seats(self, turned: bool) -> None:
        self.seats[:] = (np.arange(len(self.seats)) + turned) % 2 if self.seat == "alternate" else self.seat

    def _next_seat(self, where: np.ndarray) -> None:
        if self.seat == "alternate":
            self.seats[where] = 1 - self.seats[where]


class OpponentEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One learner against an opponent. Observations are the learner's, and it is always to move.

    `action_masks()` and `info["action_mask"]` say what is legal. `illegal="raise"` refuses other actions with `IllegalMove`;
    `illegal="lose"` ends the game with -1, which environment checkers need, as they ignore masks. The reward is +1, 0 or -1
    in the step that ends the game. `seat="alternate"` gives the learner the first move in every other game; a seeded reset
    begins with seat 0. `info` holds `end` and `scores` after the end.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: str,
        opponent: Opponent,
        seat: Seat = "alternate",
        illegal: Illegal = "raise",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Raises `BadOption`."""
        self._duels = Duels(game, opponent, 1, seat, restart=False, **options)
        self.illegal = _checked_illegal(illegal)
        self.render_mode = checked_render_mode(render_mode)
        self.observation_space = observation_box(find_game(game))
        self.action_space = spaces.Discrete(find_game(game).actions)
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A new game, the learner to move."""
        super().reset(seed=seed)
        self._duels.reset(seed)
        self._over = False
        self._show()
        return self._duels.games.observation[0].copy(), self._info()

    def step(self, action: int | np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """The learner has played and the opponent answered. Raises `IllegalMove` with `illegal="raise"`."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the game is over; call reset()")
        mask = self.action_masks()
        legal = read_action(action, mask)
        if legal is not None:
            self._duels.step(np.array([legal]))
        elif self.illegal == "lose":
            self._duels.step(np.zeros(1, np.int64), np.zeros(1, np.bool_))
            self._duels.lose(0)
        else:
            raise IllegalMove(f"illegal action {action!r}; legal are {', '.join(map(str, np.flatnonzero(mask)))}")
        self._over = bool(self._duels.ended[0])
        self._show()
        if not self._over:
            return self._duels.games.observation[0].copy(), 0.0, False, False, self._info()
        info = {**self._duels.final_info[0], "action_mask": np.zeros_like(self._duels.games.action_mask[0])}
        return self._duels.final_observation[0].copy(), float(self._duels.rewards[0]), True, False, info

    def action_masks(self) -> np.ndarray:
        """bool[A]: the legal actions, none once the game is over; as sb3-contrib asks for them."""
        return self._duels.games.action_mask[0].astype(np.bool_) & (not self._over)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._duels.games.action_mask[0].copy()}

    def render(self) -> str | None:
        """The board as `render_mode` asks."""
        return rendered(self._duels.games.position(0), self.render_mode)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


class OpponentVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Many learners, each against the same opponent, which answers in batches. Autoreset in the same step.

    As `OpponentEnv`, with arrays; `infos["action_mask"]` int8[B, A], and where games ended `final_obs` and `final_info`.
    """

    metadata: dict[str, Any] = {
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: str,
        opponent: Opponent,
        num_envs: int = 1,
        seat: Seat = "alternate",
        illegal: Illegal = "raise",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Raises `BadOption`."""
        if render_mode is not None:
            raise BadOption("a batch of games is not rendered; leave render_mode out")
        self.metadata = dict(self.metadata)
        self._duels = Duels(game, opponent, num_envs, seat, restart=True, **options)
        self.illegal = _checked_illegal(illegal)
        self.num_envs = num_envs
        self.single_observation_space = observation_box(find_game(game))
        self.single_action_space = spaces.Discrete(find_game(game).actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """New games, the learner to move in all; one seed serves the whole batch."""
        if isinstance(seed, list):
            raise BadOption("one seed serves the whole batch; give a whole number")
        super().reset(seed=seed)
        self._duels.reset(seed)
        return self._duels.games.observation.copy(), self._infos()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """The learners have played and the opponent has answered; ended games have begun anew."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise IllegalMove(f"{self.num_envs} whole numbers are needed, not {actions.dtype}{list(actions.shape)}")
        lost = self._lost(actions)
        self._duels.step(actions, ~lost)
        for game in np.flatnonzero(lost):
            self._duels.lose(int(game))
        infos = self._infos()
        for index, info in self._duels.final_info.items():
            final = {"final_obs": self._duels.final_observation[index].copy(), "final_info": info}
            infos = self._add_info(infos, final, index)
        ended = self._duels.ended.copy()
        return self._duels.games.observation.copy(), self._duels.rewards.copy(), ended, np.zeros_like(ended), infos

    def _lost(self, actions: np.ndarray) -> np.ndarray:
        """bool[B]: the games that an illegal action loses."""
        if self.illegal == "raise":
            return np.zeros(self.num_envs, np.bool_)
        masks = self._duels.games.action_mask
        known = (actions >= 0) & (actions < masks.shape[1])
        legal: np.ndarray = masks[np.arange(self.num_envs), np.where(known, actions, 0)] == 1
        return ~(known & legal)

    def _infos(self) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, np.bool_)
        return {"action_mask": self._duels.games.action_mask.copy(), "_action_mask": everyone}


def _checked_illegal(illegal: str) -> str:
    if illegal in ILLEGAL:
        return illegal
    raise BadOption(f"illegal must be 'raise' or 'lose', not {illegal!r}")
