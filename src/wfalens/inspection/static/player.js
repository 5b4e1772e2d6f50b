// A sentence, word by word: automaton and network side by side.
const { h, s } = lens;
const STEP = 700; // milliseconds of play

const outcome = (names, row) => { const top = lens.argmax(row); return [lens.className(names, top), ` ${lens.percent(row[top])}`]; };

function verdict(names, found) {
  const last = found.automaton.at(-1);
  const pieces = ['The automaton says ', h('b', null, outcome(names, last)), found.label === null ? ' (undecided)' : ''];
  if (found.model) {
    pieces.push(', the network says ', h('b', null, outcome(names, found.model.at(-1))), ': ',
      h('span', { class: found.agrees ? 'yes' : 'no' }, found.agrees ? 'they agree' : 'they disagree'), `. Divergence ${lens.number(found.jsd)}, `);
  } else pieces.push('. Its ');
  pieces.push(`confidence ${lens.number(found.confidence, 2)}.`, found.cut ? ' The text is longer than the network reads: the rest was cut.' : '', found.rounded ? ' Read by this page alone, with rounded weights and without the network.' : '');
  return pieces;
}

class Player {
  constructor(view, overview, map, parameters) {
    this.names = overview.class_names;
    this.unit = overview.unit;
    this.map = map;
    this.found = null;
    this.at = 0; // words read so far
    this.of = 'predicted';
    this.shared = 'contributions'; // Shapley values, or the changes along the walk
    this.asked = 0;
    this.make(view, overview);
    this.load(parameters.get('text') || '');
  }

  make(view, overview) {
    this.input = h('textarea', { class: 'bigtext', rows: 2, maxlength: 10000, readonly: !lens.source.typing, placeholder: 'Type a sentence', on: { input: lens.later(60, () => this.load(this.input.value, true)) } });
    this.pick = h('select', { on: { change: () => this.load(this.pick.value) } });
    this.sort = lens.select([['any', 'any'], ['disagree', 'they disagree'], ['unsure', 'the automaton is unsure']], 'any', () => this.offer());
    this.words = h('div', { class: 'words', role: 'toolbar', 'aria-label': 'The words of the sentence; arrow keys step, Enter edits', on: { keydown: (event) => this.press(event) } });
    this.said = h('p', { class: 'verdict', role: 'status' });
    this.playing = h('button', { type: 'button', on: { click: () => this.toggle() } }, 'Play');
    this.where = h('span', { class: 'note' });
    this.classes = lens.select([['predicted', 'the predicted class'], ...this.names.map((name) => [name, name])], 'predicted', (value) => { this.of = value; this.draw(); });
    this.methods = lens.select([['contributions', 'Shapley values: which words matter?'], ['changes', 'changes as it reads: how did it come about?']], 'contributions', (value) => { this.shared = value; this.draw(); });
    const chart = (who, title) => lens.figure({
      title, describe: title,
      draw: (svg, width) => this.found && lens.lineChart(svg, width, {
        series: this.series(who), labels: ['(start)', ...this.found.words], current: this.at, yTitle: 'probability', xTitle: 'words read',
      }),
    });
    this.charts = [chart('automaton', 'The automaton after each word')];
    if (overview.has.model) this.charts.push(chart('model', 'The network after each word'));
    this.mapFigure = this.map && lens.figure({
      title: 'The way on the map', describe: 'The output after each word on the map of the states',
      draw: (svg, width) => this.found && lens.drawMap(svg, Math.min(width, 700), this.map, {
        active: new Map(this.found.states ? this.found.states[this.at] : []), marks: (x, y) => this.path(x, y),
      }),
      note: `Line and filled dots: the automaton${overview.has.model ? '; dashed line and open dots: the network' : ''}.${this.found?.states ? ' States are as opaque as their probability.' : ''}`,
    });
    this.steps = h('div');
    this.flips = h('div');
    view.append(
      h('div', { class: 'controls' },
        lens.field(lens.source.typing ? 'Your sentence' : 'The sentence', this.input, 'wide-field'),
        overview.has.texts && lens.field('Or pick one where', this.sort), overview.has.texts && lens.field('Sentence', this.pick, 'wide-field')),
      this.said,
      this.words,
      h('div', { class: 'controls' },
        h('button', { type: 'button', 'aria-label': 'One word back', on: { click: () => this.step(-1) } }, '\u2190'),
        this.playing,
        h('button', { type: 'button', 'aria-label': 'One word on', on: { click: () => this.step(1) } }, '\u2192'),
        this.where, lens.field('Contributions to', this.classes), lens.field('Contributions are', this.methods)),
      h('p', { class: 'note' }, `Under each word: its contribution (${this.unit}); the line below it tells by which rows the automaton went: solid observed, dashed completed, dotted unknown word.${lens.source.typing ? ' Double-click or press Enter on a word to change it.' : ''}`),
      h('div', { class: 'grid' }, this.charts),
      lens.legend(this.names),
      h('div', { class: 'grid' },
        h('section', null, h('h2', null, 'What single word would flip it'), this.flips),
        this.mapFigure && h('section', null, h('h2', null, 'Where it goes'), this.mapFigure)),
      h('h2', null, 'Step by step'), this.steps);
    if (overview.has.texts) {
      this.pick.append(h('option', { value: '' }, 'loading \u2026'));
      lens.source.sentences().then((found) => { this.sentences = found; this.offer(); if (this.asked === 1 && !this.input.value && found.any.length) this.load(found.any[0].text); }, (error) => lens.put(this.pick, h('option', { value: '' }, error.message)));
    }
  }

