// Texts as truth, network and automaton see them, and what is wrong with them.
const { h } = lens;
const SHOWN = 100,
  MOST_CLASSES = 20, // of a matrix
  MOST_PAIRS = 25;
const READERS = { truth: 1, network: 2, automaton: 3 };

// Every table can be saved as a file for spreadsheets.
const cell = (value) => {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text; // no spreadsheet must run it
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
lens.csv = (name, columns, rows) =>
  h(
    'button',
    {
      type: 'button',
      class: 'small',
      'aria-label': `Save ${name} as CSV`,
      on: {
        click: () => {
          const lines = [columns, ...rows()].map((row) => row.map(cell).join(','));
          const link = h('a', {
            href: URL.createObjectURL(new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' })),
            download: `${name.replace(/[^\p{L}\p{N}]+/gu, '-')}.csv`,
          });
          link.click();
          setTimeout(() => URL.revokeObjectURL(link.href), 10000);
        },
      },
    },
    'CSV',
  );

const shownText = (text) => h('td', { class: 'text roomy' }, lens.textLink(text, lens.cut(text, 160)));

// of many classes, the pairs that are confused most
function pairs(title, [first, second], names, counts, pick) {
  const found = counts.flatMap((row, at) =>
    row.map((count, column) => [at, column, count]).filter(([, column, count]) => count && column !== at),
  );
  const name = (at) => lens.word(at === names.length ? 'undecided' : names[at]);
  return found.length
    ? lens.table(
        `${title}: most confused`,
        [first, second, 'texts'],
        found
          .sort((a, b) => b[2] - a[2])
          .slice(0, MOST_PAIRS)
          .map(([at, column, count]) => [
            name(at),
            h('td', { class: 'left' }, name(column)),
            h(
              'button',
              {
                type: 'button',
                class: 'plain',
                on: { click: () => pick(at, column === names.length ? -1 : column) },
              },
              lens.whole(count),
            ),
          ]),
      )
    : h('p', null, `${title}: no class is taken for another.`);
}

// a matrix of counts whose cells choose the texts below
function matrix(title, across, names, counts, pick) {
  if (names.length > MOST_CLASSES) return pairs(title, across, names, counts, pick);
  const mostApart = Math.max(1, ...counts.flatMap((row, at) => row.filter((_, column) => column !== at)));
  const columns = counts.some((row) => row[names.length]) ? [...names, 'undecided'] : names;
  const corner = `${across[0]} \u2193 ${across[1]} \u2192`;
  const saved = lens.csv(title, [corner, ...columns], () =>
    counts.map((row, at) => [names[at], ...row.slice(0, columns.length)]),
  );
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title },
    h(
      'table',
      { class: 'confusion' },
      h('caption', null, h('span', null, title, ' ', saved)),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, corner),
          columns.map((name) => h('th', { scope: 'col' }, lens.word(name))),
        ),
      ),
      h(
        'tbody',
        null,
        counts.map((row, at) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, lens.word(names[at])),
            columns.map((name, column) =>
              h(
                'td',
                {
                  class: at === column ? 'same' : null,
                  style: {
                    'background-color':
                      at === column || !row[column]
                        ? 'transparent'
                        : `color-mix(in srgb, var(--bad) ${Math.round(8 + (42 * row[column]) / mostApart)}%, transparent)`,
                  },
                },
                row[column]
                  ? h(
                      'button',
                      {
                        type: 'button',
                        class: 'plain',
                        'aria-label': `${lens.plural(row[column], 'text')}: ${lens.visible(names[at])}, then ${lens.visible(name)}`,
                        on: { click: () => pick(at, column === names.length ? -1 : column) },
                      },
                      lens.whole(row[column]),
                    )
                  : h('span', { class: 'none' }, '0'),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

function problemTables(found) {
  const { problems, rows, class_names: names } = found;
  const label = (at) => (at < 0 ? 'undecided' : lens.visible(names[at]));
  return [
    [
      'mistakes',
      'Surest mistakes',
      'The network gives another class than the label, the surest first. Some of these labels may be wrong: “wfalens repair labels” asks for a second opinion.',
      ['text', 'label', 'network says', 'its probability'],
      (each) => [rows[each.text][0], label(each.label), label(each.predicted), lens.percent(each.probability, 1)],
    ],
    [
      'broken',
      'Broken characters',
      'Texts with control characters, broken encodings or left-over markup.',
      ['text', 'damaged words', 'what it is'],
      (each) => [rows[each.text][0], each.words, each.kinds],
    ],
  ].map(([key, title, about, columns, cells]) => {
    const items = problems[key];
    if (items === null)
      return [
        h('h2', null, title),
        h('p', { class: 'note' }, 'This needs labels and the network: give them with --corpus and --model.'),
      ];
    const all = items.map(cells);
    return [
      h('h2', null, `${title} `, items.length > 0 && lens.csv(title, columns, () => all)),
      h('p', { class: 'note' }, about),
      items.length
        ? lens.table(
            title,
            columns,
            all
              .slice(0, 25)
              .map((row) => row.map((value, at) => (at === 0 ? shownText(value) : lens.word(String(value))))),
          )
        : h('p', null, 'None was found.'),
      items.length > 25 && h('p', { class: 'note' }, `The first 25 of ${items.length}; the CSV has all.`),
    ];
  });
}

lens.views.push({
  name: 'texts',
  title: 'Texts and problems',
  lead: 'Where truth, network and automaton differ, text by text, and what may be wrong with the data.',
  async build(view, parameters) {
    await lens.fill(view, lens.source.texts, (found) => {
      const names = found.class_names;
      const known = {
        truth: found.confusions.network !== null || found.rows[0]?.[1] !== null,
        network: found.rows[0]?.[2] !== null,
        automaton: true,
      };
      const given = Object.fromEntries(
        Object.keys(READERS).map((reader) => [
          reader,
          names.includes(parameters.get(reader)) || parameters.get(reader) === 'undecided'
            ? parameters.get(reader)
            : 'any',
        ]),
      );
      given.show = parameters.get('show') || 'all';
      const content = h('div'),
        controls = h('div', { class: 'controls' });
      const label = (at) => (at === null ? '\u2013' : at < 0 ? 'undecided' : names[at]);
      const shows = [
        ['all', 'all texts'],
        ...(known.truth && known.network ? [['wrong', 'network wrong']] : []),
        ...(known.network ? [['differ', 'automaton differs from network']] : []),
      ];
      const fits = (row) =>
        Object.entries(READERS).every(([reader, at]) => given[reader] === 'any' || label(row[at]) === given[reader]) &&
        (given.show === 'all' || (given.show === 'wrong' ? row[1] !== row[2] : row[2] !== row[3]));
      function draw() {
        lens.remember(
          Object.fromEntries(Object.entries(given).filter(([, value]) => value !== 'any' && value !== 'all')),
        );
        const rows = found.rows.filter(fits).sort((a, b) => (b[4] ?? b[5]) - (a[4] ?? a[5]));
        const columns = [
          'text',
          ...(known.truth ? ['truth'] : []),
          ...(known.network ? ['network', 'its probability'] : []),
          'automaton',
          'its confidence',
        ];
        const cells = (row) => [
          row[0],
          ...(known.truth ? [label(row[1])] : []),
          ...(known.network ? [label(row[2]), row[4]] : []),
          label(row[3]),
          row[5],
        ];
        lens.put(
          controls,
          Object.keys(READERS)
            .filter((reader) => known[reader])
            .map((reader) =>
              lens.field(
                reader[0].toUpperCase() + reader.slice(1),
                lens.select(
                  [
                    ['any', 'any class'],
                    ...names.map((name) => [name, name]),
                    ...(reader === 'automaton' ? [['undecided', 'undecided']] : []),
                  ],
                  given[reader],
                  (value) => {
                    given[reader] = value;
                    draw();
                  },
                ),
              ),
            ),
          lens.field(
            'Show',
            lens.select(shows, given.show, (value) => {
              given.show = value;
              draw();
            }),
          ),
          h(
            'button',
            {
              type: 'button',
              class: 'small',
              on: {
                click: () => {
                  for (const reader of Object.keys(READERS)) given[reader] = 'any';
                  given.show = 'all';
                  draw();
                },
              },
            },
            'Show all',
          ),
          lens.csv('Texts', columns, () => rows.map(cells)),
        );
        lens.put(
          content,
          h(
            'p',
            { class: 'note', role: 'status' },
            `${lens.plural(rows.length, 'text')}${rows.length > SHOWN ? `; the surest ${SHOWN} are shown, the CSV has all` : ''}.`,
          ),
          rows.length > 0 &&
            lens.table(
              'Texts',
              columns,
              rows
                .slice(0, SHOWN)
                .map((row) =>
                  cells(row).map((value, at) =>
                    at === 0 ? shownText(value) : typeof value === 'number' ? lens.percent(value) : lens.word(value),
                  ),
                ),
            ),
        );
      }
      const pick = (one, other) => (first, second) => {
        for (const reader of Object.keys(READERS)) given[reader] = 'any';
        Object.assign(given, { show: 'all', [one]: label(first), [other]: label(second) });
        draw();
        controls.scrollIntoView({ block: 'start' });
      };
      draw();
      const { network, automaton } = found.confusions;
      return [
        h(
          'p',
          null,
          `${lens.plural(found.rows.length, 'text')} of ${lens.visible(found.corpus)}${found.rows.length < found.of ? `, drawn at random from ${lens.whole(found.of)}` : ''}; all figures of this page are of these.`,
        ),
        h(
          'div',
          { class: 'sides' },
          network && matrix('Truth \u00d7 network', ['truth', 'network'], names, network, pick('truth', 'network')),
          automaton &&
            matrix(
              'Network \u00d7 automaton',
              ['network', 'automaton'],
              names,
              automaton,
              pick('network', 'automaton'),
            ),
        ),
        (network || automaton) && h('p', { class: 'note' }, 'A click on a number shows its texts below.'),
        h('h2', null, 'Texts'),
        controls,
        content,
        problemTables(found),
      ];
    });
  },
});
