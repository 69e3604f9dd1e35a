"""Endgames of Oware, solved backwards from the last seed: what either side can be sure of."""
