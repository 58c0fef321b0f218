"""A primary with its synchronous standbys, whose roles change."""
import contextlib
import shutil
import time

from . import programs
from .programs import ADMINISTRATOR, Unavailable
from .server import Server

_NAMES = ("n1", "n2", "n3")
_PATIENCE = 30
#: A commit waits for one standby, whichever it is. The primary's own name is in the list, since every server may become the primary. A standby must notice soon
#: that the primary's machine is gone: commits of the next primary wait for it.
_SETTINGS = {
    "wal_level": "replica", "max_wal_senders": "10", "wal_keep_size": "1GB", "wal_log_hints": "on", "hot_standby": "on", "wal_retrieve_retry_interval": "200ms",
    "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s",
}
_CLIENTS = "host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"


def synchronous(names):
    """The value of synchronous_standby_names."""
    return f"ANY 1 ({','.join(names)})"


def ahead(positions):
    """The key whose position in the log is furthest: "16/B374D848" is two hexadecimal numbers. A standby that has received nothing has none."""
    def number(position):
        high, _, low = position.partition("/")
        return (int(high, 16) << 32) + int(low, 16) if low else -1

    return max(positions, key=lambda key: number(positions[key]))


class Cluster:
    """
    - folder: for data and logs; of the programs' user (room.temporary_folder).
    - servers: three on loopback unless given.
    - access: how a standby connects to the primary, without host and port.
    - clients: the lines of pg_hba.conf.
    """

    def __init__(self, folder, servers=(), access=f"user={ADMINISTRATOR}", clients=_CLIENTS):
        self.servers = list(servers) or [Server(folder, name) for name in _NAMES]
        self.primary, self._access, self._clients = self.servers[0], access, clients

    def start(self, settings=(), statements=()):
        """Makes and starts all servers. The settings are there before the standbys are copied: a copy of a primary without synchronous_standby_names would
        become a primary without it. The statements, too, run before."""
        names = [server.name for server in self.servers]
        self.primary.initialize({**_SETTINGS, "synchronous_standby_names": synchronous(names), **dict(settings)})
        (self.primary.data / "pg_hba.conf").write_text(self._clients)
        # A standby that receives the log ignores connect_timeout, and would try a machine that is gone for two minutes.
        self.primary.configure({"primary_conninfo": f"{self._place(self.servers)} target_session_attrs=read-write tcp_user_timeout=3000 {self._access}"})
        self.primary.start()
        self.primary.create_database()
        self.primary.sql("SELECT 1", *statements)
        for standby in self.standbys:
            self._copy(standby)
            standby.start(wait=False)
        for standby in self.standbys:
            standby.wait_until_ready()
        self.wait_until_replicated()

    def _place(self, servers):
        """Hosts and ports as libpq reads them. A standby knows all, and receives its log from whichever server is the primary."""
        return f"host={','.join(server.address for server in servers)} port={','.join(str(server.port) for server in servers)}"

    def _copy(self, standby):
        with standby.inside():
            programs.run("pg_basebackup", "-d", f"{self._place([self.primary])} {self._access}", "-D", standby.data, "-X", "stream", "--checkpoint=fast",
                         "--no-sync")
        self._become_standby(standby)

    def _become_standby(self, server):
        (server.data / "standby.signal").touch()
        programs.give(server.data / "standby.signal")

    @property
    def standbys(self):
        return [server for server in self.servers if server is not self.primary]

    def uri(self, ports=None):
        """The database, on all servers; on other ports of loopback (a proxy's) if they are given."""
        places = [f"{server.address}:{server.port}" for server in self.servers] if ports is None else [f"127.0.0.1:{port}" for port in ports]
        return f"postgresql://attache@{','.join(places)}/attache"

    def sql(self, *statements, seconds=30):
        """Runs statements on the primary, in the database."""
        return self.primary.sql(*statements, database="attache", seconds=seconds)

    # What happens to it

    def fail_over(self):
        """Kills the primary and promotes the standby that has received most of its log. Returns the killed server."""
        killed = self.primary
        killed.kill()
        survivors = [server for server in self.standbys if server.is_running]
        # Replay may lag, and a promotion waits for it. A standby that has received nothing since its start has replayed what it has.
        received = {server: server.sql("SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())")[0][0] for server in survivors}
        self.primary = ahead(received)
        self.primary.sql("SELECT pg_promote(true, 30)")
        return killed

    def rejoin(self, server):
        """A killed primary becomes a standby: it goes back to where the new primary began, or else is copied."""
        try:
            self.primary.sql("CHECKPOINT")  # or pg_rewind does not see that the new primary has a history of its own
            (server.data / "postmaster.pid").unlink(missing_ok=True)
            programs.run("pg_rewind", "--target-pgdata", server.data, "--no-sync",
                         "--source-server", f"{self.primary.uri(ADMINISTRATOR, 'postgres')}?options=-csynchronous_commit%3Dlocal")
            self._become_standby(server)
            server.start()
        except Unavailable:
            server.kill()
            shutil.rmtree(server.data, ignore_errors=True)
            self._copy(server)
            server.start()

    def kill_backend(self, draw):
        """Kills one process that serves a client of the database. The server then restarts all of them. Returns whether there was one."""
        found = self.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = 'attache' "
                         "ORDER BY backend_start")
        if not found:
            return False
        return self.primary.kill_process(int(draw.choice(found)[0]))

    # What state it is in

    def wait_until_replicated(self, seconds=_PATIENCE):
        """Waits until the primary accepts connections and all standbys have what it has now."""
        end, position, behind = time.monotonic() + seconds, None, None
        while time.monotonic() < end:
            with contextlib.suppress(Unavailable):
                if position is None:
                    position = self.primary.sql("SELECT pg_current_wal_flush_lsn()")[0][0]
                behind = [server.name for server in self.standbys if not self._has(server.name, position)]
                if not behind:
                    return
            time.sleep(0.05)
        raise Unavailable(f"after {seconds} s these standbys of {self.primary.name} are behind: {behind}; {self.primary.last_words()}")

    def _has(self, name, position):
        found = self.primary.sql(f"SELECT replay_lsn >= '{position}' FROM pg_stat_replication WHERE application_name = '{name}' AND state = 'streaming'")
        return any(row == ["t"] for row in found)

    def check(self):
        """The indexes of the database match its tables, on the primary. Call it while nobody writes."""
        programs.run("pg_amcheck", "--install-missing", "--heapallindexed", "--parent-check", "-h", self.primary.address, "-p", self.primary.port,
                     "-U", ADMINISTRATOR, "attache")

    def close(self):
        for server in self.servers:
            server.kill()  # in order it would wait for the others
            server.close()
