// One sentence on one screen: the outputs of automaton and network, Shapley values, its path, and counterfactuals.
const { h } = lens;
const SHOWN = 8, // classes that have a line, where there are more
  SHORT = 150; // characters of the first sentence, if there is one

class Player {
  constructor(view, overview) {
    Object.assign(this, {
      overview,
      names: overview.class_names,
      of: 'default',
      method: 'contributions',
      attribution: null,
      fidelity: null,
      editing: null,
    });
    this.make(view);
    if (overview.has.model && overview.has.texts)
      lens.source.fidelity().then(
        (found) => {
          this.fidelity = found;
          this.draw();
        },
        () => {},
      ); // without it the card says less
  }

  get found() {
    return this.reader.found;
  }

  get at() {
    return this.reader.at;
  }

  make(view) {
    this.reader = new lens.Reader({
      onStep: () => this.draw(),
      loaded: (found, text) => {
        this.attribution = this.missing = null;
        lens.remember({ text: text.slice(0, 2000) });
        this.ask(text);
      },
      failed: (error) => lens.put(this.card, h('p', { class: 'error' }, error.message)),
    });
    const { has } = this.overview;
    this.pick = h('select', { on: { change: () => this.reader.load(this.pick.value) } });
    this.sort = lens.select(
      [
        ['any', 'any'],
        ['disagree', 'they disagree'],
        ['unsure', 'the automaton is unsure'],
      ],
      'any',
      () => this.offer(),
    );
    this.card = h('div', { class: 'verdict', role: 'status' });
    this.rows = h('div');
    this.classes = lens.select(
      [
        ['default', has.model ? 'the network\u2019s class' : 'the predicted class'],
        ...this.names.map((name) => [name, name]),
      ],
      'default',
      (value) => {
        this.of = value;
        this.draw();
      },
    );
    this.methods = lens.select(
      [
        ['contributions', 'Shapley values: which words matter?'],
        ['changes', 'changes as it reads: how did it come about?'],
        ...(this.overview.unit === 'log-odds' ? [['log-odds', 'the automaton\u2019s log-odds, for experts']] : []),
      ],
      'contributions',
      (value) => {
        this.method = value;
        this.draw();
      },
    );
    this.about = h('p', { class: 'note' });
    this.charts = [
      has.model && this.chart('model', 'The network after each word'),
      this.chart('automaton', 'The automaton after each word'),
    ].filter(Boolean);
    this.steps = h('div');
    this.counterfactuals = h('div');
    view.append(
      h(
        'div',
        { class: 'controls' },
        lens.field(lens.source.typing ? 'Your sentence' : 'The sentence', this.reader.input, 'wide-field'),
        has.texts && lens.field('Or pick one where', this.sort),
        has.texts && lens.field('Sentence', this.pick, 'wide-field'),
      ),
      h(
        'div',
        { class: 'onescreen' },
        h(
          'section',
          { class: 'panel card-panel', 'aria-label': 'Why, and can I trust it here' },
          h('h2', null, 'Why, and can I trust it here?'),
          this.card,
          this.reader.buttons,
          this.rows,
          h(
            'div',
            { class: 'controls' },
            lens.field('Contributions to', this.classes),
            lens.field('Contributions are', this.methods),
          ),
          this.about,
        ),
        this.charts[0],
      ),
      h('h2', null, 'What single change would flip it? ', lens.what('counterfactual')),
      this.counterfactuals,
      h('details', null, h('summary', null, 'After each word, in figures'), this.charts.slice(1), this.steps),
    );
    if (has.texts) {
      this.pick.append(h('option', { value: '' }, 'loading \u2026'));
      lens.source.sentences().then(
        (found) => {
          this.sentences = found;
          this.offer();
          if (this.reader.asked === 1 && !this.reader.input.value && found.any.length)
            this.reader.load((found.any.find(({ text }) => text.length <= SHORT) ?? found.any[0]).text);
        },
        (error) => lens.put(this.pick, h('option', { value: '' }, error.message)),
      );
    }
  }

  chart(who, title) {
    const few = this.names.length > SHOWN;
    const shown = () => {
      // those that ever matter in this text
      const rows = this.found?.[who] || [],
        peak = this.names.map((_, at) => Math.max(0, ...rows.map((row) => row[at])));
      return this.names
        .map((_, at) => at)
        .sort((a, b) => peak[b] - peak[a])
        .slice(0, few ? SHOWN : undefined)
        .sort((a, b) => a - b);
    };
    return lens.figure({
      title,
      legend: () => shown().map((at) => ({ name: lens.visible(this.names[at]), colour: lens.colour(at) })),
      note: few ? `The ${SHOWN} classes that rise highest have a line.` : null,
      draw: (svg, width) =>
        this.found?.[who] &&
        lens.lineChart(svg, width, {
          series: shown().map((at) => ({
            name: lens.visible(this.names[at]),
            values: this.found[who].map((row) => row[at]),
            colour: lens.colour(at),
            dash: lens.dash(at),
            from: this.found.words.length + 1 - this.found[who].length,
          })),
          labels: ['(start)', ...this.found.words],
          current: this.at,
          yTitle: 'probability',
          xTitle: 'words read',
        }),
    });
  }

