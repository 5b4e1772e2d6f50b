"""The explorer as a visitor meets it: type, click, step, search, compare, and look at what is on the page."""

import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import expect

from tests.integration.browser.conftest import TOKEN, as_points, go
from tests.language.grammar import Grammar
from tests.studies import visible
from wfalens.extraction import Stochastic, extract
from wfalens.language import sample
from wfalens.messages import percent
from wfalens.report import Study, views
from wfalens.report.views import WordTable
from wfalens.text import Corpus

SENTENCE = "coach says players win the match"


def chips(page):
    """Of the automaton's row, which is always there."""
    return page.locator("[data-reader=automaton] .chip")


def words_of(page):
    return [chip.locator("bdi").inner_text() for chip in chips(page).all()]


def opened(visit, explorer, text=SENTENCE):
    """The player with a sentence in it."""
    page = visit(explorer, f"trace?text={quote(text)}")
    expect(chips(page)).to_have_count(len(text.split()))
    return page


def shown_class(page, reader="Automaton"):
    cell = page.locator(".says").filter(has=page.get_by_text(reader, exact=True))
    return re.search(r"(.+?) \d+\s%", cell.locator("b").inner_text())[1]


def test_the_overview_is_a_picture_and_five_answers(visit, explorer, study):
    page = visit(explorer)
    measured = views.fidelity(study, 3000)["overall"]
    answers = page.locator(".answer")
    assert answers.locator("h2").all_inner_texts() == [
        "What has it learned?",
        "Where is it wrong?",
        "Which words are dangerous?",
        "How far can I trust this?",
        "What next?",
    ]
    expect(answers.nth(3)).to_contain_text(f"{100 * measured['cr']['value']:.1f}\N{NO-BREAK SPACE}%")
    expect(answers.nth(3)).to_contain_text("a weak baseline here: the extraction texts were not given")
    for command in [command for _, command in views.overview(study)["next"]]:
        expect(answers.nth(4)).to_contain_text(visible(command))
    page.get_by_text("How faithful the automaton is").click()
    text = page.locator("main").inner_text()
    assert f"{measured['cr']['low']:.3f}–{measured['cr']['high']:.3f}" in text
    assert study.model.fingerprint in text
    assert page.title() == f"Overview – {study.name} – wfalens"


def test_the_printed_address_opens_the_page_and_the_token_leaves_the_address_bar(browser, explorer):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(explorer).status == 401
    page.goto(f"{explorer}?token={TOKEN}#words")
    page.wait_for_selector('[data-ready="words"]')
    assert page.evaluate("location.href").startswith(f"{explorer}#words")
    assert page.evaluate("document.cookie") == ""  # no script can read it
    context.close()


def test_the_picture_is_the_networks_and_its_words_open(visit, explorer, study):
    page = visit(explorer)
    found = views.opinion(study)
    picture = page.locator(".picture .wide-form")
    expect(picture).to_be_visible()
    shown = picture.locator("text").all_text_contents()
    for line in found["lines"]:
        assert any(visible(line["label"]).startswith(each.removesuffix("…")) for each in shown if len(each) > 1)
        assert percent(line["stays"][-1]).replace(" ", "") in shown  # small circles have no room for the blank
    word = next(each["word"] for each in found["lines"][0]["towards"] if each["word"].isalpha())  # none that is cut
    picture.locator("a").filter(has_text=re.compile(f"^{re.escape(word)}$")).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("One word")
    expect(page.get_by_role("heading", level=2).first).to_have_text(word)


def test_a_narrow_page_has_the_upright_picture(visit, explorer):
    page = visit(explorer, width=390)
    expect(page.locator(".picture .narrow-form")).to_be_visible()
    expect(page.locator(".picture .wide-form")).to_be_hidden()


def test_a_new_text_ends_the_requests_of_the_one_before(visit, explorer):
    page = visit(explorer, "trace?text=coach%20says%20match")
    ended = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.route("**/api/attribution", lambda route: None)  # an answer that never comes
    with page.expect_request("**/api/attribution"):
        page.get_by_label("Your sentence").fill("coach wins")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/api/attribution")):
        page.get_by_label("Your sentence").fill("coach wins match")
    page.unroute("**/api/attribution")


