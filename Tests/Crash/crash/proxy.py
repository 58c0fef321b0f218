"""A proxy between deliverers and a push service: it says in the log whose each connection is, answers as late as a distant service, and cuts connections.

    python3 -m crash.proxy LOG PORT      PORT is the service's, on 127.0.0.1

It ends when its standard input is closed. Each line of its input is a command, each line of its output says what has happened:

    listen DELIVERER        the port for this deliverer's connections
    cut DELIVERER NUMBER    how many connections of the deliverer were reset. It waits until the service has sent something NUMBER times from now on; the
                            last of that does not arrive

push_log.py says what it notes in the log.
"""
import asyncio
import contextlib
import os
import socket
import struct
import sys

_CHUNK = 1 << 16
#: How long an answer takes, in seconds: requests are in flight at any time.
_LATENCY = 0.02
#: How long to wait for what the service sends before the connections are cut anyway, in seconds.
_PATIENCE = 3
_LINGER_0 = struct.pack("ii", 1, 0)


class Proxy:
    def __init__(self, path, port):
        self._log = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._port, self._ways = port, {}

    def note(self, *words):
        os.write(self._log, (" ".join(words) + "\n").encode())

    async def listen(self, deliverer):
        way = self._ways[deliverer] = Way(self, deliverer, self._port)
        server = await asyncio.start_server(way.serve, "127.0.0.1", 0, limit=_CHUNK)
        return server.sockets[0].getsockname()[1]

    async def cut(self, deliverer, number):
        return await self._ways[deliverer].cut(int(number))


class Way:
    """The connections of a deliverer."""

    def __init__(self, proxy, deliverer, port):
        self._proxy, self._deliverer, self._port = proxy, deliverer, port
        self._open = {}  # both ends of each connection, by the address that the service sees
        self._left, self._is_due = 0, asyncio.Event()

    async def serve(self, from_client, to_client):
        try:
            from_service, to_service = await asyncio.open_connection("127.0.0.1", self._port, limit=_CHUNK)
        except OSError:
            _reset(to_client)  # there is no service now
            return
        address = "{}:{}".format(*to_service.get_extra_info("sockname"))
        self._open[address] = to_client, to_service
        self._proxy.note("start", address, self._deliverer)
        requests = asyncio.ensure_future(self._pass_requests(from_client, to_service))
        answers = asyncio.ensure_future(self._pass_answers(from_service, to_client))
        await asyncio.wait({requests, answers}, return_when=asyncio.FIRST_COMPLETED)
        self._open.pop(address, None)
        if answers.done():
            _reset(to_client)
        for pump in requests, answers:
            pump.cancel()
        await asyncio.gather(requests, answers, return_exceptions=True)
        to_client.close()
        to_service.close()

    async def _pass_requests(self, source, target):
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()

    async def _pass_answers(self, source, target):
        while data := await source.read(_CHUNK):
            await asyncio.sleep(_LATENCY)
            self._left -= 1
            if self._left == 0:
                self._reset_all()
                self._is_due.set()
                return
            target.write(data)
            await target.drain()

    async def cut(self, number):
        self._left, self._was_open = number, 0
        self._is_due.clear()
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(self._is_due.wait(), _PATIENCE)
        if not self._is_due.is_set():
            self._left = 0
            self._reset_all()
        return self._was_open

    def _reset_all(self):
        self._was_open = len(self._open)
        for address, ends in self._open.items():
            self._proxy.note("cut", address)
            for end in ends:
                _reset(end)
        self._open.clear()


def _reset(writer):
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
    writer.transport.abort()


async def main():
    path, port = sys.argv[1:]
    proxy, commands = Proxy(path, int(port)), asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        name, *words = line.decode().split()
        print(await {"listen": proxy.listen, "cut": proxy.cut}[name](*words), flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
