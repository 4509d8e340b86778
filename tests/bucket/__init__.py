"""A bucket for tests: moto's server, which checks signatures and keeps objects in its memory."""
