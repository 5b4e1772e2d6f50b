// The faithful automaton as a map: states, or groups of them, in the bands of their classes, and flows between them.
const { s } = lens;

function slices(mix, radius) {
  // a pie of the classes in a state; classes below two per cent are left to the strongest
  const top = lens.argmax(mix);
  const shapes = [s('circle', { r: radius, fill: lens.colour(top) })];
  let turn = 0;
  mix.forEach((share, at) => {
    if (at === top || share < 0.02) return;
    const from = 2 * Math.PI * turn,
      to = 2 * Math.PI * (turn + share);
    turn += share;
    const point = (angle) => `${(radius * Math.sin(angle)).toFixed(2)},${(-radius * Math.cos(angle)).toFixed(2)}`;
    shapes.push(
      s('path', {
        d: `M0,0L${point(from)}A${radius},${radius} 0 ${to - from > Math.PI ? 1 : 0} 1 ${point(to)}Z`,
        fill: lens.colour(at),
      }),
    );
  });
  return shapes;
}

// A state by its name, where it has one, else by its number; a group by what it says.
lens.stateName = (map, level, id) => {
  const state = level.states[id];
  if (state.name !== null) return lens.visible(state.name);
  if (state.initial) return 'the start';
  if (state.members.length > 1)
    return `${lens.plural(state.members.length, map.kind === 'states' ? 'state' : 'region')}, ${lens.says(map.class_names, state.mix)}`;
  return `${map.kind === 'states' ? 'state' : 'region'} ${state.members[0]}`;
};

lens.mapWidth = 300; // the least that can be read; narrow pages scroll
const WIDTH = 2; // of the map in its own units, from chance to certainty
const LEGIBLE = 0.1; // height of a band with a name; of many classes, those without a state have a narrower one
lens.sureness = (share, classes) => (share - 1 / classes) / (1 - 1 / classes);

