"""The paper's experiments: tasks, methods, a runner, figures and tables (extra ``bench``)."""
