"""Worlds: their state, and the dynamics that change it."""
