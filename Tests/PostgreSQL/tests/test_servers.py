"""Servers start, end and are broken as they are told to."""
import contextlib
import random
import subprocess
import time
import unittest
from pathlib import Path

from bench import children
from postgresql import cluster, programs, room
from postgresql.proxying import Proxy
from postgresql.server import Server

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/with-postgresql"


class OneServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.enterClassContext(room.temporary_folder()))
        cls.addClassCleanup(cls.server.close)
        cls.server.initialize({"fsync": "off"})
        cls.server.start()
        cls.server.create_database()
        cls.server.sql("SET ROLE attache", "CREATE TABLE note (text text)", database="attache")

    def setUp(self):
        self.server.sql("TRUNCATE note", database="attache")

    def notes(self):
        return [row[0] for row in self.server.sql("SELECT text FROM note ORDER BY text", database="attache")]

    def insert(self, port, *texts):
        """One round for each text, in one connection, by psql. Returns its status."""
        words = [word for text in texts for word in ("-c", f"INSERT INTO note VALUES ('{text}')")]
        child = children.start([programs.folder() / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *words, f"postgresql://attache@127.0.0.1:{port}/attache"],
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=programs.environment())
        self.addCleanup(children.end, child)
        return child

    def test_the_owner_of_the_database_is_no_superuser(self):
        self.assertEqual(self.server.sql("SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = 'attache'"), [["f", "f"]])
        self.assertEqual(self.server.sql("SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'attache'"), [["UTF8"]])

    def test_a_killed_server_keeps_what_it_acknowledged_and_leaves_no_process(self):
        self.assertEqual(self.insert(self.server.port, "kept").wait(30), 0)
        numbers = self.server.processes()
        self.assertGreater(len(numbers), 4)
        self.server.kill()
        self.assertNotEqual(self.insert(self.server.port, "refused").wait(30), 0)
        self.assertEqual([number for number in numbers if is_alive(number)], [])
        self.server.start()
        self.assertEqual(self.notes(), ["kept"])

    def test_a_paused_server_answers_when_it_goes_on(self):
        self.server.pause()
        child = self.insert(self.server.port, "waited")
        time.sleep(0.2)
        self.assertIsNone(child.poll())
        self.server.resume()
        self.assertEqual(child.wait(30), 0)
        self.assertEqual(self.notes(), ["waited"])

    def test_a_cut_is_before_within_or_after_the_commit(self):
        with contextlib.closing(Proxy([self.server])) as proxy:
            port, = proxy.ports
            for place, kept in (("before", ["a"]), ("within", None), ("after", ["a", "b"])):
                for is_reset in (False, True):
                    with self.subTest(place=place, is_reset=is_reset):
                        self.server.sql("TRUNCATE note", database="attache")
                        proxy.arm(place, 2, is_reset)
                        child = self.insert(port, "a", "b", "c")
                        self.assertTrue(proxy.has_cut(20))
                        self.assertNotEqual(child.wait(30), 0)
                        self.server.wait_for_clients(0)
                        if kept is None:
                            self.assertIn(self.notes(), (["a"], ["a", "b"]))
                        else:
                            self.assertEqual(self.notes(), kept)

    def test_a_cut_that_nothing_reaches_is_withdrawn(self):
        with contextlib.closing(Proxy([self.server])) as proxy:
            proxy.arm("before", 5, True)
            self.assertFalse(proxy.has_cut(0.05))
            self.assertEqual(self.insert(proxy.ports[0], *"abcdefgh").wait(30), 0)

    def test_connections_outlive_a_black_network(self):
        with contextlib.closing(Proxy([self.server])) as proxy:
            begin = time.monotonic()
            proxy.black(0.5, wait=False)
            child = self.insert(proxy.ports[0], "a")
            self.assertEqual(child.wait(30), 0)
            self.assertGreater(time.monotonic() - begin, 0.45)
            self.assertEqual(self.notes(), ["a"])

    def test_a_server_that_is_down_refuses_the_client_of_the_proxy(self):
        with contextlib.closing(Proxy([self.server])) as proxy:
            self.server.kill()
            self.assertNotEqual(self.insert(proxy.ports[0], "a").wait(30), 0)
            self.server.start()
            self.assertEqual(self.insert(proxy.ports[0], "a").wait(30), 0)


class Positions(unittest.TestCase):
    def test_the_standby_with_more_of_the_log_is_ahead(self):
        for positions, wanted in (({"n2": "0/3000060", "n3": "0/3000148"}, "n3"), ({"n2": "1/0", "n3": "0/FFFFFFFF"}, "n2"),
                                  ({"n2": "0/AB", "n3": "0/9F0"}, "n3"), ({"n2": "0/0", "n3": ""}, "n2")):
            self.assertEqual(cluster.ahead(positions), wanted)

    def test_every_server_may_be_the_standby_for_which_a_commit_waits(self):
        self.assertEqual(cluster.synchronous(["n1", "n2", "n3"]), "ANY 1 (n1,n2,n3)")


class ThreeServers(unittest.TestCase):
    def test_a_standby_takes_over_what_was_acknowledged_and_the_killed_one_comes_back(self):
        servers = cluster.Cluster(self.enterContext(room.temporary_folder()))
        self.addCleanup(servers.close)
        servers.start({"fsync": "off"})
        servers.sql("CREATE TABLE note (text text)")
        first = servers.primary
        servers.sql("SET synchronous_commit = on", "INSERT INTO note VALUES ('kept')")
        self.assertIs(servers.fail_over(), first)
        self.assertIsNot(servers.primary, first)
        self.assertEqual(servers.sql("SELECT text FROM note"), [["kept"]])
        servers.rejoin(first)
        servers.wait_until_replicated()
        servers.sql("SET synchronous_commit = on", "INSERT INTO note VALUES ('more')")
        servers.wait_until_replicated()
        self.assertEqual(first.sql("SELECT text FROM note ORDER BY 1", database="attache"), [["kept"], ["more"]])
        self.assertFalse(servers.kill_backend(random.Random(1)))
        servers.check()


class Leftovers(unittest.TestCase):
    def test_nothing_is_left_of_a_killed_script(self):
        before = folders()
        child = children.start([SCRIPT, "--fsync", "off", "sh", "-c", 'echo "$POSTGRESQL_SERVER"; exec cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with child.stdin, child.stdout:
            server = int(child.stdout.readline())
            child.kill()
            child.wait()
            end = time.monotonic() + 20
            while time.monotonic() < end and (is_alive(server) or folders() != before):
                time.sleep(0.02)
        self.assertFalse(is_alive(server))
        self.assertEqual(folders(), before)

    def test_the_server_ends_with_its_command_whose_status_comes_back(self):
        for command, wanted in (("exit 3", 3), ("kill -9 $$", 137), ("kill -0 $POSTGRESQL_SERVER && exec false", 1)):
            self.assertEqual(children.run([SCRIPT, "--fsync", "off", "sh", "-c", command]), ("", wanted))


def folders():
    return sorted(path.name for path in room.parent().glob(room.PREFIX + "*"))


def is_alive(pid):
    with contextlib.suppress(OSError):
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    return False
