"""The policy and value network, what it sees of an observation, and the file it is kept in."""

from agents.network.encoding import CODES, ENCODINGS, VERSIONS, Code, Encoding, Seen, coded_columns, encoding
from agents.network.file import FORMAT, check_version, load_network, network_summary, save_network
from agents.network.network import Answers, Network, NetworkSettings, observation_layout

__all__ = [
    "CODES",
    "ENCODINGS",
    "FORMAT",
    "VERSIONS",
    "Answers",
    "Code",
    "Encoding",
    "Network",
    "NetworkSettings",
    "Seen",
    "check_version",
    "coded_columns",
    "encoding",
    "load_network",
    "network_summary",
    "observation_layout",
    "save_network",
]
