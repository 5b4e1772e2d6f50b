// Single changes that change a class, position by position.
const { h } = lens;

// found: what /api/counterfactuals answers; use(position, word) applies a change
lens.counterfactualPanel = (names, found, use) => {
  if (found.edits) return lens.editPanel(names, found); // tokens are characters
  const models = Object.keys(found.before).reverse(); // the network first
  const given = { model: models[0], to: 'any' };
  const list = h('div');
  const old = ({ position }) => lens.visible(found.words[position]);
  const flipped = (change, model) => change[model][0] !== found.before[model];
  const decision = ([label, share]) => [lens.className(names, label), ` ${lens.percent(share)}`];
  function changeItem(change) {
    const others = models.filter((model) => model !== given.model && flipped(change, model));
    const label = change.new === null ? 'left out' : change.new;
    return h(
      'li',
      {
        class: change.plausible ? 'plausible' : '',
        'data-tip': `${change.new === null ? 'Without the word' : `\u201c${lens.visible(change.new)}\u201d for \u201c${old(change)}\u201d`}: ${models.map((model) => `the ${model} says ${lens.visible(names[change[model][0]])} ${lens.percent(change[model][1])}`).join(', ')}`,
      },
      change.new === null ? h('i', null, label) : h('ins', null, lens.word(label)),
      ' \u2192 ',
      decision(change[given.model]),
      models.length > 1 && h('small', null, others.length ? ' both' : ` the ${given.model} only`),
      use &&
        h(
          'button',
          {
            class: 'small',
            type: 'button',
            'aria-label':
              change.new === null ? `Leave out ${old(change)}` : `Use ${lens.visible(change.new)} for ${old(change)}`,
            on: { click: () => use(change.position, change.new ?? '') },
          },
          'try',
        ),
    );
  }
  function draw() {
    const chosen = found.changes.filter(
      (change) => flipped(change, given.model) && (given.to === 'any' || names[change[given.model][0]] === given.to),
    );
    const positions = [...new Set(chosen.map(({ position }) => position))];
    const rows = positions.map((position) => {
      const here = chosen.filter((change) => change.position === position);
      return [
        h('span', null, h('small', null, `${position + 1} `), h('del', null, lens.word(found.words[position]))),
        h('td', { class: 'text' }, h('ul', { class: 'changes' }, here.map(changeItem))),
      ];
    });
    const before = lens.visible(names[found.before[given.model]]);
    lens.put(
      list,
      rows.length
        ? lens.table(
            `Changes of one word that turn the ${given.model} from ${before}${given.to === 'any' ? '' : ` to ${lens.visible(given.to)}`}`,
            ['word', 'left out, or another word in its place'],
            rows,
          )
        : h(
            'p',
            null,
            `None of the changes that were tried turns the ${given.model} from ${before}${given.to === 'any' ? ' to another class' : ` to ${lens.visible(given.to)}`}.`,
          ),
    );
  }
  const { tried, vectors } = found;
  draw();
  return [
    h(
      'div',
      { class: 'controls' },
      models.length > 1 &&
        lens.field(
          'Whose mind',
          lens.select(
            models.map((model) => [model, `the ${model}\u2019s`]),
            given.model,
            (value) => {
              given.model = value;
              draw();
            },
          ),
        ),
      lens.field(
        'To',
        lens.select([['any', 'any other class'], ...names.map((name) => [name, name])], 'any', (value) => {
          given.to = value;
          draw();
        }),
      ),
    ),
    list,
    h(
      'p',
      { class: 'note' },
      `At ${tried.positions === tried.of ? 'every position' : `the ${tried.positions} positions that matter most`} the word left out and ${lens.plural(tried.words, 'word')} in its place, by the automaton\u2019s forward and backward vectors; the ${tried.changes} most telling were tried${models.length > 1 ? ' on the network' : ''}.${vectors ? ` Words of like meaning (bold) first, by ${lens.visible(vectors)}.` : ''}`,
      ' ',
      lens.what('counterfactual'),
    ),
  ];
};