  offer() {
    const rows = this.sentences?.[this.sort.value] || [];
    lens.put(this.pick, h('option', { value: '' }, rows.length ? `choose one of ${rows.length}` : 'none in the sample'),
      rows.map(({ text, label, model_label: said }) => h('option', { value: text }, `${lens.visible(text).slice(0, 90)} \u2013 ${lens.visible(label ?? 'undecided')}${said && said !== label ? ` / ${lens.visible(said)}` : ''}`)));
  }

  async load(text, typed = false) {
    const ticket = ++this.asked;
    this.stop();
    if (!typed) this.input.value = lens.source.typing ? text : lens.visible(text);
    if (!text && !lens.source.typing) { lens.put(this.said, 'Pick a sentence.'); return; }
    try {
      const found = await lens.source.play(text);
      if (ticket !== this.asked) return; // a later keystroke was quicker
      this.found = found;
      this.at = found.words.length;
      lens.remember({ text: text.slice(0, 2000) });
      this.draw();
      this.lookForFlips(text);
    } catch (error) {
      if (ticket === this.asked) lens.put(this.said, h('span', { class: 'error' }, error.message));
    }
  }

  series(who) {
    const rows = this.found[who];
    if (!rows) return [];
    return this.names.map((_, at) => ({ values: rows.map((row) => row[at]), colour: lens.colour(at), from: this.found.words.length + 1 - rows.length }));
  }

  path(x, y) {
    const { path, model_path: other } = this.found;
    const lift = this.map.corners.length === 2 ? 0.12 : 0; // on a line, the two ways would cover each other
    const above = ([a, b]) => [a, b + lift], below = ([a, b]) => [a, b - lift];
    const line = (points, dash) => s('polyline', { points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(' '), fill: 'none', stroke: 'var(--ink)', 'stroke-width': 2, 'stroke-dasharray': dash });
    const dot = ([a, b], size, open) => s('circle', { cx: x(a), cy: y(b), r: size, fill: open ? 'var(--panel)' : 'var(--ink)', stroke: 'var(--ink)', 'stroke-width': 1.5 });
    const shapes = [];
    if (other) { const shown = other.slice(0, this.at + other.length - this.found.words.length).map(below); shapes.push(line(shown, '5 4'), shown.slice(-1).map((point) => dot(point, 6, true))); }
    const shown = path.slice(0, this.at + 1).map(above);
    shapes.push(line(shown), shown.map((point, at) => dot(point, at === this.at ? 5 : 2, false)));
    return shapes;
  }

