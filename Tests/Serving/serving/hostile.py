"""Runs damaged and hostile pictures through attache, and checks that they cost nothing but themselves.

    scripts/hostile-pictures BIN [--pictures N] [--seed S]      BIN is the folder of the built executables

The pictures come from Fixtures/media: cut off, with changed bytes, with headers of 65,000 × 65,000 pixels and more, with wrong lengths of chunks and boxes; and
bombs, which are small files with very many pixels or frames. Another seed gives other pictures.

The checks: one line for each line, in order; no line is late; a line without a picture is unchanged; every converted picture is a JPEG, PNG or GIF within
the limits that libvips decodes; no converter uses more than its memory; no process is left.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

from serving.media import Origin, check_picture
from serving.nginx import HOME, check

_MEDIA = HOME / "Fixtures" / "media"
_SEEDS = (
    "photo.webp", "photo-lossless.webp", "photo-transparent.webp", "animation.webp", "photo.heic", "photo.avif", "photo.tiff", "photo.jpg",
    "photo-progressive.jpg", "picture.png", "picture-palette.png", "picture-grey16.png", "animation.gif", "animation-transparent.gif",
)
#: The address space of a converter, in KB.
_CONVERTER = 512 * 1024
_LINE = '{"aps":{"alert":"No. %d","mutable-content":1},"media-url":"http://127.0.0.1:%d/%d"}'


def _cut(draw, body):
    return body[:draw.randrange(len(body))]


def _flip(draw, body):
    changed = bytearray(body)
    for _ in range(draw.choice((1, 2, 5, 20))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _grow(draw, body):
    """The same picture with another size in its header."""
    width, height = draw.choice(((65_000, 65_000), (65_535, 1), (16_383, 16_383), (0, 0), (2**31 - 1, 2**31 - 1), (30_000, 30_000)))
    body = bytearray(body)
    if body[:4] == b"\x89PNG":
        body[16:24] = struct.pack(">II", width, height)
        body[29:33] = struct.pack(">I", zlib.crc32(body[12:29]))
    elif body[:3] == b"GIF":
        body[6:10] = struct.pack("<HH", width & 0xFFFF, height & 0xFFFF)
    elif body[:2] == b"\xff\xd8":
        place = next((place for place in range(2, len(body) - 9) if body[place] == 0xFF and body[place + 1] in (0xC0, 0xC2)), None)
        if place:
            body[place + 5:place + 9] = struct.pack(">HH", height & 0xFFFF, width & 0xFFFF)
    elif body[8:12] == b"WEBP":
        if body[12:16] == b"VP8X":
            body[24:30] = (width & 0xFFFFFF).to_bytes(3, "little") + (height & 0xFFFFFF).to_bytes(3, "little")
        elif body[12:16] == b"VP8L":
            body[21:25] = struct.pack("<I", (width & 0x3FFF) | (height & 0x3FFF) << 14)
        else:
            body[26:30] = struct.pack("<HH", width & 0x3FFF, height & 0x3FFF)
    elif (place := body.find(b"ispe")) >= 0:
        body[place + 8:place + 16] = struct.pack(">II", width, height)
    elif body[:2] in (b"II", b"MM"):
        for entry in range(8, len(body) - 12):
            if struct.unpack("<HH", body[entry:entry + 4]) in ((256, 3), (257, 3), (256, 4), (257, 4)):
                body[entry + 8:entry + 12] = struct.pack("<I", width & 0xFFFFFFFF)
    return bytes(body)


def _lie(draw, body):
    """The same picture with a wrong length of a chunk or a box, or with an offset that leads back."""
    body = bytearray(body)
    length = draw.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(body), 7))
    place = draw.choice((0, 4, 8, 12, 16, draw.randrange(len(body))))
    body[place:place + 4] = struct.pack(draw.choice("<>") + "I", length)
    return bytes(body)


def _chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _png_bomb(draw, _):
    width, height = draw.choice(((20_000, 20_000), (60_000, 4_000), (8_000, 8_000), (1, 1_000_000)))
    depth = draw.choice((1, 8))
    row = bytes(1 + (width * depth + 7) // 8)
    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(row * 100) for _ in range(height // 100)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def _frames(draw, _):
    """An animation that repeats its frames very often."""
    count = draw.choice((600, 2_000, 5_000))
    if draw.random() < 0.5:
        body = (_MEDIA / "animation.webp").read_bytes()
        start = body.index(b"ANMF")
        end = start + 8 + struct.unpack("<I", body[start + 4:start + 8])[0]
        frames = body[:start] + body[start:end + (end & 1)] * count
        return frames[:4] + struct.pack("<I", len(frames) - 8) + frames[8:]
    body = (_MEDIA / "animation.gif").read_bytes()
    start = body.index(b"\x21\xf9")
    return body[:start] + body[start:-1] * (count // 3) + b"\x3b"


_WAYS = (_cut, _cut, _flip, _flip, _grow, _grow, _lie, _lie, _png_bomb, _frames)


def make(count, seed):
    draw = random.Random(seed)
    seeds = [(_MEDIA / name).read_bytes() for name in _SEEDS]
    vast = [(_MEDIA / name).read_bytes() for name in ("photo-vast.webp", "photo-flood.tiff")]
    return [_WAYS[number % len(_WAYS)](draw, draw.choice(seeds)) if number % 37 else draw.choice(vast) for number in range(1, count + 1)]


class Watch:
    """Looks at the converters while attache runs."""

    def __init__(self):
        self.peak, self.seen, self._is_over = 0, set(), False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._is_over:
            for process in converters():
                self.seen.add(process)
                try:
                    status = Path(f"/proc/{process}/status").read_text()
                except OSError:
                    continue
                self.peak = max([self.peak] + [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")])
            time.sleep(0.02)

    def end(self):
        self._is_over = True
        self._thread.join()


def converters():
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if Path(f"/proc/{process}/comm").read_text() == "converter\n":
                found.append(process)
        except OSError:
            pass
    return found


def decodes(file):
    return subprocess.run(["vips", "avg", file], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/hostile-pictures", description="Runs damaged and hostile pictures through attache.")
    parser.add_argument("bin", type=Path, metavar="BIN", help="the folder of the built executables")
    parser.add_argument("--pictures", type=int, default=300, metavar="N", help="how many pictures (300)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the damage (1)")
    chosen = parser.parse_args()
    pictures = make(chosen.pictures, chosen.seed)
    origin = Origin({f"/{number}": body for number, body in enumerate(pictures)})
    earlier = set(converters())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        lines = [_LINE % (number, origin.port, number) for number in range(len(pictures))]
        watch, began = Watch(), time.monotonic()
        ended = subprocess.run(
            [chosen.bin.resolve() / "attache", "filter", "--convert", "--allow-http", "--allow-net", "127.0.0.1/32", "--allow-port", str(origin.port), "--store",
             folder / "store", "--deadline", "10s", "--jobs", "16", "--report", folder / "report"],
            input="".join(f"{line}\n" for line in lines).encode(), capture_output=True, timeout=1_200)
        seconds = time.monotonic() - began
        watch.end()
        check(ended.returncode == 0, f"attache ended with {ended.returncode}: {ended.stderr.decode()}")
        output = ended.stdout.decode().splitlines()
        check(len(output) == len(lines), f"{len(lines)} lines went in, and {len(output)} came out")
        records = {record["line"]: record for record in map(json.loads, (folder / "report").read_bytes().splitlines())}
        files, reasons = set(), {}
        for number, (line, changed) in enumerate(zip(lines, output)):
            record = records[number + 1]
            check(record["lateness_ms"] <= 0, f"line {number + 1} is {record['lateness_ms']} ms late")
            reasons[record["reason"]] = reasons.get(record["reason"], 0) + 1
            if changed == line:
                continue
            check(changed.startswith(line[:-1] + ',"attache":{"attachments":[{'), f"line {number + 1} has other changes: {changed}")
            # An acceptable picture that cannot be converted is attached as it was.
            if "converted" in record["media"][0]:
                files.add(json.loads(changed)["attache"]["attachments"][0]["url"].removeprefix("file://"))
        for file in files:
            check_picture(Path(file).read_bytes(), file)
            check(decodes(file), f"libvips does not decode {file}")
    check(watch.seen, "there was no converter")
    check(watch.peak <= _CONVERTER, f"a converter used {watch.peak} KB")
    time_limit = time.monotonic() + 15
    while not set(converters()) <= earlier and time.monotonic() < time_limit:
        time.sleep(0.05)
    check(set(converters()) <= earlier, "a converter is left")
    print(f"{len(pictures)} pictures in {seconds:.1f} s: {reasons.pop(None, 0)} attached, {len(files)} different ones converted; "
          f"{', '.join(f'{count} {reason}' for reason, count in sorted(reasons.items()))}; {len(watch.seen)} converters, at most {watch.peak / 1024:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
