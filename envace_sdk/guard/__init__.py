"""Rehearse, judge, perhaps ask, then commit."""
