"""Adapters to existing distributed training engines: our rows in, their updates out."""