def test_typing_shows_automaton_and_network(visit, explorer, study):
    page = visit(explorer, "trace")
    page.get_by_label("Your sentence").fill("")
    page.get_by_label("Your sentence").press_sequentially(SENTENCE, delay=5)
    expect(chips(page)).to_have_count(6)
    assert words_of(page) == SENTENCE.split()
    played = views.trace(study, SENTENCE)
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text(f"{100 * max(played['automaton'][-1]):.0f} %")
    expect(verdict).to_contain_text(f"{100 * max(played['model'][-1]):.0f} %")
    expect(verdict).to_contain_text("they agree" if played["agrees"] else "they disagree")
    page.get_by_text("After each word, in figures").press("Enter")
    steps = page.get_by_role("table").filter(has_text="After each word")
    expect(steps.locator("tbody tr")).to_have_count(6)
    for row, kind in zip(steps.locator("tbody tr").all(), played["rows"], strict=True):
        expect(row).to_contain_text(kind)
    for reader in ("automaton", "network"):
        figure = page.locator("figure").filter(has_text=f"The {reader} after each word")
        expect(figure.locator("polyline")).to_have_count(7)  # a line for each class


def test_words_show_shapley_values_or_what_they_changed(visit, explorer, study):
    page = opened(visit, explorer, SENTENCE)
    played, told = views.trace(study, SENTENCE), views.attribution(study, SENTENCE)
    column = int(np.argmax(played["model"][-1]))

    def expect_values(reader, rows):
        for at, row in enumerate(rows):
            chip = page.locator(f"[data-reader={reader}] .chip").nth(at)
            expect(chip.locator("small")).to_contain_text(as_points(row[column]))

    expect_values("network", told["network"])
    expect_values("automaton", told["automaton"])
    page.get_by_label("Contributions are").select_option(value="changes")
    expect_values("network", np.diff(played["model"], axis=0))
    expect_values("automaton", np.diff(played["automaton"], axis=0))
    assert not np.allclose(told["automaton"], np.diff(played["automaton"], axis=0), atol=0.02)


NOTED = """(element, name) => {
    const texts = ((window.noted ??= {})[name] = []);
    new MutationObserver(() => texts.push(element.textContent)).observe(element, { childList: true, subtree: true });
}"""


def test_stepping_by_keyboard_and_play(visit, explorer):
    page = opened(visit, explorer, "coach says match")
    where = page.get_by_text(re.compile(r"^word \d+ of 3$"))
    expect(where).to_have_text("word 3 of 3")
    first = page.locator("[data-reader=network] .chip")  # once the network has told why, its row comes first
    expect(first).to_have_count(3)
    first.nth(2).focus()
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text("word 2 of 3")
    expect(first.nth(1)).to_be_focused()
    page.keyboard.press("Home")
    expect(where).to_have_text("word 0 of 3")
    page.keyboard.press("End")
    expect(where).to_have_text("word 3 of 3")
    play = page.get_by_role("button", name="Play", exact=True).element_handle()
    where.evaluate(NOTED, "words")  # a busy machine may be too late to see each of them
    play.evaluate(NOTED, "labels")
    play.click()
    expect(where).to_have_text("word 3 of 3")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    words, labels = (list(dict.fromkeys(page.evaluate(f"window.noted.{name}"))) for name in ("words", "labels"))
    assert words == [f"word {at} of 3" for at in range(4)]
    assert labels == ["Pause", "Play"]
    page.get_by_role("button", name="One word back").click()
    expect(where).to_have_text("word 2 of 3")


def test_a_word_is_edited_and_the_change_is_seen_at_once(visit, explorer):
    page = opened(visit, explorer, "the embassy says")
    before = page.locator(".verdict").inner_text()
    chips(page).nth(1).dblclick()
    editor = page.get_by_label("Change word 2")
    editor.fill("vaccine")
    expect(page.locator(".verdict")).not_to_have_text(before)  # not entered yet
    editor.press("Enter")
    expect(page.get_by_label("Your sentence")).to_have_value("the vaccine says")
    expect(chips(page).nth(1)).to_contain_text("vaccine")
    chips(page).nth(1).click()
    page.keyboard.press("Enter")
    page.get_by_label("Change word 2").fill("nothing")
    page.keyboard.press("Escape")
    assert words_of(page) == ["the", "vaccine", "says"]


