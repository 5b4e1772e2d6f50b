// Edits of characters that change a class: every one is a text.
const { h } = lens;

const blanks = (text) => lens.visible(text).replaceAll(' ', '\u2423');
const MADE = {
  substitute: ({ old, new: to }) => `${blanks(to)} for ${blanks(old)}`,
  insert: ({ new: to }) => `${blanks(to)} put in`,
  delete: ({ old }) => `${blanks(old)} left out`,
  transpose: ({ old }) => `${blanks(old)} turned round`,
};

// found: what /api/counterfactuals answers for tokens that are characters
lens.editPanel = (names, found) => {
  const models = Object.keys(found.before).reverse(); // the network first
  const marked = ({ text, position, new: to }) =>
    h(
      'bdi',
      null,
      blanks(text.slice(0, position)),
      h('ins', null, blanks(to)),
      blanks(text.slice(position + to.length)),
    );
  const decision = (model, [label, share]) =>
    h(
      'span',
      label === found.before[model] ? { class: 'note' } : null,
      lens.className(names, label),
      ` ${lens.percent(share)}`,
    );
  const rows = found.edits.map((edit) => [
    h('td', { class: 'text' }, marked(edit)),
    MADE[edit.kind](edit),
    ...models.map((model) => decision(model, edit[model])),
  ]);
  const from = models.map((model) => `the ${model} from ${lens.visible(names[found.before[model]])}`).join(', ');
  return [
    rows.length
      ? lens.table(`Texts at one edit that turn ${from}`, ['text', 'edit', ...models], rows)
      : h('p', null, 'None of the edits that were tried turns a model to another class.'),
    h(
      'p',
      { class: 'note' },
      `${lens.plural(found.tried.edits, 'text')} at one edit (a character substituted, inserted, deleted, or transposed with the next) were read by the automaton${models.length > 1 ? `, the ${lens.whole(found.tried.changes)} that hurt its class most by the network` : ''}. Blanks are shown as \u2423.`,
    ),
  ];
};
