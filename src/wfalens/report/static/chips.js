// The words of a sentence with what each of them contributes, in one row for each reader.
const { h } = lens;
const MANY = 18; // words: more stand closer
const UNKNOWN = {
  unknown: 'The automaton does not know the word.',
  absent: 'The word is not among those that this page carries, so it reads as <unk>.',
};

// rows: [{who, values (words × classes)}]; column: the class that is explained; show: a value as people read it;
// full: the value that has the full colour, the same in every text
lens.chipRows = ({ found, rows, column, name, at, show, full, choose, edit, press }) => {
  const chip =
    ({ who, values }, first) =>
    (word, each) =>
      h(
        'button',
        {
          type: 'button',
          class: `chip ${found.rows[each]}${each >= at ? ' later' : ''}`,
          'data-at': each,
          tabindex: first && each === Math.max(0, at - 1) ? 0 : -1,
          'aria-pressed': String(each === at - 1),
          'aria-label': `${lens.visible(word)}: ${show(values[each][column])} for ${name} (${who}), ${found.rows[each]} rows, seen ${lens.whole(found.counts[each])} times`,
          'data-tip': `${lens.visible(word)}: ${show(values[each][column])} ${values[each][column] < 0 ? 'against' : 'for'} ${name}, by the ${who}. ${UNKNOWN[found.rows[each]] || `Seen ${lens.whole(found.counts[each])} times in extraction; ${found.rows[each]} rows.`}`,
          style: { background: lens.shade(values[each][column] / full, column) },
          on: { click: (event) => (event.detail === 2 && edit ? edit(each) : choose(each + 1)) }, // a click draws the words anew, so no dblclick would arrive
        },
        lens.word(word),
        h('small', { 'aria-hidden': 'true' }, show(values[each][column])),
      );
  return rows.map((row, number) =>
    h(
      'div',
      { class: `reader${found.words.length > MANY ? ' many' : ''}`, 'data-reader': row.who },
      h('span', { class: 'who' }, row.who),
      h(
        'div',
        {
          class: 'words',
          role: 'toolbar',
          'aria-label': `The words of the sentence and their contributions, by the ${row.who}; arrow keys step, Enter edits`,
          on: { keydown: press },
        },
        found.words.map(chip(row, number === 0)),
      ),
    ),
  );
};

// what each word changed when it was read: the differences of the outputs after each word
lens.changes = (outputs, words) => {
  const first = outputs.length - words - 1; // a black box has no output before the first word
  return Array.from({ length: words }, (_, at) =>
    outputs[at + 1 + first].map((value, column) => value - (outputs[at + first]?.[column] ?? 1 / outputs[0].length)),
  );
};