  column() { return this.of === 'predicted' ? lens.argmax(this.found.automaton.at(-1)) : this.names.indexOf(this.of); }

  draw() {
    const found = this.found;
    if (!found) return;
    const focused = this.words.contains(document.activeElement);
    const column = this.column();
    const values = found[this.shared].map((row) => row[column]);
    const most = Math.max(1e-9, ...values.map(Math.abs));
    lens.put(this.said, found.words.length ? verdict(this.names, found) : 'Type a sentence, or pick one.');
    lens.put(this.words, found.words.map((word, at) => h('button', {
      type: 'button', class: `chip ${found.rows[at]}${at >= this.at ? ' later' : ''}`, 'data-at': at, tabindex: at === Math.max(0, this.at - 1) ? 0 : -1, 'aria-pressed': String(at === this.at - 1),
      'aria-label': `${lens.visible(word)}: ${lens.signed(values[at])} for ${lens.visible(this.names[column])}, ${found.rows[at]} rows, seen ${lens.whole(found.counts[at])} times`,
      style: { background: lens.shade(values[at] / most) }, on: { click: (event) => (event.detail === 2 ? this.edit(at) : this.go(at + 1)) }, // a click draws the words anew, so no dblclick would arrive
    }, lens.word(word), h('small', { 'aria-hidden': 'true' }, lens.signed(values[at])))));
    if (focused) this.words.querySelector('[tabindex="0"]')?.focus();
    lens.put(this.where, `word ${this.at} of ${found.words.length}`);
    if (this.charts[1]) this.charts[1].hidden = !found.model;
    for (const figure of [...this.charts, this.mapFigure]) figure?.redraw();
    this.table(values, column);
  }

  table(values, column) {
    const found = this.found;
    const said = (at) => found.model.at(at - found.words.length);
    const same = (at) => lens.argmax(said(at)) === lens.argmax(found.automaton[at + 1]);
    const rows = found.words.map((word, at) => [
      lens.wordLink(word), found.rows[at], lens.signed(values[at], 3), outcome(this.names, found.automaton[at + 1]),
      ...(found.model ? [outcome(this.names, said(at)), same(at) ? h('span', { class: 'yes' }, 'yes') : h('span', { class: 'no' }, 'no')] : []),
      ...(found.states ? [found.states[at + 1].slice(0, 2).map(([state, share]) => `${this.map?.states[state].name ? lens.visible(this.map.states[state].name) : state} (${lens.percent(share)})`).join(', ')] : []),
    ]);
    lens.put(this.steps, lens.table(`After each word; contributions to ${lens.visible(this.names[column])} in ${found.unit}`, ['word', 'rows', 'contribution', 'automaton', ...(found.model ? ['network', 'agree'] : []), ...(found.states ? ['likely states'] : [])], rows));
  }

