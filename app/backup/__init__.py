"""The whole installation in one file, and back again: `flask backup` and `flask restore`."""
