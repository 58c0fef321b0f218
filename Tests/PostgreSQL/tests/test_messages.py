"""Where the rounds of PostgreSQL's protocol begin and end."""
import struct
import unittest

from postgresql.messages import Answers, Rounds, is_request_for_encryption, startup_length


def message(kind, text=b""):
    return kind + struct.pack(">I", 4 + len(text)) + text


PARSE, BIND, EXECUTE, SYNC = message(b"P", b"a\0select\0\0\0"), message(b"B", b"x" * 300), message(b"E", b"\0\0\0\0\0"), message(b"S")
ROUND = PARSE + BIND + EXECUTE + SYNC
ROW, DONE, READY = message(b"D", b"S" * 40), message(b"C", b"SELECT 1\0"), message(b"Z", b"I")


class RoundsOfClients(unittest.TestCase):
    def test_a_round_ends_with_sync_or_a_simple_query(self):
        query = message(b"Q", b"select 1\0")
        self.assertEqual(Rounds().add(ROUND + query + ROUND), [(ROUND, True), (query, True), (ROUND, True)])

    def test_nothing_of_a_round_passes_before_it_is_complete(self):
        rounds, data = Rounds(), ROUND + ROUND
        found = [(place, part) for place in range(len(data)) for part in rounds.add(data[place:place + 1])]
        self.assertEqual(found, [(len(ROUND) - 1, (ROUND, True)), (2 * len(ROUND) - 1, (ROUND, True))])

    def test_what_the_other_side_waits_for_passes_at_once(self):
        for kind in (b"p", b"H", b"X", b"d", b"c"):
            self.assertEqual(Rounds().add(message(kind, b"text")), [(message(kind, b"text"), False)])
        self.assertEqual(Rounds().add(PARSE + message(b"H")), [(PARSE + message(b"H"), False)])

    def test_a_large_message_is_one(self):
        large = message(b"B", b"S" * 1_000_000) + SYNC
        rounds = Rounds()
        found = [part for place in range(0, len(large), 65_536) for part in rounds.add(large[place:place + 65_536])]
        self.assertEqual(found, [(large, True)])


class AnswersOfServers(unittest.TestCase):
    def started(self):
        answers = Answers()
        self.assertEqual(answers.add(message(b"R", bytes(4)) + READY), (message(b"R", bytes(4)) + READY, False))
        return answers

    def test_all_passes_as_long_as_no_round_is_marked(self):
        answers = self.started()
        answers.expect()
        self.assertEqual(answers.add(ROW + DONE + READY), (ROW + DONE + READY, False))
        self.assertEqual(answers.add(ROW[:3]), (b"", False))
        self.assertEqual(answers.add(ROW[3:]), (ROW, False))

    def test_the_answer_to_a_marked_round_is_held_back_and_the_earlier_ones_pass(self):
        answers = self.started()
        answers.expect()
        answers.expect()
        answers.mark()
        self.assertEqual(answers.add(ROW + READY + ROW), (ROW + READY, False))
        self.assertEqual(answers.add(DONE), (b"", False))
        self.assertEqual(answers.add(READY), (b"", True))

    def test_a_round_can_be_marked_when_the_connection_starts(self):
        answers = Answers()
        answers.expect()
        answers.mark()
        self.assertEqual(answers.add(READY + DONE), (READY, False))
        self.assertEqual(answers.add(READY), (b"", True))


class FirstMessages(unittest.TestCase):
    def test_requests_for_encryption_are_no_start(self):
        for code, wanted in ((80877103, True), (80877104, True), (196608, False), (80877102, False)):
            head = struct.pack(">II", 8, code)
            self.assertEqual((startup_length(head), is_request_for_encryption(head)), (8, wanted))

    def test_a_length_that_no_client_sends_is_refused(self):
        for length in (0, 7, 10_001, 0xFFFFFFFF):
            with self.assertRaises(OSError):
                startup_length(struct.pack(">II", length, 196608))
