// All words by what they do, and a page for each.
const { h } = lens;

lens.views.push({
  name: 'words',
  title: 'Words',
  lead: 'How each word moves the output, averaged over the states as often as they are visited.',
  async build(view, parameters) {
    const { class_names: names, unit, largest } = await lens.source.overview();
    const given = {
      query: parameters.get('query') || '',
      sort: parameters.get('sort') || 'strength',
      falling: parameters.get('falling') !== 'false',
      min_count: Number(parameters.get('min_count')) || 5,
    };
    const content = h('div');
    const sorts = lens.wordColumns(names);
    const shade = (value, at) =>
      h('td', { style: { background: lens.shade(value / (largest || 1), at) } }, lens.signed(value));
    const columns = [
      { key: 'word', title: 'word', cell: (row) => lens.wordLink(row[0]) },
      { key: 'count', title: 'seen', cell: (row) => lens.whole(row[1]) },
      { key: 'strength', title: 'strength', cell: (row) => lens.number(row[2], 2) },
      ...names.map((name, at) => ({ key: sorts[3 + at], title: name, cell: (row) => shade(row[3 + at], at) })),
    ];
    function draw() {
      lens.remember(given);
      lens.put(
        content,
        lens.longTable({
          label: 'Words by influence',
          columns,
          sort: given.sort,
          falling: given.falling,
          fetch: (offset, limit) => lens.source.words({ ...given, offset, limit }),
          onSort: (key) => {
            given.falling = key === given.sort ? !given.falling : key !== 'word';
            given.sort = key;
            draw();
            content.querySelector(`th:nth-child(${sorts.indexOf(key) + 1}) button`)?.focus();
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
    const least = lens.select(
      [
        ['1', 'once or more'],
        ['2', '2 times'],
        ['5', '5 times'],
        ['20', '20 times'],
        ['100', '100 times'],
      ],
      String(given.min_count),
      (value) => {
        given.min_count = Number(value);
        draw();
      },
    );
    const carried = lens.source.carried?.words();
    view.append(
      h('div', { class: 'controls' }, lens.field('Search', search), lens.field('Seen at least', least)),
      h(
        'p',
        { class: 'note' },
        lens.explained('Influence', 'influence'),
        ` by class, as a change of ${unit}: the class\u2019s colour is for it, grey is against it. `,
        lens.explained('Strength', 'strength'),
        ` is over all classes. Click a title to sort. ${carried ? `This report carries ${lens.whole(carried.rows.length)} of ${lens.whole(carried.of)} words: the most frequent and the strongest of each class.` : ''}`,
      ),
      content,
    );
    draw();
  },
});

const near = (title, term, pairs, sign, none) =>
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
              h(
                'li',
                null,
                h(
                  'a',
                  { href: lens.link('word', { word }) },
                  lens.word(word),
                  ' ',
                  h('small', null, `${sign} ${Number(gap).toPrecision(2)}`),
                ),
              ),
            ),
          )
        : h('p', { class: 'note' }, 'none'),
  );

lens.views.push({
  name: 'word',
  title: 'One word',
  hidden: 'words',
  lead: 'What one word does.',
  async build(view, parameters) {
    const word = parameters.get('word') || '';
    const { class_names: names, largest } = await lens.source.overview();
    await lens.fill(
      view,
      () => lens.source.word(word),
      (found) => [
        h('h2', null, lens.word(found.word)),
        h(
          'p',
          { class: 'note' },
          `Seen ${lens.plural(found.count, 'time')} in extraction; strength ${lens.number(found.strength)}. `,
          lens.textLink(found.word, 'Open it in Sentence'),
        ),
        h(
          'div',
          { class: 'grid' },
          lens.figure({
            title: `Influence of \u201c${lens.visible(found.word)}\u201d by class`,
            describe: names.map((name, at) => `${lens.visible(name)} ${lens.signed(found.scores[at], 3)}`).join(', '),
            draw: (svg, width) =>
              lens.signedBars(svg, width, {
                names,
                values: found.scores,
                unit: found.unit,
                most: Math.max(largest, 1e-6),
              }),
            term: 'influence',
            note: `Averaged over the states, as often as each is visited. All words have the same scale: its ends are the largest influence of any usual word, ${lens.number(largest)}.`,
          }),
          h(
            'div',
            null,
            near(
              `Which words act like \u201c${lens.visible(found.word)}\u201d?`,
              'd_T',
              found.acting,
              'd_T',
              'This report carries them for the strongest words only.',
            ),
            near(
              found.vectors
                ? `Words near in meaning (${lens.visible(found.vectors)} vectors)`
                : 'Words near in meaning',
              'd_S',
              found.meaning,
              '1 \u2212 cosine',
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
                found.sentences.map((text) => h('li', null, lens.textLink(text))),
              )
            : h('p', { class: 'note' }, 'none among these texts'),
      ],
    );
  },
});
