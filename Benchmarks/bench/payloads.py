"""Push payloads of about 1 KB, the same bytes for the same number."""
import json
import random

NAMES = ["Zoë Müller", "Łukasz Żak", "Иван Петров", "佐藤 花子", "김민준", "نور الهدى", "Dvořák & Søn", "O'Brien"]
BODIES = ["Neue Bilder von der Küste 🌊", "Вам пришло видео: «Лето на даче» 🎬", "新しい写真が届きました 📷", "Your order is on its way 📦",
          "L’album « Été à la mer » est prêt", "Caf\u00e9 \"Central\": 20\u00a0% off \\o/", "👩‍👩‍👧‍👦 Familientreffen", "one line\nand another\tone"]
WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua".split()
FRAMES = 61  # a prime: it meets the ten types of media in every combination


def _frame(number):
    """A payload in two parts: before its URL and number, and after them."""
    chance = random.Random(number)
    alert = {"title": chance.choice(NAMES), "subtitle": f"№ {number}", "body": BODIES[number % len(BODIES)]}
    aps = {"alert": alert, "badge": chance.randrange(1, 30), "sound": "default", "thread-id": f"chat-{chance.randrange(500)}",
           "category": "MEDIA_MESSAGE", "interruption-level": "active", "relevance-score": round(chance.random(), 3)}
    rest = {"sent-at": 1_700_000_000.25 + number, "sender": {"id": f"{chance.getrandbits(128):032x}", "name": chance.choice(NAMES),
            "verified": chance.random() < 0.5, "avatar": None, "roles": ["member", "редактор"]}, "gcm.message_id": f"{chance.getrandbits(53):016d}",
            "deep-link": f"myapp://chat/{chance.randrange(500)}?utm_source=push", "experiments": {f"bucket-{k}": chance.randrange(100) for k in range(4)},
            "preview": " ".join(chance.choice(WORDS) for _ in range(56))}
    text = [json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode() for part in (aps, rest)]
    return text[0][:-1], text[1][1:]


_frames = [_frame(number) for number in range(FRAMES)]


def payload(number, url=None, mutable=True):
    """One payload without its line feed. `url` is its media URL, and `mutable` says whether it asks for a service extension."""
    aps, rest = _frames[number % FRAMES]
    return b'{"aps":%b%b},%b"id":%d,%b' % (aps, b',"mutable-content":1' if mutable else b"", b'"image":"%b",' % url.encode() if url else b"", number, rest)


def passing(number):
    """A payload that passes through. Every other one names a picture but does not ask for a service extension."""
    return payload(number, url=f"https://cdn.example.com/{number}/photo.jpg" if number % 2 else None, mutable=False)


def _message(number):
    """An FCM message, after the text before its token and the first 22 characters of that."""
    chance = random.Random(number)
    token = ":APA91b" + "".join(chance.choice("0123456789abcdefABCDEF-_") for _ in range(134))
    data = {"sent-at": str(1_700_000_000 + number), "sender": f"{chance.getrandbits(128):032x}", "deep-link": f"myapp://chat/{chance.randrange(500)}",
            "preview": " ".join(chance.choice(WORDS) for _ in range(99))}
    rest = {"notification": {"title": chance.choice(NAMES), "body": BODIES[number % len(BODIES)]}, "data": data}
    return b'%b",%b}' % (token.encode(), json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()[1:])


_messages = [_message(number) for number in range(FRAMES)]


def message(number):
    """A message of about 1 KB for FCM's HTTP v1 API, to a device of its own and without media."""
    return b'{"message":{"token":"%022d%b' % (number, _messages[number % FRAMES])
