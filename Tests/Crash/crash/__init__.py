"""Kills the workers of a queue repeatedly and checks the final state."""
