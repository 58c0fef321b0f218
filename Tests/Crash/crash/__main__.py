"""The crash test's command line; scripts/crash builds what it needs and calls it."""
import argparse
import collections
import contextlib
import random
import sys
import time
from pathlib import Path

from bench import children
from bench.room import Room

from . import commits, faults, payloads
from .commands import Failure
from .delivering import MODES, Delivery
from .killing import Killer
from .origin import Origin
from .pushing import SERVICES, Pushing
from .trial import Trial

ROOT = Path(__file__).resolve().parents[3]
_ROOM = 1 << 30


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/crash", description="Kills the workers and deliverers of a queue repeatedly, and checks that nothing is lost.")
    parser.add_argument("kills", type=int, metavar="N", help="how many kills")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of payloads, media and kills (1); the moments are also the machine's")
    parser.add_argument("--of", choices=["work", "deliver", "push", "postgresql"], action="append", dest="parts",
                        help="only workers; only deliverers, senders and the HTTP endpoint, where each way of sending gets a share of the kills; only deliverers to "
                             "Apple and Google, the services and their connections, where each service gets half of the kills (these three); or "
                             "N faults of processes, servers and connections of a queue in PostgreSQL")
    parser.add_argument("--payloads", type=int, default=2_000, metavar="N", help="payloads in a queue (2000)")
    parser.add_argument("--poison-after", type=int, default=1_000_000, metavar="N",
                        help="attache work's (1000000: a kill from outside says nothing against a payload); 0 is its default, and payloads may die then")
    parser.add_argument("--fault", choices=[fault.name for fault in faults.FAULTS], metavar="NAME", help="of --of postgresql: only this fault")
    parser.add_argument("--asynchronous", action="store_true",
                        help="of --of postgresql: no commit waits for a standby. What was acknowledged is lost then, and the test must notice: it succeeds "
                             "if it finds a loss")
    parser.add_argument("--attache", type=Path, required=True, metavar="PATH", help="the attache that is tested")
    chosen = parser.parse_args()
    if chosen.kills < 1 or chosen.payloads < 20:
        parser.error("there must be a kill, and 20 payloads")
    return chosen


class World:
    """What all trials have in common."""

    def __init__(self, attache, folder, count, seed):
        self.attache, self.folder = attache, folder
        media = folder / "media"
        payloads.write_media(media, ROOT / "Fixtures/media/photo.jpg", seed)
        self.origin = Origin(attache, media, folder / "origin.log")
        self.payloads = payloads.made(count, seed, self.origin.url)
        payloads.write_busy(media, self.payloads)
        self.input = folder / "payloads.ndjson"
        self.input.write_bytes(b"".join(payload.line for payload in self.payloads))
        self.expected = None

    def close(self):
        self.origin.close()


def tested(world, chosen):
    """Runs trials until this many kills were made."""
    draw = random.Random(f"kills {chosen.seed}")
    store = world.folder / "stores/store"
    killer = Killer(draw, world.folder / "queue", store)
    begin, kills, trials = time.monotonic(), 0, []
    while kills < chosen.kills:
        trial = Trial(world, world.folder / "queue", store, draw, chosen.poison_after)
        made = trial.run(chosen.kills - kills, killer)
        kills += made
        trials.append(trial)
        print(f"work, queue {len(trials)}: {made} kills, {trial.restarts} workers, all whole", file=sys.stderr, flush=True)
        if not made and len(trials) > 20:
            raise Failure("a queue is done before anybody is killed: give more --payloads")
    seconds = time.monotonic() - begin
    print(f"work: {kills} kills over {len(trials)} queues of {len(world.payloads)} payloads in {seconds:.0f} s: each payload one result, as undisturbed; "
          f"{sum(trial.restarts for trial in trials)} workers started, {sum(trial.drains for trial in trials)} drained, "
          f"{sum(trial.abandoned for trial in trials)} payloads taken from the dead when all were dead, {sum(trial.settled for trial in trials)} seen finished and never fetched again")
    show(killer)


