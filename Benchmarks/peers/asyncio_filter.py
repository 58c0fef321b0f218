#!/usr/bin/env python3
"""The filter as one would write it in Python: asyncio, aiohttp and python-magic.

asyncio_filter.py --store DIR [--jobs 64] [--deadline 30] < payloads > payloads

SSL_CERT_FILE names the root certificates."""
import argparse
import asyncio
import collections
import json
import os
import sys

import aiohttp
import magic

EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "audio/mpeg": "mp3", "audio/x-m4a": "m4a",
              "audio/x-wav": "wav", "audio/x-aiff": "aiff", "video/mp4": "mp4", "video/mpeg": "mpg", "video/x-msvideo": "avi"}
HEAD = 4096


def media_url(line):
    """The payload and its media URL, if it asks for an attachment."""
    try:
        payload = json.loads(line)
        if payload["aps"]["mutable-content"] == 1 and isinstance(payload["image"], str):
            return payload, payload["image"]
    except (ValueError, KeyError, TypeError):
        pass
    return None, None


class Filter:
    def __init__(self, options, session):
        self.options, self.session = options, session
        self.detect = magic.Magic(mime=True).from_buffer
        self.free = asyncio.Semaphore(options.jobs)
        self.held = collections.deque()  # in their order: lines, and tasks that give one
        self.room = max(4096, 4 * options.jobs)
        self.is_writing_soon = False

    async def download(self, url, number):
        part = f"{self.options.store}/{number}.part"
        try:
            async with self.session.get(url) as response:
                response.raise_for_status()
                head, size = b"", 0
                with open(part, "xb", buffering=0) as file:
                    async for block in response.content.iter_any():
                        if len(head) < HEAD:
                            head += block[: HEAD - len(head)]
                        file.write(block)
                        size += len(block)
            kind = self.detect(head)
            path = f"{self.options.store}/{number}.{EXTENSIONS.get(kind, 'bin')}"
            os.rename(part, path)
            return {"path": path, "type": kind, "size": size}
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError):
            if os.path.exists(part):
                os.unlink(part)
            return None

    async def enrich(self, line, payload, url, number):
        try:
            attachment = await self.download(url, number)
        finally:
            self.free.release()
        if attachment is None:
            return line
        return json.dumps({**payload, "attachment": attachment}, ensure_ascii=False, separators=(",", ":")).encode()

    async def take(self, line, number):
        payload, url = media_url(line)
        if url is None:
            self.held.append(line)
            return
        await self.free.acquire()
        task = asyncio.create_task(self.enrich(line, payload, url, number))
        task.add_done_callback(self.write_soon)
        self.held.append(task)
        while len(self.held) > self.room and not self.is_decided(self.held[0]):
            await asyncio.wait([self.held[0]])
            self.write()

    @staticmethod
    def is_decided(item):
        return isinstance(item, bytes) or item.done()

    def write_soon(self, _):
        """Runs once per turn of the loop, however many transfers ended in it."""
        if not self.is_writing_soon:
            self.is_writing_soon = True
            asyncio.get_running_loop().call_soon(self.write)

    def write(self):
        self.is_writing_soon = False
        while self.held and self.is_decided(self.held[0]):
            item = self.held.popleft()
            sys.stdout.buffer.write((item if isinstance(item, bytes) else item.result()) + b"\n")
        sys.stdout.buffer.flush()

    async def run(self):
        loop, rest, number = asyncio.get_running_loop(), b"", 0
        while block := await loop.run_in_executor(None, os.read, 0, 1 << 18):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                await self.take(line, number)
                number += 1
            self.write()
        if rest:
            await self.take(rest, number)
        while self.held:
            if not isinstance(self.held[0], bytes):
                await asyncio.wait([self.held[0]])
            self.write()


async def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--store", required=True)
    arguments.add_argument("--jobs", type=int, default=64)
    arguments.add_argument("--deadline", type=float, default=30)
    options = arguments.parse_args()
    connector, timeout = aiohttp.TCPConnector(limit=options.jobs), aiohttp.ClientTimeout(total=options.deadline)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        await Filter(options, session).run()


asyncio.run(main())