def test_a_word_being_edited_stays_when_the_networks_values_arrive(visit, explorer):
    page, held = visit(explorer, "words"), []
    page.route("**/api/attribution", lambda route: held.append(route))
    with page.expect_request("**/api/attribution"):
        go(page, explorer, f"trace?text={quote('the embassy says')}")
    expect(page.get_by_role("table").filter(has_text="Changes of one word")).to_be_visible()  # what is above stays put
    page.get_by_text("After each word, in figures").press("Enter")
    chips(page).nth(1).dblclick()
    editor = page.get_by_label("Change word 2")
    editor.fill("vaccine")
    with page.expect_response("**/api/attribution"):
        held.pop().continue_()
    expect(page.get_by_role("table").filter(has_text="network: contribution")).to_be_visible()  # they have arrived
    expect(editor).to_have_value("vaccine")
    expect(editor).to_be_focused()
    page.unroute("**/api/attribution")
    editor.press("Enter")
    expect(page.get_by_label("Your sentence")).to_have_value("the vaccine says")
    expect(page.locator("[data-reader=network] .chip").nth(1)).to_contain_text("vaccine")


def test_a_word_entered_before_its_preview_has_come_ends_the_preview_silently(visit, explorer):
    page, held = opened(visit, explorer, "the embassy says"), []
    page.route("**/api/trace", lambda route: held.append(route))
    chips(page).nth(1).dblclick()
    editor = page.get_by_label("Change word 2")
    for word in ("vaccine", "goal"):  # the second preview aborts the first
        with page.expect_request("**/api/trace"):
            editor.fill(word)
    page.unroute("**/api/trace")  # the second preview comes now
    editor.press("Enter")
    expect(page.get_by_label("Your sentence")).to_have_value("the goal says")
    expect(chips(page).nth(1)).to_contain_text("goal")


def test_a_flip_is_applied_and_flips(visit, explorer):
    page = opened(visit, explorer, "the embassy says")
    before = shown_class(page, "Network")
    table = page.get_by_role("table").filter(has_text="Changes of one word that turn the network")
    item = table.locator("li:has(ins)").first
    new = item.locator("ins").inner_text()
    item.get_by_role("button").click()
    expect(page.locator("[data-reader=automaton]")).to_contain_text(new)
    assert new in words_of(page)
    assert shown_class(page, "Network") != before


def test_a_sentence_is_picked_where_they_disagree(visit, explorer, study):
    page = visit(explorer, "trace")
    offered = views.sentences(study)
    picker = page.get_by_role("combobox", name="Sentence", exact=True)
    expect(picker.locator("option").first).to_contain_text(f"choose one of {len(offered['any'])}")
    page.get_by_label("Or pick one where").select_option("disagree")
    expect(picker.locator("option").first).to_contain_text(f"choose one of {len(offered['disagree'])}")
    picker.select_option(index=1)
    expect(page.locator(".verdict")).to_contain_text("they disagree")
    expect(page.locator(".verdict")).to_contain_text("The automaton is wrong about the network here")


def test_words_are_searched_and_sorted(visit, explorer, study):
    page = visit(explorer, "words")
    table, rows = WordTable(study), page.locator("table.virtual tbody th[scope=row]")
    page.get_by_label("Search").fill("ma")
    found = table.find("ma", min_count=5)
    expect(page.get_by_role("status").filter(has_text="word")).to_have_text(f"{found['total']} words")
    expect(rows.first).to_have_text(found["rows"][0][0])
    assert rows.all_inner_texts() == [row[0] for row in found["rows"]]
    name = study.wfa.class_names[found["rows"][-1][3]]
    page.get_by_label("Towards").select_option(name)
    expect(rows.first).to_have_text(table.find("ma", towards=name, min_count=5)["rows"][0][0])
    page.get_by_label("Towards").select_option("")
    for falling, order in ((True, "descending"), (False, "ascending")):
        page.get_by_role("button", name="seen").click()
        expect(page.locator(f"th[aria-sort={order}]")).to_contain_text("seen")
        counts = [row[1] for row in table.find("ma", sort="count", falling=falling, min_count=5)["rows"]]
        expect(page.locator("table.virtual tbody td:last-child").first).to_have_text(f"{counts[0]:,}")
    page.get_by_label("Search").fill("no such word at all")
    expect(page.get_by_role("status").filter(has_text="no word")).to_be_visible()


def test_a_long_table_holds_only_what_is_seen(visit, explorer, study):
    page = visit(explorer, "words?min_count=1&sort=word&falling=false")
    everything = sorted(study.influence.words)
    expect(page.get_by_role("status").filter(has_text=f"{len(everything)} words")).to_be_visible()
    assert page.locator("table.virtual tbody tr").count() < 100
    page.locator(".scroll.tall").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    expect(page.locator("table.virtual tbody th[scope=row]").last).to_have_text(visible(everything[-1]))
    assert page.locator("table.virtual tbody tr").count() < 100