def delivered(part, kind, modes, chosen, folder):
    """Runs queues with each way of sending in turn, until this many kills were made."""
    draw = random.Random(f"{part} {chosen.seed}")
    killer = Killer(draw, folder / "queue", folder / "stores/store")
    begin, kills, trials = time.monotonic(), 0, []
    while kills < chosen.kills:
        mode = modes[len(trials) % len(modes)]
        trial = kind(chosen.attache, folder / "queue", folder / "stores/store", mode, chosen.payloads, draw)
        # Each way has its share.
        made = trial.run(min(chosen.kills - kills, -(-chosen.kills // len(modes))), killer)
        kills += made
        trials.append(trial)
        print(f"{part}, queue {len(trials)} ({mode}): {made} kills, {trial.restarts} deliverers, {trial.repeated} sent again, all accounted for",
              file=sys.stderr, flush=True)
        if not kills and len(trials) > 20:
            raise Failure("all is delivered before anybody is killed: give more --payloads")
    print(f"{part}: {kills} kills over {len(trials)} queues in {time.monotonic() - begin:.0f} s: each payload sent, twice only where its answer was lost "
          f"({sum(trial.repeated for trial in trials)} payloads); {sum(trial.restarts for trial in trials)} deliverers started")
    show(killer)


def besieged(chosen, folder):
    """Runs queues on three servers until this many faults were made."""
    # Only here, since it needs PostgreSQL.
    from .place import SiegeWorld, opened
    from .siege import Siege

    draw = random.Random(f"siege {chosen.seed}")
    begin, done, repeated = time.monotonic(), collections.Counter(), 0
    with contextlib.closing(SiegeWorld(chosen.attache, folder, chosen.payloads, chosen.seed)) as world, opened(not chosen.asynchronous) as place:
        counts = faults.queues(chosen.kills)
        print(f"postgresql: undisturbed run and servers ready in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        for number, count in enumerate(counts):
            began = time.monotonic()
            siege = Siege(world, place, folder / "queue", world.store, f"crash_{number + 1}", draw)
            siege.run(*([], [faults.named(chosen.fault)] * count) if chosen.fault else faults.deck(draw, count))
            done += siege.done
            repeated += siege.repeated
            print(f"postgresql, queue {number + 1}: {count} faults in {time.monotonic() - began:.0f} s, {siege.repeated} payloads sent again, all accounted for",
                  file=sys.stderr, flush=True)
    print(f"postgresql: {chosen.kills} faults over {len(counts)} queues of {len(world.payloads)} payloads in {time.monotonic() - begin:.0f} s: each payload one result, "
          f"as undisturbed, and sent, twice only where its answer was lost ({repeated} payloads); the servers agree")
    for what, count in done.most_common():
        print(f"  {count:6}  {what}")


def show(killer):
    for state, count in killer.counts.most_common():
        print(f"  {count:6}  {state}")


def main():
    chosen = arguments()
    children.exit_on_signals()
    scratch = ROOT / ".build/crash"
    scratch.mkdir(parents=True, exist_ok=True)
    with Room(scratch) as room:
        folder = room.on_disk(_ROOM)
        (folder / "stores").mkdir()
        chosen.attache = chosen.attache.resolve(strict=True)
        try:
            for part in chosen.parts or ["work", "deliver", "push"]:
                run(part, chosen, folder)
        except Failure as failure:
            if chosen.asynchronous and isinstance(failure, commits.Loss):
                print(f"noticed, as it must be: {failure}")
                return 0
            print(f"scripts/crash: seed {chosen.seed}: {failure}", file=sys.stderr)
            return 1
    if chosen.asynchronous:
        print("scripts/crash: nothing was lost, although no commit waited for a standby; the test notices no loss, or needs more faults", file=sys.stderr)
        return 1
    return 0


def run(part, chosen, folder):
    if part == "postgresql":
        besieged(chosen, folder)
        return
    if part == "deliver":
        delivered(part, Delivery, MODES, chosen, folder)
        return
    if part == "push":
        delivered(part, Pushing, SERVICES, chosen, folder)
        return
    with contextlib.closing(World(chosen.attache, folder, chosen.payloads, chosen.seed)) as world:
        world.expected = Trial(world, folder / "queue", folder / "stores/store", random.Random(0), 1).undisturbed()
        tested(world, chosen)


sys.exit(main())
