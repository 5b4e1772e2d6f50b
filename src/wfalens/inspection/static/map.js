// The automaton as a map: states by their outputs, flows between them, and what a word does.
const { h, s } = lens;

function slices(mix, radius) {
  // a pie of the classes in a state; classes below two per cent are left to the strongest
  const top = lens.argmax(mix);
  const shapes = [s('circle', { r: radius, fill: lens.colour(top) })];
  let turn = 0;
  mix.forEach((share, at) => {
    if (at === top || share < 0.02) return;
    const from = 2 * Math.PI * turn, to = 2 * Math.PI * (turn + share);
    turn += share;
    const point = (angle) => `${(radius * Math.sin(angle)).toFixed(2)},${(-radius * Math.cos(angle)).toFixed(2)}`;
    shapes.push(s('path', { d: `M0,0L${point(from)}A${radius},${radius} 0 ${to - from > Math.PI ? 1 : 0} 1 ${point(to)}Z`, fill: lens.colour(at) }));
  });
  return shapes;
}

// A state by its name, where it has one, else by its number.
lens.stateName = (map, id) => (map.states[id].name === null ? `${map.kind === 'states' ? 'state' : 'region'} ${id}` : lens.visible(map.states[id].name));
const named = (map, state) => { const name = lens.stateName(map, state.id); return name[0].toUpperCase() + name.slice(1); };

