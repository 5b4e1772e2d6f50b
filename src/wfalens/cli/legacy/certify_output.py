"""How `wfalens certify` shows what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wfalens.cli.legacy.output import note, print_table, remark, say
from wfalens.messages import visible
from wfalens.robustness import EditRobustness, NetworkRobustness, Robustness, Smoothed
from wfalens.robustness.certify.certify_texts import without
from wfalens.robustness.certify.network_certificates import COPY_ONLY, PROVEN, STATUSES
from wfalens.robustness.certify.smoothing import told_radius

if TYPE_CHECKING:
    from wfalens.evaluation.agreement import Estimate
    from wfalens.robustness import Certificate


Found = Robustness | NetworkRobustness | Smoothed | EditRobustness


def share_of(found: Found, changes: int | None) -> Estimate:
    """The share of texts that are certified."""
    if isinstance(found, Smoothed):
        return found.certified(changes)
    if isinstance(found, EditRobustness):
        return found.share()
    return found.summary.share_certified if isinstance(found, Robustness) else found.summary.share_proven


def show(name: str, found: Found, changes: int | None, examples: int) -> None:
    if isinstance(found, Robustness):
        _show_automaton(name, found, examples)
    elif isinstance(found, NetworkRobustness):
        _show_network(name, found, examples)
    elif isinstance(found, EditRobustness):
        _show_edits(name, found, examples)
    else:
        _show_smoothed(name, found, changes, examples)


def _show_network(name: str, found: NetworkRobustness, examples: int) -> None:
    total = found.summary
    numbers = (total.proven, total.broken, total.copy_only, total.open)
    rows = [
        [status, f"{number:,}", f"{number / total.texts:.1%}"] for status, number in zip(STATUSES, numbers, strict=True)
    ]
    print_table(f"{name}: {total.texts:,} texts, on the network", ["status", "texts", "share"], rows)
    say(f"the network read {total.queries:,.0f} variants a text")
    if total.queries_broken is not None:
        say(f"a break was found after {total.queries_broken:,.0f}")
    if total.unchangeable:
        note(f"{total.unchangeable:,} texts have no word that may change: they count as proven")
    for status in STATUSES:
        for each in [each for each in found.certificates if each.status == status][:examples]:
            limits = without(found.left_out) if status in (PROVEN, COPY_ONLY) else ""
            say(f"{' '.join(each.words)} ({each.label}): {each.told}{limits}")


def _show_edits(name: str, found: EditRobustness, examples: int) -> None:
    total, statuses = len(found.certificates), ("certified", "broken", "open")
    chosen = {status: [each for each in found.certificates if each.status == status] for status in statuses}
    edits = f"{found.changes} edit{'s' if found.changes > 1 else ''} of characters"
    rows = [[status, f"{len(some):,}", f"{len(some) / total:.1%}"] for status, some in chosen.items()]
    print_table(f"{name}: {total:,} texts under {edits}, by the {found.of}", ["status", "texts", "share"], rows)
    if found.undecided:
        note(f"left out {found.undecided:,} texts on which the automaton is undecided")
    for each in (each for some in chosen.values() for each in some[:examples]):
        told = f"{each.status}: {visible(each.text)} ({each.label}"
        if each.witness is not None:
            say(f"{told}) --> {visible(each.witness)} ({each.witness_label})")
        else:
            say(f"{told}, at least {each.lowest:.2f} on the {each.read:,} texts that were read)")


def _show_smoothed(name: str, found: Smoothed, changes: int | None, examples: int) -> None:
    rows = [
        [told_radius(number), f"{found.certified(number):.3f}"]
        for number in dict.fromkeys([1, 2, 3, changes, None])
        if number != 0
    ]
    print_table(
        f"{name}: {len(found.texts):,} texts, the network's mean over {found.samples:,} random variants each",
        ["substitutions", "smoothed class certified [95 %]"],
        rows,
    )
    if found.variance_ratio is not None:
        say(f"the automaton as control variate saves a factor {found.variance_ratio:.1f} in samples (median)")
    remark(found.remark)
    for each in found.texts[:examples]:
        say(
            f"{' '.join(each.words)} ({each.label}, leads by {each.lead:.2f} in the mean, surely by "
            f"{each.lead_low:.2f}): certified against {told_radius(each.radius)} substitutions"
        )


def _show_automaton(name: str, found: Robustness, examples: int) -> None:
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
    print_table(f"{name}: {total.texts:,} texts under change", columns, rows)
    say(
        f"tried {total.tried:,} variants of the certified texts (all of them on {total.exhaustive:,}): "
        f"the automaton changed its class on {total.violations}"
    )
    if found.undecided:
        note(f"left out {found.undecided:,} texts on which the automaton is undecided")
    for status in ("certified", "broken", "open"):
        for certificate in [each for each in found.certificates if each.status == status][:examples]:
            say(_told(certificate, found.left_out))


def _told(certificate: Certificate, left_out: int) -> str:
    text = f"{certificate.status}: {' '.join(certificate.words)} ({certificate.label}"
    if certificate.status == "certified":
        on_all = f"at least {certificate.lowest:.2f} by the automaton on all {certificate.variants:,} variants"
        return f"{text}, {on_all}){without(left_out)}"
    marked = [word if word in certificate.words else f"[[{word}]]" for word in certificate.witness]
    return f"{text}) --> {' '.join(marked)} ({certificate.witness_label or 'undecided'})"
