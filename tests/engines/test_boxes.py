import pytest

from icpo.engines.vllm.boxes import end_of_box


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("so \\boxed{7}. And", "so \\boxed{7}"),
        ("so boxed{7} and boxed{8}", "so boxed{7}"),
        ("\\boxed{\\frac{1}{2}} then }", "\\boxed{\\frac{1}{2}}"),
        ("as boxed{<number>}: boxed{3}", "as boxed{<number>}: boxed{3}"),
        ("\\boxed {5}", "\\boxed {5}"),
    ],
)
def test_the_first_closed_box_ends_the_text(text, wanted):
    assert text[: end_of_box(text)] == wanted
    assert end_of_box(text) is not None


@pytest.mark.parametrize("text", ["", "no box {7}", "\\boxed{7", "\\boxed{\\frac{1}{2}", "boxed{<number>}"])
def test_no_box_is_closed(text):
    assert end_of_box(text) is None
