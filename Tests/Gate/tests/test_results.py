"""scripts/test-results over captured logs: what failed is named, and what passed is counted."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts/test-results"

# The output of swift-testing 6.3 to a pipe, with TERM set.
COLOURED = """\
== other tests, and further steps
\x1b[90m◇\x1b[0m Test run started.
\x1b[90m↳ Testing Library Version: 6.3.1 (937120cbc281cf2)\x1b[0m
\x1b[90m↳ Target Platform: x86_64-unknown-linux-gnu\x1b[0m
\x1b[90m◇\x1b[0m Suite UploadFlagTests started.
\x1b[90m◇\x1b[0m Test `a server that is not there ends with 73`() started.
\x1b[92m✔\x1b[0m Test `a server that is not there ends with 73`() passed after 0.271 seconds.
\x1b[90m◇\x1b[0m Test `the uploader may not open the store`() started.
\x1b[91m✘\x1b[0m Test `the uploader may not open the store`() recorded an issue at UploadFlagTests.swift:133:7: Expectation failed: open.isEmpty
\x1b[90m↳\x1b[0m ["/tmp/a/photo.jpg"]
\x1b[91m✘\x1b[0m Test `the uploader may not open the store`() failed after 0.301 seconds with 1 issue.
\x1b[91m✘\x1b[0m Suite UploadFlagTests failed after 0.572 seconds with 1 issue.
""" + "an output line of a program\n" * 100 + """\
\x1b[90m◇\x1b[0m Test `a line passes`(flag:) started.
\x1b[90m◇\x1b[0m Test case passing 1 argument flag → "--convert" to `a line passes`(flag:) started.
\x1b[92m✔\x1b[0m Test `a line passes`(flag:) with 1 test case passed after 0.001 seconds.
\x1b[91m✘\x1b[0m Test run with 3 tests in 1 suite failed after 0.573 seconds with 1 issue.
"""

CRASHED = """\
== tests of real time
\x1b[90m◇\x1b[0m Test `one`() started.
\x1b[92m✔\x1b[0m Test `one`() passed after 0.271 seconds.
\x1b[90m◇\x1b[0m Test `another`() started.
Fatal error: Index out of range
"""

OTHERS = """\
== tests of the benchmark
..
----------------------------------------------------------------------
Ran 2 tests in 0.010s

OK
== crash test
F.
======================================================================
FAIL: test_a_worker_goes_on (tests.test_checks.ChecksTests.test_a_worker_goes_on)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "test_checks.py", line 7, in test_a_worker_goes_on
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 2 tests in 0.012s

FAILED (failures=1)
"""

SILENT = "== documentation\n" + "a page\n" * 50 + "the link does not exist\n"


class ResultsTests(unittest.TestCase):
    def results(self, *logs):
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for number, (status, text) in enumerate(logs):
                path = pathlib.Path(folder, str(number))
                path.write_text(text, encoding="utf-8")
                arguments += [str(status), str(path)]
            run = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.splitlines()

    def test_a_failed_test_in_coloured_output_is_named_with_its_detail(self):
        status, lines = self.results((1, COLOURED))
        self.assertEqual(status, 1)
        self.assertEqual(
            lines,
            [
                "== failed with status 1: other tests, and further steps",
                "✘ Test `the uploader may not open the store`() recorded an issue at UploadFlagTests.swift:133:7: Expectation failed: open.isEmpty",
                '↳ ["/tmp/a/photo.jpg"]',
                "✘ Test `the uploader may not open the store`() failed after 0.301 seconds with 1 issue.",
                "✘ Suite UploadFlagTests failed after 0.572 seconds with 1 issue.",
                "✘ Test run with 3 tests in 1 suite failed after 0.573 seconds with 1 issue.",
                "2 passed, 1 failed",
            ],
        )

    def test_a_test_that_ended_the_process_is_named(self):
        status, lines = self.results((132, CRASHED))
        self.assertEqual(status, 1)
        self.assertIn("✘ Test `another`() had not ended when its process did", lines)
        self.assertEqual(lines[-1], "1 passed, 1 failed")

    def test_a_step_beside_the_tests_names_what_failed_in_it(self):
        status, lines = self.results((0, ""), (1, OTHERS), (0, ""))
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "== failed with status 1: crash test")
        self.assertEqual(lines[1], "FAIL: test_a_worker_goes_on (tests.test_checks.ChecksTests.test_a_worker_goes_on)")
        self.assertIn("AssertionError: 1 != 2", lines)
        self.assertEqual(lines[-1], "3 passed, 1 failed")

    def test_a_step_that_names_no_test_shows_its_last_lines(self):
        status, lines = self.results((1, SILENT))
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "== failed with status 1: documentation")
        self.assertEqual(lines[-2:], ["the link does not exist", "0 passed, 1 failed"])

    def test_without_a_failure_only_the_summaries_are_left(self):
        text = COLOURED.split("\x1b[90m◇\x1b[0m Test `the uploader")[0] + "\x1b[92m✔\x1b[0m Test run with 1 test in 1 suite passed after 0.3 seconds.\n"
        status, lines = self.results((0, text))
        self.assertEqual(status, 0)
        self.assertEqual(lines, ["✔ Test run with 1 test in 1 suite passed after 0.3 seconds.", "1 passed, 0 failed"])


if __name__ == "__main__":
    unittest.main()
