"""A server beside a command; see scripts/with-postgresql."""
import argparse
import contextlib
import os
import signal
import sys

from bench import children

from . import programs
from .room import temporary_folder
from .server import Server

def arguments():
    parser = argparse.ArgumentParser(prog="scripts/with-postgresql", description="Runs a command beside a PostgreSQL server with an empty database.")
    parser.add_argument("--fsync", choices=["on", "off"], default="on", help="whether the server waits for the disk (on)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="with its arguments")
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("there must be a command")
    return chosen


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
