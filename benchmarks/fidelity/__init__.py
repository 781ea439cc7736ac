"""How faithful learned worlds are: real environments recorded, split, learned from one half and scored on the other."""
