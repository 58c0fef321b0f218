"""One queue of results that two deliverers send to Apple's or Google's protocol. Deliverers, the service and connections are killed meanwhile."""
import json
import subprocess
import sys
import time

from bench import children

from . import deliveries
from .commands import Failure
from .delivering import Delivery
from .push_log import PushLog, token
from .push_server import PushServer

SERVICES = ["apns", "fcm"]
#: The share of payloads that the service refuses.
_DROPS = 0.02
#: Slow enough that faults hit working deliverers.
_RATE = "300/s"


class Pushing(Delivery):
    JOBS = [4, 8, 32]

    def __init__(self, *words):
        self._is_dropped = []
        super().__init__(*words)
        # Each queue has one of each.
        self._first = self._draw.sample(["connections", "service", "deliverer"], 3)

    def _line(self, number, text):
        self._is_dropped.append(self._draw.random() < _DROPS)
        device = token(number, self._is_dropped[number], self._mode)
        alert = f"News {number}"
        if self._mode == "apns":
            payload = {"device": device, "aps": {"alert": alert}, "text": text}
        else:
            payload = {"message": {"token": device, "notification": {"title": alert}, "data": {"text": text}}}
        return json.dumps(payload).encode()

    def _begin(self):
        self._invalid = self._folder / "invalid"
        self._server = PushServer(self._commands.attache, self._mode, self._folder / "keys", self._log)
        self._proxy = children.start([sys.executable, "-m", "crash.proxy", self._log, self._server.port], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=True)

    def _end(self):
        self._server.close()
        children.end(self._proxy)
        self._proxy.stdin.close()
        self._proxy.stdout.close()

    def _ask_proxy(self, *words):
        print(*words, file=self._proxy.stdin, flush=True)
        return int(self._proxy.stdout.readline())

    def _way(self):
        label = f"d{self.restarts}"
        host = f"localhost:{self._ask_proxy('listen', label)}"
        way = [f"--{self._mode}", f"--{self._mode}-host", host, *self._server.flags, "--invalid-tokens", self._invalid, "--rate", _RATE]
        return label, [*way, "--apns-token-path", "/device"] if self._mode == "apns" else way

    def _fault(self):
        return self._first.pop() if self._first else self._draw.choices(["connections", "service", "deliverer", "all", "drain"], [8, 5, 6, 1, 1])[0]

    def _break(self, what, deliverer, killer):
        if what == "connections":
            if deliverer.poll() is None and self._ask_proxy("cut", deliverer.label, self._draw.randrange(1, 12)):
                killer.note(f"connections, {self._mode}")
            return
        self._server.wait_for_request()
        time.sleep(self._draw.expovariate(1 / 0.02))
        if self._server.kill():
            killer.note(f"a service, {self._mode}")
        self._note("service killed")
        time.sleep(self._draw.choice([0, 0, 0.2]))
        self._server.start()

    def _note_end(self, name):
        self._note(f"ended {name}")

    def _check_sent(self):
        numbers = range(len(self._is_dropped))
        statuses = self._statuses()
        self.repeated = deliveries.check(deliveries.Log(PushLog(self._log.read_text()).notes), dict.fromkeys(numbers, 0), statuses)
        wrong = [number for number in numbers if statuses[number] != ("dropped" if self._is_dropped[number] else "delivered")]
        if wrong:
            raise Failure(f"{len(wrong)} payloads have another outcome than the service's answer: {wrong[:5]}")
        listed = {json.loads(line)["token"] for line in self._invalid.read_text().splitlines()}
        if listed != {token(number, True, self._mode) for number in numbers if self._is_dropped[number]}:
            raise Failure(f"the list of invalid tokens is not that of the refused payloads: {sorted(listed)[:5]}")
