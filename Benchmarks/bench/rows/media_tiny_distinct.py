"""Files of 5 KB of all types, each with different bytes."""
from .. import comparison

NAME = "media-tiny-distinct"
ABOUT = "5 KB files of ten types, each with different bytes, 64 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(20_000, 100), "tiny", is_distinct=True), jobs=64,
                                 peers=["limit", "sharded"], sharded=0.6)
