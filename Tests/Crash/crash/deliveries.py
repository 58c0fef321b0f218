"""Checks deliveries whose senders and deliverers were killed: each payload was sent, and twice only if a kill lost an answer, or the queue was out of reach.

All of it is in one log, a line a note, in the order in which things happened:

    start PID DELIVERER                  a sender begins (sender.py); DELIVERER is its parent process, or init where the deliverer was killed before
    received PID PAYLOAD CRC TIME
    answering PID PAYLOAD ANSWER         ok, retry or drop is about to be written
    answered PID PAYLOAD                 and is written
    dying PID                            a sender ends without an answer
    deliverer PID [JOBS]                 is under way (delivering.py, as what follows); push_log.py uses JOBS
    killed PID TIME                      a sender or a deliverer is about to be killed
    delivered TIME PAYLOAD…              the queue calls these delivered
    disturbed TIME TIME                  the queue may have been out of reach between these times (siege.py)

An endpoint (endpoint.py) and its deliverers have names instead of numbers. An endpoint counts as one sender for each of its deliverers, called
ENDPOINT/DELIVERER. A kill of the endpoint is a kill of all of them.
"""
import collections
from dataclasses import dataclass

from .commands import Failure

_NEVER = 1 << 63
#: In nanoseconds: how long before a disturbance a payload may have been received whose answer is recorded during it; and how long after one.
_BEFORE, _AFTER = 5_000_000_000, 1_000_000_000


@dataclass
class _Process:
    pid: str
    deliverer: object = None
    killed_at: int = _NEVER
    is_dying: bool = False
    endpoint: object = None

    @property
    def is_killed(self):
        return self.killed_at < _NEVER or self.endpoint is not None and self.endpoint.is_killed


@dataclass
class Receipt:
    sender: _Process
    crc: int
    time: int
    answer: str = None
    is_answered: bool = False
    is_disturbed: bool = False

    @property
    def is_lost(self):
        """Whether the payload may be sent again: its answer says so, or the answer may be lost."""
        if self.answer == "retry" or self.is_disturbed or self.sender.deliverer.is_killed:
            return True
        return not self.is_answered and (self.sender.is_dying or self.sender.is_killed)

    def is_orphaned(self):
        """Whether it was in the pipe when the deliverer was killed."""
        return self.sender.deliverer.killed_at < self.time


class Log:
    def __init__(self, text, is_each=False):
        """`is_each`: the answer is the sender's exit status, which comes after all notes. A kill may replace it."""
        self.receipts = collections.defaultdict(list)
        self.known = {}  # when the queue first called a payload delivered
        processes, deliverers, disturbances = {}, set(), []
        for line in text.splitlines():
            what, first, *words = line.split()
            if what == "delivered":
                for number in words:
                    self.known.setdefault(int(number), int(first))
            elif what == "start":
                sender = processes[first] = _Process(first, processes.setdefault(words[0], _Process(words[0])))
                endpoint, slash, _ = first.partition("/")
                if slash:
                    sender.endpoint = processes.setdefault(endpoint, _Process(endpoint))
            elif what == "deliverer":
                deliverers.add(first)
            elif what == "killed":
                processes.setdefault(first, _Process(first)).killed_at = int(words[0])
            elif what == "dying":
                processes[first].is_dying = True
            elif what == "disturbed":
                disturbances.append((int(first) - _BEFORE, int(words[0]) + _AFTER))
            elif what == "received":
                self.receipts[int(words[0])].append(Receipt(processes[first], int(words[1]), int(words[2])))
            else:
                receipt = next(found for found in reversed(self.receipts[int(words[0])]) if found.sender is processes[first])
                if what == "answering":
                    receipt.answer = words[1]
                else:
                    receipt.is_answered = True
        for process in [found for found in processes.values() if found.deliverer and found.deliverer.pid not in deliverers]:
            process.deliverer.killed_at = 0
        for receipt in (receipt for receipts in self.receipts.values() for receipt in receipts):
            receipt.is_disturbed = any(begin <= receipt.time <= end for begin, end in disturbances)
            if is_each:
                receipt.is_answered &= not receipt.sender.is_killed


def check(log, crcs, statuses):
    """
    - crcs: of the payloads, by their numbers.
    - statuses: what the queue calls each payload at the end.
    - Returns: how many payloads were sent more than once.
    """
    for number, crc in crcs.items():
        try:
            _check(log.receipts.get(number, []), crc, statuses.get(number), log.known.get(number))
        except Failure as failure:
            sent = "; ".join(map(str, log.receipts.get(number, [])))
            raise Failure(f"payload {number}, which the queue calls {statuses.get(number)}, {failure}: {sent}") from None
    return sum(len(receipts) > 1 for receipts in log.receipts.values())


def _check(receipts, crc, status, known):
    if not receipts:
        raise Failure("was never sent")
    if any(receipt.crc != crc for receipt in receipts):
        raise Failure("was sent with other bytes")
    wanted = {"delivered": "ok", "dropped": "drop"}.get(status)
    if wanted not in {receipt.answer for receipt in receipts}:
        raise Failure(f"was answered with {[receipt.answer for receipt in receipts]}")
    heard = [receipt for receipt in receipts if not receipt.is_lost]
    if len(heard) > 1:
        raise Failure(f"was sent {len(receipts)} times, and nothing was killed that had {len(heard)} of them")
    if heard and not heard[0].is_answered:
        raise Failure("was not answered by a sender that was not killed")
    if heard and heard[0].answer != wanted:
        raise Failure(f"was answered with {heard[0].answer}")
    # What was in a pipe when its deliverer was killed may come out at any time.
    times = [receipt.time for receipt in receipts if not receipt.is_orphaned()]
    if known and any(time > known for time in times):
        raise Failure("was sent when the queue had it as delivered")
    if heard and any(time > heard[0].time for time in times):
        raise Failure("was sent again after an answer that nobody's death took away")
