"""Files with different bytes."""
import unittest

from bench.media import FIXTURES
from bench.programs import SOURCES
from bench.variants import variant


class Variants(unittest.TestCase):
    def test_each_number_has_content_of_its_own_and_nearly_the_size_of_all(self):
        for extension, name in FIXTURES.items():
            content = (SOURCES.parent / "Fixtures/media" / name).read_bytes()
            first, second = (variant(content, extension, number) for number in (1, 2))
            self.assertEqual(len({content, first, second}), 3, extension)
            self.assertLess(len(first) - len(content), 30, extension)


if __name__ == "__main__":
    unittest.main()
