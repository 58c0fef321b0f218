"""A command that does not do its work has no figure."""
import hashlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bench.checking import AttacheCheck, Expected, HashedNames, PeerCheck, WrongOutput, check
from bench.media import Medium
from bench.work import Generated

URL = "https://cdn.example/photo.jpg"


class Checked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.store = self.folder / "store"
        self.store.mkdir()
        (self.folder / "photo.jpg").write_bytes(b"a picture")
        self.medium = Medium(self.folder / "photo.jpg")
        self.raw = [b'{"id":%d,"image":"%b"}' % (number, URL.encode()) for number in range(3)]
        self.expected = [Expected(self.raw[0], self.medium), Expected(self.raw[1]), Expected(self.raw[2], self.medium)]

    def assertRefused(self, complaint, lines, checker):
        with self.assertRaisesRegex(WrongOutput, complaint):
            check(io.BytesIO(b"".join(line + b"\n" for line in lines)), self.expected, checker)


class Attache(Checked):
    def lines(self, **changed):
        digest = hashlib.sha256(b"a picture").hexdigest()
        path = self.store / f"{digest}.jpg"
        path.write_bytes(changed.pop("content", b"a picture"))
        attachment = {"url": f"file://{path}", "type": "public.jpeg", "mime": "image/jpeg", "size": 9, "sha256": digest, "source": URL, **changed}
        member = b',"attache":%b}' % json.dumps({"attachments": [attachment]}).encode()
        return [self.raw[0][:-1] + member, self.raw[1], self.raw[2][:-1] + member]

    def refused(self, complaint, lines):
        self.assertRefused(complaint, lines, AttacheCheck(self.store))

    def test_what_is_right_passes(self):
        check(io.BytesIO(b"".join(line + b"\n" for line in self.lines())), self.expected, AttacheCheck(self.store))

    def test_a_line_that_is_missing(self):
        self.refused("fewer lines", self.lines()[:2])

    def test_a_line_too_many(self):
        self.refused("more lines", self.lines() + [b"{}"])

    def test_two_lines_in_another_order(self):
        first, second, third = self.lines()
        self.refused("line 1", [second, first, third])
        self.refused("line 1", [third, second, first])

    def test_a_payload_without_its_attachment(self):
        self.refused("line 3: is not the original with one member more", self.lines()[:2] + [self.raw[2]])

    def test_a_byte_changed_in_the_original(self):
        lines = self.lines()
        self.refused("line 1: is not the original", [lines[0].replace(b'"id":0', b'"id":9'), *lines[1:]])

    def test_a_line_that_was_to_pass(self):
        lines = self.lines()
        self.refused("line 2: was to pass", [lines[0], lines[1].replace(b":", b": "), lines[2]])

    def test_another_type_size_hash_or_source(self):
        for changed, complaint in [({"mime": "image/png"}, "is called image/png"), ({"type": "public.png"}, "public.png"), ({"size": 8}, "the size 8"),
                                   ({"sha256": "0" * 64}, "another hash"), ({"source": "https://other.example/"}, "the source")]:
            self.refused(complaint, self.lines(**changed))

    def test_a_file_with_other_bytes(self):
        self.refused("is not photo.jpg", self.lines(content=b"a p!cture"))

    def test_a_file_outside_the_store(self):
        self.refused("is not in the store", self.lines(url="file:///etc/hostname"))

    def test_a_last_line_that_is_cut_off(self):
        with self.assertRaisesRegex(WrongOutput, "line 3: is cut off"):
            check(io.BytesIO(b"\n".join(self.lines())), self.expected, AttacheCheck(self.store))


