"""Testing agents: a pytest plugin, and the guard that lets nothing real be called.

The plugin is loaded by every run of pytest where the package is installed, so nothing is imported here.
"""