// Draws bands, flows and states; `marks(place)` are drawn on top, place(label, share) is the point of an output.
lens.drawMap = (
  svg,
  width,
  map,
  level,
  { flows = 0, chosen = null, moves = null, marks = null, choose = null, active = null } = {},
) => {
  const names = map.class_names.map(lens.visible),
    classes = names.length;
  const left = Math.min(0.36 * width, 24 + 7 * Math.max(...names.map((name) => name.length)));
  const unit = (width - left - 20) / (WIDTH + 0.24),
    top = 26;
  const bottom = Math.max(...level.bands.map(([start, tall]) => start + tall));
  const height = Math.round(top + unit * bottom + 40);
  lens.size(svg, width, height);
  const x = (value) => left + unit * (value + 0.12),
    y = (value) => top + unit * value;
  const place = (label, share) => [
    x(WIDTH * lens.sureness(share, classes)),
    y(level.bands[label][0] + level.bands[label][1] / 2),
  ];
  const shapes = level.bands.map(([start, tall], at) => [
    s('rect', { class: 'band', x: 0, y: y(start) + 1, width, height: Math.max(1, unit * tall - 2), rx: 4 }),
    ...(tall < LEGIBLE
      ? []
      : [
          s('rect', { x: 6, y: y(start + tall / 2) - 6, width: 10, height: 10, fill: lens.colour(at) }),
          lens.text(21, y(start + tall / 2) + 4, names[at], { class: 'strong' }, Math.floor((left - 20) / 6.6)),
        ]),
  ]);
  for (const share of [1 / classes, 0.5, 0.75, 1].filter((value, at) => at === 0 || value > 1 / classes + 0.05)) {
    const at = x(WIDTH * lens.sureness(share, classes));
    shapes.push(
      s('line', { class: 'axis', x1: at, x2: at, y1: y(0), y2: y(bottom) }),
      lens.text(at, height - 22, lens.percent(share), { class: 'soft', 'text-anchor': 'middle' }),
    );
  }
  shapes.push(
    lens.text(width - 8, height - 5, 'probability of the likeliest class \u2192 sure', {
      class: 'soft',
      'text-anchor': 'end',
    }),
  );
  const biggest = Math.max(1, ...level.flows.map((flow) => flow.count));
  for (const flow of level.flows.filter(
    (each, at) => at < flows || (flows > 0 && (each.from === chosen || each.to === chosen)),
  ))
    shapes.push(arrow(flow));
  function arrow(flow) {
    const a = level.states[flow.from],
      b = level.states[flow.to];
    const dx = x(b.x) - x(a.x),
      dy = y(b.y) - y(a.y),
      length = Math.hypot(dx, dy) || 1;
    const [ra, rb] = [unit * a.r, unit * b.r + 5],
      near = length < ra + rb + 8; // too near for a straight way: it goes round
    const [sx, sy] = near ? [-dy / length, dx / length] : [dx / length, dy / length];
    const [x1, y1, x2, y2] = near
      ? [x(a.x) + sx * ra, y(a.y) + sy * ra, x(b.x) + sx * rb, y(b.y) + sy * rb]
      : [x(a.x) + sx * ra, y(a.y) + sy * ra, x(b.x) - sx * rb, y(b.y) - sy * rb];
    const bend = near ? 24 + Math.max(ra, rb) : 0.12 * length;
    const [mx, my] = [
      (x1 + x2) / 2 + (near ? sx : -dy / length) * bend,
      (y1 + y2) / 2 + (near ? sy : dx / length) * bend,
    ];
    const mine = flow.from === chosen || flow.to === chosen,
      angle = Math.atan2(y2 - my, x2 - mx);
    const wing = (turn) =>
      `${(x2 - 7 * Math.cos(angle + turn)).toFixed(1)},${(y2 - 7 * Math.sin(angle + turn)).toFixed(1)}`;
    return [
      s('path', {
        class: 'flow',
        d: `M${x1.toFixed(1)},${y1.toFixed(1)}Q${mx.toFixed(1)},${my.toFixed(1)} ${x2.toFixed(1)},${y2.toFixed(1)}`,
        fill: 'none',
        stroke: mine ? 'var(--ink)' : 'var(--soft)',
        'stroke-width': (0.8 + 5 * Math.sqrt(flow.count / biggest)).toFixed(1),
        opacity: mine ? 0.8 : 0.35,
        'data-tip': `${lens.whole(flow.count)} times from ${lens.stateName(map, level, flow.from)} to ${lens.stateName(map, level, flow.to)}: ${flow.words.map(lens.visible).join(', ')}`,
      }),
      s('polygon', {
        points: `${x2.toFixed(1)},${y2.toFixed(1)} ${wing(0.5)} ${wing(-0.5)}`,
        fill: mine ? 'var(--ink)' : 'var(--soft)',
        opacity: mine ? 0.8 : 0.5,
      }),
    ];
  }
  for (const state of level.states) {
    const radius = unit * state.r,
      share = active ? state.members.reduce((sum, id) => sum + (active.get(id) || 0), 0) : 1;
    const press = choose && {
      click: () => choose(state.id),
      keydown: (event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          choose(state.id);
        }
      },
    };
    const label = `${lens.stateName(map, level, state.id)}: ${names[lens.argmax(state.mix)]} ${lens.percent(Math.max(...state.mix))}, ${lens.percent(state.frequency, 1)} of the visits${active ? `; now ${lens.percent(share)}` : ''}`;
    shapes.push(
      s(
        'g',
        {
          class: `state${state.id === chosen ? ' chosen' : ''}`,
          'data-state': state.id,
          transform: `translate(${x(state.x).toFixed(1)},${y(state.y).toFixed(1)})`,
          'data-tip': label,
          opacity: active ? Math.max(0.25, Math.min(1, 0.25 + share)) : 1,
          ...(choose
            ? {
                tabindex: 0,
                role: 'button',
                'aria-pressed': String(state.id === chosen),
                'aria-label': label,
                on: press,
              }
            : {}),
        },
        slices(state.mix, radius),
        s('circle', { class: 'ring', r: radius, fill: 'none', stroke: 'var(--panel)', 'stroke-width': 1.5 }),
        radius > 11 &&
          s(
            'text',
            { class: 'number', 'text-anchor': 'middle', y: 4, 'pointer-events': 'none', 'aria-hidden': 'true' },
            state.initial
              ? 'start'
              : state.members.length > 1
                ? `${state.members.length}\u00d7`
                : String(state.members[0]),
          ),
      ),
    );
  }
  if (moves) level.states.forEach((state) => shapes.push(moved(state)));
  function moved(state) {
    // of a group: what becomes of its states
    return state.members.map((id) => {
      const change = moves.change[id];
      if (change < 0.02) return null;
      const [tx, ty] = place(...moves.to[id]);
      return [
        s('line', {
          class: 'moved',
          x1: x(state.x),
          y1: y(state.y),
          x2: tx,
          y2: ty,
          stroke: 'var(--ink)',
          'stroke-width': 1.6,
          opacity: (0.2 + 0.7 * change).toFixed(2),
          'pointer-events': 'none',
        }),
        s('circle', {
          cx: tx,
          cy: ty,
          r: 3.5,
          fill: 'var(--ink)',
          opacity: (0.35 + 0.6 * change).toFixed(2),
          'pointer-events': 'none',
        }),
      ];
    });
  }
  if (marks) shapes.push(marks(place));
  lens.put(svg, shapes);
};

// The way of a sentence on the map, up to word `at`: the automaton's, and the network's beside it.
lens.pathMarks = (found, at) => (place) => {
  const points = (rows, lift) =>
    rows.map((row) => {
      const top = lens.argmax(row),
        [px, py] = place(top, row[top]);
      return [px, py + lift];
    });
  const line = (shown, dash) =>
    s('polyline', {
      points: shown.map((point) => point.map((value) => value.toFixed(1)).join(',')).join(' '),
      fill: 'none',
      stroke: 'var(--ink)',
      'stroke-width': 2,
      'stroke-dasharray': dash,
    });
  const dot = ([cx, cy], size, open) =>
    s('circle', {
      cx,
      cy,
      r: size,
      fill: open ? 'var(--panel)' : 'var(--ink)',
      stroke: 'var(--ink)',
      'stroke-width': 1.5,
    });
  const own = points(found.automaton.slice(0, at + 1), -6),
    shapes = [];
  if (found.model) {
    const other = points(found.model.slice(0, Math.max(0, at + found.model.length - found.words.length)), 6);
    shapes.push(
      line(other, '5 4'),
      other.slice(-1).map((point) => dot(point, 6, true)),
    );
  }
  shapes.push(
    line(own),
    own.map((point, step) => dot(point, step === at ? 5 : 2, false)),
  );
  return shapes;
};
