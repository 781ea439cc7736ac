"""One migration a file, in order."""
