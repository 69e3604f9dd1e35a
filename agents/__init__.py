"""Players: random, greedy, minimax, trained networks. `agents.spec.make_agent` makes one from a spec string."""
