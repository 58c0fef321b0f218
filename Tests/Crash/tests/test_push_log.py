"""The log of a push service becomes notes whose checks find violations."""
import unittest

from crash.commands import Failure
from crash.deliveries import Log, check
from crash.push_log import PushLog, token

BEGIN = "attache origin: flags: --cacert root.pem\ndeliverer d1 2\ndeliverer d2 2\nstart 1.1.1.1:5 d1\nstart 1.1.1.1:6 d2\n"


def request(number, port=5, answer="200", is_dropped=False):
    device = token(number, is_dropped, "apns")
    return f"attache origin: 1.1.1.1:{port} POST /3/device/{device} to {device}: {answer}\n"


def checked(lines, statuses):
    return check(Log(PushLog(BEGIN + lines).notes), dict.fromkeys(statuses, 0), statuses)


class PushLogs(unittest.TestCase):
    def test_once_is_right(self):
        refusal = request(1, answer="400 BadDeviceToken", is_dropped=True)
        self.assertEqual(checked(request(0) + refusal, {0: "delivered", 1: "dropped"}), 0)

    def test_never_is_found(self):
        with self.assertRaisesRegex(Failure, "payload 1, which the queue calls delivered, was never sent"):
            checked(request(0), {0: "delivered", 1: "delivered"})

    def test_another_outcome_is_found(self):
        with self.assertRaisesRegex(Failure, r"was answered with \['drop'\]"):
            checked(request(0, answer="404 UNREGISTERED"), {0: "delivered"})

    def test_twice_is_found_without_a_fault(self):
        for between in ("", "ended d1\n", "ended d1\nservice killed\n", "cut 1.1.1.1:6\n"):
            with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them"):
                checked(request(0) + between + "start 1.1.1.1:7 d1\n" + request(0, 7), {0: "delivered"})

    def test_twice_is_right_after_a_fault(self):
        for between in ("cut 1.1.1.1:5\n", "service killed\n", "killed d1 9\n"):
            self.assertEqual(checked(request(0) + request(1) + between + "start 1.1.1.1:7 d2\n" + request(0, 7) + request(1, 7),
                                     {0: "delivered", 1: "delivered"}), 2)

    def test_twice_is_right_for_an_access_token_that_the_service_has_forgotten(self):
        self.assertEqual(checked(request(0, answer="401") + request(0), {0: "delivered"}), 1)

    def test_an_answer_before_the_last_jobs_of_a_connection_is_not_lost(self):
        with self.assertRaisesRegex(Failure, "payload 0, .* nothing was killed that had 2 of them"):
            checked(request(0) + request(1) + request(2) + "cut 1.1.1.1:5\nstart 1.1.1.1:7 d1\n" + request(0, 7),
                    {0: "delivered", 1: "delivered", 2: "delivered"})

    def test_what_the_queue_has_as_delivered_is_not_sent_again(self):
        with self.assertRaisesRegex(Failure, "when the queue had it as delivered"):
            checked(request(0) + "delivered 9 0\nkilled d1 10\n" + request(0, 6), {0: "delivered"})

    def test_an_address_that_returns_is_another_connection(self):
        self.assertEqual(checked("cut 1.1.1.1:5\nstart 1.1.1.1:5 d1\n" + request(0), {0: "delivered"}), 0)
        with self.assertRaisesRegex(Failure, "nothing was killed that had 2 of them"):
            checked("cut 1.1.1.1:5\nstart 1.1.1.1:5 d1\n" + request(0) + request(0, 6), {0: "delivered"})

    def test_a_refusal_that_nobody_expects_is_found(self):
        for line in (request(0, answer="403 InvalidProviderToken"), "attache origin: 1.1.1.1:9 POST /token: 400 invalid_grant: text\n"):
            with self.assertRaisesRegex(Failure, "the service refuses a request"):
                checked(line, {0: "delivered"})
        with self.assertRaisesRegex(Failure, "did not come through the proxy"):
            checked(request(0, 9), {0: "delivered"})
