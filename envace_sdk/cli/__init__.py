"""The command line: one click group whose commands are imported only when they run."""
