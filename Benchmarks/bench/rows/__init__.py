"""The rows of the table, in its order: a row is a module with ``NAME``, ``ABOUT`` and ``measure(bench)``, which gives a ``Result``."""
from . import (attach_as, beside_stalled, campaign, convert, convert_run, deliver, deliver_apns, deliver_fcm, extension, instructions, kills, lateness,
               listing, media_large, media_large_distinct, media_tiny, media_tiny_distinct, media_typical, media_typical_distinct, memory, one_at_a_time,
               pass_through, queue, queue_postgresql, roots, soak, start, start_queue, tls_h2, unread_media, upload)

ROWS = {row.NAME: row for row in (media_typical, media_tiny, media_large, media_typical_distinct, media_tiny_distinct, media_large_distinct, tls_h2,
                                  pass_through, unread_media, campaign, attach_as, convert, convert_run, upload, lateness, beside_stalled, memory, one_at_a_time,
                                  extension, start, start_queue, roots, kills, soak, queue, queue_postgresql, listing, deliver, deliver_apns, deliver_fcm,
                                  instructions)}
