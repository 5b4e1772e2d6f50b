// The first view: a verdict, the picture, the words, an example, and where it all comes from.
const { h } = lens;

const card = (title, term, value, more) =>
  h(
    'div',
    { class: 'card' },
    h('dt', null, title, ' ', lens.what(term)),
    h('dd', null, value, more && h('small', null, more)),
  );

// Of a language model: after every beginning of the texts, the empty one included.
function faithfulStrings({ texts, prefixes, automaton, baselines: rivals, ...network }, corpus) {
  const row = (name, found) => [
    h('td', { class: 'text' }, name),
    `${lens.number(found.kl.value, 4)} (${lens.number(found.kl.low, 4)} to ${lens.number(found.kl.high, 4)})`,
    lens.percent(found.agreement, 1),
    lens.number(found.ndcg),
    lens.number(found.perplexity, 2),
  ];
  return [
    lens.table(
      `After all ${lens.whole(prefixes)} beginnings of ${lens.plural(texts, 'text')} of ${lens.visible(corpus)}`,
      ['', 'KL (95 %)', 'same likeliest symbol', 'NDCG', 'perplexity'],
      [
        [h('td', { class: 'text' }, 'network'), '', '', '', lens.number(network.model_perplexity, 2)],
        row('automaton', automaton),
        ...Object.entries(rivals).map(([name, found]) => row(name, found)),
      ],
    ),
    h(
      'p',
      { class: 'note' },
      'KL is how far the probabilities of the next symbol are from the network\u2019s (0: equal). NDCG is how well the five likeliest symbols are ranked (1: as the network does). Perplexity is how many symbols a reader hesitates between on average.',
      Object.keys(rivals).length ? '' : ' N-grams for comparison need the extraction texts.',
    ),
  ];
}

function faithful(data, names) {
  if (data.strings) return faithfulStrings(data.strings, data.corpus);
  const rows = Object.entries(data.by_class).map(([name, item]) => ({
    label: name,
    estimate: item.cr,
    colour: lens.colour(names.indexOf(name)),
  }));
  const beside = { ...(data.readable && { 'readable automaton': data.readable }), ...data.baselines };
  const others = Object.entries(beside).map(([name, item]) => ({
    label: name,
    estimate: item.cr,
    colour: 'var(--soft)',
  }));
  const lowest = Math.min(...[...rows, ...others].map(({ estimate }) => estimate.low));
  const low = Math.max(0, Math.floor(lowest * 10) / 10);
  const all = { label: 'all texts', estimate: data.overall.cr, colour: 'var(--ink)' };
  const deciles = data.selective.deciles.map((each) => ({
    label: each.number === 1 ? 'least sure tenth' : each.number === 10 ? 'surest tenth' : `tenth ${each.number}`,
    estimate: each.cr,
    colour: 'var(--ink)',
  }));
  const least = Math.max(0, Math.floor(Math.min(...deciles.map(({ estimate }) => estimate.low)) * 10) / 10);
  const half = data.selective.curve.find((each) => Math.abs(each.coverage - 0.8) < 0.06);
  return [
    h(
      'dl',
      { class: 'cards' },
      card('Consistency rate', 'CR', lens.number(data.overall.cr.value), `95 %: ${lens.interval(data.overall.cr)}`),
      card('Divergence (JSD)', 'JSD', lens.number(data.overall.jsd.value), `95 %: ${lens.interval(data.overall.jsd)}`),
      data.model_accuracy &&
        card(
          'Accuracy of the network',
          'network',
          lens.number(data.model_accuracy.value),
          `automaton: ${lens.number(data.automaton_accuracy.value)}`,
        ),
      half &&
        card(
          `On its surest ${lens.percent(half.coverage)}`,
          'confidence',
          lens.number(half.cr.value),
          `consistency where confidence \u2265 ${lens.number(half.min_confidence, 2)}`,
        ),
    ),
    h(
      'p',
      { class: 'note' },
      `On ${lens.plural(data.texts, 'text')} of ${lens.visible(data.corpus)}${data.texts < data.of ? `, drawn at random from ${lens.whole(data.of)}` : ''}. The consistency rate is the share of texts on which automaton and network choose the same class; the divergence is 0 for equal outputs and 0.69 for opposite ones.${data.undecided ? ` Undecided on ${data.undecided}.` : ''}`,
    ),
    h(
      'div',
      { class: 'grid' },
      lens.figure({
        title: 'Consistency by class, beside baselines',
        term: 'baseline',
        describe: `Consistency rate by class: ${rows.map(({ label, estimate }) => `${label} ${lens.number(estimate.value)}`).join(', ')}`,
        draw: (svg, width) =>
          lens.intervalChart(svg, width, {
            rows: [all, ...rows, ...others],
            xTitle: 'consistency rate with 95 % interval',
            low,
            high: 1,
          }),
        note: 'Classes as the network predicts them. An automaton that does not beat a bag of words has not understood much.',
      }),
      lens.figure({
        title: 'Consistency by the automaton\u2019s confidence',
        term: 'confidence',
        describe: `Consistency rate by confidence: ${deciles.map(({ label, estimate }) => `${label} ${lens.number(estimate.value)}`).join(', ')}`,
        draw: (svg, width) =>
          lens.intervalChart(svg, width, {
            rows: deciles,
            xTitle: 'consistency rate with 95 % interval',
            low: least,
            high: 1,
          }),
        note: 'Confidence is the probability of the likeliest class. Where it is low, ask the network.',
      }),
    ),
  ];
}

