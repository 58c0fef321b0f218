"""Results that are sent to Google, compared with a plain loop over libcurl."""
from .. import payloads
from ..origin import ACCESS_TOKEN, PROJECT
from ..result import Result
from .deliver_apns import STREAMS, beside

NAME = "deliver-fcm"
ABOUT = ("100,000 results of 1 KB, each a message for FCM's HTTP v1 API, go to nghttpd over TLS and HTTP/2, on one connection with 100 streams. Each is"
         " recorded as delivered in the queue, which is on disk. A C program with only libcurl sends the same messages on as many streams, without a queue.")
PEER = "the libcurl loop"


def measure(bench):
    absent = bench.lacks_tools() or bench.lacks("nghttpd")
    return Result(NAME, ABOUT, absent=absent) if absent else beside(bench, NAME, ABOUT, payloads.message, _sender, PEER, _peer)


def _sender(server):
    return ["--fcm", "--fcm-host", server.authority, "--fcm-service-account", server.service_account]


def _peer(bench, work):
    server = bench.nghttpd
    bench.new_store()
    return bench.cost(PEER, [bench.programs.fcm_loop(), "--streams", STREAMS, "--cacert", server.root,
                             f"https://{server.authority}/v1/projects/{PROJECT}/messages:send", ACCESS_TOKEN], work)
