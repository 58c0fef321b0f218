"""PostgreSQL servers of a row: one, or a primary with two synchronous standbys. The package of the tests makes them, as scripts/with-postgresql does."""
import contextlib
import shutil
import sys

from .origin import processor_seconds
from .programs import SOURCES
from .room import SHARE

sys.path.append(str(SOURCES.parent / "Tests/PostgreSQL"))

from postgresql import programs  # noqa: E402
from postgresql.cluster import Cluster  # noqa: E402
from postgresql.room import parent, temporary_folder  # noqa: E402
from postgresql.server import Server  # noqa: E402

#: As on a server that does nothing else; the tests' servers are small. A checkpoint is made before each run, and should not begin in the middle of one.
_SETTINGS = {"fsync": "on", "shared_buffers": "1GB", "max_wal_size": "4GB", "checkpoint_timeout": "1h"}
_PATIENCE = 600


def lacking():
    """Why there can be no server; empty if there can."""
    try:
        programs.folder()
    except programs.Unavailable as fault:
        return str(fault)
    return ""


class Database:
    """A database, and the servers that have it."""

    def __init__(self, servers, primary, uri):
        self._servers, self._primary, self.uri = servers, primary, uri

    def sql(self, *statements):
        """Runs statements as the superuser. Returns their rows as lists of strings."""
        return self._primary.sql(*statements, database="attache", seconds=_PATIENCE)

    def clear(self, *schemas):
        """Removes schemas, and writes to the disk what is still to be written, so that each run begins in the same state."""
        self.sql(*(f"DROP SCHEMA IF EXISTS {schema} CASCADE" for schema in schemas), "CHECKPOINT")

    def processor_seconds(self):
        return sum(processor_seconds(server.pid) for server in self._servers if server.is_running)


@contextlib.contextmanager
def running(need, has_standbys=False):
    """A database whose servers end with the block. They need so many bytes on the disk at most."""
    if need > SHARE * shutil.disk_usage(parent()).free:
        raise RuntimeError(f"{need / 1e9:.1f} GB are needed, which the disk of {parent()} does not have to spare")
    with temporary_folder() as folder:
        if has_standbys:
            with contextlib.closing(Cluster(folder)) as cluster:
                cluster.start(_SETTINGS)
                yield Database(cluster.servers, cluster.primary, cluster.uri())
        else:
            with contextlib.closing(Server(folder)) as server:
                server.initialize(_SETTINGS)
                server.start()
                server.create_database()
                yield Database([server], server, server.uri())
