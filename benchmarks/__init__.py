"""Micro-timings: seconds as ratios measured in one run, one command each; results as files under results/."""