  offer() {
    const rows = this.sentences?.[this.sort.value] || [];
    lens.put(
      this.pick,
      h('option', { value: '' }, rows.length ? `choose one of ${rows.length}` : 'none in the sample'),
      rows.map(({ text, label, model_label: predicted }) =>
        h(
          'option',
          { value: text },
          `${lens.cut(lens.visible(text), 90)} \u2013 ${lens.visible(label ?? 'undecided')}${predicted && predicted !== label ? ` / ${lens.visible(predicted)}` : ''}`,
        ),
      ),
    );
  }

  // what takes longer than a keystroke: the network's own contributions, and counterfactuals
  async ask(text) {
    const ticket = this.reader.asked,
      current = () => ticket === this.reader.asked;
    if (!this.found.words.length) {
      lens.put(this.counterfactuals);
      return;
    }
    if (lens.source.live) lens.put(this.counterfactuals, h('p', { class: 'note' }, 'looking \u2026'));
    await new Promise((resolve) => setTimeout(resolve, lens.source.live ? 350 : 0)); // not while somebody types
    if (!current()) return;
    if (this.overview.has.model)
      lens.source
        .attribution(text)
        .then((attribution) => ({ attribution }))
        .catch((error) => ({ missing: error.message })) // the card then shows the automaton's row alone
        .then((found) => {
          if (!current()) return;
          Object.assign(this, found);
          this.draw();
        });
    try {
      const found = await lens.source.counterfactuals(text);
      if (current())
        lens.put(
          this.counterfactuals,
          lens.counterfactualPanel(
            this.names,
            found,
            lens.source.typing && ((position, word) => this.reader.replace(position, word)),
          ),
        );
    } catch (error) {
      if (current()) lens.put(this.counterfactuals, h('p', { class: 'note' }, error.message));
    }
  }

  column() {
    if (this.of !== 'default') return this.names.indexOf(this.of);
    return lens.argmax((this.found.model || this.found.automaton).at(-1));
  }

  // what is shown under the words: Shapley values where they are known in probability, else what each word changed
  get shown() {
    if (this.method !== 'contributions') return this.method;
    return this.attribution || this.found.unit === 'probability' ? 'contributions' : 'changes';
  }

  contributions() {
    const { found, attribution, shown } = this,
      words = found.words.length;
    if (shown === 'changes')
      return [
        found.model && { who: 'network', values: lens.changes(found.model, words) },
        { who: 'automaton', values: lens.changes(found.automaton, words) },
      ].filter(Boolean);
    if (attribution && shown === 'contributions')
      return [
        { who: 'network', values: attribution.network },
        { who: 'automaton', values: attribution.automaton },
      ];
    const twice = shown === 'log-odds' && this.names.length === 2 ? 2 : 1; // of two classes ln(p / (1 - p))
    return [{ who: 'automaton', values: found.contributions.map((row) => row.map((value) => twice * value)) }];
  }