// The first sentence of a language model, beside the closest of the n-grams and other rivals.
function sentenceOnStrings({ automaton, baselines: rivals, model_perplexity: perplexity }) {
  const [closest] = Object.entries(rivals).sort(([, a], [, b]) => a.kl.value - b.kl.value),
    better = closest && automaton.kl.value < closest[1].kl.value;
  return h(
    'p',
    { class: 'headline' },
    'After any beginning the automaton names the network\u2019s likeliest next symbol in ',
    h('b', null, lens.percent(automaton.agreement, 1)),
    ` of the cases; its perplexity is ${lens.number(automaton.perplexity, 2)}, the network\u2019s ${lens.number(perplexity, 2)}. `,
    `Its probabilities differ from the network\u2019s by a KL of ${lens.number(automaton.kl.value, 4)}`,
    closest &&
      `; the closest simple rival (${closest[0]}) by ${lens.number(closest[1].kl.value, 4)}${better ? '' : ': the automaton is no better than that'}`,
    '.',
  );
}

// The first sentence: how good the copy is, beside what a simple rival reaches.
function sentence(overview, found) {
  if (!found) {
    const { recorded } = overview;
    const [where, what] = overview.next_symbol ? ['After ', 'held-out beginning'] : ['On ', 'held-out text'];
    const named = overview.next_symbol
      ? ' the automaton named the network\u2019s likeliest next symbol in '
      : ' the automaton chose the network\u2019s class in ';
    return recorded
      ? h(
          'p',
          { class: 'headline' },
          where,
          lens.plural(recorded.texts, what),
          named,
          h('b', null, lens.percent(recorded.cr, 1)),
          '.',
        )
      : null;
  }
  if (found.strings) return sentenceOnStrings(found.strings);
  const { cr } = found.overall,
    rival = Object.entries(found.baselines).find(([name]) => name.startsWith('bag of words'));
  const gap =
    rival &&
    (cr.low > rival[1].cr.high
      ? 'more than word counts can explain'
      : cr.high < rival[1].cr.low
        ? 'less than counting words would do: do not rely on it'
        : 'no more than counting words would do');
  return h(
    'p',
    { class: 'headline' },
    'The automaton chooses the network\u2019s class for ',
    h('b', null, lens.percent(cr.value, 1)),
    ` of the texts (95 %: ${lens.percent(cr.low, 1)} to ${lens.percent(cr.high, 1)}) `,
    lens.what('agreement'),
    rival && [
      `; a ${lens.visible(rival[0])} for `,
      h('b', null, lens.percent(rival[1].cr.value, 1)),
      ' ',
      lens.what('bag of words'),
      found.baseline_note ? ` (a weak baseline here: ${lens.visible(found.baseline_note)})` : `: ${gap}`,
    ],
    '.',
  );
}

