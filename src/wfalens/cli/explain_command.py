"""`wfalens explain`: which words and phrases drive each class, and the class of a text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.text import Text

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import extraction_texts, open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import explanation, plots
from wfalens.cli.output import (
    OUT,
    check_outputs,
    note,
    print_answer,
    print_json,
    print_result,
    say,
    write_out,
)
from wfalens.messages import printable, visible
from wfalens.validation import Bounds, Options, option, real, whole

_STYLES = {True: "bold dodger_blue2", False: "bold dark_orange3"}  # as the palette
_WEAK = 0.1  # of the strongest contribution: what is less is not marked
_CLASSES = 4  # in a table for people
_EDITS = 10  # texts of another class at one edit
Train = Annotated[
    str | None, opt.value("--train -t", "TEXTS", f"What the classifier was trained on: {opt.CORPUS_HELP}")
]
command = new_group("Explain a classifier: what it has learned, a text, words, phrases, like words, contrasting pairs.")


@dataclass(frozen=True)
class TextSettings(Options):
    """[explain]: what an absent word is, and what the network may be asked.

    Args:
        method: shapley: the mean marginal contribution over all orders of the words (which words matter?);
            banzhaf; additive: what each word changed when it was read (how did the decision evolve?).
        absence: What an absent word is.
        unit: In points of probability, or, for experts, the automaton's in log-odds (Banzhaf values: in its own unit).
        queries: With --model: queries at most.
        embeddings: File for the words' transition matrix embeddings, reduced by PCA, as word2vec text.
        width: Width of these embeddings.
        min_count: Leave out words seen less often in extraction: their scores are noise.
    """

    method: str = option("shapley")
    absence: str = option("delete", allowed=("delete", "unknown", "background", "bigram"))
    unit: str = option("probability", allowed=("probability", "log-odds"))
    queries: int | None = option(None, allowed=opt.COUNT)
    embeddings: str | None = option(None)
    width: int = option(100, allowed=Bounds(whole, 1, 1 << 20))
    min_count: int = option(5, allowed=opt.COUNT)


@dataclass(frozen=True)
class FindingSettings(Options):
    """[findings]: what the model may be asked.

    Args:
        queries: Model calls at most (default: 20,000; of a model that pays for every call 4,000).
    """

    queries: int | None = option(None, allowed=opt.COUNT)


@dataclass(frozen=True)
class PhraseSettings(Options):
    """[phrases]: which phrases are searched.

    Args:
        min_support: Texts that must contain a phrase.
        longest: Words in a phrase at most.
        gap: Words in a gap … at most; 0: no gaps.
        min_effect: Effect of a phrase that decides (default: a quarter of the largest on its class).
    """

    min_support: int = option(10, allowed=opt.COUNT)
    longest: int = option(4, allowed=Bounds(whole, 1, 4))
    gap: int = option(3, allowed=Bounds(whole, 0, 20))
    min_effect: float | None = option(None, allowed=Bounds(real, 0, 1e6, (None,)))


@dataclass(frozen=True)
class PairSettings(Options):
    """[pairs]: how words are compared.

    Args:
        kind: adversarial (like words, treated differently) or collaborative (unlike, alike).
        epsilon: Upper bound (d_S of adversarial, d_T of collaborative pairs): a number, or a quantile such as
            q0.01.
        delta: Lower bound (d_T of adversarial, d_S of collaborative pairs): a number, or a quantile such as
            q0.9.
        convention: How meanings are compared; the last two are the paper's.
        min_count: Leave out words seen less often in extraction.
    """

    kind: str = option("adversarial")
    epsilon: float | str | None = option(None)
    delta: float | str | None = option(None)
    convention: str = option("cosine", allowed=("cosine", "mean_square", "norm"))
    min_count: int = option(5, allowed=opt.COUNT)


@register(command, "findings", result=opt.RESULT_FILES, findings=FindingSettings)
def explain_findings(
    settings: Settings, automaton: opt.Automaton, model: opt.Model, corpus: opt.Corpus, train: Train = None
) -> None:
    """Say what the classifier has learned and what it has not: negation, word order, strong words, mistakes.

    Every figure is measured on the classifier itself; the automaton only proposes which words to ask about. Give texts
    that the classifier has not seen, best with labels. Without --train, the texts of the extraction are looked for.

    Examples:
      wfalens explain findings films.wfa -m films.rnn -c rotten_tomatoes
      wfalens explain findings news.wfa -m news.rnn -c test.csv --train train.csv
    """
    wfa = open_wfa(automaton, settings)
    classifier, texts = open_model(model, wfa, settings.texts), open_corpus(corpus, settings)
    if train is None:
        known, missing = extraction_texts(wfa, settings, (automaton.parent, Path(corpus).parent))
        if known is None:
            note(f"nothing is said of texts that it was trained on: {missing}; name them with --train")
    else:
        known = open_corpus(train, settings, "train")
    found = explanation.findings(
        wfa, classifier, texts, train=known, queries=settings.findings.queries, seed=settings.seed
    )
    files = {"automaton": str(automaton), "model": model, "corpus": corpus, "train": train or (known and known.name)}
    found = found.with_files({name: file for name, file in files.items() if file})
    write_out(settings.out, found, f"{automaton.name}: findings")
    print_answer(found.to_dict(), found.details(), settings.as_json)


@register(command, "text", ("explain.method", "texts.cache"), result=opt.PLOT_FILES, explain=TextSettings)
def explain_text(
    settings: Settings,
    automaton: opt.Automaton,
    text: Annotated[str, opt.argument("TEXT", "The text to explain.")],
    model: opt.SomeModel = None,
    class_name: opt.ClassName = None,
) -> None:
    """Explain the class of a text: what each of its words contributes.

    Contributions add up to the output minus the output without any word. Without --model they are the automaton's, and
    exact; with --model they are the network's own, each with an interval.

    A second table names, for each place, the word that would lower the class most in the automaton, and what the
    network then says. Where tokens are characters, texts at one edit that are of another class are listed instead.

    Examples:
      wfalens explain text films.wfa "a moving and funny film"
      wfalens explain text films.wfa "a moving and funny film" --method additive
      wfalens explain text films.wfa "a funny film" -m films.rnn -o film.html
    """
    wfa, how = open_wfa(automaton, settings, several=True), settings.explain
    network = open_model(model, wfa, settings.texts)
    unit = None if how.method == "banzhaf" else how.unit
    asked: dict[str, Any] = {"method": how.method, "absence": how.absence, "unit": unit, "queries": how.queries}
    found = wfa.explain(text, network, class_name=class_name, seed=settings.seed, **asked)
    if wfa.labels:
        print_result(found, settings.as_json)
        return
    others = explanation.alternatives(wfa, text, network, most=_EDITS)
    write_out(settings.out, found, f"{automaton.name}: {text}", lambda: plots.attribution_bars(found))
    if settings.as_json:
        print_json({**found.to_dict(), "alternatives": others.to_dict()})
        return
    _print_heat(found)
    print_result(found, as_json=False)
    print_result(others, as_json=False)


@register(command, "words", result=opt.PLOT_FILES, explain=TextSettings)
def explain_words(
    settings: Settings,
    automaton: opt.Automaton,
    words: Annotated[list[str] | None, opt.argument("[WORD]", "Words, or phrases in quotes.")] = None,
    top: opt.Top = 10,
) -> None:
    """Influence of words: the most influential ones of each class, or given words and phrases.

    Influence is the mean change of the output over all states at the moment when the word is read; later words may
    undo it (`wfalens explain phrases` finds what decides by itself).

    Examples:
      wfalens explain words films.wfa
      wfalens explain words films.wfa good bad "not good"
      wfalens explain words films.wfa -C explain.embeddings=films.txt
    """
    embeddings = None if settings.explain.embeddings is None else Path(settings.explain.embeddings)
    check_outputs(embeddings, force=settings.force)
    wfa, min_count = open_wfa(automaton, settings), settings.explain.min_count
    if embeddings is not None:
        reduced = explanation.TransitionEmbeddings.of(wfa, min_count).reduced(settings.explain.width)
        reduced.save_word2vec(embeddings)
        note(f"wrote {embeddings}: {len(reduced.vectors):,} words, {reduced.explained.sum():.1%} of the variance")
    if words and any(len(wfa.encoder.tokens(each)) > 1 for each in words):
        found = explanation.phrase_influence(wfa, words)
    else:
        found = explanation.influence(wfa, min_count, words or None)
    chosen = found if words else found.top_of_all(top)
    draw = (lambda: plots.influence_bars(found, words)) if words else (lambda: plots.top_words(found, top))
    write_out(settings.out, chosen, f"{automaton.name}: influence", draw)
    if settings.as_json or words:
        print_result(chosen, settings.as_json)
    else:
        say(found.summary(top))


@register(command, "phrases", result=opt.RESULT_FILES, phrases=PhraseSettings)
def explain_phrases(
    settings: Settings,
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    model: opt.SomeModel = None,
    top: opt.Top = 10,
) -> None:
    """Find the words and phrases that decide by themselves, such as "not good" or "too … to".

    The effect of a phrase is what it changes in a random context, against random words in its place; it follows exactly
    from the automaton. Interaction is the effect minus the sum of the effects of its words. A gap … stands for one to
    three other words.

    Precision is the share of the texts with the phrase to which the classifier gives its class. Without --model the
    automaton's own answers are counted. JSON and CSV hold a regular expression for each phrase (Python's re).

    Examples:
      wfalens explain phrases films.wfa -m films.rnn -c rotten_tomatoes
      wfalens explain phrases news.wfa -m news.rnn -c news.csv -o phrases.csv
    """
    wfa = open_wfa(automaton, settings)
    texts, options = open_corpus(corpus, settings), settings.phrases.to_dict()
    found = explanation.deciding_phrases(wfa, texts, open_model(model, wfa, settings.texts), **options)
    write_out(settings.out, found, f"{automaton.name}: deciding phrases")
    print_result(found if settings.as_json else found.top(top), settings.as_json)


@register(command, "neighbours")
def explain_neighbours(
    settings: Settings,
    automaton: opt.Automaton,
    word: Annotated[str, opt.argument("WORD", "The word.")],
    top: opt.Top = 10,
) -> None:
    """Words that act most like a word, beside words that are near in meaning.

    Words act alike if the automaton moves alike under them (d_T). Words are near in meaning if each is among the
    other's ten nearest by the cosine of their vectors, and nearer than all but 1 in 1,000 random pairs.

    Example:
      wfalens explain neighbours films.wfa wonderful
    """
    wfa = open_wfa(automaton, settings)
    print_result(explanation.neighbours(wfa, word, open_vectors(settings, wfa), k=top), settings.as_json)


@register(command, "pairs", result=opt.PLOT_FILES, pairs=PairSettings)
def explain_pairs(settings: Settings, automaton: opt.Automaton, top: opt.Top = 10) -> None:
    """Contrast what words do to the model (distance d_T) with what they mean (d_S).

    d_S is 1 − cosine of the word vectors. Bounds default to quantiles of the distances over random pairs: adversarial
    d_S ≤ q0.001, d_T ≥ q0.5; collaborative d_T ≤ q0.01, d_S ≥ q0.5. A plot (-o map.png) draws the words of the
    strongest influence in both spaces (t-SNE).

    Example:
      wfalens explain pairs films.wfa -o pairs.html
    """
    wfa, how = open_wfa(automaton, settings), settings.pairs
    vectors = open_vectors(settings, wfa)
    found = explanation.word_pairs(wfa, vectors, per_class=top, seed=settings.seed, **how.to_dict())
    write_out(
        settings.out,
        found,
        f"{automaton.name}: {how.kind} pairs",
        lambda: plots.word_maps(explanation.word_maps(wfa, vectors, min_count=how.min_count)),
    )
    print_result(found, settings.as_json)


def _print_heat(found: Any) -> None:
    """The text with its contributions: words that matter stand in brackets with their numbers, beside the colour."""
    values = found.of_class().tolist()
    least = _WEAK * max(map(abs, values))
    line = Text()
    for word, value in zip(found.words, values, strict=True):
        strong = abs(value) > least
        shown = f"[{visible(word)} {found.shown(value)}]" if strong else visible(word)
        line.append(shown, style=_STYLES[value > 0] if strong else "")
        line.append(" ")
    OUT.print(line)
    label = printable(str(found.class_name or found.label))
    say(f"[word +…] raises {label}, [word −…] lowers it")