  draw() {
    const { found } = this;
    if (!found) return;
    if (!found.words.length) {
      lens.put(this.card, 'Type a sentence, or pick one.');
      for (const figure of this.charts) figure.hidden = true; // nothing of the text before
      lens.put(this.rows);
      lens.put(this.about);
      lens.put(this.steps);
      return;
    }
    for (const figure of this.charts) figure.hidden = false;
    const focused = this.rows.contains(document.activeElement),
      column = this.column(),
      rows = this.contributions(),
      name = lens.visible(this.names[column]),
      { shown } = this,
      show = shown === 'log-odds' ? lens.signed : lens.asPoints;
    if (this.editing !== found) {
      lens.put(this.card, lens.card(this.names, found, this.fidelity));
      lens.put(
        this.rows,
        lens.chipRows({
          found,
          rows,
          column,
          name,
          at: this.at,
          show,
          full: shown === 'log-odds' ? 3 : 0.5,
          choose: (at) => this.reader.go(at),
          edit: lens.source.typing ? (at) => this.edit(at) : null,
          press: (event) => this.press(event),
        }),
      );
      if (focused) this.rows.querySelector('[tabindex="0"]')?.focus();
    }
    lens.put(this.classes.options[0], found.model ? 'the network\u2019s class' : 'the automaton\u2019s class');
    lens.put(
      this.about,
      shown === 'changes'
        ? `Under each word: by how many points it changes ${name} when it is read`
        : `Under each word: what it contributes to ${name}, in ${shown === 'log-odds' ? 'log-odds' : 'points of probability'}`,
      shown === 'log-odds' ? [' ', lens.what('log-odds')] : '',
      '; the class\u2019s colour is for it, grey is against it. ',
      lens.what(shown === 'changes' ? 'contribution' : 'Shapley value'),
      found.rounded
        ? ' A dotted line below a word: this page does not carry it, and it reads as <unk>. '
        : [
            ' The line below a word tells how the automaton knows it: solid observed, dashed completed, dotted unknown. ',
            lens.what('rows'),
          ],
      this.attribution?.standard_error > 0.005 && shown === 'contributions'
        ? ` The network\u2019s values come from ${this.attribution.queries} model calls; their standard error is at most ${(100 * this.attribution.standard_error).toFixed(1)} points.`
        : '',
      this.missing && shown !== 'log-odds' ? ` Shapley values are missing: ${this.missing}.` : '',
      lens.source.typing ? ' Double-click or press Enter on a word to change it.' : '',
    );
    if (this.charts[1]) this.charts[0].hidden = !found.model;
    for (const figure of this.charts) figure.redraw();
    this.table(rows, column, show);
  }

  table(rows, column, show) {
    const { found } = this,
      output = (at) => found.model.at(at - found.words.length);
    const same = (at) => lens.argmax(output(at)) === lens.argmax(found.automaton[at + 1]);
    const cells = found.words.map((word, at) => [
      lens.wordLink(word),
      found.rows[at],
      ...rows.map(({ values }) => show(values[at][column])),
      lens.outcome(this.names, found.automaton[at + 1]),
      ...(found.model
        ? [
            lens.outcome(this.names, output(at)),
            same(at) ? h('span', { class: 'yes' }, 'yes') : h('span', { class: 'no' }, 'no'),
          ]
        : []),
    ]);
    lens.put(
      this.steps,
      lens.table(
        `After each word; contributions to ${lens.visible(this.names[column])}`,
        [
          'word',
          'rows',
          ...rows.map(({ who }) => `${who}: contribution`),
          'automaton',
          ...(found.model ? ['network', 'agree'] : []),
        ],
        cells,
      ),
    );
  }

  edit(position) {
    if (!lens.source.typing || Number.isNaN(position)) return;
    const { reader } = this,
      chip = this.rows.querySelector(`[data-at="${position}"]`);
    const input = h('input', {
      value: reader.words[position],
      'aria-label': `Change word ${position + 1}`,
      maxlength: 200,
      on: {
        keydown: (event) => {
          event.stopPropagation();
          if (event.key === 'Enter') reader.replace(position, input.value.trim());
          if (event.key === 'Escape') {
            this.editing = null;
            this.draw();
            reader.load(this.found.text, true);
          }
        },
        blur: () => {
          if (this.editing !== this.found) return; // given up, or entered: taking the input away also blurs it
          this.editing = null;
          if (input.value.trim() !== reader.words[position]) reader.replace(position, input.value.trim());
        },
        input: lens.later(60, async () => {
          // the change at once, while the word is being typed
          const preview = await lens.source.preview(reader.with(position, input.value.trim())).catch(() => null); // Enter tells why
          if (preview?.words.length && input.isConnected)
            lens.put(this.card, lens.card(this.names, preview, this.fidelity));
        }),
      },
    });
    this.editing = this.found; // the reading whose card and chips stay, whatever arrives meanwhile
    chip.replaceWith(h('span', { class: 'chip' }, input));
    input.select();
  }

  press(event) {
    const { reader } = this;
    const keys = {
      ArrowLeft: () => reader.step(-1),
      ArrowRight: () => reader.step(1),
      Home: () => reader.go(0),
      End: () => reader.go(reader.words.length),
      ' ': () => reader.toggle(),
      Enter: () => this.edit(this.at - 1),
      F2: () => this.edit(this.at - 1),
    };
    if (this.found && Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
    }
  }
}

lens.views.push({
  name: 'trace',
  title: 'Sentence',
  lead: 'What the network says of a text, which words decide, and what would change its mind.',
  async build(view, parameters) {
    const overview = await lens.source.overview();
    const { reader } = new Player(view, overview);
    await reader.load(parameters.get('text') || '');
  },
});
