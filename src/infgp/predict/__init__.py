"""What the posterior says: predictive mixtures, targets of the search, drawn functions."""
