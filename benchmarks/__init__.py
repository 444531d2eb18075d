"""Measurements: one command each, results as files under results/."""
