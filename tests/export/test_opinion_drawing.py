"""The picture of opinion lines: in every form inside its canvas, type that can be read, words that stay words."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.studies import HOSTILE_CLASS, IMAGE, SCRIPT, TURNED
from wfalens.explanation.opinion_line import OpinionLine, OpinionLines, Push
from wfalens.export import draw_opinions
from wfalens.export.canvas import Box, Circle, Text, width_of

FINDINGS = [
    {
        "code": "negation",
        "kind": "not_learned",
        "claim": f"Negation: “not” is one more negative word. {SCRIPT}",
        "examples": [{"text": "not bad at all", "output": [0.93, 0.07], "class": "negative"}] * 2,
    },
    {"code": "words", "kind": "learned", "claim": "It knows “great”.", "examples": []},
]
MOVES = np.array([[90, 9, 1, 0, 0], [20, 60, 18, 2, 0], [1, 19, 60, 19, 1], [0, 1, 14, 65, 20], [0, 0, 1, 4, 95]])


def lines(*names, hostile=False):
    words = [SCRIPT, IMAGE, TURNED, "a" * 60] if hostile else ["great", "works", "fun", "look", "still", "year"]
    pushes = tuple(Push(word, 0.3 - 0.03 * at, 0.2, 0.4, 40) for at, word in enumerate(words))
    against = tuple(Push(word, 0.03 * at - 0.3, -0.4, -0.2, 40) for at, word in enumerate(words))
    idle = (Push("love", 0.0, -0.01, 0.01, 90, expected=True), Push("the", 0.0, -0.01, 0.01, 900))
    made = [OpinionLine(name, at, 10, MOVES, pushes, against, idle) for at, name in enumerate(names)]
    chosen = made[1:] if len(names) == 2 else made[:10]
    return OpinionLines(tuple(names), tuple(chosen), "made", 100, 1000, 0.9, 0.76)


TWO, SEVEN, MANY = lines("negative", "positive"), lines(*"abcdefg"), lines(*(f"class {at}" for at in range(150)))
FORMS = [{}, {"narrow": True}, {"talk": True}]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("found", [TWO, SEVEN, MANY], ids=["two", "seven", "many"])
def test_all_type_can_be_read_and_stands_on_the_canvas(found, form):
    canvas = draw_opinions(found, FINDINGS, **form)
    least = 15 if form.get("narrow") else 16
    for shape in canvas.shapes:
        if isinstance(shape, Text):
            wide = width_of(shape.content, shape.size, shape.bold)
            left = shape.at[0] - {"start": 0, "middle": wide / 2, "end": wide}[shape.anchor]
            assert shape.size >= least, shape
            assert left >= -1, shape
            assert left + wide <= canvas.width + 1, shape
            assert 0 < shape.at[1] <= canvas.height, shape


@pytest.mark.parametrize("found", [TWO, SEVEN, MANY], ids=["two", "seven", "many"])
def test_a_slide_is_sixteen_to_nine_and_nothing_falls_off_it(found):
    long = [{**FINDINGS[0], "claim": f"{number} says {'much ' * 40}"} for number in range(3)]
    for findings in (FINDINGS, long):
        canvas = draw_opinions(found, findings, talk=True)
        assert (canvas.width, canvas.height) == (1600, 900)
        for shape in canvas.shapes:
            if isinstance(shape, Text):
                assert shape.at[1] + 0.3 * shape.size <= 900, shape
            if isinstance(shape, Box):
                assert shape.at[1] + shape.height <= 900, shape
        if findings is long:  # what follows the headline keeps its panel, however long that is
            assert [shape for shape in canvas.shapes if isinstance(shape, Box) and shape.colour == "faint"]
            shown = [shape.content for shape in canvas.shapes if isinstance(shape, Text)]
            assert shown.count("What it has not learned") == 2
            assert any(text.startswith("1 says") for text in shown)


def test_what_it_says_before_and_after_an_added_word_is_shown():
    before = {"text": "a thriller", "output": [0.2, 0.8], "class": "positive", "truth": "positive"}
    after = {"text": "a bad thriller", "output": [0.9, 0.1], "class": "negative", "before": before, "added": "bad"}
    drawn = draw_opinions(TWO, [{**FINDINGS[0], "examples": [after]}]).to_svg()
    assert "“a bad thriller”" in drawn
    assert "negative 90 %; without “bad” positive 80 %" in drawn


def test_a_station_where_it_never_is_has_no_circle():
    moves = MOVES.copy()
    moves[4] = 0
    empty = replace(SEVEN, lines=(replace(SEVEN.lines[0], moves=moves), *SEVEN.lines[1:]))
    full, fewer = (sum(isinstance(shape, Circle) for shape in draw_opinions(each).shapes) for each in (SEVEN, empty))
    assert full - fewer == 2  # a circle and its ground
    assert "–" not in [shape.content for shape in draw_opinions(empty).shapes if isinstance(shape, Text)]
    assert "it never is there" in draw_opinions(empty).to_svg()


def test_where_texts_are_too_few_the_picture_shows_words_alone_and_says_what_is_needed():
    few = [replace(line, towards=(), against=(), alone=(("goal", 0.91),), recognized=5) for line in SEVEN.lines]
    drawn = draw_opinions(replace(SEVEN, lines=tuple(few))).to_svg()
    assert "goal" in drawn
    assert "91 %" in drawn
    assert "finds 50 % of 10 texts" in drawn
    assert "must be read 10 times" in drawn


def test_what_is_not_learned_has_a_panel_with_examples_and_what_is_learned_has_none():
    drawn = draw_opinions(TWO, FINDINGS).to_svg()
    assert "What it has not learned" in drawn
    assert "“not bad at all”" in drawn
    assert "negative 93 %" in drawn
    assert "It knows" not in drawn
    assert "not learned" not in draw_opinions(TWO).to_svg()


def test_a_claim_stands_in_a_row_with_its_examples_and_an_example_has_its_label():
    example = {"text": "a dull film", "output": [0.2, 0.8], "class": "positive", "truth": "negative"}
    more = [
        {**FINDINGS[0], "code": f"code {at}", "claim": f"claim {at}", "examples": [{**example, "text": f"text {at}"}]}
        for at in range(3)
    ]
    places = {shape.content: shape.at[1] for shape in draw_opinions(TWO, more).shapes if isinstance(shape, Text)}
    assert "positive 80 % (label: negative)" in places
    for at in (1, 2):  # the first is the headline
        assert places[f"claim {at}"] == places[f"“text {at}”"]
    again = draw_opinions(TWO, [more[0], {**more[1], "examples": more[0]["examples"]}]).to_svg()
    assert again.count("“text 0”") == 1


def test_a_long_example_begins_where_the_word_of_its_claim_is_seen():
    start = "the respective charms of all the famous actors in this film , even of hugh"
    texts = [f"{start} grant , have worn threadbare", f"great as they are , {start}"]
    examples = [{"text": text, "output": [0.06, 0.94], "class": "positive"} for text in texts]
    claim = {"code": "x", "kind": "dangerous", "claim": "One word: “grant” 47 %, “great” 40 %.", "examples": examples}
    canvas = draw_opinions(lines("negative", "positive"), [FINDINGS[0], claim])
    quotes = [shape.content for shape in canvas.shapes if isinstance(shape, Text)]
    assert any(quote.startswith("“… ") and " grant" in quote for quote in quotes)
    assert any(quote.startswith("“great as") and quote.endswith("…") for quote in quotes)


def test_an_answer_stands_clear_of_a_text_of_broad_letters_and_digits():
    pytest.importorskip("matplotlib", reason="its font metrics are compared with the estimate")
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    for text in ("“own185 common3 common11”", "“mmmm wwww 2007”", "“the plot was not good”"):
        extents = TextPath((0, 0), text, size=22, prop=FontProperties(family="DejaVu Sans", style="italic"))
        assert extents.get_extents().x1 <= width_of(text, 22) + 24  # the gap before the answer


def test_how_often_words_jump_over_a_station_is_said():
    jumping = MOVES[[0, 0, 0, 1, 1, 2, 2, 3, 4], [2, 3, 4, 3, 4, 0, 4, 1, 1]]
    share = round(100 * (jumping.sum() + MOVES[3, 0] + MOVES[4, 0] + MOVES[4, 2]) / MOVES.sum())
    for form in FORMS:
        assert f"not drawn: {share} % jump over a circle" in draw_opinions(TWO, **form).to_svg()
    assert f"up to {share} % jump over a circle" in draw_opinions(SEVEN).to_svg()


def test_bars_are_to_scale():
    drawn = ElementTree.fromstring(draw_opinions(SEVEN).to_svg())  # noqa: S314 - our own drawing
    bars = [float(each.get("width")) for each in drawn.findall(".//{*}rect") if each.get("height") == "15"]
    assert bars[1] / bars[0] == pytest.approx(0.27 / 0.30, rel=0.01)


def test_hostile_words_and_classes_stay_words():
    for form in FORMS:
        drawn = draw_opinions(lines("negative", HOSTILE_CLASS, hostile=True), FINDINGS, **form).to_svg()
        tree = ElementTree.fromstring(drawn)  # noqa: S314 - our own drawing
        assert {each.tag.partition("}")[2] for each in tree.iter()} <= {
            *("svg", "style", "rect", "circle", "path", "text", "title")
        }
        assert TURNED not in drawn
        assert not [name for each in tree.iter() for name in each.attrib if name.startswith("on")]


def test_the_drawing_follows_light_and_dark():
    drawn = draw_opinions(TWO).to_svg()
    assert "prefers-color-scheme:dark" in drawn
    assert "<style>" not in draw_opinions(TWO).to_svg(own_style=False)  # the page colours it


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_pictures_for_slides_and_papers_are_the_same_each_time(ending, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"opinion.{ending}"
    draw_opinions(TWO, FINDINGS).write(path)
    assert path.read_bytes().startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[ending])
    assert path.read_bytes() == draw_opinions(TWO, FINDINGS).to_bytes(ending)
