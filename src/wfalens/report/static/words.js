// All words by what they do, and a page for each.
const { h } = lens;

lens.views.push({
  name: 'words',
  title: 'Words',
  lead: 'Which words push the network, and where to? In points of probability, while it is not yet sure.',
  async build(view, parameters) {
    const { class_names: names, has, next_symbol: speaks } = await lens.source.overview();
    const given = {
      query: parameters.get('query') || '',
      towards: names.includes(parameters.get('towards')) ? parameters.get('towards') : '',
      sort: lens.wordColumns.includes(parameters.get('sort')) ? parameters.get('sort') : 'strength',
      falling: parameters.get('falling') !== 'false',
      min_count: Number(parameters.get('min_count')) || 5,
    };
    const content = h('div');
    const change = ([, , value, at, half]) =>
      h(
        'td',
        { style: { background: half === null ? 'none' : lens.shade(2 * value, at) } },
        `${half === null ? '\u2248 ' : ''}${lens.asPoints(value)}`,
      );
    const columns = [
      { key: 'word', title: 'word', cell: (row) => lens.wordLink(row[0]) },
      { key: 'strength', title: 'points', cell: change },
      { title: 'towards', left: true, cell: (row) => h('td', { class: 'left' }, lens.className(names, row[3])) },
      { title: '\u00b1', cell: (row) => (row[4] === null ? '' : lens.asPoints(row[4]).replace('+', '')) },
      { key: 'count', title: 'seen', cell: (row) => lens.whole(row[1]) },
    ];
    function draw() {
      lens.remember(given);
      lens.put(
        content,
        lens.longTable({
          label: 'Words by what they change',
          columns,
          sort: given.sort,
          falling: given.falling,
          fetch: (offset, limit) => lens.source.words({ ...given, offset, limit }),
          onSort: (key) => {
            given.falling = key === given.sort ? !given.falling : key !== 'word';
            given.sort = key;
            draw();
            content.querySelector('th[aria-sort$=ing] button')?.focus();
          },
        }),
      );
    }
    const search = h('input', {
      type: 'search',
      maxlength: 200,
      value: given.query,
      placeholder: 'part of a word',
      on: {
        input: lens.later(80, () => {
          given.query = search.value.trim();
          draw();
        }),
      },
    });
    const choose = (key) => (value) => {
      given[key] = key === 'towards' ? value : Number(value);
      draw();
    };
    const towards = lens.select(
      [['', 'any class'], ...names.map((name) => [name, name])],
      given.towards,
      choose('towards'),
    );
    const least = lens.select(
      [
        ['1', 'once or more'],
        ['2', '2 times'],
        ['5', '5 times'],
        ['20', '20 times'],
        ['100', '100 times'],
      ],
      String(given.min_count),
      choose('min_count'),
    );
    const carried = lens.source.carried?.words();
    const measured = has.model && has.texts && !speaks;
    view.append(
      h(
        'div',
        { class: 'controls' },
        lens.field('Search', search),
        lens.field('Towards', towards),
        lens.field('Seen at least', least),
      ),
      h(
        'p',
        { class: 'note' },
        measured ? lens.explained('Points', 'push') : lens.explained('Points', 'influence'),
        measured
          ? ' are the network\u2019s mean change, \u00b1 half of the 95 % interval. \u2248 is the automaton\u2019s estimate for words that the network read too seldom. '
          : ' are the automaton\u2019s estimate (\u2248): without the network and texts nothing was measured. ',
        `Click a title to sort. ${carried ? `This report carries ${lens.whole(carried.rows.length)} of ${lens.whole(carried.of)} words: the most frequent and the strongest of each class.` : ''}`,
      ),
      content,
    );
    await lens.fill(content, lens.source.measured, () => draw());
  },
});

