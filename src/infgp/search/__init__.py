"""Where to evaluate next and what to recommend."""
