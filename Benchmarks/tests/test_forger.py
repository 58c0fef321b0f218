"""The benchmark as a whole, with an attache that forges a line: status 1 and no figure."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent
FORGER = "#!/bin/sh\nexec sed '1001s/\"id\":1000/\"id\":1001/'\n"


@unittest.skipUnless(shutil.which("gcc"), "gcc builds what starts the commands")
class Forger(unittest.TestCase):
    def bench(self, script):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "attache"
            path.write_text(script)
            path.chmod(0o755)
            return subprocess.run([sys.executable, "-B", "-m", "bench", "--quick", "--peers", "", "--attache", path, "pass-through"], stdout=subprocess.PIPE,
                                  env={**os.environ, "PYTHONPATH": str(SOURCES)}, text=True, check=False)

    def test_one_forged_line_in_two_thousand_is_found(self):
        done = self.bench(FORGER)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("No figures: attache: line 1001: was to pass through as it came", done.stdout)

    def test_an_honest_filter_passes(self):
        done = self.bench("#!/bin/sh\nexec cat\n")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
