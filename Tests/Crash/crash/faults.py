"""The faults of a queue in PostgreSQL, in an order drawn from a seed."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """
    - name: what is done, as Siege calls it.
    - share: of twenty.
    - seconds: how long it takes, about.
    - is_on_workers: whether a death of a worker may be counted because of it.
    - is_on_database: whether it may lose the answer of a delivery: the database, or the way to it, is away.
    """
    name: str
    share: int
    seconds: float
    is_on_workers: bool = False
    is_on_database: bool = False


#: Without synchronous standbys, what the primary acknowledges between the two kills is lost.
LONE_PRIMARY = "kill the standbys, then the primary"

FAULTS = (
    Fault("kill an enqueuer", 1, 0.5),
    Fault("kill a deliverer", 1, 0.5),
    Fault("kill a deliverer with its processes", 1, 0.5),
    Fault("kill a sender", 1, 0.5),
    Fault("kill a fetcher", 1, 0.5),
    Fault("kill a worker", 2, 0.5, is_on_workers=True),
    Fault("kill a worker with its processes", 1, 0.5, is_on_workers=True),
    Fault("stop a worker past its lease", 1, 1, is_on_workers=True),
    Fault("kill a backend", 2, 1, is_on_database=True),
    Fault("kill the primary", 1, 3, is_on_database=True),
    Fault(LONE_PRIMARY, 1, 5, is_on_database=True),
    Fault("stop the primary for 5 s", 1, 5, is_on_database=True),
    Fault("stop the primary for 11 s", 1, 11, is_on_database=True),
    Fault("stop the standbys", 1, 3, is_on_database=True),
    Fault("cut before a commit", 1, 1, is_on_database=True),
    Fault("cut within a commit", 1, 1, is_on_database=True),
    Fault("cut after a commit", 1, 1, is_on_database=True),
    Fault("black network for 15 s", 1, 15, is_on_database=True),
)


def named(name):
    """The fault of this name."""
    return next(fault for fault in FAULTS if fault.name == name)


def deck(draw, count):
    """
    This many faults: each by its share, and what is left of a share by chance. Those on workers come last, among half of the others: before them, no worker
    has died.
    """
    wanted = [fault for fault in FAULTS for _ in range(fault.share)]
    chosen = wanted * (count // len(wanted)) + draw.sample(wanted, count % len(wanted))
    others = [fault for fault in chosen if not fault.is_on_workers]
    draw.shuffle(others)
    half = len(others) // 2
    late = others[half:] + [fault for fault in chosen if fault.is_on_workers]
    draw.shuffle(late)
    return others[:half], late


def queues(count, largest=40):
    """How many faults each of several queues gets, none more than `largest`."""
    number = -(-count // largest)
    return [count // number + (place < count % number) for place in range(number)]