def test_a_word_has_a_page(visit, explorer, study):
    page = visit(explorer, "words")
    page.get_by_label("Search").fill("vaccine")
    page.get_by_role("link", name="vaccine").click()
    data = views.word_page(study, "vaccine")
    expect(page.get_by_role("heading", level=2).first).to_have_text("vaccine")
    expect(page.locator("main")).to_contain_text(f"Seen {data['count']} times")
    label, change, _ = max(data["changes"], key=lambda each: each[1])
    expect(page.locator(".headline")).to_contain_text(f"{as_points(change)}\N{NO-BREAK SPACE}point")
    expect(page.locator(".headline")).to_contain_text(study.wfa.class_names[label])
    expect(page.locator(".sentences mark").first).to_have_text("vaccine")
    for word, _ in [*data["acting"], *data["meaning"]]:
        expect(page.locator(".tags a").filter(has_text=visible(word)).first).to_be_visible()
    expect(page.locator(".sentences li")).to_have_count(len(data["sentences"]))
    page.locator(".sentences a").first.click()
    expect(page.get_by_label("Your sentence")).to_have_value(data["sentences"][0])


def test_attacks_are_filtered(visit, explorer, study):
    page = visit(explorer, "attacks")
    data = views.attacks(study)
    examples = [each for each in data["examples"] if each["recipe"] == "guided"]
    assert examples
    status = page.get_by_role("status").filter(has_text="example")
    expect(status).to_contain_text(f"{len(examples)} example")
    source = examples[0]["label_before"]
    page.get_by_label("From").select_option(source)
    left = [each for each in examples if each["label_before"] == source]
    expect(status).to_contain_text(f"{len(left)} example")
    first = page.get_by_role("table").last.locator("tbody tr").first
    assert first.locator("del").inner_text() == left[0]["before"][left[0]["changed"][0]]
    assert first.locator("ins").inner_text() == left[0]["after"][left[0]["changed"][0]]
    page.get_by_role("combobox", name="Recipe").select_option("random-tries")
    control = [each for each in data["examples"] if each["recipe"] == "random-tries" and each["label_before"] == source]
    expect(status).to_contain_text(f"{len(control)} example")


def test_two_automata_are_compared(visit, explorer, study):
    page = visit(explorer, "compare")
    data = views.comparison(study)
    main = page.locator("main")
    expect(main).to_contain_text(f"{100 * data['agreement']['cr']['value']:.1f} %")
    table = page.get_by_role("table").filter(has_text="Words that changed most")
    expect(table.locator("tbody th").first).to_have_text(data["words"][0]["word"])
    page.get_by_label("By change for").select_option("health")
    at = data["class_names"].index("health")
    most = max(data["words"], key=lambda each: abs(each["after"][at] - each["before"][at]))
    expect(table.locator("tbody th").first).to_have_text(most["word"])
    expect(main).to_contain_text("Sentences that prove it")
    expect(page.get_by_role("table").filter(has_text="read most differently").locator("tbody tr")).to_have_count(40)


def test_light_and_dark(visit, explorer):
    page = visit(explorer)
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(paper)
    assert light != dark
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(paper) == light
    assert visit(explorer, dark=True).evaluate(paper) == dark


def test_the_keyboard_alone_is_enough(visit, explorer):
    page = visit(explorer)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the view")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Words":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Words")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_a_language_model_is_measured_on_all_beginnings_beside_ngrams(visit, serving):
    speaker = Grammar(7, states=4)
    texts = Corpus.of([text for text in sample(speaker, 120, seed=1).texts if text])
    wfa = extract(speaker, texts, Stochastic(states=4))
    with serving(Study("speaks.wfa", wfa, speaker, texts, reference=texts)) as address:
        page = visit(address)
        expect(page.locator(".headline")).to_contain_text("likeliest next symbol in 100.0")
        expect(page.locator(".headline")).to_contain_text("the closest simple rival")
        page.get_by_text("How faithful the automaton is").click()
        table = page.get_by_role("table").filter(has_text="beginnings")
        expect(table).to_contain_text("5-gram")
        text = page.locator("body").inner_text()
        assert "bag of words" not in text
        assert "3 symbols" in text
