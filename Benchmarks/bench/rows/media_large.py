"""Films of 3 MB."""
from .. import comparison
from ..media import VIDEOS

NAME = "media-large"
ABOUT = "3 MB videos, each under its own URL, 16 in flight."


def measure(bench):
    return comparison.beside_all(bench, NAME, ABOUT, bench.media_lines(bench.count(240, 20), "large", VIDEOS), jobs=16, limit=1.5, limit_cpu=1.2,
                                 sharded=0.95, sharded_cpu=1.15)