const near = (title, term, pairs, none) =>
  h(
    'section',
    null,
    h('h2', null, lens.explained(title, term)),
    pairs === null
      ? h('p', { class: 'note' }, none)
      : pairs.length
        ? h(
            'ul',
            { class: 'tags' },
            pairs.map(([word, gap]) =>
              h('li', { 'data-tip': `distance ${Number(gap).toPrecision(2)}` }, lens.wordLink(word)),
            ),
          )
        : h('p', { class: 'note' }, 'none'),
  );

// A text with every occurrence of a word marked.
function marked(text, word) {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    edge = (char, side) => (/[\p{L}\p{N}]/u.test(char) ? side : '');
  const pattern = new RegExp(
    `(${edge(word[0], '(?<![\\p{L}\\p{N}])')}${escaped}${edge(word.at(-1), '(?![\\p{L}\\p{N}])')})`,
    'giu',
  );
  return h(
    'a',
    { href: lens.link('trace', { text }) },
    text.split(pattern).map((part, at) => (at % 2 ? h('mark', null, lens.word(part)) : lens.word(part))),
  );
}

// What the word changes, class by class.
function effect(names, found) {
  const chosen = found.changes.map(([at]) => at),
    changes = found.changes.map(([, value]) => value);
  const [at, most, half] = found.changes.reduce((best, each) => (each[1] > best[1] ? each : best));
  return [
    h(
      'p',
      { class: 'headline' },
      half === null
        ? 'The network read it too seldom to measure; the automaton estimates that it moves a text towards '
        : most > half
          ? 'It moves the network towards '
          : 'It is not shown to do anything: ',
      (half === null || most > half) && [lens.className(names, at), ' by '],
      h('b', null, lens.points(most)),
      half !== null &&
        ` (95 %: ${lens.asPoints(most - half)} to ${lens.asPoints(most + half)}${found.read ? `; read ${lens.plural(found.read, 'time')} while the network was not yet sure` : ''})`,
      '.',
    ),
    chosen.length > 1 &&
      lens.figure({
        title: `What \u201c${lens.visible(found.word)}\u201d changes, by class`,
        describe: chosen.map((each, n) => `${lens.visible(names[each])} ${lens.points(changes[n])}`).join(', '),
        draw: (svg, width) => lens.signedBars(svg, width, { names, chosen, values: changes, most: 0.5 }),
        term: half !== null ? 'push' : 'influence',
        note: `In points of probability; all words have the same scale.${chosen.length < names.length ? ` The ${chosen.length} classes that change most.` : ''}`,
      }),
  ];
}

lens.views.push({
  name: 'word',
  title: 'One word',
  hidden: 'words',
  lead: 'What one word does.',
  async build(view, parameters) {
    const word = parameters.get('word') || '';
    const { class_names: names } = await lens.source.overview();
    await lens.fill(
      view,
      async (onProgress) => {
        await lens.source.measured(onProgress);
        return lens.source.word(word);
      },
      (found) => [
        h('h2', null, lens.word(found.word)),
        h(
          'p',
          { class: 'note' },
          `Seen ${lens.plural(found.count, 'time')} in extraction. `,
          lens.textLink(found.word, 'Open it in Sentence'),
        ),
        h(
          'div',
          { class: 'grid' },
          h('div', null, effect(names, found)),
          h(
            'div',
            null,
            near(
              `Which words act like \u201c${lens.visible(found.word)}\u201d?`,
              'd_T',
              found.acting,
              'This report carries them for the strongest words only.',
            ),
            near(
              found.vectors
                ? `Words near in meaning (${lens.visible(found.vectors)} vectors)`
                : 'Words near in meaning',
              'd_S',
              found.meaning,
              lens.source.live ? 'Give word vectors with --vectors to see them.' : 'Not carried in this report.',
            ),
          ),
        ),
        h('h2', null, 'Sentences'),
        found.sentences === null
          ? h('p', { class: 'note' }, 'Not carried in this report.')
          : found.sentences.length
            ? h(
                'ul',
                { class: 'sentences' },
                found.sentences.map((text) => h('li', null, marked(text, found.word))),
              )
            : h('p', { class: 'note' }, 'none among these texts'),
      ],
    );
  },
});
