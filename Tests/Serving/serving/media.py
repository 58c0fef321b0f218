"""An origin on loopback, and a look at the pictures that come out of attache."""
import asyncio
import struct
import threading

from serving.nginx import check

_LARGEST_FILE, _LONGEST_SIDE = 10_000_000, 2_048


class Origin:
    """Serves files from memory, or never answers."""

    def __init__(self, files):
        self._files, ready = files, threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._run(ready)), daemon=True).start()
        ready.wait()

    async def _run(self, ready):
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await server.serve_forever()

    async def _serve(self, reader, writer):
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                path = request.split(b" ", 2)[1].decode()
                if path.startswith("/stalled"):
                    await reader.read()
                    return
                body = self._files.get(path)
                status = b"404 Not Found" if body is None else b"200 OK"
                writer.write(b"HTTP/1.1 %s\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n" % (status, len(body or b"")) + (body or b""))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def picture_size(body):
    """The width and height of a JPEG, PNG or GIF; None for other bytes."""
    if body[:8] == b"\x89PNG\r\n\x1a\n":
        return struct.unpack(">II", body[16:24])
    if body[:6] in (b"GIF87a", b"GIF89a"):
        return struct.unpack("<HH", body[6:10])
    if body[:3] != b"\xff\xd8\xff":
        return None
    place = 2
    while place + 9 < len(body):
        marker, length = body[place + 1], struct.unpack(">H", body[place + 2:place + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", body[place + 5:place + 9])
            return width, height
        place += 2 + length
    return None


def check_picture(body, what):
    size = picture_size(body)
    check(size, f"{what} is not a JPEG, PNG or GIF")
    check(len(body) <= _LARGEST_FILE, f"{what} has {len(body)} bytes")
    check(max(size) <= _LONGEST_SIDE, f"{what} has {size[0]} × {size[1]} pixels")
