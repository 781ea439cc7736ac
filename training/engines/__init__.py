"""Adapters to existing distributed training engines."""
