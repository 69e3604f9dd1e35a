"""The batched engine, and one game in hand."""
