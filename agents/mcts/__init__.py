"""Monte-Carlo tree search: UCT, and PUCT with a network."""
