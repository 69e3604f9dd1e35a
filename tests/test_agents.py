"""Players: what each of them plays, the strings that name them, and the network behind one of them."""

from __future__ import annotations

import json
import pickle
import struct
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from scipy import stats

import agents.network.sparse
import envs
from agents.network import (
    VERSIONS,
    Network,
    NetworkSettings,
    encoding,
    load_network,
    observation_layout,
    save_network,
)
from agents.network.sparse import Judgement
from agents.policy import PolicyAgent
from agents.spec import KNOWN, make_agent
from agents.uniform import UniformAgent
from batches import option_sets, played_on, random_game
from envs import BadOption, BadSpec, IllegalMove, Position, VectorGames
from envs.engine.header import CHANCE
from envs.games import find_game
from oware_boards import in_engine, random_state
from players import answer, answers, batch_of, numpys_global_state

torch.set_num_threads(1)  # two wait for each other beside a busy process

GAME = "oware"


def settings(game: str = GAME, **changes: Any) -> NetworkSettings:
    """Settings of a small network for a game under its default options."""
    options = find_game(game).checked_options({}, batch=False)
    return replace(NetworkSettings.today(game, options, width=16), **changes)


def new_network(seed: int = 0, **changes: Any) -> Network:
    """A small network with random weights, larger than those it would begin with, so that its policy is not uniform."""
    torch.manual_seed(seed)
    network = Network(settings(**changes))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return network.eval()


