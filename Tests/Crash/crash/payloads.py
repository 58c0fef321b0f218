"""The payloads and media of a round, made from a seed, including faults."""
import json
import random
import struct
from dataclasses import dataclass

from bench.variants import variant

#: Shares of a thousand; the others have no media.
SHARES = {"photo": 330, "campaign": 80, "film": 20, "missing": 25, "cut": 15, "slow": 20, "busy": 10, "refused": 15, "invalid": 15}
_KINDS = [kind for kind, share in SHARES.items() for _ in range(share)]
#: Payloads whose media never arrive. Each uses a job until its deadline, for each attempt.
STALLS = 2
_PHOTOS, _FILMS = 40, 4
_FILM_BYTES = 1_500_000


@dataclass(frozen=True)
class Payload:
    """One line, and its target at the origin; None if it has none or shares it with others."""
    line: bytes
    target: str = None


def write_media(folder, photo, seed):
    """Pictures and sounds with different bytes, one for each name."""
    draw = random.Random(f"media {seed}")
    folder.mkdir()
    content = photo.read_bytes()
    for number in range(_PHOTOS):
        (folder / f"photo-{number}.jpg").write_bytes(variant(content, "jpg", number))
    for number in range(_FILMS):
        (folder / f"film-{number}.wav").write_bytes(_wave(draw.randbytes(_FILM_BYTES + 2 * number)))


def _wave(samples):
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 44_100, 88_200, 2, 16)
    return b"RIFF" + struct.pack("<I", 4 + len(form) + 8 + len(samples)) + b"WAVE" + form + b"data" + struct.pack("<I", len(samples)) + samples


def write_busy(folder, payloads):
    """The files of payloads that the origin refuses at first, counted by path."""
    content = (folder / "photo-0.jpg").read_bytes()
    for number, payload in enumerate(payloads):
        if payload.target and "/times/" in payload.target:
            (folder / f"busy-{number}.jpg").write_bytes(content)


def made(count, seed, origin):
    """Payloads in the order to enqueue; targets differ where needed, so that the origin's log shows whose request came."""
    draw = random.Random(f"payloads {seed}")
    kinds = [draw.choice(_KINDS) if draw.randrange(1000) < len(_KINDS) else None for _ in range(count - STALLS)]
    for _ in range(STALLS):
        kinds.insert(draw.randrange(count // 2), "stall")
    return [_payload(number, kind, draw, origin) for number, kind in enumerate(kinds)]


def _payload(number, kind, draw, origin):
    photo = f"/photo-{draw.randrange(_PHOTOS)}.jpg"
    # Waiting, not computing, limits the speed of a worker, so that kills hit a working process in any build.
    target = {
        None: None, "photo": f"/delay/{draw.randrange(5, 120)}ms{photo}?{number}", "campaign": "/photo-0.jpg",
        "film": f"/delay/20ms/film-{draw.randrange(_FILMS)}.wav?{number}", "missing": f"/status/404{photo}?{number}",
        "cut": f"/reset/200{photo}?{number}", "slow": f"/drip/3000{photo}?{number}", "busy": f"/times/1/status/503/busy-{number}.jpg",
        "stall": f"/stall{photo}?{number}", "refused": None, "invalid": None,
    }[kind]
    url = f"http://127.200.0.1/{number}.jpg" if kind == "refused" else origin + target if target else None
    line = {"aps": {"alert": {"title": f"News {number}", "body": "x" * draw.randrange(400)}, "mutable-content": 1}, "id": number}
    if url:
        line["image"] = url
    text = json.dumps(line, separators=(",", ":")).encode()
    if kind == "invalid":
        text = text[:-1]
    return Payload(text + b"\n", None if kind == "campaign" else target)
