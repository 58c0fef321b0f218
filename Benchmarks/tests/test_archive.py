"""The results that are kept for Documentation/benchmarks.md."""
import tempfile
import unittest
from pathlib import Path

from bench import archive
from bench.result import Result


class Archive(unittest.TestCase):
    def test_a_row_without_a_result_is_named_unless_it_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(archive.missing(Path(folder) / "results", ["a", "b"], ["b"]), ["a"])
            archive.keep(Path(folder) / "results", Result("a", "about"))
            self.assertEqual(archive.missing(Path(folder) / "results", ["a", "b"], ["b"]), [])
            self.assertEqual([result.name for result in archive.kept(Path(folder) / "results", ["a", "b"])], ["a"])