const topWords = ({ class_names: names, top_words: top }) =>
  h(
    'div',
    { class: 'classes' },
    names.map((_, at) =>
      h(
        'div',
        null,
        h('h3', null, lens.className(names, at)),
        top[at].length
          ? h(
              'ul',
              { class: 'tags' },
              top[at].map((word) => h('li', null, lens.wordLink(word))),
            )
          : h('p', { class: 'note' }, 'no word makes it likelier'),
      ),
    ),
  );

// One sentence that the two read alike, with what each word contributes.
async function example(node, overview) {
  const found = await lens.source.sentences().catch(() => null);
  const fits = ({ text, label, model_label: predicted }) =>
    label && (!predicted || predicted === label) && text.split(' ').length >= 5 && text.split(' ').length <= 16;
  const chosen = found && (found.any.filter(fits).sort((a, b) => b.confidence - a.confidence)[0] || found.any[0]);
  if (!chosen) {
    lens.put(node, h('p', { class: 'note' }, 'Give texts with --corpus to see one.'));
    return;
  }
  const shown = await lens.source.trace(chosen.text),
    column = lens.argmax(shown.automaton.at(-1));
  const draw = (rows, unit) =>
    lens.put(
      node,
      lens.chipRows({
        found: shown,
        rows,
        column,
        name: lens.visible(overview.class_names[column]),
        at: shown.words.length,
        choose: () => {
          location.hash = lens.link('trace', { text: chosen.text });
        },
        press: () => {},
      }),
      h(
        'p',
        { class: 'note' },
        'Words in colour make it likelier: ',
        lens.className(overview.class_names, column),
        `, grey ones against it; the numbers are Shapley values in ${unit} `,
        unit === 'log-odds' ? [lens.what('log-odds'), ' '] : '',
        lens.what('Shapley value'),
        '. ',
        h('a', { href: lens.link('trace', { text: chosen.text }) }, 'Look at this sentence closely'),
      ),
    );
  draw([{ who: 'automaton', values: shown.contributions }], shown.unit);
  if (overview.has.model)
    lens.source.attribution(chosen.text).then(
      (shapley) =>
        draw(
          ['network', 'automaton'].map((who) => ({ who, values: shapley[who] })),
          'probability',
        ),
      () => {},
    ); // then the automaton is shown alone
}

// Of an automaton that nobody can tell: its groups of states on a map, as soon as that is there.
function sketch(overview) {
  const place = h('div', { class: 'sketch' });
  lens.source.map().then(
    (map) =>
      place.append(
        lens.figure({
          title: `The automaton: ${map.levels[0].states.length} groups of its ${map.kind}`,
          term: map.kind === 'states' ? 'group' : 'region',
          least: lens.mapWidth,
          legend: lens.classLegend(overview.class_names),
          draw: (svg, width) => lens.drawMap(svg, width, map, map.levels[0], { flows: 12 }),
          note: h(
            'span',
            null,
            'Each circle stands in the band of its likeliest class, the further right the surer it is; lines are the strongest flows. ',
            h('a', { href: lens.link('map') }, 'Look closer'),
          ),
        }),
      ),
    () => {},
  ); // without texts a linear automaton has no map; its view says so
  return place;
}

function picture(overview) {
  const { reading } = overview;
  if (!reading) return sketch(overview);
  if (reading.error) return h('p', { class: 'note' }, lens.visible(reading.error));
  return lens.figure({
    title: overview.readable ? 'The automaton in short: its readable automaton' : 'The automaton',
    term: overview.readable ? 'readable automaton' : 'automaton',
    least: lens.diagramWidth,
    legend: lens.classLegend(overview.class_names),
    draw: (svg, width) => lens.drawDiagram(svg, width, reading),
    note: h(
      'span',
      null,
      overview.readable &&
        'The automaton that answers is larger; this one is a second, smaller copy of the network, and less faithful (see below). ',
      'A box is a state, an arrow what words do: how many of the words read there take it, and which ones stand out; dashed arrows lead back to a less sure state. ',
      h('a', { href: lens.link('map') }, 'The whole story'),
    ),
  });
}

