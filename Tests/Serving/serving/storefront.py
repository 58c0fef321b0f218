"""Runs the nginx configuration of Documentation/operations.md over a store, and checks what it serves and what it does not.

    scripts/serving BIN      BIN is the folder of the built executables

attache fills the store with every accepted file of Fixtures/media from an origin on loopback. nginx runs as this user, or as nobody if this user is root. In
the configuration the script changes only the address and the folder. At the end it removes the rule that hides other names, and all hidden files must then be
served: else these checks could not fail.
"""

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from serving.nginx import GROUP, HOME, IS_ROOT, check, documented, get, nginx, replaced

MEDIA = HOME / "Fixtures" / "media"
CONTENT_TYPES = {
    "public.jpeg": "image/jpeg", "com.compuserve.gif": "image/gif", "public.png": "image/png", "public.aiff-audio": "audio/aiff",
    "com.microsoft.waveform-audio": "audio/wav", "public.mp3": "audio/mpeg", "public.mpeg-4-audio": "audio/mp4", "public.mpeg": "video/mpeg",
    "public.mpeg-2-video": "video/mpeg", "public.mpeg-4": "video/mp4", "public.avi": "video/x-msvideo",
}
SECRET = b"what nobody may read"
# The rule that hides all other names.
HIDING = "return 404;"


class Origin(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def fill(attache, store):
    """Has attache attach every accepted file. Returns the files, and for each its path in the store and its type."""
    expected = json.loads((MEDIA / "expected.json").read_text())
    names = sorted(name for name, answer in expected.items() if "type" in answer)
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Origin, directory=MEDIA))
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    try:
        payloads = [{"aps": {"alert": "x", "mutable-content": 1}, "media-url": f"http://127.0.0.1:{origin.server_port}/{name}"} for name in names]
        run = subprocess.run(
            [attache, "filter", "--allow-http", "--allow-net", "127.0.0.1/32", "--allow-port", str(origin.server_port), "--store", store,
             "--base-url", "https://cdn.example/"],
            input="".join(json.dumps(payload) + "\n" for payload in payloads), capture_output=True, text=True, timeout=120)
    finally:
        origin.shutdown()
        origin.server_close()
    check(run.returncode == 0, f"attache failed: {run.stderr}")
    attached = [json.loads(line).get("attache", {}).get("attachments", [{}])[0] for line in run.stdout.splitlines()]
    check(len(attached) == len(names) and all(attached), f"attache did not attach every file: {run.stderr}")
    return {name: (attachment["url"].removeprefix("https://cdn.example"), attachment["type"]) for name, attachment in zip(names, attached)}


def check_served(port, files):
    for name, (path, kind) in files.items():
        answer, body = get(port, path)
        whole = (MEDIA / name).read_bytes()
        check(answer.status == 200 and body == whole, f"{name} is not served as it is: {answer.status}, {len(body)} bytes")
        wanted = {
            "Content-Type": CONTENT_TYPES[kind], "Content-Length": str(len(whole)), "Cache-Control": "public, max-age=31536000, immutable",
            "X-Content-Type-Options": "nosniff", "Accept-Ranges": "bytes", "Last-Modified": None, "ETag": None,
        }
        for field, value in wanted.items():
            check(answer.headers.get(field) == value, f"{name} has {field}: {answer.headers.get(field)} instead of {value}")
        answer, body = get(port, path, Range="bytes=10-19")
        check(answer.status == 206 and body == whole[10:20], f"a range of {name} is wrong: {answer.status} {body}")
        check(answer.headers["Content-Range"] == f"bytes 10-19/{len(whole)}", f"a range of {name} says {answer.headers['Content-Range']}")
        answer, _ = get(port, path, Range=f"bytes={len(whole)}-")
        check(answer.status == 416, f"a range beyond {name} gives {answer.status}")
    missing = {kind for kind in CONTENT_TYPES if kind not in {kind for _, kind in files.values()}}
    check(not missing, f"no fixture has the type {missing}")


def plant(store, files):
    """Puts files with other names into the store, which nginx's user may read. Returns their paths."""
    path = next(path for path, kind in files.values() if kind == "public.jpeg")
    picture = store / path[1:]
    holds = store / ".held" / ("0" * 32)
    unfinished = store / "tmp" / "1-1"
    for folder in (holds, unfinished):
        folder.mkdir(parents=True, exist_ok=True)
        for made in (folder, folder.parent):
            os.chmod(made, 0o755)
    os.link(picture, holds / picture.name)
    planted = [
        holds / "queue", unfinished / "7", store / "notes.txt", store / "picture.jpg", picture.parent / "notes.txt", picture.parent / "index.html",
        picture.with_suffix(".html"), picture.with_suffix(".jpg.part"), picture.parent / picture.name.upper(), picture.parent / f"0{picture.name}",
    ]
    for file in planted:
        file.write_bytes(SECRET)
        os.chmod(file, 0o644)
    return [f"/{file.relative_to(store)}" for file in planted + [holds / picture.name]]


def check_hidden(port, store, files, planted):
    """No path gives what is hidden, a listing, or a file outside the store."""
    folder = "/" + next(iter(files.values()))[0].split("/")[1]
    absent = f"/00/{'0' * 64}.jpg"
    link = f"/00/{'0' * 63}1.jpg"
    (store / "00").mkdir(exist_ok=True)
    os.chmod(store / "00", 0o755)
    (store / link[1:]).symlink_to(store.parent / "secret")
    ups = ("../", "../../", "%2e%2e/", "..%2f", "..%2f..%2f", "%2e%2e%2f%2e%2e%2f", "..//", ".%00./")
    climbing = [f"{start}{up}secret" for start in ("/", folder + "/") for up in ups]
    others = ["/", folder, folder + "/", "/.index", "/.index/", "/.held/", "/tmp/", "/.index/index.sqlite", "/.index/index.sqlite-wal", absent, link]
    for path in planted + others + climbing:
        answer, body = get(port, path)
        check(answer.status in (400, 403, 404) and SECRET not in body, f"{path} gives {answer.status}")
        check("immutable" not in (answer.headers.get("Cache-Control") or ""), f"caches may keep the refusal of {path}")


def main():
    check(len(sys.argv) == 2, "usage: scripts/serving BIN")
    attache = Path(sys.argv[1]).resolve() / "attache"
    configuration = documented()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.chmod(folder, 0o755)
        store = folder / "store"
        store.mkdir()
        os.chown(store, -1, GROUP)
        os.chmod(store, 0o2750)
        (folder / "secret").write_bytes(SECRET)
        os.chmod(folder / "secret", 0o644)

        files = fill(attache, store)
        index = store / ".index"
        check((index / "index.sqlite").is_file(), "the store has no index")
        check(index.stat().st_mode & 0o777 == 0o700, "others may open the folder of the index")
        for path, _ in files.values():
            status = (store / path[1:]).stat()
            check((status.st_mode & 0o777, status.st_gid) == (0o640, GROUP), f"{path} has another mode or group")
        planted = plant(store, files)
        with nginx(folder, store, configuration) as port:
            check_served(port, files)
            check_hidden(port, store, files, planted)
        with nginx(folder, store, replaced(configuration, re.escape(HIDING), "")) as port:
            for path in planted:
                check(get(port, path)[0].status == 200, f"{path} is not served without the rule either, so its check cannot fail")
            status = get(port, "/.index/index.sqlite")[0].status
            check(status == (403 if IS_ROOT else 200), f"without the rule the index gives {status}")
    print(f"nginx serves {len(files)} files and nothing else")


main()
