"""A server beside a command; see scripts/with-postgresql."""
import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys

from bench import children

from . import programs
from .server import Server

#: Waits until its input is closed, as the kernel does for a killed process, and removes the folder when the server has left it. A server that is told to end
#: at once needs up to 5 s.
_KEEPER = """
trap "" HUP INT TERM
cat
for attempt in $(seq 100); do
  read -r server <"$1/main/postmaster.pid" && kill -0 "$server" || break
  sleep 0.1
done 2>/dev/null
for attempt in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 0.2; done
"""


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/with-postgresql", description="Runs a command beside a PostgreSQL server with an empty database.")
    parser.add_argument("--fsync", choices=["on", "off"], default="on", help="whether the server waits for the disk (on)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="with its arguments")
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("there must be a command")
    return chosen


@contextlib.contextmanager
def temporary_folder():
    """A folder that is removed however this process ends."""
    path = programs.new_folder()
    keeper = subprocess.Popen(["sh", "-c", _KEEPER, "keeper", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        keeper.communicate()


def run(command, server):
    """Runs the command with the server's data in its environment, and returns its status as a shell would."""
    environment = {
        "POSTGRESQL_URI": server.uri(), "POSTGRESQL_ADMIN_URI": server.uri(programs.ADMINISTRATOR), "POSTGRESQL_PORT": str(server.port),
        "POSTGRESQL_SERVER": str(server.pid), "POSTGRESQL_DATA": str(server.data), "POSTGRESQL_BIN": str(programs.folder()),
    }
    try:
        child = children.start(command, orphaned=signal.SIGTERM, env={**os.environ, **environment})
    except OSError as error:
        sys.exit(f"scripts/with-postgresql: {command[0]}: {error.strerror}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: child.send_signal(number))
    status = child.wait()
    return status if status >= 0 else 128 - status


def main():
    chosen = arguments()
    children.exit_on_signals()
    with temporary_folder() as folder:
        try:
            with contextlib.closing(Server(folder)) as server:
                server.initialize({"fsync": chosen.fsync})
                server.start()
                server.create_database()
                return run(chosen.command, server)
        except programs.Unavailable as error:
            sys.exit(f"scripts/with-postgresql: {error}")


if __name__ == "__main__":
    sys.exit(main())
