"""One file a question: its runs and its table. Records and tables are in results/NAME/ (`infgp.bench.study`)."""
