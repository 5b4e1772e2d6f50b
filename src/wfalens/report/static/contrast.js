// Pairs of words that act and mean unlike each other.
const { h } = lens;
const ABOUT = {
  adversarial: 'Words near in meaning that move the automaton differently: swapping them should hardly matter.',
  collaborative: 'Words far apart in meaning that move the automaton alike: swapping them changes little.',
};

function examples(names, found) {
  if (!found.texts) return h('p', { class: 'note' }, `No text here holds \u201c${lens.visible(found.first)}\u201d.`);
  const head = h(
    'p',
    null,
    `\u201c${lens.visible(found.second)}\u201d in place of \u201c${lens.visible(found.first)}\u201d changes the network\u2019s mind in ${found.changed} of ${lens.plural(found.texts, 'text')}.`,
  );
  return [
    head,
    h(
      'ul',
      { class: 'sentences' },
      found.examples.map((each) =>
        h(
          'li',
          null,
          each.words.map((word, at) => [
            at ? ' ' : '',
            each.at.includes(at)
              ? [h('del', null, lens.word(word)), ' ', h('ins', null, lens.word(found.second))]
              : lens.word(word),
          ]),
          h(
            'span',
            { class: 'rest' },
            ` \u2013 ${lens.visible(each.before)} ${lens.percent(each.before_probability)} \u2192 ${lens.visible(each.after)} ${lens.percent(each.after_probability)}`,
          ),
        ),
      ),
    ),
  ];
}

lens.views.push({
  name: 'contrast',
  title: 'Contrast',
  lead: 'What words do against what words mean, tried on the network.',
  async build(view, parameters) {
    const overview = await lens.source.overview();
    await lens.fill(view, lens.source.contrast, (found) => {
      const names = found.class_names;
      const swaps = overview.has.model && overview.has.texts;
      const given = {
        kind: parameters.get('kind') === 'collaborative' ? 'collaborative' : 'adversarial',
        class: parameters.get('class') || 'all',
      };
      const content = h('div'),
        shown = h('div', { 'aria-live': 'polite' });
      const spoken = (word, row) => {
        const at = lens.argmax(row);
        return h(
          'td',
          { class: 'left spoken' },
          lens.wordLink(word),
          h('small', null, lens.className(names, at), ` ${lens.signed(row[at])}`),
        );
      };
      async function show(pair) {
        lens.put(shown, h('p', { class: 'note' }, 'looking \u2026'));
        try {
          lens.put(
            shown,
            h('div', { class: 'panel' }, examples(names, await lens.source.swaps(pair.first, pair.second))),
          );
        } catch (error) {
          lens.put(shown, h('p', { class: 'note' }, error.message));
        }
        shown.scrollIntoView({ block: 'nearest' });
      }
      function draw() {
        lens.remember(given);
        const part = found[given.kind];
        const pairs = part.pairs.filter(
          (pair) => given.class === 'all' || names[lens.argmax(pair.first_influence)] === given.class,
        );
        lens.put(shown);
        lens.put(
          content,
          h(
            'p',
            { class: 'note' },
            `${ABOUT[given.kind]} ${lens.plural(part.total, 'pair')} among ${lens.plural(part.words, 'word')} (${given.kind === 'adversarial' ? `d_S \u2264 ${part.epsilon.toPrecision(3)}, d_T \u2265 ${part.delta.toPrecision(3)}` : `d_T \u2264 ${part.epsilon.toPrecision(3)}, d_S \u2265 ${part.delta.toPrecision(3)}`}). ${found.verified ? `The strongest of each class were tried on the network; the pairs that ${given.kind === 'adversarial' ? 'change its output most' : 'change its output least'} come first.` : 'The strongest of each class are shown; with the network and texts they would be tried.'}`,
          ),
          pairs.length
            ? lens.table(
                `${given.kind[0].toUpperCase()}${given.kind.slice(1)} pairs, meanings by ${lens.visible(found.vectors)} vectors`,
                [
                  'a word, and its class',
                  'the word in its place',
                  ...(found.verified
                    ? [lens.explained('effect on the network', 'effect'), 'its class changes in']
                    : []),
                  lens.explained('d_T (acting)', 'd_T'),
                  lens.explained('d_S (meaning)', 'd_S'),
                  ...(swaps ? ['sentences'] : []),
                ],
                pairs.map((pair) => [
                  spoken(pair.first, pair.first_influence),
                  spoken(pair.second, pair.second_influence),
                  ...(found.verified
                    ? pair.verified.texts
                      ? [
                          lens.number(pair.verified.effect, 2),
                          `${pair.verified.changed} of ${lens.plural(pair.verified.texts, 'text')}`,
                        ]
                      : ['\u2013', 'in no text']
                    : []),
                  pair.d_T.toFixed(4),
                  pair.d_S.toFixed(3),
                  ...(swaps
                    ? [
                        h(
                          'button',
                          {
                            type: 'button',
                            class: 'small',
                            'aria-label': `Swap ${lens.visible(pair.first)} for ${lens.visible(pair.second)} in sentences`,
                            on: { click: () => show(pair) },
                          },
                          'swap',
                        ),
                      ]
                    : []),
                ]),
              )
            : h('p', null, 'no pair of this class'),
        );
      }
      draw();
      return [
        h(
          'div',
          { class: 'controls' },
          lens.field(
            'Pairs',
            lens.select(
              [
                ['adversarial', 'adversarial'],
                ['collaborative', 'collaborative'],
              ],
              given.kind,
              (value) => {
                given.kind = value;
                draw();
              },
            ),
          ),
          lens.field(
            'Class of the first word',
            lens.select([['all', 'any class'], ...names.map((name) => [name, name])], given.class, (value) => {
              given.class = value;
              draw();
            }),
          ),
        ),
        shown,
        content,
      ];
    });
  },
});
