// The first view: the picture, five answers, and where it all comes from.
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
    const [where, one, many] = overview.next_symbol
      ? ['After ', 'beginning of its extraction texts', 'beginnings of its extraction texts']
      : ['On ', 'of its extraction texts set aside', 'of its extraction texts set aside'];
    const named = overview.next_symbol
      ? ' the automaton named the network\u2019s likeliest next symbol in '
      : ' the automaton chose the network\u2019s class in ';
    return recorded
      ? h(
          'p',
          { class: 'headline' },
          where,
          lens.plural(recorded.texts, one, many),
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

function provenance(data) {
  const made = data.provenance;
  const entries = [
    ['Kind', `${data.kind}: ${data.kind === 'readable' ? 'few states and word clusters; ' : ''}${data.about}`],
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

// What the network says of an example.
const said = (names, { output, class: label, truth }) => [
  names.includes(label) ? lens.className(names, names.indexOf(label)) : lens.word(label),
  ` ${lens.percent(Math.max(...output))}`,
  truth ? ` (label: ${lens.visible(truth)})` : '',
];

// A piece of advice; a command in it can be copied.
const advised = (advice) => {
  const at = advice.indexOf('wfalens ');
  return h(
    'div',
    { class: 'case' },
    at < 0 ? advice : [advice.slice(0, at), h('code', null, lens.visible(advice.slice(at)))],
  );
};

// A claim with its figure and its examples; every example opens in Sentence.
const claim = (names, { claim: text, figure, low, high, unit, n, examples, advice }) =>
  h(
    'li',
    null,
    lens.word(text),
    h(
      'small',
      { class: 'rest' },
      low === high ? '' : ` (${measured(figure, unit)}; 95 %: ${span(low, high, unit)}; ${lens.plural(n, 'case')})`,
    ),
    examples
      .slice(0, 2)
      .map((each) =>
        h(
          'div',
          { class: 'case' },
          '\u201c',
          lens.textLink(each.text, lens.cut(each.text, 100)),
          '\u201d: ',
          said(names, each),
          each.before && [`; without \u201c${lens.visible(each.added)}\u201d `, said(names, each.before)],
        ),
      ),
    advice && advised(advice),
  );
const measured = (value, unit) => (unit === 'share' ? lens.percent(value) : lens.points(value));
const span = (low, high, unit) =>
  unit === 'share'
    ? `${(100 * low).toFixed(0)} to ${lens.percent(high)}`
    : `${lens.asPoints(low)} to ${lens.asPoints(high)}`;
const MISTAKES = ['overused', 'rare', 'missed', 'accuracy', 'calibration', 'confusion', 'labels']; // findings about what it gets wrong
const about = ({ code }) => code.split(':')[0];
const claims = (names, chosen) =>
  chosen.length
    ? h(
        'ul',
        { class: 'claims' },
        chosen.map((each) => claim(names, each)),
      )
    : null;
const ofKind = (found, kind, most) =>
  found.findings.filter((each) => each.kind === kind && !MISTAKES.includes(about(each))).slice(0, most);
const wordList = (pushes) =>
  pushes.slice(0, 4).map(({ word, change }, at) => [at ? ', ' : '', lens.wordLink(word), ` ${lens.points(change)}`]);

// What pushes each class, from the network's own outputs.
const pushes = (names, found) =>
  h(
    'ul',
    { class: 'claims' },
    found.lines
      .slice(0, 4)
      .flatMap((line) => [
        h('li', null, 'towards ', lens.className(names, line.number), ': ', wordList(line.towards)),
        names.length === 2 &&
          h('li', null, 'towards ', lens.className(names, 1 - line.number), ': ', wordList(line.against)),
      ]),
  );

// How often it is right, what it confuses, and its surest mistakes.
function wrong(names, found, all) {
  const { network } = found.confusions;
  if (!network) return h('p', { class: 'note' }, 'Labels are needed to know: give texts with labels.');
  const named = all.findings.filter((each) => MISTAKES.includes(about(each)));
  const right = network.reduce((sum, row, at) => sum + row[at], 0),
    total = network.flat().reduce((sum, count) => sum + count, 0);
  return [
    named.length
      ? claims(
          names,
          named.map((each) => (about(each) === 'labels' ? each : { ...each, examples: [] })), // its mistakes follow
        )
      : h('p', null, 'Right on ', h('b', null, lens.percent(right / total)), ` of ${lens.plural(total, 'text')}.`),
    found.problems.mistakes?.length > 0 && [
      h('p', null, 'Its surest mistakes:'),
      h(
        'ul',
        { class: 'claims mistakes' },
        found.problems.mistakes
          .slice(0, 2)
          .map(({ text, label, predicted, probability }) =>
            h(
              'li',
              null,
              lens.textLink(found.rows[text][0], lens.cut(found.rows[text][0], 100)),
              ' is ',
              lens.className(names, label),
              ', it says ',
              lens.className(names, predicted),
              ` ${lens.percent(probability)}`,
            ),
          ),
      ),
    ],
  ];
}

const answer = (question, view, label, ...content) =>
  h(
    'section',
    { class: 'panel answer' },
    h('h2', null, question),
    content,
    view && h('p', { class: 'more' }, h('a', { href: lens.link(view) }, label)),
  );
const commands = (data) =>
  data.next.map(([why, command]) =>
    h(
      'div',
      { class: 'command' },
      h('span', null, `${why}:`),
      h('pre', null, lens.visible(command)),
      navigator.clipboard &&
        h(
          'button',
          {
            type: 'button',
            class: 'small',
            'aria-label': `Copy: ${lens.visible(command)}`,
            on: { click: () => navigator.clipboard.writeText(command) },
          },
          'Copy',
        ),
    ),
  );

// Of many classes, the line of any other one on request.
function others(data, found) {
  const left = data.class_names.filter((name) => !found.lines.some(({ label }) => label === name));
  if (data.class_names.length < 3 || !left.length) return null;
  if (!lens.source.live)
    return h(
      'p',
      { class: 'note' },
      'Other classes: ',
      h('code', null, `wfalens show ${lens.visible(data.arguments)} --class NAME`),
    );
  const place = h('div');
  const choose = async (name) => {
    lens.put(place);
    if (name)
      await lens.fill(
        place,
        () => lens.source.opinionOf(name),
        (one) => lens.picture(one.title, one),
      );
  };
  return [
    lens.field('Another class', lens.select([['', 'choose one'], ...left.map((each) => [each, each])], '', choose)),
    place,
  ];
}

const background = (data, measured) =>
  h(
    'details',
    null,
    h('summary', null, 'How faithful the automaton is, and where it comes from'),
    measured,
    h(
      'div',
      { class: 'grid' },
      h('section', null, h('h2', null, 'Where it comes from'), h('div', { class: 'panel' }, provenance(data))),
      h(
        'section',
        null,
        lens.source.carried?.sampling && [
          h('h2', null, 'What this report carries'),
          h(
            'dl',
            { class: 'facts panel' },
            Object.entries(lens.source.carried.sampling).map(([name, text]) => [
              h('dt', null, name),
              h('dd', null, text),
            ]),
          ),
        ],
      ),
    ),
  );

lens.views = [
  {
    name: 'overview',
    title: 'Overview',
    lead: 'What the network has learned, what it has not, and how far to trust this.',
    async build(view) {
      const data = await lens.source.overview(),
        names = data.class_names,
        asked = data.has.model && data.has.texts && !data.next_symbol;
      const [first, learned, mistaken, dangerous, trusted, measured] = Array.from({ length: 6 }, () => h('div'));
      lens.put(
        trusted,
        sentence(data, null) ?? h('p', { class: 'note' }, 'Not measured yet: give the classifier and texts.'),
      );
      view.append(
        first,
        h(
          'div',
          { class: 'answers' },
          answer('What has it learned?', 'words', 'All words', learned),
          answer('Where is it wrong?', 'texts', 'All texts and mistakes', mistaken),
          answer('Which words are dangerous?', 'attacks', 'Attacks on the network', dangerous),
          answer('How far can I trust this?', 'automaton', 'The readable automaton', trusted),
          answer('What next?', null, '', commands(data)),
        ),
        background(data, measured),
      );
      if (!data.has.texts || !data.has.model) {
        lens.put(learned, topWords(data));
        for (const node of [mistaken, dangerous, first])
          lens.put(
            node,
            h('p', { class: 'note' }, 'To know, give the classifier with --model and texts with --corpus.'),
          );
        return;
      }
      const found = data.next_symbol ? Promise.resolve({ findings: [] }) : lens.source.findings();
      const drawn = asked
        ? Promise.all([
            lens.fill(first, lens.source.opinion, (lines) => [lens.picture(lines.title, lines), others(data, lines)]),
            lens.fill(
              learned,
              () => Promise.all([found, lens.source.opinion()]),
              ([all, lines]) => {
                const [missing, known] = [ofKind(all, 'not_learned', 3), ofKind(all, 'learned', 3)];
                return [
                  missing.length > 0 && [h('h3', null, 'Not learned'), claims(names, missing)],
                  h('h3', null, 'Learned'),
                  claims(names, known) ?? pushes(names, lines),
                ];
              },
            ),
            lens.fill(
              dangerous,
              () => found,
              (all) =>
                claims(names, ofKind(all, 'dangerous', 4)) ??
                h('p', null, 'None is shown beyond doubt. Attacks try to change its answers by one word.'),
            ),
          ])
        : lens.put(learned, topWords(data));
      const texts = lens.fill(
        mistaken,
        () => Promise.all([lens.source.texts(), found]),
        ([shown, all]) => wrong(names, shown, all),
      );
      await Promise.all([
        drawn,
        texts,
        lens.fill(measured, lens.source.fidelity, (rates) => {
          lens.put(
            trusted,
            asked &&
              h(
                'p',
                null,
                'Every claim and every point above was measured on the network itself; the intervals of all claims hold together with a probability of 95 %. The automaton, a copy, only proposed what to ask:',
              ),
            sentence(data, rates),
          );
          return faithful(rates, names);
        }),
      ]);
    },
  },
];
