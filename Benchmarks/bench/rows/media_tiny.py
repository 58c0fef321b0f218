"""Files of 5 KB of all types."""
from .. import comparison

NAME = "media-tiny"
ABOUT = "5 KB files of ten types, each under its own URL, 64 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(20_000, 100), "tiny"), jobs=64, limit=3.5, shell=5,
                                 limit_cpu=0.8, sharded=0.7, sharded_cpu=1.6)
