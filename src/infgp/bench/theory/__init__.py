"""What the paper's theory promises, measured: a command each, ``python -m infgp.bench.theory.<name> [--quick]``."""
