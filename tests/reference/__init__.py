"""Slow twins of the games, written from their rules alone, to check the engine against."""
