"""A proxy between libpq and PostgreSQL servers, which breaks connections where it is told to.

    python3 -m postgresql.proxy HOST:PORT…

It listens on a port of loopback for each server, writes these ports to standard output as a line of JSON, and ends when its standard input is closed. Each
line of its input is a command, each line of its output says what happened:

    {"cut": "before", "round": 3, "reset": true}    at the third round from now on (messages.py), on whichever connection it comes; {"cut": null} withdraws it,
                                                    which is answered unless it has happened
    {"black": 15}                                   nothing passes for 15 s, in either direction. After 11 s the server gives its connections up, as
                                                    by keepalive; the client hears of it when the time is over. Other connections stay
    {"drop": true}                                  all connections are reset now

Where a connection is cut: "before" the round reaches the server; "within", when it has been sent to the server, whose answer nobody reads; "after", when the
server has answered it, and the client gets nothing of that.
"""
import asyncio
import contextlib
import json
import socket
import struct
import sys

from .messages import Answers, Rounds, is_request_for_encryption, startup_length

_CHUNK = 1 << 16
#: Until a server that gets no answer ends a connection of attache, in seconds: its tcp_keepalives_idle + tcp_keepalives_interval * tcp_keepalives_count.
_KEEPALIVE = 11
_LINGER_0 = struct.pack("ii", 1, 0)


class Cut:
    """A fault that happens once."""

    def __init__(self, place, round_, is_reset):
        self.place, self.left, self.is_reset = place, round_, is_reset


class Proxy:
    def __init__(self):
        self._cut, self._connections = None, set()
        self._light = asyncio.Event()
        self._light.set()

    async def listen(self, host, port):
        async def serve(reader, writer):
            connection = Connection(self, reader, writer)
            self._connections.add(connection)
            try:
                await connection.serve(host, port)
            finally:
                self._connections.discard(connection)

        server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=_CHUNK, backlog=256)
        return server, server.sockets[0].getsockname()[1]

    async def light(self):
        """Waits until the network is not black."""
        await self._light.wait()

    def take_cut(self):
        """The cut for a round that is complete; None if it passes."""
        if self._cut is None:
            return None
        self._cut.left -= 1
        if self._cut.left > 0:
            return None
        cut, self._cut = self._cut, None
        return cut

    def say(self, **what):
        print(json.dumps(what), flush=True)

    async def obey(self, command):
        if "cut" in command:
            is_withdrawn, self._cut = self._cut is not None, Cut(command["cut"], command["round"], command["reset"]) if command["cut"] else None
            if command["cut"] is None and is_withdrawn:
                self.say(cut=None)
        elif "black" in command:
            self._light.clear()
            await asyncio.sleep(min(command["black"], _KEEPALIVE))
            if command["black"] > _KEEPALIVE:
                lost = list(self._connections)
                for connection in lost:
                    connection.lose_server()
                await asyncio.sleep(command["black"] - _KEEPALIVE)
                for connection in lost:
                    connection.close(is_reset=True)
            self._light.set()
            self.say(black=command["black"])
        elif "drop" in command:
            for connection in list(self._connections):
                connection.close(is_reset=True)
            self.say(drop=True)


class Connection:
    def __init__(self, proxy, reader, writer):
        self._proxy, self._client, self._to_client = proxy, reader, writer
        self._server = self._to_server = None
        self._pending = None  # a cut that waits for the server's answer
        self._answers = Answers()

    async def serve(self, host, port):
        pumps = []
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            try:
                # A server that is down refuses the client as well.
                self._server, self._to_server = await asyncio.open_connection(host, port, limit=_CHUNK)
                await self._start()
                pumps = [asyncio.ensure_future(self._pump_requests()), asyncio.ensure_future(self._pump_answers())]
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            except OSError:
                self.close(is_reset=True)
            finally:
                await self._proxy.light()
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
                self.close()

    async def _start(self):
        """Passes the messages that have no type: requests for encryption, which are answered by one byte, and the first message."""
        while True:
            head = await self._client.readexactly(8)
            message = head + await self._client.readexactly(startup_length(head) - len(head))
            await self._proxy.light()
            self._to_server.write(message)
            if not is_request_for_encryption(head):
                return
            answer = await self._server.readexactly(1)
            if answer != b"N":
                raise OSError("the proxy reads no encrypted connection")
            await self._proxy.light()
            self._to_client.write(answer)

    async def _pump_requests(self):
        rounds = Rounds()
        while data := await self._client.read(_CHUNK):
            await self._proxy.light()
            for part, is_round in rounds.add(data):
                cut = self._proxy.take_cut() if is_round and self._pending is None else None
                if cut and cut.place == "before":
                    self._end(cut)
                    return
                if is_round:
                    self._answers.expect()
                if cut and cut.place == "after":
                    self._pending = cut
                    self._answers.mark()
                self._to_server.write(part)
                if cut and cut.place == "within":
                    with contextlib.suppress(OSError):
                        await self._to_server.drain()
                    self._end(cut)
                    return
            await self._to_server.drain()

    async def _pump_answers(self):
        while data := await self._server.read(_CHUNK):
            passed, is_marked = self._answers.add(data)
            await self._proxy.light()
            self._to_client.write(passed)
            if is_marked:
                self._end(self._pending)
                return
            await self._to_client.drain()

    def _end(self, cut):
        self.close(cut.is_reset)
        self._proxy.say(cut=cut.place)

    def close(self, is_reset=False):
        for writer in (self._to_client, self._to_server):
            _close(writer, is_reset)

    def lose_server(self):
        _close(self._to_server, is_reset=True)


def _close(writer, is_reset):
    if writer is None or writer.is_closing():
        return
    if is_reset:
        with contextlib.suppress(OSError):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
        writer.transport.abort()
    else:
        writer.close()


async def main():
    proxy, servers, ports = Proxy(), [], []
    for place in sys.argv[1:]:
        host, _, port = place.rpartition(":")
        server, own = await proxy.listen(host, int(port))
        servers.append(server)
        ports.append(own)
    proxy.say(ports=ports)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        await proxy.obey(json.loads(line))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
