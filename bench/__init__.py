"""Benchmarks: `make bench` runs them all, `make bench ARGS="retrieval"` one of them."""