@pytest.fixture
def network_file(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    save_network(path, new_network())
    return path


def positions_of(games: VectorGames) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What an agent is handed of a batch in which all games run."""
    return games.rows, games.histories, games.observation, games.action_mask


def balance(position: Position) -> int:
    """Seat 0's store less seat 1's."""
    *_, south, north, _ = position.text.split("-")
    return int(south) - int(north)


# Every player


SPECS = {
    "oware": ["random", "greedy", "minimax:depth=1", "minimax:depth=3", "ppo", "ppo,temperature=1"],
    "toguz_kumalak": ["random", "greedy", "minimax:depth=2", "ppo", "ppo,temperature=1"],
    "uisge": ["random", "greedy", "minimax:depth=1", "ppo", "ppo,temperature=1"],
    "eiyiu": ["random", "greedy", "minimax:depth=1", "minimax:turns=1", "ppo", "ppo,temperature=1"],
}


@pytest.mark.parametrize(("game", "spec"), [(game, spec) for game in envs.GAME_NAMES for spec in SPECS[game]])
def test_every_agent_plays_legal_actions_only(game: str, spec: str, tmp_path: Path) -> None:
    count = 48 if game == GAME else 12
    for options in option_sets(game, batch=True):
        agent = make_agent(with_network(spec, game, tmp_path), game, {**options})
        games = VectorGames(game, count, seed=1, **options)
        rng = np.random.default_rng(1)
        for _ in range(60):
            actions = agent.act(*positions_of(games), rng)
            assert actions.shape == (count,) and actions.dtype.kind == "i"
            games.step(np.where(rng.random(count) < 0.5, actions, games.random_actions()))


def with_network(spec: str, game: str, folder: Path) -> str:
    """The spec, in which `ppo` is a new network of the game."""
    path = folder / "network.safetensors"
    if "ppo" in spec and not path.exists():
        save_network(path, new_network(game=game))
    return spec.replace("ppo", f"ppo:{path}")


@pytest.mark.parametrize("spec", ["random", "greedy", "minimax:depth=2", "ppo", "ppo,temperature=2"])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_every_agent_answers_from_the_stream_it_is_given_alone(game: str, spec: str, tmp_path: Path) -> None:
    spec = with_network(spec, game, tmp_path)
    games = VectorGames(game, 30, seed=2)
    for _ in range(20):
        games.step(games.random_actions())
    before = numpys_global_state(), torch.get_rng_state()
    one, other = make_agent(spec, game), make_agent(spec, game)
    other.act(*positions_of(games), np.random.default_rng(9))
    first, second, third = (agent.act(*positions_of(games), np.random.default_rng(3)) for agent in (one, other, one))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)
    assert numpys_global_state() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


@pytest.mark.parametrize("spec", ["random", "greedy", "minimax:depth=2", "ppo"])
def test_every_agent_plays_the_only_legal_action(spec: str, network_file: Path) -> None:
    agent = make_agent(spec.replace("ppo", f"ppo:{network_file}"), GAME)
    only = positions_with_one_legal_action(40)
    np.testing.assert_array_equal(answers(agent, only), [position.legal_actions()[0] for position in only])


@pytest.mark.parametrize("spec", ["random", "greedy", "minimax:depth=2", "ppo"])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_every_agent_plays_the_only_legal_action_of_any_game(game: str, spec: str, tmp_path: Path) -> None:
    lines = (position for seed in range(20) for position in random_game(game, seed)[:-1])
    only = [position for position in lines if position.mover != CHANCE and len(position.legal_actions()) == 1]
    assert len(only) > 5
    agent = make_agent(with_network(spec, game, tmp_path), game)
    np.testing.assert_array_equal(answers(agent, only), [position.legal_actions()[0] for position in only])


def positions_with_one_legal_action(count: int) -> list[Position]:
    """Positions whose legal actions are any single one."""
    rng = np.random.default_rng(4)
    found: list[Position] = []
    while len(found) < count or len({position.legal_actions()[0] for position in found}) < 6:
        position = in_engine(random_state(rng, int(rng.integers(1, 14))))
        found += [position] if len(position.legal_actions()) == 1 else []
    return found


# random


def test_random_plays_every_legal_action_equally_often() -> None:
    rng = np.random.default_rng(5)
    line = random_game(GAME, seed=6)
    for position in (line[0], *(position for position in line if len(position.legal_actions()) in (2, 3, 4))):
        legal = position.legal_actions()
        draws = answers(UniformAgent(), [position] * 3000, rng)
        counts = np.bincount(draws, minlength=6)
        assert counts.sum() == counts[legal].sum()
        assert stats.chisquare(counts[legal]).pvalue > 1e-4


def test_random_draws_for_each_game_independently() -> None:
    start = envs.start(GAME)
    draws = np.array([answers(UniformAgent(), [start] * 2, np.random.default_rng(seed)) for seed in range(3000)])
    table = np.histogram2d(draws[:, 0], draws[:, 1], bins=6)[0]
    assert stats.chi2_contingency(table).pvalue > 1e-4


# greedy


def test_greedy_wins_if_it_can_and_else_takes_the_best_difference_of_stores() -> None:
    rng = np.random.default_rng(7)
    positions = [position for seed in range(40) for position in random_game(GAME, seed)[:-1:3]]
    positions += [position for seed in range(20) for position in random_game(GAME, seed, quiet_limit=3)[:-1]]
    chosen = answers(make_agent("greedy", GAME), positions, rng)
    wins = avoided = 0
    for position, action in zip(positions, chosen, strict=True):
        worth = {legal: worth_after(position, legal) for legal in position.legal_actions()}
        assert worth[int(action)] == max(worth.values())
        wins += max(worth.values()) == 100
        avoided += -100 in worth.values() and worth[int(action)] > -100
    assert wins >= 10 and avoided >= 5


def worth_after(position: Position, action: int) -> int:
    """What the mover has after the action: 100 for a win, -100 for a loss, 0 for a draw, else the difference of stores."""
    after = position.play(action)
    if after.result is not None:
        return 100 * after.result[position.mover]
    return balance(after) * (1 if position.mover == 0 else -1)


def test_greedy_breaks_ties_by_its_stream_each_as_likely() -> None:
    start = envs.start(GAME)
    draws = answers(make_agent("greedy", GAME), [start] * 6000, np.random.default_rng(8))
    assert stats.chisquare(np.bincount(draws, minlength=6)).pvalue > 1e-4


# Specs


def test_turns_are_for_games_in_which_a_turn_has_several_plies() -> None:
    for game in envs.GAME_NAMES:
        for spec in ("minimax:turns=1", "minimax:turns=20", "minimax:turns=2,eval=plain"):
            if find_game(game).plies_a_turn > 1:
                assert make_agent(spec, game).spec == spec.removesuffix(",eval=plain")
            else:
                assert_refused(spec, "several plies a turn; give depth", game=game)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        *[(f"minimax:turns={n}", "from 1 to 20") for n in ("", "0", "-1", "21", "x", "1.0", " 2", "9" * 5000)],
        *[
            (spec, "one depth, or one budget; it reads minimax:depth=N|nodes=N|time_ms=T or minimax:turns=N")
            for spec in ("minimax", "minimax:turns=1,depth=2")
        ],
        ("minimax:turns=1,turns=1", "twice"),
        ("minimax:turn=1", "known are depth=, turns="),
        ("minimax:depth=41", "from 1 to 40"),
    ],
)
def test_a_spec_with_bad_turns_is_refused_in_one_line_that_says_what_is_right(spec: str, hint: str) -> None:
    assert_refused(spec, hint, game="eiyiu")


@pytest.mark.parametrize("spec", ["random", "greedy", "minimax:depth=1", "minimax:depth=40", "minimax:depth=3,eval=plain"])
def test_a_spec_names_an_agent(spec: str) -> None:
    assert make_agent(spec, GAME).spec == spec.removesuffix(",eval=plain")


@pytest.mark.parametrize(
    "spec",
    [
        *["", " ", ":", "Random", "RANDOM", " random", "random ", "rand", "minmax", "minimax3", "mini max", "alphazero:x"],
        *["oware", "none", "ppo3:x", "-", "--help", "random,greedy", "\n", "random\n", "é", "depth=3", "=", "minimax,depth=2"],
    ],
)
def test_a_spec_of_no_agent_is_refused_in_one_line_that_lists_them_all(spec: str) -> None:
    assert_refused(spec, *KNOWN.values())


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        *[(spec, "takes no settings") for spec in ("random:1", "random:seed=1", "greedy:depth=1", "greedy:x")],
        *[(spec, "it reads") for spec in ("random:", "greedy:", "minimax:", "ppo:")],
        *[(spec, "minimax:depth=N") for spec in ("minimax", "minimax:eval=plain")],
        *[
            (f"minimax:depth={n}", "from 1 to 40")
            for n in ("", "0", "-1", "41", "1.0", "1e1", "x", " 2", "2 ", "+2", "0x2", "\N{FULLWIDTH DIGIT TWO}")
        ],
        *[
            (f"minimax:{word}", "known are depth=")
            for word in ("3", "deep=3", "Depth=3", "depth", "depth:3", " depth=3", "depth=3,")
        ],
        *[(f"minimax:{words}", "known are depth=") for words in ("depth=3,x", "depth=3,depht=4", ",depth=3")],
        *[(f"minimax:depth=3,eval={word}", "must be plain or tuned") for word in ("", "Plain", "full")],
        ("minimax:depth=3;eval=plain", "from 1 to 40"),
        ("minimax:depth=3,depth=4", "twice"),
        ("minimax:depth=3,eval=plain,eval=plain", "twice"),
        *[(spec, "ppo:TARGET") for spec in ("ppo", "ppo:,temperature=1")],
        *[
            (f"ppo:{target}", "nor a run folder")
            for target in ("nothing", "no/where", "/", ".", "..", "a b", "nothing,temperature=1")
        ],
        *[(f"ppo:x,{word}", "known are temperature=") for word in ("y", "temp=1", "", "temperature", "Temperature=1")],
        *[(f"ppo:x,temperature={n}", "from 0 to 100") for n in ("", "x", "-1", "nan", "inf", "-inf", "1e400", "101", "1x")],
        ("ppo:x,temperature=1,temperature=1", "twice"),
    ],
)
def test_a_spec_with_bad_settings_is_refused_in_one_line_that_says_what_is_right(spec: str, hint: str) -> None:
    assert_refused(spec, hint)


def test_a_depth_of_thousands_of_digits_is_refused_too() -> None:
    assert_refused(f"minimax:depth={'9' * 5000}", "from 1 to 40")


def assert_refused(spec: str, *hints: str, game: str = GAME) -> None:
    """`BadSpec` with one line, of readable length, that has all the hints in it."""
    with pytest.raises(BadSpec) as refusal:
        make_agent(spec, game)
    text = str(refusal.value)
    assert "\n" not in text
    for hint in hints:
        assert hint in text


@pytest.mark.parametrize("game", ["chess", "", "Oware"])
def test_an_agent_for_an_unknown_game_is_refused(game: str) -> None:
    for spec in ("random", "greedy", "minimax:depth=2"):
        with pytest.raises(BadOption, match="oware"):
            make_agent(spec, game)


# Network files


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_network_is_the_same_after_saving_and_loading(game: str, tmp_path: Path) -> None:
    for changes in (
        {},
        {"width": 8, "layers": 0},
        {"width": 32, "layers": 3},
        {"options": {**settings(game).options, **option_sets(game, batch=True)[-1]}},
    ):
        network = new_network(game=game, **changes)
        save_network(tmp_path / "network.safetensors", network, {"plies": 3})
        loaded = load_network(tmp_path / "network.safetensors")
        assert asdict(loaded.settings) == asdict(network.settings)
        assert not loaded.training
        games = played_on(VectorGames(game, 64, seed=1), 10)
        seen = torch.from_numpy(games.observation), torch.from_numpy(games.action_mask)
        for one, other in zip(network(*seen), loaded(*seen), strict=True):
            assert torch.equal(one, other)
        assert loaded.state_dict().keys() == network.state_dict().keys()


def test_a_network_file_is_found_by_its_name_or_its_runs_folder(network_file: Path) -> None:
    for target in (network_file, network_file.parent):
        agent = make_agent(f"ppo:{target}", GAME)
        assert agent.spec == f"ppo:{target}"
        assert answer(agent, envs.start(GAME)) in range(6)


def test_a_network_file_keeps_where_it_comes_from(tmp_path: Path) -> None:
    save_network(tmp_path / "x.safetensors", new_network(), {"plies": 12, "commit": "abc"})
    with safe_open(tmp_path / "x.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["summary"]) == {"plies": 12, "commit": "abc"}


def test_saving_that_fails_half_way_leaves_the_old_file_and_nothing_else(
    network_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = network_file.read_bytes()

    def fails(path: Path, content: bytes) -> None:
        with open(path, "wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(OSError, match="no space"):
        save_network(network_file, new_network(seed=1))
    assert network_file.read_bytes() == before
    assert [path.name for path in network_file.parent.iterdir()] == [network_file.name]


class Trap:
    """Creates a file as soon as somebody unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (self.path,)  # type: ignore[return-value]


def trap(kind: str, path: Path, sprung: Path) -> None:
    """The file holds a trap: as a pickle, as PyTorch saves, or inside a safetensors file's header."""
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Trap(sprung)))
    elif kind == "torch":
        torch.save({"state_dict": Trap(sprung)}, path)
    elif kind == "joined":
        path.write_bytes(path.read_bytes() + pickle.dumps(Trap(sprung)))
    else:
        network = new_network()
        save_file(
            network.state_dict(),
            path,
            {"format": agents.network.FORMAT, "settings": pickle.dumps(Trap(sprung), 0).decode("latin1")},
        )


