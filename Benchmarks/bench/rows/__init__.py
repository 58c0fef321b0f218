"""The rows of the table, in its order: a row is a module with ``NAME``, ``ABOUT`` and ``measure(bench)``, which gives a ``Result``."""
from . import (beside_stalled, campaign, deliver, instructions, lateness, media_large, media_tiny, media_typical, memory, one_at_a_time, pass_through, queue, soak,
               start, tls_h2)

ROWS = {row.NAME: row for row in (media_typical, media_tiny, media_large, tls_h2, pass_through, campaign, lateness, beside_stalled, memory, one_at_a_time,
                                  start, soak, queue, deliver, instructions)}
