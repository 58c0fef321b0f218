"""Films of 3 MB, of which no two are alike."""
from .. import comparison
from ..media import VIDEOS

NAME = "media-large-distinct"
ABOUT = "3 MB videos, each with bytes of its own, 16 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(240, 20), "large", VIDEOS, is_distinct=True), jobs=16,
                                 peers=["limit", "sharded"], sharded=0.85)
