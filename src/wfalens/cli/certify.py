"""`wfalens certify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    CORPUS_HELP,
    MODEL_HELP,
    AutomatonArgument,
    DataOption,
    EncodingOption,
    HtmlOption,
    JsonOption,
    SeedOption,
    TerminalProgress,
    TextColumnOption,
    VectorsOption,
    check_files,
    check_share,
    note,
    open_corpus,
    open_model,
    open_vectors,
    print_json,
    print_table,
    say,
    write_html,
)
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.verification import Certificate, Robustness


@app.command()
def certify(
    automaton: AutomatonArgument,
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help=CORPUS_HELP)] = None,
    text: Annotated[list[str] | None, typer.Option("--text", help="Certify this text (may be repeated).")] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help=f"The classifier, to see whether it keeps its class too: {MODEL_HELP}"),
    ] = None,
    substitutes: Annotated[
        int, typer.Option("--substitutes", "-s", min=1, help="Words that may stand for each word: its nearest.")
    ] = 5,
    max_semantic: Annotated[
        float | None, typer.Option("--max-semantic", help="Only words with d_S at most this (see `wfalens pairs`).")
    ] = None,
    changes: Annotated[
        int | None, typer.Option("--changes", min=0, help="Words replaced at most (default: all at once).")
    ] = None,
    effort: Annotated[
        int, typer.Option("--effort", min=0, help="Beginnings to follow in a text that the bound leaves open.")
    ] = 1000,
    vectors: VectorsOption = "wordllama",
    stop_words: Annotated[bool, typer.Option("--spare-stop-words", help="Leave stop words alone.")] = False,
    samples: Annotated[int, typer.Option(min=0, help="Variants of each text to try; all where they are fewer.")] = 200,
    limit: Annotated[int | None, typer.Option(min=1, help="Certify only so many texts, chosen at random.")] = None,
    min_certified: Annotated[
        float | None, typer.Option("--min-certified", help="Leave with exit code 1 if a smaller share is certified.")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Texts of each status to show.")] = 3,
    seed: SeedOption = 0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    html: HtmlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove that no substitution of words changes a text's class, on the automaton, or show one that does.

    certified: no variant of the text is of another class; broken: the shown variant is; open: neither is known. Each
    certificate is then tried on variants, by the automaton and, with --model, by the classifier, for which it is no
    proof: the share of certified texts on which the classifier never changed its class is given.

    Example: wfalens certify films.wfa --corpus rotten_tomatoes --model films.rnn --changes 2 --limit 500
    """

    from wfalens.automaton import WFA
    from wfalens.verification import Substitutes, certify_texts

    check_files(html)
    check_share("--min-certified", min_certified)
    if (corpus is None) == (not text):
        raise InputError("give either --corpus or --text")
    wfa = WFA.load(automaton)
    classifier = None if model is None else open_model(model, wfa.encoder)
    texts = list(text or ())
    if corpus is not None:
        read = open_corpus(corpus, "test", data, text_column, None, encoding, labels=False)
        texts = list(read.sample(limit, seed).texts)
    spare: frozenset[str] = frozenset()
    if stop_words:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        spare = ENGLISH_STOP_WORDS
    allowed = Substitutes.nearest(
        wfa,
        open_vectors(vectors, wfa.encoder.vocabulary.words[2:]),
        substitutes,
        of={word for each in texts for word in wfa.encoder.tokens(each)},
        max_semantic=float("inf") if max_semantic is None else max_semantic,
        spare=spare,
    )
    if not any(len(others) for others in allowed.of_word.values()):
        raise InputError("no word of the texts has a substitute; widen --max-semantic or give other --vectors")
    found = certify_texts(
        wfa,
        texts,
        allowed,
        model=classifier,
        changes=changes,
        effort=effort,
        samples=samples,
        seed=seed,
        progress=TerminalProgress(),
    )
    failed = min_certified is not None and found.summary.share_certified.value < min_certified
    write_html(html, f"{automaton.name}: certificates", found.to_html())
    if as_json:
        print_json({"automaton": str(automaton), "substitutes": substitutes, "changes": changes, **found.to_json()})
    else:
        _print(automaton.name, found, examples)
        if failed:
            typer.echo(f"{found.summary.share_certified.value:.3f} are certified, below {min_certified:.3f}")
    if failed:
        raise typer.Exit(1)


def _print(name: str, found: Robustness, examples: int) -> None:
    total = found.summary
    rows = []
    for status, number in (("certified", total.certified), ("broken", total.broken), ("open", total.open)):
        row = [status, f"{number:,}", f"{number / total.texts:.1%}"]
        if total.model is not None:
            kept = total.model[status]
            row += [
                f"{kept.texts:,}",
                "–" if kept.never_changed is None else f"{kept.never_changed:.3f}",
                "–" if kept.variants_kept is None else f"{kept.variants_kept:.4f}",
            ]
        rows.append(row)
    columns = ["on the automaton", "texts", "share"]
    if total.model is not None:
        columns += ["where the classifier agrees", "classifier never changed [95 %]", "variants kept"]
    print_table(f"{name}: {total.texts:,} texts under substitution", columns, rows)
    say(
        f"tried {total.tried:,} variants of the certified texts (all of them on {total.exhaustive:,}): "
        f"the automaton changed its class on {total.violations}"
    )
    if found.undecided:
        note(f"left out {found.undecided:,} texts on which the automaton is undecided")
    for status in ("certified", "broken", "open"):
        for certificate in [each for each in found.certificates if each.status == status][:examples]:
            say(_told(certificate))


def _told(certificate: Certificate) -> str:
    text = f"{certificate.status}: {' '.join(certificate.words)} ({certificate.label}"
    if certificate.status == "certified":
        return f"{text}, at least {certificate.lowest:.2f} on all {certificate.variants:,} variants)"
    marked = " ".join(
        new if new == old else f"[[{new}]]" for old, new in zip(certificate.words, certificate.witness, strict=True)
    )
    return f"{text}) --> {marked} ({certificate.witness_label or 'undecided'})"