@pytest.mark.parametrize("kind", ["pickle", "torch", "joined", "settings"])
def test_loading_never_unpickles(network_file: Path, tmp_path: Path, kind: str) -> None:
    sprung = tmp_path / "sprung"
    trap(kind, network_file, sprung)
    assert_refused(f"ppo:{network_file}", str(network_file))
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))
    assert sprung.exists(), "the trap itself works"


def rewritten(path: Path, **changes: Any) -> None:
    """The file's metadata say something else; None leaves a key out."""
    with safe_open(path, framework="pt") as file:
        metadata = {**file.metadata(), **changes}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    save_file(tensors, path, {key: value for key, value in metadata.items() if value is not None})


def settings_text(**changes: Any) -> str:
    """The JSON of good settings, with changes."""
    return json.dumps({**asdict(settings()), **changes})


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 100, 0.5, -1])
def test_a_truncated_network_file_is_refused(network_file: Path, keep: float) -> None:
    whole = network_file.read_bytes()
    network_file.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    assert_refused(f"ppo:{network_file}", str(network_file))


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"{}", b"game: oware", b"PK\3\4", struct.pack("<Q", 2**60) + b"{}"])
def test_a_file_that_is_something_else_is_refused(network_file: Path, content: bytes) -> None:
    network_file.write_bytes(content)
    assert_refused(f"ppo:{network_file}", str(network_file))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": None},
        {"format": "spieltisch-network-0"},
        {"format": "spieltisch-checkpoint-1"},
        {"settings": None},
        {"settings": ""},
        {"settings": "[]"},
        {"settings": "3"},
        {"settings": "{}"},
        {"settings": settings_text(game="chess")},
        {"settings": settings_text(game=3)},
        {"settings": settings_text(speed=3)},
        {"settings": settings_text(width=32)},
        {"settings": settings_text(width=0)},
        {"settings": settings_text(width=-4)},
        {"settings": settings_text(width="16")},
        {"settings": settings_text(layers=2)},
        {"settings": settings_text(layers=-1)},
        {"settings": settings_text(options=3)},
        {"settings": settings_text(options=None)},
        {"settings": settings_text(observation=observation_layout(GAME) + " more:1")},
        {"settings": settings_text(observation="")},
        {"settings": settings_text(encoding_version=VERSIONS[GAME] + 1)},
        {"settings": settings_text(encoding_version=None)},
    ],
)
def test_a_network_file_that_says_something_else_is_refused(network_file: Path, changes: dict[str, Any]) -> None:
    rewritten(network_file, **changes)
    assert_refused(f"ppo:{network_file}", str(network_file))


