"""The arithmetic, on figures that can be computed by hand."""
import unittest

from bench.figures import median, paired_ratio, percentile, slope
from bench.result import Goal, amount


class Figures(unittest.TestCase):
    def test_the_median_of_an_even_number_lies_between_the_two_in_the_middle(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)

    def test_a_percentile_is_one_of_the_values(self):
        self.assertEqual([percentile(range(1, 101), share) for share in (0, 0.5, 0.99, 1)], [1, 50, 99, 100])

    def test_the_slope_is_that_of_the_line_through_the_points(self):
        self.assertAlmostEqual(slope([(0, 7), (1_000_000, 7 + 2_000_000)]), 2)
        self.assertAlmostEqual(slope([(1, 2), (2, 1), (3, 4), (4, 3)]), 0.6)

    def test_the_slope_of_one_point_is_none(self):
        self.assertEqual(slope([(5, 9)]), 0)

    def test_a_ratio_pairs_the_rounds_so_that_a_slow_round_counts_on_both_sides(self):
        self.assertEqual(paired_ratio([20, 2, 20], [10, 1, 10]), 2)

    def test_rounds_that_are_missing_are_no_ratio(self):
        with self.assertRaises(ValueError):
            paired_ratio([1, 2], [1])


class Goals(unittest.TestCase):
    def test_a_goal_is_met_at_its_bound(self):
        self.assertEqual([Goal("", value, 2).verdict for value in (1.99, 2)], ["missed", "met"])
        self.assertEqual([Goal("", value, 2, at_least=False).verdict for value in (2, 2.01)], ["met", "missed"])

    def test_numbers_have_three_digits(self):
        self.assertEqual([amount(value) for value in (0.0123, 0.5, 1, 1.8, 12.34, 1234.5)], ["0.012", "0.50", "1", "1.80", "12.3", "1,234"])


if __name__ == "__main__":
    unittest.main()
