// The automaton as a story: what it does in sentences, as a diagram and as a table; the faithful one beside it.
const { h } = lens;
const FIRST_SENTENCES = ['fidelity', 'towards', 'reverses', 'sure', 'memory'],
  MOST_TURNS = 3; // what the sentences at the top are about

function story({ story: sentences, remark, held_out: held }) {
  const rank = ({ about }) => FIRST_SENTENCES.indexOf(about),
    item = ({ text }) => h('li', null, lens.word(text));
  const chosen = FIRST_SENTENCES.flatMap((about) =>
    sentences.filter((each) => each.about === about).slice(0, about === 'reverses' ? MOST_TURNS : undefined),
  );
  const first = chosen.sort((a, b) => rank(a) - rank(b)),
    more = sentences.filter((each) => !first.includes(each));
  return h(
    'section',
    null,
    h('h2', null, 'What it does'),
    remark && h('p', { class: 'note' }, `This is ${lens.visible(remark)}.`, ' ', lens.what('readable automaton')),
    !remark &&
      held &&
      h(
        'p',
        { class: 'note' },
        `It chooses the network\u2019s class for ${lens.percent(held.cr, 1)} of ${lens.plural(held.texts, 'held-out text')}.`,
      ),
    h('ul', { class: 'story whole' }, first.map(item)),
    h(
      'p',
      { class: 'note' },
      'Words in quotes stand for their cluster ',
      lens.what('word cluster'),
      '; it is open while words still matter ',
      lens.what('open'),
      '; a point is a hundredth of the probability.',
    ),
    more.length > 0 &&
      h(
        'details',
        null,
        h('summary', null, `${lens.plural(more.length, 'more sentence')}`),
        h('ul', { class: 'story whole' }, more.map(item)),
      ),
  );
}

// from → to, with the words on the moves
function moveTable(reading, chosen) {
  const name = (at) => lens.visible(reading.states[at].name);
  const words = (clusters) =>
    clusters
      .map(([cluster]) => reading.clusters[cluster].words.slice(0, 3).map(lens.visible).join(', ') || 'unknown words')
      .join('; ');
  const moves = reading.moves.filter(({ from, to, rate }) =>
    chosen === null ? rate >= 0.01 : from === chosen || to === chosen,
  );
  const stays = reading.states
    .map((state, at) => ({ from: at, to: at, rate: state.stays, clusters: [] }))
    .filter(({ from, rate }) => rate >= 0.01 && (chosen === null || from === chosen));
  const rows = [...moves, ...stays].sort((a, b) => a.from - b.from || b.rate - a.rate);
  return lens.table(
    chosen === null ? 'From \u2192 to: what words do in each state' : `Moves from and to \u201c${name(chosen)}\u201d`,
    ['from', 'to', 'of words read there', 'words that stand out'],
    rows.map(({ from, to, rate, clusters }) => [
      name(from),
      h('td', { class: 'left' }, from === to ? '(stays)' : name(to)),
      lens.percent(rate, rate < 0.1 ? 1 : 0),
      h('td', { class: 'text' }, words(clusters)),
    ]),
  );
}

function clusterTable(reading) {
  const order = reading.clusters
    .map((_, at) => at)
    .sort((a, b) => reading.clusters[b].moved - reading.clusters[a].moved);
  return lens.table(
    'Kinds of words, those that move most first',
    ['word cluster', 'what they do', 'moves', 'words', 'of all words'],
    order.map((at) => {
      const { words, effect, moved, size, share, towards } = reading.clusters[at];
      return [
        words.map(lens.visible).join(', ') || 'unknown words',
        h('td', { class: 'left' }, towards !== null && lens.swatch(towards), lens.visible(effect)),
        lens.percent(moved),
        lens.whole(size),
        lens.percent(share, 1),
      ];
    }),
  );
}

