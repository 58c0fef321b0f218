"""A sender as users write them, which records what it receives and answers: the crash test starts it with `attache deliver`, and kills it.

    sender.py LOG line|envelope|each SECONDS      SECONDS is the mean time that a payload takes

deliveries.py says what the notes are. Those of one write(2) to the end of LOG do not mix with other senders', and outlive a kill.
"""
import json
import os
import random
import sys
import time
import zlib

#: Shares of a thousand: payloads that are retried, refused for good, or whose sender dies.
_RETRIES, _DROPS, _DEATHS = 15, 10, 4


class Log:
    def __init__(self, path, name):
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._name = name

    def note(self, *notes):
        os.write(self._file, "".join(" ".join(map(str, (note[0], self._name, *note[1:]))) + "\n" for note in notes).encode())


def payload(line, mode):
    """The number of a line's payload, its text, and its id for an answer."""
    if mode != "envelope":
        return json.loads(line)["id"], line, None
    envelope = json.loads(line)
    return envelope["payload"]["id"], json.dumps(envelope["payload"], separators=(",", ":")).encode(), envelope["id"]


def received(log, lines, mode):
    found = [payload(line, mode) for line in lines]
    log.note(*(("received", number, zlib.crc32(text), time.monotonic_ns()) for number, text, _ in found))
    return [(number, name) for number, _, name in found]


def drawn():
    """An answer."""
    draw = random.randrange(1000)
    return "retry" if draw < _RETRIES else "drop" if draw < _RETRIES + _DROPS else "ok"


def chosen(log):
    """An answer, or sometimes none."""
    if random.randrange(1000) < _DEATHS:
        log.note(("dying",))
        os._exit(3)
    return drawn()


def answer_line(answer, name):
    text = {"ok": "ok", "retry": "retry 20ms", "drop": "drop nobody is there"}[answer]
    return (text if name is None else json.dumps({"id": name, "answer": text})) + "\n"


def serve(log, mode, seconds):
    """Answers line by line, or several at once; answers with ids in any order."""
    rest = b""
    while data := os.read(0, 65536):
        *lines, rest = (rest + data).split(b"\n")
        waiting = received(log, lines, mode) if lines else []
        if mode == "envelope":
            random.shuffle(waiting)
        while waiting:
            count = random.choice([1, 1, 1, len(waiting)])
            now, waiting = waiting[:count], waiting[count:]
            time.sleep(random.expovariate(1 / (seconds * count)))
            answers = [(number, name, chosen(log)) for number, name in now]
            log.note(*(("answering", number, answer) for number, _, answer in answers))
            os.write(1, "".join(answer_line(answer, name) for _, name, answer in answers).encode())
            log.note(*(("answered", number) for number, _, _ in answers))


def serve_one(log, seconds):
    """Answers with its exit status, or with a signal to itself."""
    (number, _), = received(log, [sys.stdin.buffer.read().rstrip(b"\n")], "each")
    time.sleep(random.expovariate(1 / seconds))
    if random.randrange(1000) < _DEATHS:
        log.note(("dying",))
        os.kill(os.getpid(), 9)
    answer = drawn()
    log.note(("answering", number, answer), ("answered", number))
    os._exit({"ok": 0, "retry": 75, "drop": 1}[answer])


def main():
    path, mode, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    log = Log(path, os.getpid())
    log.note(("start", os.getppid()))
    try:
        if mode == "each":
            serve_one(log, seconds)
        else:
            serve(log, mode, seconds)
    except BrokenPipeError:
        pass  # whoever wanted the answer has gone


if __name__ == "__main__":
    main()