// Draws corners, flows and states; `marks` are drawn on top, in the map's own units.
lens.drawMap = (svg, width, map, { flows = 0, chosen = null, moves = null, marks = null, choose = null, active = null } = {}) => {
  const flat = map.corners.length === 2;
  const narrow = width < 480;
  const shown = map.flows.filter((flow, at) => at < flows || (flows > 0 && (flow.from === chosen || flow.to === chosen)));
  const reach = shown.map((flow) => Math.abs(map.states[flow.from].x - map.states[flow.to].x) / 4);
  const spread = flat ? Math.max(0.2, ...reach, ...map.states.map((state) => Math.abs(state.y) + state.r)) + 0.08 : 1.24;
  const unit = (width - (flat ? 60 : narrow ? 20 : 150)) / 2.3;
  const height = Math.round(2 * spread * unit + 30);
  lens.size(svg, width, height);
  const x = (value) => width / 2 + unit * value, y = (value) => height / 2 - unit * value;
  const beyond = (at) => { // room for the circles that stand on a corner
    const [cx, cy] = map.corners[at];
    return Math.max(0, ...map.states.map((state) => state.x * cx + state.y * cy - 1 + state.r).filter((_, id) => Math.hypot(map.states[id].x - cx, map.states[id].y - cy) < 0.3));
  };
  const shapes = [];
  if (flat) shapes.push(s('line', { class: 'axis', x1: x(-1), x2: x(1), y1: y(0), y2: y(0) }));
  else shapes.push(s('polygon', { class: 'axis', points: [...map.corners].sort((a, b) => Math.atan2(a[1], a[0]) - Math.atan2(b[1], b[0])).map(([cx, cy]) => `${x(cx)},${y(cy)}`).join(' ') }));
  map.corners.forEach(([cx, cy], at) => {
    const anchor = flat ? (cx < 0 ? 'start' : 'end') : cx > 0.2 ? 'start' : cx < -0.2 ? 'end' : 'middle';
    const out = flat ? 1 : 1.06 + beyond(at);
    const name = lens.visible(map.class_names[at]);
    const half = 4 * name.length; // about, in pixels
    const [tx, ty] = flat ? [x(cx), height - 8] : narrow ? [Math.max(half, Math.min(width - half, x(cx))), y(cy * out) + (cy < -0.1 ? 14 : -8)] : [x(cx * out), y(cy * out) + 4];
    shapes.push(s('rect', { x: x(cx) - 3, y: y(cy) - 3, width: 6, height: 6, fill: lens.colour(at) }),
      lens.text(tx, ty, name, { 'text-anchor': narrow && !flat ? 'middle' : anchor, class: 'strong' }));
  });
  const biggest = Math.max(1, ...map.flows.map((flow) => flow.count));
  for (const flow of shown) {
    const a = map.states[flow.from], b = map.states[flow.to];
    const dx = x(b.x) - x(a.x), dy = y(b.y) - y(a.y), length = Math.hypot(dx, dy) || 1;
    const start = unit * a.r, stop = unit * b.r + 5;
    if (length < start + stop) continue;
    const [x1, y1, x2, y2] = [x(a.x) + dx / length * start, y(a.y) + dy / length * start, x(b.x) - dx / length * stop, y(b.y) - dy / length * stop];
    const bend = flat ? 0.5 : 0.12; // two classes stand on a line: flows to the right bow downwards, to the left upwards
    const [mx, my] = [(x1 + x2) / 2 - dy * bend, (y1 + y2) / 2 + dx * bend];
    const mine = flow.from === chosen || flow.to === chosen;
    shapes.push(s('path', { d: `M${x1.toFixed(1)},${y1.toFixed(1)}Q${mx.toFixed(1)},${my.toFixed(1)} ${x2.toFixed(1)},${y2.toFixed(1)}`, fill: 'none', stroke: mine ? 'var(--accent)' : 'var(--soft)', 'stroke-width': (0.8 + 5 * Math.sqrt(flow.count / biggest)).toFixed(1), opacity: mine ? 0.8 : 0.35 },
      s('title', null, `${lens.whole(flow.count)} times from ${lens.stateName(map, flow.from)} to ${lens.stateName(map, flow.to)}: ${flow.words.map(lens.visible).join(', ')}`)));
    const angle = Math.atan2(y2 - my, x2 - mx);
    const wing = (turn) => `${(x2 - 7 * Math.cos(angle + turn)).toFixed(1)},${(y2 - 7 * Math.sin(angle + turn)).toFixed(1)}`;
    shapes.push(s('polygon', { points: `${x2.toFixed(1)},${y2.toFixed(1)} ${wing(0.5)} ${wing(-0.5)}`, fill: mine ? 'var(--accent)' : 'var(--soft)', opacity: mine ? 0.8 : 0.5 }));
  }
  for (const state of map.states) {
    const radius = unit * state.r;
    const share = active ? active.get(state.id) || 0 : 1;
    const press = choose && { click: () => choose(state.id), keydown: (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); choose(state.id); } } };
    shapes.push(s('g', {
      class: `state${state.id === chosen ? ' chosen' : ''}`, 'data-state': state.id, transform: `translate(${x(state.x).toFixed(1)},${y(state.y).toFixed(1)})`,
      opacity: active ? Math.max(0.25, Math.min(1, 0.25 + share)) : 1,
      ...(choose ? { tabindex: 0, role: 'button', 'aria-pressed': String(state.id === chosen), 'aria-label': `${named(map, state)}${state.initial ? ', the initial one' : ''}: ${lens.visible(state.label)} ${lens.percent(Math.max(...state.mix))}, ${lens.percent(state.frequency, 1)} of the visits`, on: press } : {}),
    }, slices(state.mix, radius), s('circle', { class: 'ring', r: radius, fill: 'none', stroke: 'var(--panel)', 'stroke-width': 1.5 }),
    radius > 11 && s('text', { class: 'number', 'text-anchor': 'middle', y: 4, 'pointer-events': 'none', 'aria-hidden': 'true' }, String(state.id))));
  }
  if (moves) {
    map.states.forEach((state, at) => {
      const [tx, ty] = moves.to[at];
      if (moves.change[at] < 0.02) return;
      const lift = flat ? state.y : 0;
      shapes.push(s('line', { x1: x(state.x), y1: y(state.y), x2: x(tx), y2: y(ty + lift), stroke: 'var(--ink)', 'stroke-width': 1.6, opacity: (0.25 + 0.75 * moves.change[at]).toFixed(2), 'pointer-events': 'none' }),
        s('circle', { cx: x(tx), cy: y(ty + lift), r: 3.5, fill: 'var(--ink)', opacity: (0.35 + 0.65 * moves.change[at]).toFixed(2), 'pointer-events': 'none' }));
    });
  }
  if (marks) shapes.push(marks(x, y));
  lens.put(svg, shapes);
};

const tags = (title, words) => [h('h3', null, title), words.length ? h('ul', { class: 'tags' }, words.map(([word, count]) => h('li', null, h('a', { href: lens.link('word', { word }) }, lens.word(word), ' ', h('small', null, lens.whole(count)))))) : h('p', { class: 'note' }, 'none')];

function listed(map, choose) {
  const order = [...map.states].sort((a, b) => b.frequency - a.frequency);
  return [
    h('p', null, `Choose a ${map.kind === 'states' ? 'state' : 'region'} to see what it stands for, which words lead there and away, and sentences that pass through it.`),
    lens.table(map.kind === 'states' ? 'States by visits' : 'Regions by visits', [map.kind === 'states' ? 'state' : 'region', 'speaks for', 'visits', 'stays'], order.map((state) => [
      h('button', { type: 'button', class: 'small', on: { click: () => choose(state.id) } }, state.name === null ? `${state.id}${state.initial ? ' (start)' : ''}` : `${state.id} ${lens.visible(state.name)}`),
      [lens.className(map.class_names, lens.argmax(state.mix)), ` ${lens.percent(Math.max(...state.mix))}`], lens.percent(state.frequency, 1), lens.percent(state.stays)])),
  ];
}