  async lookForFlips(text) {
    const ticket = this.asked;
    if (!this.found.words.length) { lens.put(this.flips); return; }
    if (lens.source.live) lens.put(this.flips, h('p', { class: 'note' }, 'looking \u2026'));
    await new Promise((resolve) => setTimeout(resolve, lens.source.live ? 350 : 0)); // not while somebody types
    if (ticket !== this.asked) return;
    try {
      const { flips, tried } = await lens.source.flips(text);
      if (ticket !== this.asked) return;
      const checked = flips.some((flip) => 'holds' in flip);
      const held = flips.filter((flip) => flip.holds).length;
      const rows = flips.map((flip) => [
        h('span', null, h('del', null, lens.word(flip.old)), ' ', h('ins', null, lens.word(flip.new)), ` (${flip.position + 1})`), outcome(this.names, flip.automaton),
        ...(checked ? [h('span', null, h('span', { class: flip.holds ? 'yes' : 'no' }, flip.holds ? 'flips: ' : 'stays: '), outcome(this.names, flip.model))] : []),
        ...(lens.source.typing ? [h('button', { class: 'small', type: 'button', 'aria-label': `Use ${lens.visible(flip.new)} for ${lens.visible(flip.old)}`, on: { click: () => this.replace(flip.position, flip.new) } }, 'try')] : []),
      ]);
      const note = `Of ${lens.plural(tried.candidates, 'word')} at ${tried.positions === tried.of ? 'every position' : `the ${tried.positions} positions that matter most`}, by the automaton\u2019s forward and backward vectors${checked ? `; each tried on the network: ${held} of ${flips.length} flip it too` : ''}.`;
      lens.put(this.flips, flips.length ? [lens.table('Replacements of one word that change the class', ['change (position)', 'automaton', ...(checked ? ['network'] : []), ...(lens.source.typing ? ['use it'] : [])], rows), h('p', { class: 'note' }, note)] : h('p', null, `No single word changes the automaton\u2019s mind. ${note}`));
    } catch (error) {
      if (ticket === this.asked) lens.put(this.flips, h('p', { class: 'note' }, error.message));
    }
  }

  replace(position, word) { this.load(this.found.words.map((old, at) => (at === position ? word : old)).filter(Boolean).join(' ')); }

  edit(position) {
    if (!lens.source.typing || Number.isNaN(position)) return;
    const chip = this.words.querySelector(`[data-at="${position}"]`);
    let given = false; // up, by Escape: taking the input away also blurs it
    const input = h('input', { value: this.found.words[position], 'aria-label': `Change word ${position + 1}`, maxlength: 200, on: {
      keydown: (event) => { event.stopPropagation(); if (event.key === 'Enter') this.replace(position, input.value.trim()); if (event.key === 'Escape') { given = true; this.draw(); this.load(this.found.text, true); } },
      blur: () => { if (!given && input.isConnected && input.value.trim() !== this.found.words[position]) this.replace(position, input.value.trim()); },
      input: lens.later(60, async () => { // the change at once, while the word is being typed
        const text = this.found.words.map((old, at) => (at === position ? input.value.trim() : old)).filter(Boolean).join(' ');
        const shown = await lens.source.play(text);
        if (input.isConnected && shown.words.length) lens.put(this.said, verdict(this.names, shown));
      }),
    } });
    chip.replaceWith(h('span', { class: 'chip' }, input));
    input.select();
  }

  press(event) {
    const keys = { ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Home: () => this.go(0), End: () => this.go(this.found.words.length), ' ': () => this.toggle(), Enter: () => this.edit(this.at - 1), F2: () => this.edit(this.at - 1) };
    if (this.found && Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
  }

  go(at) { this.at = Math.max(0, Math.min(this.found.words.length, at)); this.draw(); }

  step(by) { if (this.found) { this.stop(); this.go(this.at + by); } }

  stop() { clearInterval(this.timer); this.timer = null; lens.put(this.playing, 'Play'); }

  toggle() {
    if (this.timer || !this.found) { this.stop(); return; }
    if (this.at >= this.found.words.length) this.go(0);
    lens.put(this.playing, 'Pause');
    this.timer = setInterval(() => { if (!this.words.isConnected || this.at >= this.found.words.length) this.stop(); else this.go(this.at + 1); }, STEP);
  }
}

lens.views.push({
  name: 'play',
  title: 'Sentence',
  lead: 'Follow the automaton through a sentence, word by word, beside the network.',
  async build(view, parameters) {
    const overview = await lens.source.overview();
    const map = await lens.source.map().catch(() => null); // a linear automaton without texts has none
    new Player(view, overview, map, parameters);
  },
});