class Peer(Checked):
    def lines(self, content=b"a picture", **changed):
        found = []
        for number, raw in enumerate(self.raw):
            payload = json.loads(raw)
            if number != 1:
                path = self.store / f"{number}.jpg"
                path.write_bytes(content)
                payload["attachment"] = {"path": str(path), "type": "image/jpeg", "size": 9, **changed}
            found.append(raw if number == 1 else json.dumps(payload).encode())
        return found

    def refused(self, complaint, lines):
        self.assertRefused(complaint, lines, PeerCheck(str(self.store)))

    def test_what_is_right_passes_however_it_is_written(self):
        check(io.BytesIO(b"".join(line + b"\n" for line in self.lines())), self.expected, PeerCheck(str(self.store)))

    def test_no_attachment(self):
        self.lines()
        self.refused("line 1: has no attachment", self.raw)

    def test_another_payload(self):
        lines = self.lines()
        self.refused("line 1: is not the original", [lines[2], lines[1], lines[0]])

    def test_another_type_or_size(self):
        self.refused("is called text/html", self.lines(type="text/html"))
        self.refused("the size 8", self.lines(size=8))

    def test_a_file_with_other_bytes(self):
        self.refused("is not photo.jpg", self.lines(content=b"a p!cture"))
        self.refused("is not photo.jpg", self.lines(content=b"a"))

    def test_files_that_nobody_asked_for(self):
        lines = self.lines()
        (self.store / "more").touch()
        self.refused("3 files for 2", lines)

    def test_files_in_folders_of_the_store(self):
        (self.store / "0").mkdir()
        lines = self.lines()
        (self.store / "0/more").touch()
        self.refused("3 files for 2", lines)

    def test_a_name_without_the_hash(self):
        self.assertRefused("line 1: photo.jpg has another hash", self.lines(), HashedNames(str(self.store)))


class Campaign(Checked):
    """Each of many lines names one picture, and only the first member is parsed; the others must equal it."""

    def setUp(self):
        super().setUp()
        self.count = 5_000
        digest = hashlib.sha256(b"a picture").hexdigest()
        self.path = self.store / f"{digest}.jpg"
        self.path.write_bytes(b"a picture")
        attachment = {"url": f"file://{self.path}", "type": "public.jpeg", "mime": "image/jpeg", "size": 9, "sha256": digest, "source": URL}
        self.raw = [b'{"id":%d,"nested":{"a":{}},"image":"%b"}' % (number, URL.encode()) for number in range(self.count)]
        self.lines = [raw[:-1] + b',"attache":%b}' % json.dumps({"attachments": [attachment]}).encode() for raw in self.raw]
        self.expected = Generated(self.count, lambda number: Expected(self.raw[number], self.medium))

    def refused(self, complaint, lines):
        self.assertRefused(complaint, lines, AttacheCheck(self.store))

    def changed(self, number, line):
        return [*self.lines[:number], line, *self.lines[number + 1:]]

    def test_what_is_right_passes_and_its_member_is_read_once(self):
        with mock.patch.object(AttacheCheck, "_member", autospec=True, side_effect=AttacheCheck._member) as member:
            check(io.BytesIO(b"".join(line + b"\n" for line in self.lines)), self.expected, AttacheCheck(self.store))
        member.assert_called_once()

    def test_a_line_that_is_missing(self):
        for number in (0, 1, 2_501):
            self.refused(f"line {number + 1}: is not the original", [*self.lines[:number], *self.lines[number + 1:]])
        self.refused("fewer lines than 5000", self.lines[:-1])

    def test_a_line_that_comes_twice(self):
        self.refused("line 2503: is not the original", [*self.lines[:2_502], *self.lines[2_501:]])
        self.refused("more lines than 5000", [*self.lines, self.lines[-1]])

    def test_two_lines_in_another_order(self):
        for number in (0, 2_501, self.count - 2):
            after = self.lines[number + 1], self.lines[number]
            self.refused(f"line {number + 1}: is not the original", [*self.lines[:number], *after, *self.lines[number + 2:]])

    def test_a_byte_changed_in_one_original(self):
        for number in (0, 2_501, self.count - 1):
            self.refused(f"line {number + 1}: is not the original", self.changed(number, self.lines[number].replace(b"nested", b"nestef")))

    def test_one_payload_without_its_attachment(self):
        self.refused("line 2502: is not the original with one member more", self.changed(2_501, self.raw[2_501]))

    def test_one_file_that_is_another(self):
        other = self.store / ("0" * 64 + ".jpg")
        other.write_bytes(b"a p!cture")
        self.refused("line 2502: .* is not photo.jpg", self.changed(2_501, self.lines[2_501].replace(self.path.name.encode(), other.name.encode())))

    def test_one_file_outside_the_store(self):
        self.refused("line 2502: .* is not in the store", self.changed(2_501, self.lines[2_501].replace(b"file://", b"file:///etc")))

    def test_one_size_that_is_another(self):
        self.refused("line 2502: photo.jpg has the size 8", self.changed(2_501, self.lines[2_501].replace(b'"size": 9', b'"size": 8')))


if __name__ == "__main__":
    unittest.main()