function provenance(data) {
  const made = data.provenance;
  const entries = [
    [
      'Kind',
      `${lens.kindOf(data)}: ${lens.kindOf(data) === data.kind ? '' : 'few states and word clusters; '}${data.about}`,
    ],
    ['Extracted from', made.model ? `${made.model.type || 'model'} ${made.model.fingerprint || ''}` : 'unknown'],
    [
      'Texts',
      made.corpus
        ? `${made.corpus.name}: ${lens.plural(made.corpus.texts, 'text')}, ${lens.plural(made.corpus.tokens, 'token')}`
        : 'unknown',
    ],
    ['States', lens.whole(data.summary.states)],
    ...(data.readable
      ? [
          [
            'Readable automaton',
            `${lens.whole(data.readable.states)} states, ${lens.whole(data.readable.word_classes)} word clusters`,
          ],
        ]
      : []),
    [
      data.next_symbol ? 'Symbols' : 'Words',
      `${lens.whole(data.next_symbol ? data.class_names.length - 1 : data.summary.words)}, of which ${lens.whole(data.words_seen)} were seen in extraction`,
    ],
    ...Object.entries(data.summary)
      .filter(([name, value]) => value !== null && !['kind', 'states', 'words'].includes(name))
      .map(([name, value]) => [
        name.replaceAll('_', ' '),
        typeof value === 'number' ? (Number.isInteger(value) ? lens.whole(value) : lens.number(value)) : String(value),
      ]),
    ...(made.stopped?.by
      ? [
          [
            'Stopped early',
            `by ${made.stopped.by === 'time' ? 'its limit of time' : 'hand'}${made.stopped.planned ? `, after ${made.stopped.passes} of ${made.stopped.planned} passes` : ''}`,
          ],
        ]
      : []),
    [
      'Versions',
      made.versions
        ? Object.entries(made.versions)
            .map((pair) => pair.join(' '))
            .join(', ')
        : 'unknown',
    ],
  ];
  return h(
    'dl',
    { class: 'facts' },
    entries.map(([name, value]) => [
      h('dt', null, lens.hasTerm(name) ? lens.explained(name) : name),
      h('dd', null, lens.visible(value)),
    ]),
  );
}

lens.views = [
  {
    name: 'overview',
    title: 'Overview',
    lead: 'How good the copy is, what it does, and where it comes from.',
    async build(view) {
      const data = await lens.source.overview();
      const headline = h('div', null, sentence(data, null)),
        measured = h('div'),
        shown = h('div', { class: 'panel' });
      view.append(
        ...[
          headline,
          picture(data),
          h(
            'h2',
            null,
            data.next_symbol
              ? 'Symbols that make each next symbol likelier '
              : 'Words with the largest influence on each class ',
            lens.what('influence'),
          ),
          topWords(data),
          data.has.texts && [h('h2', null, 'One example'), shown],
          h('h2', null, 'How faithful ', lens.what('CR')),
          measured,
          h(
            'div',
            { class: 'grid' },
            h('section', null, h('h2', null, 'Where it comes from'), h('div', { class: 'panel' }, provenance(data))),
            h(
              'section',
              null,
              h('h2', null, 'How to make it again'),
              h(
                'div',
                { class: 'panel' },
                h('pre', null, lens.visible(data.command)),
                navigator.clipboard &&
                  h(
                    'button',
                    {
                      type: 'button',
                      class: 'small',
                      on: { click: () => navigator.clipboard.writeText(data.command) },
                    },
                    'Copy',
                  ),
              ),
              lens.source.carried?.sampling && [
                h('h2', null, 'What this report carries'),
                h(
                  'div',
                  { class: 'panel' },
                  h(
                    'dl',
                    { class: 'facts' },
                    Object.entries(lens.source.carried.sampling).map(([name, text]) => [
                      h('dt', null, name),
                      h('dd', null, text),
                    ]),
                  ),
                ),
              ],
            ),
          ),
        ]
          .flat()
          .filter(Boolean),
      );
      const exemplary = data.has.texts && example(shown, data);
      if (data.has.model && data.has.texts)
        await lens.fill(measured, lens.source.fidelity, (found) => {
          lens.put(headline, sentence(data, found));
          return faithful(found, data.class_names);
        });
      else lens.put(measured, h('p', null, 'To measure it, give the classifier with --model and texts with --corpus.'));
      await exemplary;
    },
  },
];
