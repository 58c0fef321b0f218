"""Files of 100 KB of all types, each with different bytes."""
from .. import comparison

NAME = "media-typical-distinct"
ABOUT = "100 KB files of ten types, each with different bytes, 64 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(4_000, 60), "typical", is_distinct=True), jobs=64,
                                 peers=["limit", "sharded"], sharded=0.85)
