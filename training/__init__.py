"""Self-play training and evaluation."""
