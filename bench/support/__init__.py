"""What the benchmarks share: a running house, its people, and load from another process."""
