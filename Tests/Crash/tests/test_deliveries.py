"""The checks of deliveries find violations."""
import unittest

from crash.commands import Failure
from crash.deliveries import Log, check

BEGIN = "deliverer 10\ndeliverer 20\nstart 11 10\nstart 21 20\n"
OK = "received 11 0 7 100\nanswering 11 0 ok\nanswered 11 0\n"


def checked(notes, status="delivered", is_each=False):
    return check(Log(BEGIN + notes, is_each), {0: 7}, {0: status} if status else {})


class Deliveries(unittest.TestCase):
    def test_once_is_right(self):
        self.assertEqual(checked(OK), 0)
        self.assertEqual(checked(OK.replace("ok", "drop"), "dropped"), 0)

    def test_never_is_found(self):
        with self.assertRaisesRegex(Failure, "payload 0, which the queue calls delivered, was never sent"):
            checked("")

    def test_other_bytes_are_found(self):
        with self.assertRaisesRegex(Failure, "other bytes"):
            checked(OK.replace(" 7 ", " 8 "))

    def test_a_status_that_nobody_answered_is_found(self):
        for status in ("dropped", "poison", None):
            with self.assertRaisesRegex(Failure, r"was answered with \['ok'\]"):
                checked(OK, status)

    def test_twice_is_found_when_nobody_was_killed(self):
        with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them"):
            checked(OK + "received 21 0 7 200\nanswering 21 0 ok\nanswered 21 0\n")

    def test_twice_is_right_after_a_retry_or_a_lost_answer(self):
        again = "received 21 0 7 200\nanswering 21 0 ok\nanswered 21 0\n"
        for first in (OK.replace("ok", "retry"), "received 11 0 7 100\nkilled 11 150\n", "received 11 0 7 100\ndying 11\n",
                      "received 11 0 7 100\nanswering 11 0 ok\nkilled 11 150\n", OK + "killed 10 150\n"):
            self.assertEqual(checked(first + again), 1)

    def test_an_answered_payload_is_not_sent_again_because_its_sender_was_killed(self):
        again = "received 21 0 7 200\nkilled 21 250\nreceived 21 0 7 300\n"
        with self.assertRaisesRegex(Failure, "after an answer that nobody's death took away"):
            checked(OK + "killed 11 150\n" + again)

    def test_the_exit_status_of_a_killed_sender_is_lost(self):
        self.assertEqual(checked(OK + "killed 11 150\nreceived 21 0 7 200\nanswering 21 0 ok\nanswered 21 0\n", is_each=True), 1)

    def test_what_the_queue_has_as_delivered_is_not_sent_again(self):
        with self.assertRaisesRegex(Failure, "when the queue had it as delivered"):
            checked(OK + "delivered 140 0\nkilled 10 150\nreceived 21 0 7 200\nanswering 21 0 ok\nanswered 21 0\n")

    def test_what_was_in_the_pipe_of_a_killed_deliverer_may_come_late(self):
        self.assertEqual(checked("killed 20 50\n" + OK + "delivered 140 0\nreceived 21 0 7 200\n"), 1)
        self.assertEqual(checked("start 31 1\n" + OK + "delivered 140 0\nreceived 31 0 7 200\n"), 1)

    def test_the_kill_of_an_endpoint_excuses_what_it_had_not_answered_of_any_deliverer(self):
        begin = "deliverer d1\ndeliverer d2\nstart e1/d1 d1\nstart e1/d2 d2\nstart e2/d1 d1\nstart e2/d2 d2\n"
        for first in ("received e1/d1 0 7 100\n", "received e1/d2 0 7 100\nanswering e1/d2 0 ok\n"):
            again = "received e2/d2 0 7 200\nanswering e2/d2 0 ok\nanswered e2/d2 0\n"
            self.assertEqual(checked(begin + first + "killed e1 150\n" + again), 1)
            with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them"):
                checked(begin + first + again)
            with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them"):
                checked(begin + "killed e1 150\n" + first.replace("e1", "e2") + again)

    def test_an_answered_payload_is_not_sent_again_because_its_endpoint_was_killed(self):
        begin = "deliverer d1\nstart e1/d1 d1\nreceived e1/d1 0 7 100\nanswering e1/d1 0 ok\nanswered e1/d1 0\nkilled e1 150\nstart e2/d1 d1\n"
        with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them"):
            checked(begin + "received e2/d1 0 7 200\nanswering e2/d1 0 ok\nanswered e2/d1 0\n")

    def test_twice_is_right_if_the_queue_was_out_of_reach_when_the_first_came(self):
        again = "received 21 0 7 30000000000\nanswering 21 0 ok\nanswered 21 0\n"
        for begin, end in ((1, 2), (4_900_000_000, 15_000_000_000)):
            self.assertEqual(checked(OK + again + f"disturbed {begin} {end}\n"), 1)
        for begin, end in ((5_000_000_200, 6_000_000_000), (29_000_000_000, 30_000_000_000)):
            with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them|after an answer"):
                checked(OK + again + f"disturbed {begin} {end}\n")

    def test_silence_is_found(self):
        with self.assertRaisesRegex(Failure, "not answered by a sender that was not killed"):
            checked("received 11 0 7 100\nanswering 11 0 ok\n")
