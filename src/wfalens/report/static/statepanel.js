// What stands beside the map about a state: its output, words that lead in and out, sentences.
const { h } = lens;

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const tags = (title, words) => [
  h('h3', null, title),
  words.length
    ? h(
        'ul',
        { class: 'tags' },
        words.map(([word, count]) =>
          h(
            'li',
            null,
            h('a', { href: lens.link('word', { word }) }, lens.word(word), ' ', h('small', null, lens.whole(count))),
          ),
        ),
      )
    : h('p', { class: 'note' }, 'none'),
];

function listed(map, level, choose) {
  const order = [...level.states].sort((a, b) => b.frequency - a.frequency);
  return [
    h(
      'p',
      null,
      `Choose a ${map.kind === 'states' ? 'state' : 'region'} to see what it stands for, which words lead there and away, and sentences that pass through it.`,
    ),
    lens.table(
      map.kind === 'states' ? 'States by visits' : 'Regions by visits',
      [map.kind === 'states' ? 'state' : 'region', 'likeliest class', 'visits', 'stays'],
      order.map((state) => [
        h(
          'button',
          { type: 'button', class: 'small', on: { click: () => choose(state.id) } },
          lens.stateName(map, level, state.id),
        ),
        [lens.className(map.class_names, lens.argmax(state.mix)), ` ${lens.percent(Math.max(...state.mix))}`],
        lens.percent(state.frequency, 1),
        lens.percent(state.stays),
      ]),
    ),
  ];
}

lens.stateDetails = (map, level, state, choose) => {
  if (!state) return listed(map, level, choose);
  return [
    h('button', { type: 'button', class: 'small', on: { click: () => choose(state.id) } }, '\u2190 all'),
    h('h2', null, capital(lens.stateName(map, level, state.id)), state.initial ? ', before any word' : ''),
    h(
      'p',
      { class: 'note' },
      `${lens.percent(state.frequency, 1)} of all visits (${lens.whole(state.visits)}); a word leaves it where it is in ${lens.percent(state.stays)} of the cases.`,
    ),
    lens.mix(map.class_names, state.mix),
    h('br'),
    tags('Words that lead here', state.words_in),
    tags('Words that lead away', state.words_out),
    h('h3', null, state.initial ? 'Every sentence begins here' : 'Sentences that pass here'),
    state.sentences.length
      ? h(
          'ul',
          { class: 'sentences' },
          state.sentences.map(({ words, after, share }) =>
            h(
              'li',
              null,
              h(
                'a',
                { href: lens.link('trace', { text: words.join(' ') }) },
                lens.word(words.slice(0, after || words.length).join(' ')),
              ),
              ' ',
              after > 0 && h('span', { class: 'rest' }, lens.word(words.slice(after).join(' '))),
              h('span', { class: 'hidden' }, ` (${lens.percent(share)})`),
            ),
          ),
        )
      : h(
          'p',
          { class: 'note' },
          map.texts ? 'no sentence of the sample passes here' : 'give texts with --corpus to see some',
        ),
  ];
};
