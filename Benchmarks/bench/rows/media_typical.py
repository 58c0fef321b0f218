"""Files of 100 KB of all types."""
from .. import comparison

NAME = "media-typical"
ABOUT = "100 KB files of ten types, each under its own URL, 64 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(4_000, 60), "typical"), jobs=64, limit=1.9, shell=3,
                                 limit_cpu=1.1, sharded=0.95, sharded_cpu=1.15)
