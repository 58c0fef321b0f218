"""The row of the queue in PostgreSQL: its peer, and how it fills a queue."""
import contextlib
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from bench import database
from bench.programs import Programs
from bench.rows.queue_postgresql import _fill

#: What a queue of attache has, as far as filling concerns it.
TABLES = ("CREATE SCHEMA attache_test", "CREATE TABLE attache_test.queue (version integer NOT NULL, last_id bigint NOT NULL)",
          "CREATE TABLE attache_test.payload (id bigint PRIMARY KEY, key bytea, line bytea NOT NULL)",
          "CREATE TABLE attache_test.work (id bigint PRIMARY KEY, state smallint, bytes bigint NOT NULL)",
          "CREATE TABLE attache_test.tally (worker bigint NOT NULL, ready bigint NOT NULL)")


@unittest.skipUnless(shutil.which("gcc") and shutil.which("pkg-config") and not database.lacking(), "gcc builds the peer, and PostgreSQL is its server")
class PostgreSQL(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        opened = contextlib.ExitStack()
        cls.addClassCleanup(opened.close)
        cls.server = opened.enter_context(database.running(0))
        cls.loop = Programs(Path(opened.enter_context(tempfile.TemporaryDirectory()))).postgresql_loop()

    def setUp(self):
        self.server.clear("loop", "attache_test")

    def run_loop(self, step, text=b""):
        done = subprocess.run([self.loop, step, self.server.uri], input=text, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def moved(self, lines):
        """Enqueues and processes lines, and returns those of the results."""
        self.run_loop("enqueue", b"".join(lines))
        self.run_loop("work")
        self.assertEqual(self.server.sql("SELECT count(*) FROM loop.payload"), [["0"]])
        found = self.server.sql("SELECT encode(line, 'hex') FROM loop.result ORDER BY id")
        return [bytes.fromhex(line) for line, in found]

    def test_the_loop_gives_each_line_one_result_in_order(self):
        lines = [b'{"id":%d}\n' % number for number in range(10_000)] + [b'{"last":true}']
        self.assertEqual(self.moved(lines), lines)

    def test_a_batch_ends_after_4096_lines_or_4_MB(self):
        self.run_loop("enqueue", b"short\n" * 5_000)
        self.assertEqual(self.batches(), [["4096"], ["904"]])
        self.server.clear("loop")
        self.run_loop("enqueue", (b"x" * (1 << 20) + b"\n") * 6)
        self.assertEqual(self.batches(), [["4"], ["2"]])

    def batches(self):
        return self.server.sql("SELECT count(*) FROM loop.payload GROUP BY enqueued_at ORDER BY enqueued_at")

    def test_without_lines_nothing_happens(self):
        self.assertEqual(self.moved([]), [])

    def test_a_failure_of_the_server_ends_the_loop(self):
        done = subprocess.run([self.loop, "work", self.server.uri + "?options=-cdefault_transaction_read_only%3Don"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 74)
        self.assertIn(b"read-only", done.stderr)

    def test_a_queue_is_filled_with_copies_of_its_last_payload(self):
        self.server.sql(*TABLES, "INSERT INTO attache_test.queue VALUES (1, 3)", "INSERT INTO attache_test.payload VALUES (2, NULL, 'old'), (3, NULL, 'new')",
                        "INSERT INTO attache_test.work VALUES (2, 0, 3), (3, 0, 3)", "INSERT INTO attache_test.tally VALUES (7, -1), (-1, 3)")
        for _ in range(2):
            _fill(self.server, "attache_test", 5)
            self.assertEqual(self.server.sql("SELECT * FROM attache_test.queue"), [["1", "6"]])
            self.assertEqual(self.server.sql("SELECT id, convert_from(line, 'UTF8') FROM attache_test.payload ORDER BY id"),
                             [["2", "old"], ["3", "new"], ["4", "new"], ["5", "new"], ["6", "new"]])
            self.assertEqual(self.server.sql("SELECT id, state, bytes FROM attache_test.work WHERE id > 3 ORDER BY id"),
                             [["4", "0", "3"], ["5", "0", "3"], ["6", "0", "3"]])
            self.assertEqual(self.server.sql("SELECT * FROM attache_test.tally ORDER BY worker"), [["-1", "6"], ["7", "-1"]])


if __name__ == "__main__":
    unittest.main()
