"""Checks a queue in PostgreSQL whose processes, servers and network were broken, after all is done."""
import json
import re

from .commands import Failure

_NUMBER = re.compile(rb'(?<!\\)"id":(\d+)')


class Loss(Failure):
    """Something that was acknowledged is gone."""


def number(line):
    """The number of the payload in a line."""
    return int(_NUMBER.search(line)[1])


def results(text, expected, batches):
    """
    Each payload has one result, that of an undisturbed run, and the order of those that were enqueued together is theirs.

    - expected: the lines by the payloads' numbers.
    - batches: lists of numbers.
    - Returns: the numbers in the order of the results.
    """
    order = []
    for line in text.splitlines(keepends=True):
        order.append(number(line))
        if expected.get(order[-1]) != line:
            raise Failure(f"payload {order[-1]}: {line[:300]} came instead of {expected.get(order[-1], b'nothing')[:300]}")
    seen = set(order)
    if len(seen) != len(order):
        raise Failure(f"these payloads have two results: {sorted(one for one in seen if order.count(one) > 1)[:10]}")
    if missing := sorted(set(expected) - seen):
        raise Loss(f"{len(missing)} payloads that were acknowledged have no result: {missing[:10]}")
    places = {one: place for place, one in enumerate(order)}
    for batch in batches:
        for first, second in zip(batch, batch[1:]):
            if places[first] > places[second]:
                raise Failure(f"payload {second} was enqueued after {first}, and comes before it")
    return order


def numbers(count, largest, expected):
    """The queue's own numbers are 1, 2, 3 …"""
    if (count, largest) != (expected, expected):
        raise Failure(f"{expected} payloads were enqueued; the queue has {count}, and the largest number is {largest}")


def kept(count, acknowledged):
    """A new primary has what the former one acknowledged."""
    if count < acknowledged:
        raise Loss(f"{acknowledged} payloads were acknowledged, and the new primary has {count}")


def deaths(rows, most):
    """
    No more deaths of workers are counted than there were.

    - rows: the number of a payload and its deaths.
    - most: how many workers died or were taken for dead.
    """
    wrong = [row for row in rows if row[1] > most]
    if wrong:
        raise Failure(f"{most} workers died, and these payloads have more deaths: {wrong[:10]}")


def agreement(sums):
    """All servers have the same rows: sums of their tables by the names of the servers."""
    if len(set(sums.values())) > 1:
        raise Failure(f"the servers differ: {sums}")


def logs(name, text):
    """No server has found its data damaged."""
    wrong = [line for line in text.splitlines() if re.search(r"PANIC|invalid page|could not read block", line)]
    if wrong:
        raise Failure(f"the server {name} says: {wrong[:3]}")


def records(text):
    """The number of a result and its record. No number comes twice."""
    found = {}
    for line in text.splitlines():
        record = json.loads(line)
        if record["line"] in found:
            raise Failure(f"payload {record['line']} has two records")
        found[record["line"]] = record
    return found