function details(map, state, choose) {
  if (!state) return listed(map, choose);
  return [
    h('button', { type: 'button', class: 'small', on: { click: () => choose(state.id) } }, '\u2190 all'),
    h('h2', null, `${named(map, state)}${state.initial ? ', before any word' : ''}`),
    h('p', { class: 'note' }, `${lens.percent(state.frequency, 1)} of all visits (${lens.whole(state.visits)}); a word leaves it where it is in ${lens.percent(state.stays)} of the cases.`),
    lens.mix(map.class_names, state.mix),
    h('br'),
    tags('Words that lead here', state.words_in), tags('Words that lead away', state.words_out),
    h('h3', null, 'Sentences'),
    state.sentences.length ? h('ul', { class: 'sentences' }, state.sentences.map(({ words, after, share }) => h('li', null,
      h('a', { href: lens.link('play', { text: words.join(' ') }) }, lens.word(words.slice(0, after).join(' '))), ' ', h('span', { class: 'rest' }, lens.word(words.slice(after).join(' '))), h('span', { class: 'hidden' }, ` (${lens.percent(share)})`)))) : h('p', { class: 'note' }, map.texts ? 'no sentence of the sample passes here' : 'give texts with --corpus to see some'),
  ];
}

lens.views.push({
  name: 'map',
  title: 'Automaton',
  lead: 'Each circle is a state (of a linear automaton: a region of its outputs), placed between the classes it stands for. Its size tells how often it is visited, its colours the mix of classes.',
  async build(view, parameters) {
    const map = await lens.source.map();
    const status = h('span', { role: 'status', class: 'note' });
    const panel = h('div', { class: 'panel', 'aria-live': 'polite' });
    let chosen = parameters.get('state') ? Number(parameters.get('state')) : null;
    let moves = null, flows = 30;
    const choose = (id) => { chosen = id === chosen ? null : id; lens.remember({ state: chosen, word: moves?.word }); update(); };
    const figure = lens.figure({
      title: map.kind === 'states' ? 'The states of the automaton' : 'Regions of the automaton\u2019s outputs',
      describe: `${map.states.length} ${map.kind} on a map of the classes ${map.class_names.map(lens.visible).join(', ')}`,
      interactive: true,
      draw: (svg, width) => lens.drawMap(svg, Math.min(width, 900), map, { flows: moves ? 0 : flows, chosen, moves, choose }),
      legend: lens.legend(map.class_names),
      note: `${map.corners.length === 2 ? 'From left to right: the probability of a class' : 'A point is the mean of the corners, weighted by the class probabilities'}; circles that would overlap are moved apart. Lines are the strongest flows, as wide as they are frequent. Where a word is asked for, a line leads from each state to the output after it. ${map.kind === 'regions' ? `A linear automaton has no states that stand for outputs: these are ${map.states.length} groups of its outputs on ${lens.plural(map.texts, 'text')}.` : ''}`,
    });
    function update() { const focused = document.activeElement?.getAttribute?.('data-state'); figure.redraw(); lens.put(panel, details(map, map.states[chosen], choose)); if (focused) figure.querySelector(`[data-state="${focused}"]`)?.focus(); }
    const filter = lens.later(150, async (word) => {
      if (!word) { moves = null; lens.put(status); lens.remember({ state: chosen }); update(); return; }
      try {
        moves = await lens.source.moves(word);
        lens.put(status, moves.known ? `\u201c${lens.visible(word)}\u201d (seen ${lens.whole(moves.count)} times) moves the output by ${lens.percent(moves.mean_change)} on average` : `\u201c${lens.visible(word)}\u201d is not known: it reads as <unk>`);
        lens.remember({ state: chosen, word });
      } catch (error) { moves = null; lens.put(status, h('span', { class: 'error' }, error.message)); }
      update();
    });
    const list = lens.name('known');
    const input = h('input', { type: 'search', maxlength: 200, list, placeholder: 'a word', autocomplete: 'off', value: parameters.get('word') || '', on: { input: (event) => filter(event.target.value.trim()) } });
    const slider = h('input', { type: 'range', min: 0, max: map.flows.length, value: flows, on: { input: (event) => { flows = Number(event.target.value); update(); } } });
    view.append(
      h('div', { class: 'controls' }, lens.field('How does this word move the states?', input), lens.field('Flows shown', slider), status),
      h('datalist', { id: list }, (lens.source.carried?.moves() || []).map((word) => h('option', { value: word }))),
      h('div', { class: 'split' }, figure, panel));
    update();
    if (parameters.get('word')) filter(parameters.get('word'));
  },
});
