"""Translates the log of a push service (`attache origin --log`), with the notes of its proxy, into the notes of deliveries.py: each connection is a sender.

These lines are in one file, in the order in which things happened:

    start ADDRESS DELIVERER                                   the proxy has a connection for a deliverer; ADDRESS is the one that the service sees (proxy.py)
    cut ADDRESS                                               the proxy resets it
    attache origin: ADDRESS POST PATH to TOKEN: STATUS REASON the service has handled a request, and is about to answer
    service killed                                            all of the service's connections are broken (pushing.py, as what follows)
    ended DELIVERER                                           by itself: no answer is on its way to it
    deliverer DELIVERER JOBS                                  is under way, with at most JOBS requests in flight
    killed DELIVERER TIME, delivered TIME PAYLOAD…            as in deliveries.py

A broken connection loses the answers that its deliverer has not read. An unread answer keeps one of the deliverer's JOBS occupied, and answers arrive in their
order. So an answer can only be lost if it is among the last JOBS of its connection. No clock is needed for that.
"""
import re
from dataclasses import dataclass, field

from .commands import Failure

_REQUEST = re.compile(r"attache origin: (\S+:\d+) POST (\S+?)(?: to (\S+))?: (.+)")
_OF_START = re.compile(r"attache origin: (root certificate|key|flags): ")
#: Google answers 401 for an access token that it issued before it was killed.
_ANSWERS = {"200": "ok", "400 BadDeviceToken": "drop", "404 UNREGISTERED": "drop", "401": "retry"}
_DIGITS = 8


def token(number, is_dropped, service):
    """A device token for a payload, which selects the service's answer."""
    if service == "apns":
        return ("400" if is_dropped else "a").ljust(64 - _DIGITS, "0") + f"{number:0{_DIGITS}}"
    return ("UNREGISTERED-" if is_dropped else "a-registration-token-") + f"{number:0{_DIGITS}}"


@dataclass
class _Connection:
    name: str
    deliverer: str
    is_over: bool = False
    is_broken: bool = False
    #: Where the notes are that an answer is written.
    answered: list = field(default_factory=list)

    def end(self, is_broken):
        if not self.is_over:
            self.is_over, self.is_broken = True, is_broken


class PushLog:
    def __init__(self, text):
        self._notes, self._clock = [], 0
        self._connections, self._current = [], {}  # the current one of each address: addresses return
        self._jobs = {}
        for line in text.splitlines():
            if line.startswith("attache origin: "):
                self._read_request(line)
            else:
                self._read_note(line, *line.split())
        for connection in self._connections:
            if connection.is_broken:
                self._forget(connection)

    @property
    def notes(self):
        return "".join(f"{note}\n" for note in self._notes if note)

    def _read_note(self, line, what, first, *words):
        if what == "start":
            connection = self._current[first] = _Connection(f"{first}#{len(self._connections)}", words[0])
            self._connections.append(connection)
            self._notes.append(f"start {connection.name} {words[0]}")
        elif what == "cut":
            self._current[first].end(is_broken=True)
        elif what in ("service", "ended"):
            for connection in self._connections:
                if what == "service" or connection.deliverer == first:
                    connection.end(is_broken=what == "service")
        elif what == "deliverer":
            self._jobs[first] = int(words[0])
            self._notes.append(line)
        elif what == "killed":
            self._notes.append(f"killed {first} {self._time(words[0])}")
        elif what == "delivered":
            self._notes.append(" ".join(["delivered", str(self._time(first)), *words]))
        else:
            raise Failure(f"the service's log has a line that nobody expects: {line}")

    def _read_request(self, line):
        if _OF_START.match(line):
            return
        found = _REQUEST.fullmatch(line)
        if not found:
            raise Failure(f"the service says: {line}")
        address, path, receiver, answer = found.groups()
        if path == "/token" and answer == "200":
            return
        if receiver is None or answer not in _ANSWERS:
            raise Failure(f"the service refuses a request: {line}")
        if address not in self._current:
            raise Failure(f"a request did not come through the proxy: {line}")
        connection, number = self._current[address], int(receiver[-_DIGITS:])
        # There is no checksum: the number comes from the request, and selects the answer.
        self._notes += [f"received {connection.name} {number} 0 {self._time(0)}", f"answering {connection.name} {number} {_ANSWERS[answer]}"]
        connection.answered.append(len(self._notes))
        self._notes.append(f"answered {connection.name} {number}")

    def _time(self, at_least):
        """Increases with each line. So a request is later than the notes before its line, although the service writes no time."""
        self._clock = max(self._clock + 1, int(at_least))
        return self._clock

    def _forget(self, connection):
        for index in connection.answered[-self._jobs[connection.deliverer]:]:
            self._notes[index] = None
        self._notes.append(f"dying {connection.name}")
