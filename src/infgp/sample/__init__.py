"""How the posterior is sampled: chains, moves, compiled loops, diagnostics."""
