"""One PostgreSQL server."""
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from bench import children

from . import programs
from .programs import ADMINISTRATOR, Unavailable

#: How long a server may take to start, and to end after each signal, in seconds.
_PATIENCE = 30
_ROLE = _DATABASE = "attache"
_LOOPBACK = "127.0.0.1"
#: What every server here has in postgresql.conf. Nothing of it is in /dev/shm, or in a folder that others share.
_SETTINGS = {
    "unix_socket_directories": "", "dynamic_shared_memory_type": "mmap", "shared_buffers": "32MB", "max_connections": "200",
    "log_line_prefix": "%m [%p] %a ", "logging_collector": "off",
}
_IPC_RMID = 0
_libc = ctypes.CDLL(None, use_errno=True)


class Server:
    """
    - folder: for its data and its log; of the programs' user (room.temporary_folder).
    - name: its cluster_name, and the name by which a primary knows it as a standby.
    - address: on which it listens, beside loopback.
    - port: a free one unless given.
    - inside: enters the network of its host.
    - settings: those that a copy of its data must not get.
    """

    def __init__(self, folder, name="main", address=_LOOPBACK, port=0, inside=contextlib.nullcontext, settings=()):
        self.name, self.address, self.inside, self._own = name, address, inside, dict(settings)
        self.data, self.log = Path(folder) / name, Path(folder) / f"{name}.log"
        self._process = None
        # This socket never listens. While the server is down, connections are refused, and no other process can take the port.
        with inside():
            self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind((address, port))
        self.port = self._reserved.getsockname()[1]

    # Its life

    def initialize(self, settings=()):
        """Makes the data of a new server, whose users need no password."""
        programs.run("initdb", "--pgdata", self.data, "--username", ADMINISTRATOR, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync",
                     "--no-instructions")
        self.configure({**_SETTINGS, **dict(settings)})

    def configure(self, settings):
        """Adds settings; later ones take precedence."""
        with open(self.data / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self, wait=True):
        """Starts the server. It ends at once if this process ends. With `wait`, returns when the server accepts connections."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # of a killed server, whose number may be another process's now
        own = {"listen_addresses": ",".join({self.address: 1, _LOOPBACK: 1}), "cluster_name": self.name, **self._own}
        words = [word for name, value in own.items() for word in ("-c", f"{name}={value}")]
        with self.inside(), open(self.log, "ab") as log:
            self._process = children.start(
                [programs.folder() / "postgres", "-D", self.data, "-p", self.port, *words], orphaned=signal.SIGQUIT, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd="/", env=programs.environment(), start_new_session=True, **programs.user())
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self):
        end = time.monotonic() + _PATIENCE
        while not self._is_ready():
            if self._process.poll() is not None:
                raise Unavailable(f"the server {self.name} ended with {self._process.returncode}: {self.last_words()}")
            if time.monotonic() > end:
                raise Unavailable(f"the server {self.name} does not start within {_PATIENCE} s: {self.last_words()}")
            time.sleep(0.005)

    def wait_until_replayed(self):
        """Waits until a standby has replayed the log that it has, and looks for more."""
        end = time.monotonic() + _PATIENCE
        while self.sql("SELECT wait_event IN ('RecoveryWalStream', 'RecoveryRetrieveRetryInterval') FROM pg_stat_activity "
                       "WHERE backend_type = 'startup'") != [["t"]]:
            if time.monotonic() > end:
                raise Unavailable(f"the standby {self.name} does not replay its log within {_PATIENCE} s: {self.last_words()}")
            time.sleep(0.02)

    def _is_ready(self):
        """What the server itself says: "ready" in the last line of its pid file, as pg_ctl(1) reads it. A standby is ready when it accepts queries."""
        lines = self._pid_lines()
        return len(lines) >= 8 and int(lines[0]) == self.pid and lines[7].strip() == "ready"

    def _pid_lines(self):
        with contextlib.suppress(OSError):
            return (self.data / "postmaster.pid").read_text().splitlines()
        return []

    @property
    def pid(self):
        """The process id of the postmaster."""
        return self._process.pid

    @property
    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def last_words(self):
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""

    def stop(self):
        """Ends the server: in order (SIGINT), else at once (SIGQUIT), else by force."""
        if self._process is None:
            return
        for number in (signal.SIGINT, signal.SIGQUIT):
            if self._process.poll() is not None:
                break
            self._process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
        self.kill()

    def kill(self):
        """Kills the postmaster and all its processes, by their numbers, as a machine's end would."""
        if self._process is None:
            return
        remove_shared_memory(self._pid_lines())
        # Stopped first, so that the postmaster starts no process meanwhile.
        numbers = self._signal_all(signal.SIGSTOP)
        self._signal_all(signal.SIGKILL)
        self._process.wait()
        for pid in numbers:
            wait_for_end(pid)
        self._process = None

    def processes(self):
        """The postmaster's number, if it runs, and those of its children: backends and workers."""
        if not self.is_running:
            return []
        return [self.pid, *children.of(self.pid)]

    def pause(self):
        """Stops all processes of the server, as a frozen machine does. TCP still answers in its place."""
        self._signal_all(signal.SIGSTOP)

    def resume(self):
        self._signal_all(signal.SIGCONT)

    def kill_process(self, pid):
        """Kills one process of the server. Returns whether it was one."""
        if pid not in self.processes():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return True
        return False

    def _signal_all(self, number):
        """Sends a signal to the postmaster first, and to the children that it has then. Returns their numbers."""
        numbers = []
        while new := [pid for pid in self.processes() if pid not in numbers]:
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            numbers += new
            if number == signal.SIGCONT:
                break
        return numbers

    def close(self):
        self.stop()
        self._reserved.close()
        shutil.rmtree(self.data, ignore_errors=True)

    # What is in it

    def create_database(self):
        """Creates the role `attache`, which is no superuser, and its database."""
        self.sql(f"CREATE ROLE {_ROLE} LOGIN", f"CREATE DATABASE {_DATABASE} OWNER {_ROLE} TEMPLATE template0")

    def uri(self, user=_ROLE, database=_DATABASE):
        return f"postgresql://{user}@{self.address}:{self.port}/{database}"

    def sql(self, *statements, database="postgres", seconds=30):
        """Runs statements as the superuser, each on its own, without waiting for standbys. Returns their rows as lists of strings."""
        words = [word for statement in statements for word in ("-c", statement)]
        options = f"-cstatement_timeout%3D{seconds}s%20-csynchronous_commit%3Dlocal"
        place = f"postgresql://{ADMINISTRATOR}@{_LOOPBACK}:{self.port}/{database}?connect_timeout=5&options={options}"
        with self.inside():
            text = programs.run("psql", "-XAtq", "-F", "\x1f", "-v", "ON_ERROR_STOP=1", *words, place)
        return [line.split("\x1f") for line in text.splitlines()]


    def wait_for_clients(self, count, database="attache"):
        """Waits until this many clients are connected to a database."""
        end = time.monotonic() + _PATIENCE
        while self.sql(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND backend_type = 'client backend'") != [[str(count)]]:
            if time.monotonic() > end:
                raise Unavailable(f"the server {self.name} has not {count} clients")
            time.sleep(0.02)


def remove_shared_memory(lines):
    """Removes the System V segment that a killed server leaves, by its key and number in the pid file."""
    if len(lines) >= 7 and len(lines[6].split()) == 2:
        _libc.shmctl(int(lines[6].split()[1]), _IPC_RMID, None)


def wait_for_end(pid, seconds=10):
    """Waits until a killed process has gone. It is no child of this one, and its new parent may never ask for its status."""
    end = time.monotonic() + seconds
    while _state(pid) not in ("", "Z", "X") and time.monotonic() < end:
        time.sleep(0.002)


def _state(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""
