"""The shipped configs, one YAML file a game and purpose."""
