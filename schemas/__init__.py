"""Toolsets that ship with the package."""