def test_a_network_of_another_game_is_refused(network_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSpec, match="plays oware, not chess") as refusal:
        PolicyAgent.from_file("ppo:x", network_file, "chess", {})
    assert "\n" not in str(refusal.value)


def test_a_network_without_one_of_its_weights_or_with_one_too_many_is_refused(network_file: Path) -> None:
    network = new_network()
    metadata = {"format": agents.network.FORMAT, "settings": settings_text()}
    weights = network.state_dict()
    for changed in (
        {name: tensor for name, tensor in weights.items() if name != "bias"},
        {**weights, "more": torch.zeros(3)},
        {**weights, "bias": torch.zeros(3)},
        {},
    ):
        save_file(changed, network_file, metadata)
        assert_refused(f"ppo:{network_file}", str(network_file))


def test_playing_under_other_options_warns_in_one_line(network_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_agent(f"ppo:{network_file}", GAME)
    make_agent(f"ppo:{network_file}", GAME, {"quiet_limit": 160, "grand_slam": "forfeit"})
    make_agent(f"ppo:{network_file}", GAME, {"quiet_limit": "160"})
    assert capsys.readouterr() == ("", "")
    make_agent(f"ppo:{network_file}", GAME, {"grand_slam": "capture"})
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.endswith("\n")
    assert err.startswith("warning: ") and "capture" in err and "forfeit" in err


# Policies


def masks_at_random(count: int, actions: int = 6) -> torch.Tensor:
    """Masks of any density, none empty; every seventh allows one action only."""
    rng = np.random.default_rng(9)
    masks = rng.random((count, actions)) < rng.random((count, 1))
    masks[::7] = False
    empty = np.flatnonzero(~masks.any(axis=1))
    masks[empty, rng.integers(actions, size=len(empty))] = True
    assert (masks.sum(axis=1) == 1).sum() > count // 8
    return torch.from_numpy(masks)


def log_policy(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """What a policy's head makes of features that are the logits already."""
    seen = encoding("oware", "counts").look(np.zeros((len(masks), 17), np.int16), (masks != 0).numpy().astype(np.int8))
    logs = torch.full(masks.shape, -torch.inf)
    logs[masks != 0] = torch.from_numpy(agents.network.sparse.log_policy(seen, logits, torch.eye(6), torch.zeros(6)))
    return logs


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 1000.0, 1e30])
@pytest.mark.parametrize("kind", [torch.int8, torch.bool, torch.float32])
def test_a_policy_is_a_distribution_over_the_legal_actions_for_any_mask(scale: float, kind: torch.dtype) -> None:
    masks = masks_at_random(100_000)
    torch.manual_seed(1)
    logits = scale * torch.randn(masks.shape)
    logs = log_policy(logits, masks.to(kind))
    policy = logs.exp()
    assert not logs.isnan().any() and (logs <= 0).all()
    assert (policy[~masks] == 0).all()
    torch.testing.assert_close(policy.sum(dim=1), torch.ones(len(masks)), rtol=0, atol=1e-5)
    alone = masks.sum(dim=1) == 1
    assert (logs[alone][masks[alone]] == 0).all()
    expected = torch.log_softmax(torch.where(masks, logits, torch.tensor(-torch.inf)).double(), dim=1)
    torch.testing.assert_close(logs[masks], expected.float()[masks], rtol=1e-4, atol=1e-4)