function readable(reading, state) {
  const table = h('div'),
    count = h('span', { class: 'note', role: 'status' });
  const figure = lens.figure({
    title: 'The automaton as a diagram',
    term: 'move',
    interactive: true,
    least: lens.diagramWidth,
    legend: lens.classLegend(reading.class_names),
    describe: `${reading.states.length} states: ${reading.states.map(({ name }) => lens.visible(name)).join('; ')}`,
    draw: (svg, width) =>
      lens.drawDiagram(svg, width, reading, {
        moves: state.moves,
        chosen: state.box,
        choose: state.chooseBox,
        lit: lens.litAt(reading, state.found, state.at),
      }),
    note: 'A box is a state: what it says, and how many words leave it as it is. An arrow is a move: the share of the words read at its beginning that take it, and the words that stand out among them. Dashed arrows lead back to a less sure state. Labels for which there is no room show when you point at the arrow.',
  });
  const slider = h('input', {
    type: 'range',
    min: 1,
    max: reading.moves.length,
    value: state.moves,
    on: {
      input: () => {
        state.moves = Number(slider.value);
        update();
      },
    },
  });
  function update() {
    lens.keepFocus(figure, 'data-node', () => figure.redraw());
    lens.put(
      count,
      `${state.moves} of ${lens.plural(reading.moves.length, 'move')}: ${lens.percent(lens.movesCarried(reading, state.moves))} of all moves between states`,
    );
  }
  const draw = () => {
    update();
    lens.put(table, moveTable(reading, state.box));
  };
  return {
    draw,
    update,
    figure: h('div', null, h('div', { class: 'controls' }, lens.field('Moves shown', slider), count), figure),
    table,
    clusters: h(
      'details',
      null,
      h('summary', null, `The ${reading.clusters.length} word clusters `),
      h('p', { class: 'note' }, lens.explained('A word cluster', 'word cluster')),
      clusterTable(reading),
    ),
  };
}

// the faithful automaton: a slider from groups to all states, flows, and what a word does
function faithful(map, overview, state) {
  const panel = h('div', { class: 'panel', 'aria-live': 'polite' }),
    status = h('span', { role: 'status', class: 'note' }),
    shown = h('span', { class: 'note' });
  const what = map.kind === 'states' ? 'states' : 'regions';
  const level = () => map.levels[state.level];
  const figure = lens.figure({
    title: map.kind === 'states' ? 'The states of the automaton' : 'Regions of the automaton\u2019s outputs',
    term: map.kind === 'states' ? 'group' : 'region',
    interactive: true,
    least: lens.mapWidth,
    legend: lens.classLegend(map.class_names),
    describe: `${what} in bands of the classes ${map.class_names.map(lens.visible).join(', ')}`,
    draw: (svg, width) =>
      lens.drawMap(svg, width, map, level(), {
        flows: state.word || state.found ? 0 : state.flows,
        chosen: state.node,
        moves: state.word,
        choose: state.chooseNode,
        active: state.found?.states && new Map(state.found.states[state.at]),
        marks: state.found && lens.pathMarks(state.found, state.at),
      }),
    note: `Each circle stands in the band of its likeliest class, the further right the surer it is; its size shows how often it is visited, its colours the mix of classes. Lines are flows, as wide as they are frequent.${map.kind === 'regions' ? ` A linear automaton has no states that stand for outputs: these are groups of its outputs on ${lens.plural(map.texts, 'text')}.` : ''}`,
  });
  const groups = h('input', {
    type: 'range',
    min: 0,
    max: map.levels.length - 1,
    value: state.level,
    'aria-valuetext': '',
    on: {
      input: () => {
        state.level = Number(groups.value);
        state.node = null;
        slider.max = level().flows.length;
        state.flows = Math.min(state.flows, level().flows.length);
        draw();
      },
    },
  });
  const slider = h('input', {
    type: 'range',
    min: 0,
    max: level().flows.length,
    value: state.flows,
    on: {
      input: () => {
        state.flows = Number(slider.value);
        draw();
      },
    },
  });
  function draw() {
    lens.keepFocus(figure, 'data-state', () => figure.redraw());
    const grouped = level().states.length < map.levels.at(-1).states.length;
    const label = grouped
      ? `${level().states.length} groups of ${map.levels.at(-1).states.length} ${what}`
      : `all ${level().states.length} ${what}`;
    groups.setAttribute('aria-valuetext', label);
    lens.put(
      shown,
      `${label}; ${state.word || state.found ? 'no flows while a word or a sentence is shown' : `${lens.plural(Math.min(state.flows, level().flows.length), 'flow')} drawn`}`,
    );
    lens.put(panel, lens.stateDetails(map, level(), level().states[state.node], state.chooseNode));
  }
  const ask = async (word) => {
    state.word = null;
    lens.put(status);
    if (word) {
      try {
        state.word = await lens.source.moves(word);
        lens.put(
          status,
          state.word.known
            ? `\u201c${lens.visible(word)}\u201d (seen ${lens.whole(state.word.count)} times) moves the output by ${lens.percent(state.word.mean_change)} on average${state.word.rounded ? ', by the rounded automaton of this page' : ''}`
            : `\u201c${lens.visible(word)}\u201d is not ${state.word.rounded ? 'carried by this page' : 'known'}: it reads as <unk>`,
        );
      } catch (error) {
        lens.put(status, h('span', { class: 'error' }, error.message));
      }
    }
    state.remember();
    draw();
  };
  const input = h('input', {
    type: 'search',
    maxlength: 200,
    placeholder: 'a word',
    autocomplete: 'off',
    on: { input: lens.later(150, () => ask(input.value.trim())) },
  });
  const node = h(
    'div',
    null,
    h(
      'div',
      { class: 'controls' },
      lens.field(`From groups to all ${what}`, groups),
      lens.field('Flows shown', slider),
      lens.field('How does this word move the states?', input),
      shown,
      status,
    ),
    h('div', { class: 'split' }, figure, panel),
  );
  return {
    draw,
    node,
    ask: (word) => {
      input.value = word;
      ask(word);
    },
  };
}

