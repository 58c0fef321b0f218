"""The processor time of a server is that of all its processes."""
import subprocess
import unittest

from bench.origin import processor_seconds

#: Uses processor time in a child, says so, and stays.
BUSY = 'sh -c "while [ \\$((i = i + 1)) -lt 200000 ]; do :; done"; echo; read line'


class ProcessorTime(unittest.TestCase):
    def test_children_that_have_ended_count(self):
        process = subprocess.Popen(["sh", "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        process.stdout.readline()
        self.assertGreaterEqual(processor_seconds(process.pid), 0.02)

    def test_a_process_that_has_gone_has_none(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.assertEqual(processor_seconds(process.pid), 0)


if __name__ == "__main__":
    unittest.main()