def test_an_illegal_action_is_never_likelier_than_a_legal_one_however_wild_the_logits() -> None:
    logs = log_policy(torch.tensor([[-1e30, -2e30, 1e30, 0.0, 0.0, 0.0]]), torch.tensor([[1, 1, 0, 0, 0, 0]]))
    assert logs.exp().tolist() == [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    assert logs[0, 1].isfinite() and (logs[0, 2:] == -torch.inf).all()


def test_gradients_of_a_policy_are_finite_and_leave_illegal_actions_alone() -> None:
    masks = masks_at_random(1000)
    logits = torch.randn(masks.shape, requires_grad=True)
    seen = encoding("oware", "counts").look(np.zeros((1000, 17), np.int16), masks.numpy().astype(np.int8))
    head = torch.eye(6), torch.zeros(6), seen
    chances, divergences = Judgement.apply(logits, *head, masks.float().argmax(dim=1), np.zeros(len(seen.actions), np.float32))
    (chances.sum() + divergences.square().sum()).backward()
    assert logits.grad is not None and logits.grad.isfinite().all()
    assert (logits.grad[~masks] == 0).all() and logits.grad[masks].any()


def test_the_librarys_own_distribution_takes_any_mask_at_the_installed_versions() -> None:
    masks = masks_at_random(100_000)
    torch.manual_seed(2)
    for scale in (1.0, 100.0):
        logits = scale * torch.randn(masks.shape)
        distribution = MaskableCategorical(logits=logits, validate_args=True)
        distribution.apply_masking(masks.numpy())
        actions = distribution.sample()
        assert masks.gather(1, actions[:, None]).all()
        logs = distribution.log_prob(actions)
        assert logs.isfinite().all() and distribution.entropy().isfinite().all()
        torch.testing.assert_close(logs, log_policy(logits, masks).gather(1, actions[:, None]).squeeze(1), rtol=1e-4, atol=1e-4)


def test_a_policy_refuses_a_position_without_a_legal_action() -> None:
    agent = PolicyAgent("ppo:x", new_network())
    rows, histories, observations, masks = batch_of([envs.start(GAME)] * 3)
    masks[1] = 0
    with pytest.raises(IllegalMove, match="without a legal action"):
        agent.act(rows, histories, observations, masks, np.random.default_rng(0))


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_policy_plays_its_most_probable_legal_action(game: str) -> None:
    network = new_network(game=game)
    agent = PolicyAgent("ppo:x", network)
    games = VectorGames(game, 200, seed=3)
    for _ in range(30):
        games.step(games.random_actions())
    with torch.no_grad():
        logits = network(torch.from_numpy(games.observation), torch.ones(200, games.action_mask.shape[1]))[0].numpy()
    expected = [
        max(np.flatnonzero(mask), key=lambda action, row=row: row[action])
        for row, mask in zip(logits, games.action_mask, strict=True)
    ]
    np.testing.assert_array_equal(agent.act(*positions_of(games), np.random.default_rng(0)), expected)
    assert (logits.argmax(axis=1) != expected).any(), "the mask mattered"


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_a_policy_with_a_temperature_draws_in_proportion(temperature: float) -> None:
    network = new_network()
    position = random_game(GAME, seed=10)[14]
    mask = position.action_mask() == 1
    with torch.no_grad():
        seen = torch.from_numpy(position.observation()[None]), torch.from_numpy(mask[None])
        logs = network(*seen)[0][0].double().numpy()
    weights = np.exp(logs / temperature)
    draws = answers(PolicyAgent("ppo:x", network, temperature), [position] * 20_000, np.random.default_rng(4))
    counts = np.bincount(draws, minlength=6)
    assert not counts[~mask].any()
    assert stats.chisquare(counts[mask], 20_000 * weights[mask] / weights.sum()).pvalue > 1e-4


def test_a_policy_with_a_temperature_repeats_itself_with_the_same_stream_only() -> None:
    agent = PolicyAgent("ppo:x", new_network(), temperature=2.0)
    positions = [envs.start(GAME)] * 50
    first, second, third = (answers(agent, positions, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != third).any()


@pytest.mark.parametrize("temperature", [0.0, 1e-3, 1e-12, 1e-40, 1e-300, 5e-324, 100.0])
def test_a_policy_plays_legal_actions_at_any_temperature(temperature: float) -> None:
    agent = PolicyAgent("ppo:x", new_network(), temperature)
    games = VectorGames(GAME, 300, seed=5)
    rng = np.random.default_rng(5)
    greedy = PolicyAgent("ppo:x", agent.network)
    for _ in range(20):
        actions = agent.act(*positions_of(games), rng)
        assert games.action_mask[np.arange(300), actions].all()
        if temperature < 1e-6:
            np.testing.assert_array_equal(actions, greedy.act(*positions_of(games), rng))
        games.step(games.random_actions())


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_network_codes_counts_one_by_one_whatever_they_are(game: str) -> None:
    network = new_network(game=game)
    low, high = find_game(game).observation_bounds()
    rng = np.random.default_rng(6)
    extremes = np.where(rng.random((500, len(low))) < 0.5, low, high).astype(np.int16)
    between = rng.integers(low, high + 1, (500, len(low))).astype(np.int16)
    for observations in (extremes, between):
        assert network.value(torch.from_numpy(observations)).isfinite().all()
    seen = [low]
    for column in range(len(low) - 1):
        changed = low.copy()
        changed[column] = min(high[column], low[column] + (5 if game == GAME else 10))
        seen.append(changed)
    no_actions = torch.zeros((len(seen), find_game(game).actions))
    features = network.features(network.look(torch.from_numpy(np.array(seen, np.int16)), no_actions))
    assert len({tuple(row) for row in features.tolist()}) == len(seen), "a change of any number but `to_move` is seen"
