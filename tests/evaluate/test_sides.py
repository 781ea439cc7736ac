from envace_sdk.evaluate.sides import side_by_side


def test_equal_lines_stand_on_both_sides_unmarked():
    left, right = side_by_side(["a", "b"], ["a", "b"])
    assert left == right == [("a", False), ("b", False)]


def test_a_changed_line_is_marked_on_both_sides():
    left, right = side_by_side(["a", "b", "c"], ["a", "x", "c"])
    assert left == [("a", False), ("b", True), ("c", False)]
    assert right == [("a", False), ("x", True), ("c", False)]


def test_a_line_that_one_side_lacks_is_marked_on_the_other():
    assert side_by_side(["a"], ["a", "b"]) == ([("a", False)], [("a", False), ("b", True)])
