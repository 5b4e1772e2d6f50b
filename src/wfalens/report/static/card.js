// "Why, and can I trust it here": what the readers say, how much that is worth, and where they part.
const { h } = lens;

// the tenth of the measured texts in which the automaton was about as sure as here
const likeThis = (fidelity, confidence) =>
  fidelity.selective.deciles.findLast(({ least }) => confidence >= least) ?? fidelity.selective.deciles[0];

function trust(fidelity, found) {
  const tenth = likeThis(fidelity, found.confidence);
  return h(
    'p',
    null,
    'Of ',
    h('b', null, lens.plural(tenth.texts, 'text')),
    ' on which the automaton is about as sure as here, it agrees with the network in ',
    h('b', null, lens.percent(tenth.cr.value, 1)),
    ` (95 %: ${lens.percent(tenth.cr.low, 1)} to ${lens.percent(tenth.cr.high, 1)}).`,
    ' ',
    lens.what('confidence'),
    strange(found),
  );
}

// Words that nobody knows make a text unlike those that agreement was measured on.
function strange({ words, rows }) {
  const unknown = rows.filter((row) => row === 'unknown' || row === 'absent').length;
  if (!unknown) return null;
  const many = unknown * 3 >= words.length;
  return [
    ` ${lens.whole(unknown)} of ${lens.plural(words.length, 'word')} ${unknown > 1 ? 'are' : 'is'} not known here and read${unknown > 1 ? '' : 's'} as <unk>`,
    many ? [': ', h('b', null, 'the text is unlike those'), ', so this figure says little about it.'] : '.',
  ];
}

// The word after which the two no longer agree, to the end; null if they agree at the end.
lens.parting = (found) => {
  if (!found.model || found.agrees) return null;
  const first = found.model.length - found.words.length - 1;
  let at = found.words.length; // words read
  while (
    at > 0 &&
    found.model[at - 1 + first] &&
    lens.argmax(found.model[at - 1 + first]) !== lens.argmax(found.automaton[at - 1])
  )
    at -= 1;
  return Math.max(0, at - 1);
};

const REASONS = {
  unknown: 'the automaton does not know the word',
  completed: 'in this state the automaton has never seen it, and has to guess',
  lost: 'the automaton has no row for it',
};
function parts(names, found) {
  const at = lens.parting(found);
  if (at === null) return null;
  const column = lens.argmax(found.model.at(-1)),
    word = found.words[at];
  const change = (rows) => lens.changes(rows, found.words.length)[at][column];
  const reason =
    REASONS[found.rows[at]] ||
    (found.counts[at] < 5
      ? `the automaton has seen it only ${lens.plural(found.counts[at], 'time')}`
      : `the automaton has seen it ${lens.whole(found.counts[at])} times, but takes it otherwise here`);
  return h(
    'p',
    { class: 'parting' },
    'They part at ',
    h('b', null, '\u201c', lens.word(word), '\u201d'),
    ` (word ${at + 1}): ${reason}. It changes \u201c${lens.visible(names[column])}\u201d by ${lens.points(change(found.model))} for the network, by ${lens.points(change(found.automaton))} for the automaton.`,
  );
}

const HAIR = 0.005; // divergence below which two outputs differ by a few points of a per cent at most
const differing = ({ jsd }) =>
  jsd < HAIR
    ? 'Both are nearly undecided, and their probabilities differ by little; but they name different classes.'
    : 'The automaton is wrong about the network here: its row below explains its own answer, not the network\u2019s.';

function verdict(names, found) {
  const who = (title, row) => h('div', { class: 'says' }, h('span', null, title), h('b', null, row));
  const named = (label) => lens.className(names, names.indexOf(label));
  const cells = [
    found.truth && who('Truth', named(found.truth)),
    found.model && who('Network', lens.outcome(names, found.model.at(-1))),
    who('Automaton', [lens.outcome(names, found.automaton.at(-1)), found.label === null ? ' (undecided)' : '']),
  ];
  const wrong = [
    found.truth && found.model && found.model_label !== found.truth && 'The network is wrong here.',
    found.model && !found.agrees && differing(found),
  ].filter(Boolean);
  return [
    h(
      'div',
      { class: 'readers' },
      cells,
      found.model &&
        h(
          'div',
          { class: 'says' },
          h('span', null, 'Copy and network'),
          h('b', { class: found.agrees ? 'yes' : 'no' }, found.agrees ? 'they agree' : 'they disagree'),
        ),
    ),
    wrong.length > 0 && h('p', { class: 'wrong' }, wrong.join(' ')),
  ];
}

lens.card = (names, found, fidelity) => [
  verdict(names, found),
  fidelity ? trust(fidelity, found) : null,
  parts(names, found),
  h(
    'p',
    { class: 'note' },
    found.cut ? ' The text is longer than the network reads: the rest was cut.' : '',
    found.rounded
      ? [
          ' Read by this page alone, with rounded weights and without the network; ',
          h('code', null, lens.visible(found.command)),
          ' asks the network, too.',
        ]
      : '',
  ),
];