lens.keepFocus = (figure, attribute, work) => {
  const focused = figure.contains(document.activeElement) && document.activeElement.getAttribute(attribute);
  work();
  if (focused) figure.querySelector(`[${attribute}="${focused}"]`)?.focus();
};

lens.views.push({
  name: 'map',
  title: 'Automaton',
  lead: 'What the automaton does. Type a sentence to see its way.',
  async build(view, parameters) {
    const overview = await lens.source.overview(),
      reading = overview.reading && !overview.reading.error ? overview.reading : null;
    const map = await lens.source.map().catch((error) => ({ error: error.message }));
    const state = {
      found: null,
      at: 0,
      moves: reading ? lens.usualMoves(reading) : 0,
      box: null,
      level: 0,
      flows: 30,
      node: null,
      word: null,
    };
    if (parameters.get('state') && map.levels) {
      state.level = map.levels.length - 1;
      state.node = Number(parameters.get('state'));
    }
    state.remember = () =>
      lens.remember({
        state: map.levels && state.level === map.levels.length - 1 ? state.node : null,
        word: state.word?.word,
        text: state.found?.text.slice(0, 2000),
      });
    let diagram = null,
      beside = null;
    state.chooseBox = (at) => {
      state.box = at === state.box ? null : at;
      diagram.draw();
    };
    state.chooseNode = (id) => {
      state.node = id === state.node ? null : id;
      state.remember();
      beside.draw();
    };
    const words = h('p', { class: 'reading', 'aria-live': 'polite' });
    const reader = new lens.Reader({
      onStep: (found, at) => {
        Object.assign(state, { found: found.words.length ? found : null, at });
        lens.put(
          words,
          found.words.map((word, each) => [
            each ? ' ' : '',
            h('span', { class: each === at - 1 ? 'now' : each >= at ? 'rest' : '' }, lens.word(word)),
          ]),
          found.words.length > 0 && [' \u2192 ', lens.outcome(overview.class_names, found.automaton[at])],
        );
        diagram?.update();
        beside?.draw();
        state.remember();
      },
      failed: (error) => lens.put(words, h('span', { class: 'error' }, error.message)),
    });
    const way = h(
      'div',
      { class: 'controls way' },
      lens.field(lens.source.typing ? 'Type a sentence to light its way' : 'The sentence', reader.input, 'wide-field'),
      reader.buttons,
    );
    diagram = reading && readable(reading, state);
    beside = map.levels ? faithful(map, overview, state) : null;
    view.append(
      ...[
        diagram
          ? [story(reading), way, words, diagram.figure, diagram.clusters, diagram.table]
          : [
              h(
                'p',
                { class: 'note' },
                overview.reading?.error
                  ? lens.visible(overview.reading.error)
                  : 'This automaton carries no readable automaton that could tell its story; \u201cwfalens extract MODEL\u201d makes one that does.',
              ),
              way,
              words,
            ],
        h(
          'h2',
          null,
          diagram
            ? overview.readable
              ? `The faithful ${overview.kind} automaton beside it`
              : 'The same states on a map'
            : 'States and flows',
        ),
        beside ? beside.node : h('p', { class: 'note' }, map.error),
      ].flat(),
    );
    diagram?.draw();
    beside?.draw();
    if (parameters.get('word')) beside?.ask(parameters.get('word'));
    if (parameters.get('text')) reader.load(parameters.get('text'));
  },
});
