"""The faults of a queue in PostgreSQL, and the checks afterwards."""
import random
import unittest

from crash import commits, faults
from crash.commands import Failure
from crash.siege import _METHODS, Siege

LINES = {number: b'{"aps":{},"id":%d}\n' % number for number in (4, 7, 9)}
BATCHES = [[4, 9], [7]]


class Decks(unittest.TestCase):
    def test_twenty_faults_are_all_of_them_by_their_shares(self):
        early, late = faults.deck(random.Random(1), 20)
        found = sorted(fault.name for fault in early + late)
        self.assertEqual(found, sorted(fault.name for fault in faults.FAULTS for _ in range(fault.share)))
        self.assertEqual(sum(fault.share for fault in faults.FAULTS), 20)

    def test_a_seed_gives_the_same_faults_and_another_one_others(self):
        first, second, other = (faults.deck(random.Random(seed), 33) for seed in (1, 1, 2))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        self.assertEqual(sum(map(len, first)), 33)

    def test_no_worker_dies_early(self):
        for seed in range(50):
            early, late = faults.deck(random.Random(seed), 20)
            self.assertFalse(any(fault.is_on_workers for fault in early))
            self.assertTrue(any(not fault.is_on_workers for fault in late))

    def test_queues_share_the_faults(self):
        for count, wanted in ((1, [1]), (20, [20]), (40, [40]), (41, [21, 20]), (300, [38] * 4 + [37] * 4)):
            self.assertEqual(faults.queues(count), wanted)

    def test_each_fault_can_be_made(self):
        for fault in faults.FAULTS:
            self.assertTrue(callable(getattr(Siege, "_" + _METHODS[fault.name])))


class Commits(unittest.TestCase):
    def checked(self, *numbers, changed=None):
        return commits.results(b"".join(changed or LINES[number] for number in numbers), LINES, BATCHES)

    def test_any_order_between_batches_is_right(self):
        for order in ((4, 9, 7), (7, 4, 9), (4, 7, 9)):
            self.assertEqual(self.checked(*order), list(order))

    def test_a_missing_a_second_and_another_result_are_found(self):
        for numbers, word in (((4, 9), "no result: .7"), ((4, 9, 7, 7), "two results: .7"), ((9, 4, 7), "comes before")):
            with self.assertRaisesRegex(Failure, word):
                self.checked(*numbers)
        with self.assertRaisesRegex(Failure, "came instead of"):
            self.checked(4, changed=b'{"aps":{},"id":4,"attache":{}}\n')
        with self.assertRaisesRegex(Failure, "instead of b'nothing'"):
            self.checked(4, changed=b'{"id":5}\n')

    def test_a_number_in_a_text_is_not_that_of_the_payload(self):
        self.assertEqual(commits.number(b'{"aps":{"alert":"\\"id\\":5"},"id":9}'), 9)

    def test_a_gap_and_a_number_too_many_are_found(self):
        commits.numbers(3, 3, 3)
        for count, largest in ((3, 4), (2, 2), (4, 4)):
            with self.assertRaises(Failure):
                commits.numbers(count, largest, 3)

    def test_a_primary_that_has_less_than_was_acknowledged_is_found(self):
        commits.kept(4, 3)
        with self.assertRaises(commits.Loss):
            commits.kept(2, 3)

    def test_more_deaths_than_dead_workers_are_found(self):
        commits.deaths([(1, 2), (5, 1)], 2)
        with self.assertRaisesRegex(Failure, "0 workers died"):
            commits.deaths([(5, 1)], 0)

    def test_a_server_that_differs_or_is_damaged_is_found(self):
        commits.agreement({"n1": "3|7", "n2": "3|7"})
        with self.assertRaises(Failure):
            commits.agreement({"n1": "3|7", "n2": "3|8"})
        commits.logs("n1", "LOG:  server process (PID 7) was terminated by signal 9: Killed\nLOG:  invalid record length at 0/40001B8: wanted 24, got 0\n")
        for line in ("PANIC:  could not locate a valid checkpoint record", "ERROR:  invalid page in block 3 of relation base/5/1234"):
            with self.assertRaises(Failure):
                commits.logs("n1", line)

    def test_a_number_with_two_records_is_found(self):
        self.assertEqual(len(commits.records(b'{"line":1}\n{"line":2}\n')), 2)
        with self.assertRaises(Failure):
            commits.records(b'{"line":1}\n{"line":1}\n')
