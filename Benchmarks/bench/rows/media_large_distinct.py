"""Films of 3 MB, each with different bytes."""
from .. import comparison
from ..media import VIDEOS

NAME = "media-large-distinct"
ABOUT = "3 MB videos, each with different bytes, 16 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(240, 20), "large", VIDEOS, is_distinct=True), jobs=16,
                                 peers=["limit", "sharded"], sharded=0.85)
