"""The engine as the libraries of the field expect an environment."""
