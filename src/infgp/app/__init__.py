"""The command line: `infgp run`, `infgp demo`, `infgp bench`."""
