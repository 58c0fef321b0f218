"""The messages of PostgreSQL's protocol (protocol-message-formats.html), as far as a proxy needs to know where they begin and end.

After the first one, a message is a byte for its type, its length without that byte in four bytes, and the rest. A *round* is what a client sends up to a Sync or
a simple Query. The server answers a round with messages that end with ReadyForQuery.
"""
import struct

_SSL_REQUEST, _GSSENC_REQUEST = 80877103, 80877104
_SYNC, _QUERY, _READY = b"S"[0], b"Q"[0], b"Z"[0]
#: Parse, Bind, Describe, Execute and Close: the server may wait for the Sync before it answers them.
_HELD = frozenset(b"PBDEC")
_HEAD = 5


def startup_length(head):
    """The length of a message without a type, by its first eight bytes."""
    length = struct.unpack(">I", head[:4])[0]
    if not 8 <= length <= 10_000:
        raise OSError(f"a first message of {length} bytes")
    return length


def is_request_for_encryption(head):
    return struct.unpack(">I", head[4:8])[0] in (_SSL_REQUEST, _GSSENC_REQUEST)


def _messages(data, start):
    """The type and the end of each complete message from this position on."""
    while len(data) - start >= _HEAD:
        end = start + 1 + struct.unpack_from(">I", data, start + 1)[0]
        if end > len(data):
            return
        yield data[start], end
        start = end


class Rounds:
    """Divides what a client sends. It holds the messages of a round back until the round is complete, so that none of it reaches the server before."""

    def __init__(self):
        self._data = bytearray()

    def add(self, data):
        """What can be passed on: pairs of bytes and whether they complete a round."""
        self._data += data
        found, start = [], 0
        for kind, end in _messages(self._data, 0):
            if kind in (_SYNC, _QUERY):
                found.append((bytes(self._data[start:end]), True))
                start = end
            elif kind not in _HELD:
                # A Flush, a password, the end: the other side waits for it.
                found.append((bytes(self._data[start:end]), False))
                start = end
        del self._data[:start]
        return found


class Answers:
    """Counts the answers of a server, and holds back the one to a marked round."""

    def __init__(self):
        self._data = bytearray()
        self._expected, self._seen, self._marked = 1, 0, None  # the first message is answered like a round

    def expect(self):
        self._expected += 1

    def mark(self):
        """Marks the round that was expected last."""
        self._marked = self._expected

    def add(self, data):
        """The bytes that may be passed on, and whether the answer to the marked round is complete."""
        self._data += data
        passed, is_held = 0, self._is_held()
        for kind, end in _messages(self._data, 0):
            if kind == _READY:
                self._seen += 1
                if is_held:
                    return self._cut(passed), True
            if not is_held:
                passed = end
                is_held = self._is_held()
        return self._cut(passed), False

    def _is_held(self):
        return self._marked is not None and self._seen == self._marked - 1

    def _cut(self, length):
        found = bytes(self._data[:length])
        del self._data[:length]
        return found
