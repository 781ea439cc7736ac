"""Adapters, one package for each agent framework; each needs its framework and nothing else."""
