"""Markov chain moves, one file for each: functions ``(rng, state, data, model) -> state``."""
