"""Full-width search."""
