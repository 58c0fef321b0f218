"""Runs one campaign through attache and checks every payload that comes out, and every picture that it names.

    scripts/campaign BIN [--payloads N]      BIN is the folder of the built executables

Of 5,000 payloads, 232 name a WebP, 11 a HEIC, 40 a JPEG of more than 10 MB, 60 a missing file and 20 an origin that never answers; the others name fine
pictures. The payloads have the forms of several vendors. With another N, the parts stay the same, but each has at least one payload.

The checks: one line for each line, in order; a payload whose picture exists has a public URL in the place of its own URL, and no other byte changed; every
other payload is unchanged; every public URL gives a JPEG, PNG or GIF within the limits; no line is late. nginx serves the store with the configuration of
Documentation/operations.md. If `scripts/with-s3` runs this script, attache also uploads the pictures, and the bucket must give the same bytes as nginx.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from serving.media import Origin, check_picture
from serving.nginx import GROUP, HOME, check, documented, get, nginx

_MEDIA = HOME / "Fixtures" / "media"
_FINE = ("photo.jpg", "photo-progressive.jpg", "photo-grey.jpg", "picture.png", "picture-alpha.png", "animation.gif")
_PARTS = {"webp": 232, "heic": 11, "large": 40, "missing": 60, "stalled": 20}
_WHOLE = 5_000
_LARGEST_FILE = 10_000_000
_DEADLINE = "15s"

# The forms of payloads, each with one place for a URL.
_FORMS = (
    '{"aps":{"alert":{"title":"Sale","body":"No. %d"},"mutable-content":1},"media-url":"%s"}',
    '{ "aps": {"alert": "Sale, no. %d", "mutable-content": 1},  "fcm_options": {"image": "%s"} }',
    '{"aps":{"alert":"Sale, no. %d","mutable-content":1},"custom":{"i":"6e2a"},"att":{"id":"%s"}}',
    '{"aps":{"alert":"Sale, no. %d","mutable-content":1},"_sw":{"media":{"url":"%s"}}}',
    '{"aps":{"alert":"Sale, no. %d","mutable-content":1},"itbl":{"attachment-url":"%s"},"other":"caf\\u00e9 \\/ 1e3"}',
)


def _vips(*words):
    subprocess.run(["vips", *map(str, words)], check=True, capture_output=True, env={**os.environ, "VIPS_CONCURRENCY": "1"})


def _commented(jpeg, number):
    """A JPEG with a comment, which makes its bytes differ."""
    text = b"picture %d" % number
    return jpeg[:2] + b"\xff\xfe" + struct.pack(">H", len(text) + 2) + text + jpeg[2:]


def make_pictures(folder, counts):
    """Returns the pictures of each kind, all different."""
    def noise(name, width, height, seed):
        bands = [folder / f"{name}-{band}.v" for band in range(3)]
        for number, band in enumerate(bands):
            _vips("gaussnoise", band, width, height, "--mean", 128, "--sigma", 60, "--seed", seed + number)
        _vips("bandjoin", " ".join(map(str, bands)), folder / f"{name}-bands.v")
        _vips("cast", folder / f"{name}-bands.v", folder / f"{name}.v", "uchar")
        return folder / f"{name}.v"

    _vips("gaussblur", noise("small", 2_400, 2_000, 1), folder / "soft.v", 1.5)

    def cut(kind, options, number):
        left, top = number % 30 * 50, number // 30 * 160
        path = folder / f"{kind}-{number}.{kind}"
        _vips("extract_area", folder / "soft.v", f"{path}{options}", left, top, 900, 700)
        return path.read_bytes()

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        webp = list(pool.map(lambda number: cut("webp", "[Q=80]", number), range(counts["webp"])))
        heic = list(pool.map(lambda number: cut("heic", "[Q=60]", number), range(counts["heic"])))
    _vips("jpegsave", noise("large", 4_000, 3_000, 4), folder / "large.jpg", "--Q", 97)
    large = (folder / "large.jpg").read_bytes()
    check(len(large) > _LARGEST_FILE, f"the large JPEG has {len(large)} bytes only")
    fine = [(_MEDIA / name).read_bytes() for name in _FINE]
    return {
        "webp": webp, "heic": heic, "large": [_commented(large, number) for number in range(counts["large"])],
        "fine": [_commented(fine[0], number) for number in range(200)] + fine,
    }


def compose(payloads, seed=1):
    """Returns the files of the origin, and for each payload its kind, its form and its path."""
    draw = random.Random(seed)
    counts = {kind: max(1, round(count * payloads / _WHOLE)) for kind, count in _PARTS.items()}
    with tempfile.TemporaryDirectory() as name:
        pictures = make_pictures(Path(name), counts)
    files = {f"/{kind}/{number}": body for kind, bodies in pictures.items() for number, body in enumerate(bodies)}
    kinds = [(kind, number) for kind, count in counts.items() for number in range(count)]
    check(payloads > len(kinds), f"--payloads must be more than {len(kinds)}")
    kinds += [("fine", draw.randrange(len(pictures["fine"]))) for _ in range(payloads - len(kinds))]
    draw.shuffle(kinds)
    return files, [(kind, draw.choice(_FORMS), f"/{kind}/{number}") for kind, number in kinds]


def run(attache, folder, store, origin, plan):
    """Runs the campaign. Returns the input, the output, the records of the report and the public base."""
    lines = [form % (number, f"http://127.0.0.1:{origin.port}{path}") for number, (_, form, path) in enumerate(plan)]
    words = [attache, "filter", "--convert", "--attach-as", "url", "--allow-http", "--allow-net", "127.0.0.1/32", "--allow-port", str(origin.port),
             "--store", store, "--deadline", _DEADLINE, "--jobs", "64", "--report", folder / "report"]
    bucket = os.environ.get("S3_BUCKET")
    if bucket:
        endpoint = os.environ["S3_ENDPOINT"]
        words += ["--upload", f"s3://{bucket}/campaign", "--upload-endpoint", endpoint, "--upload-credentials", os.environ["S3_CREDENTIALS"]]
        base = f"{endpoint}/{bucket}/campaign/"
    else:
        base = "https://cdn.example/campaign/"
        words += ["--base-url", base]
    began = time.monotonic()
    ended = subprocess.run(list(map(str, words)), input="".join(f"{line}\n" for line in lines).encode(), capture_output=True, timeout=1_200)
    check(ended.returncode == 0, f"attache ended with {ended.returncode}: {ended.stderr.decode()}")
    records = {record["line"]: record for record in map(json.loads, (folder / "report").read_bytes().splitlines())}
    return lines, ended.stdout.decode().splitlines(), records, base, time.monotonic() - began


def check_lines(plan, lines, output, records, base):
    """Returns the names of the pictures in the payloads, below the public base."""
    check(len(output) == len(lines), f"{len(lines)} lines went in, and {len(output)} came out")
    names = set()
    for number, ((kind, form, path), line, changed) in enumerate(zip(plan, lines, output)):
        record = records[number + 1]
        check(record["lateness_ms"] <= 0, f"line {number + 1} is {record['lateness_ms']} ms late")
        if kind in ("missing", "stalled"):
            check(changed == line, f"line {number + 1} names a {kind} file, and changed: {changed}")
            continue
        # JSON may escape a slash; attache writes none of its own.
        place = re.search(re.escape(base) + r"([0-9a-f]{2}/[0-9a-f]{64}\.(?:jpg|png|gif))", changed)
        check(place, f"line {number + 1} ({path}) has no public URL, but {record}")
        check(changed == form % (number, place[0]), f"line {number + 1} has other changes: {changed}")
        names.add(place[1])
    return names


def main():
    parser = argparse.ArgumentParser(prog="scripts/campaign", description="Runs one campaign through attache and checks what comes out.")
    parser.add_argument("bin", type=Path, metavar="BIN", help="the folder of the built executables")
    parser.add_argument("--payloads", type=int, default=_WHOLE, metavar="N", help=f"how many payloads ({_WHOLE})")
    chosen = parser.parse_args()
    files, plan = compose(chosen.payloads)
    origin = Origin(files)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.chmod(folder, 0o755)
        store = folder / "store"
        store.mkdir()
        os.chown(store, -1, GROUP)
        os.chmod(store, 0o2750)
        lines, output, records, base, seconds = run(chosen.bin.resolve() / "attache", folder, store, origin, plan)
        names = check_lines(plan, lines, output, records, base)
        is_uploaded = "S3_BUCKET" in os.environ
        with nginx(folder, store, documented()) as port:
            for picture in sorted(names):
                answer, body = get(port, f"/{picture}")
                check(answer.status == 200, f"nginx answers {answer.status} for {picture}")
                check_picture(body, picture)
                if is_uploaded:
                    with urllib.request.urlopen(base + picture, timeout=20) as published:
                        check(published.read() == body, f"the bucket and nginx give different bytes for {picture}")
    kinds = {kind: sum(other == kind for other, _, _ in plan) for kind in ("fine", *_PARTS)}
    print(f"{len(lines)} payloads ({', '.join(f'{count} {kind}' for kind, count in kinds.items())}) in {seconds:.1f} s: "
          f"{len(names)} pictures, all JPEG, PNG or GIF within the limits, from nginx{' and from the bucket' if is_uploaded else ''}")


if __name__ == "__main__":
    sys.exit(main())
