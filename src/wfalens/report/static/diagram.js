// A readable automaton as boxes and arrows; a sentence lights its way in it, word by word.
const { s } = lens;
const LEVELS = ['start', 'undecided', 'leaning', '80 % sure or more', '97 % sure or more'];
const LINE = 14,
  BOX = 40,
  GAP = 12,
  TOP = 34,
  SIDE = 76,
  NARROW = 106,
  BROAD = 140; // pixels; at the right there is room for moves within the last column
const ENOUGH = 0.8,
  USUAL = 24; // the share of the moves that is drawn at first, and how many at most
const LEAST_LIT = 0.03;
lens.diagramWidth = 720; // the least that can be read; narrow pages scroll

// the beginning and the end, by which long names of classes differ
const shortened = (text, most) => {
  const head = Math.floor(most / 4);
  return text.length > most ? `${text.slice(0, head)}\u2026${text.slice(head + 1 - most)}` : text;
};
const wrapped = (text, most) => {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1) && lines.at(-1).length + word.length + 1 > most) lines.push(word);
    else lines[lines.length - 1] += (lines.at(-1) ? ' ' : '') + word;
  }
  return lines.map((line) => shortened(line, most + 2));
};
const colourOf = (state) => (state.undecided ? 'var(--soft)' : lens.colour(lens.argmax(state.mix)));
const best = (reading, state) => {
  const at = lens.argmax(state.mix);
  return [lens.visible(reading.class_names[at]), lens.percent(state.mix[at])];
};
const bestLines = (reading, state, most) => {
  const whole = best(reading, state);
  return whole.join(' ').length > most ? whole.flatMap((part) => wrapped(part, most)) : [whole.join(' ')];
};

// how many of the first moves carry enough of all, and lead to every state
lens.usualMoves = (reading) => {
  const total = reading.moves.reduce((sum, { share }) => sum + share, 0);
  let carried = 0,
    count = 0;
  while (
    count < Math.min(Math.max(USUAL, reading.states.length), reading.moves.length) &&
    (count < reading.states.length - 1 || carried < ENOUGH * total)
  ) {
    carried += reading.moves[count].share;
    count += 1;
  }
  return count;
};
lens.movesCarried = (reading, count) => {
  const total = reading.moves.reduce((sum, { share }) => sum + share, 0);
  return total ? reading.moves.slice(0, count).reduce((sum, { share }) => sum + share, 0) / total : 1;
};

function boxes(reading, width) {
  const columns = Math.max(...reading.states.map(({ column }) => column)) + 1;
  const wide = Math.max(NARROW, Math.min(BROAD, (0.5 * (width - SIDE)) / (columns - 0.5))),
    pitch = (width - SIDE - wide) / Math.max(1, columns - 1),
    letters = Math.max(8, Math.floor((wide - 10) / 7.2));
  const lines = reading.states.map(({ name }) => wrapped(lens.visible(name), letters).slice(0, 4));
  const outputs = reading.states.map((state) => bestLines(reading, state, Math.floor((wide - 2) / 6.8)));
  const tall = lines.map((each, at) => (each.length + outputs[at].length - 1) * LINE + BOX);
  const order = reading.states
    .map((_, at) => at)
    .sort(
      (a, b) => reading.states[a].column - reading.states[b].column || reading.states[a].row - reading.states[b].row,
    );
  const row = Math.max(
    BOX,
    ...order.slice(1).map((at, before) => {
      // so far apart that no box of a column touches the next
      const [upper, lower] = [reading.states[order[before]], reading.states[at]];
      return upper.column === lower.column ? ((tall[order[before]] + tall[at]) / 2 + GAP) / (lower.row - upper.row) : 0;
    }),
  );
  const first = Math.max(...reading.states.map((state, at) => tall[at] / 2 - row * state.row)); // the first row lies so far down
  return reading.states.map((state, at) => ({
    x: pitch * state.column + wide / 2 + 4,
    y: TOP + first + state.row * row,
    wide,
    tall: tall[at],
    lines: lines[at],
    outputs: outputs[at],
    column: state.column,
  }));
}

// a cubic curve from one box to another: [start, control, control, end]
function curve(a, b) {
  if (a.column === b.column) {
    const out = 26 + Math.abs(a.y - b.y) / 8,
      sign = b.y > a.y ? 1 : -1,
      x = a.x + a.wide / 2;
    return [
      [x, a.y + 6 * sign],
      [x + out, a.y + 6 * sign],
      [x + out, b.y - 6 * sign],
      [x, b.y - 6 * sign],
    ];
  }
  const forth = b.column > a.column ? 1 : -1,
    off = 9 * forth;
  const [x1, x2] = [a.x + (forth * a.wide) / 2, b.x - (forth * b.wide) / 2],
    bend = 0.45 * (x2 - x1);
  return [
    [x1, a.y - off],
    [x1 + bend, a.y - off],
    [x2 - bend, b.y - off],
    [x2, b.y - off],
  ];
}
const along = ([a, b, c, d], t) =>
  [0, 1].map(
    (axis) =>
      (1 - t) ** 3 * a[axis] + 3 * t * (1 - t) ** 2 * b[axis] + 3 * t * t * (1 - t) * c[axis] + t ** 3 * d[axis],
  );
const bow = (points) => {
  const [a, b, c, d] = points.map((point) => point.map((value) => value.toFixed(1)).join(','));
  return `M${a}C${b} ${c} ${d}`;
};

function head(points, colour, opacity, size) {
  const [x, y] = points[3],
    [bx, by] = along(points, 0.93),
    angle = Math.atan2(y - by, x - bx);
  const wing = (turn) =>
    `${(x - size * Math.cos(angle + turn)).toFixed(1)},${(y - size * Math.sin(angle + turn)).toFixed(1)}`;
  return s('polygon', {
    points: `${x.toFixed(1)},${y.toFixed(1)} ${wing(0.42)} ${wing(-0.42)}`,
    fill: colour,
    opacity,
  });
}

// labels stand on their arrows where there is room, the first ones first; an arrow without room for its label has it as a tooltip only
function labelled(arrows, placed) {
  const taken = placed.map(({ x, y, wide, tall }) => [x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2]);
  const free = (box) =>
    !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
  return arrows.map(({ points, label, strong }) => {
    const half = 2.9 * Math.max(...label.map((line) => line.length)) + 2,
      tall = 12 * label.length + 2;
    for (const t of [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82]) {
      const [x, y] = along(points, t),
        box = [x - half, y - tall / 2, x + half, y + tall / 2];
      if (!free(box)) continue;
      taken.push(box);
      return [
        s('rect', {
          class: 'under',
          x: box[0].toFixed(1),
          y: box[1].toFixed(1),
          width: (2 * half).toFixed(1),
          height: tall,
          rx: 3,
          'pointer-events': 'none',
        }),
        label.map((line, row) =>
          s(
            'text',
            {
              x: x.toFixed(1),
              y: (box[1] + 10.5 + 12 * row).toFixed(1),
              class: strong || (row === 0 && label.length > 1) ? 'move strong' : 'move',
              'text-anchor': 'middle',
              'pointer-events': 'none',
            },
            line,
          ),
        ),
      ];
    }
    return null;
  });
}

// moves: how many of the most frequent are drawn; lit: {place, moved, word} of a sentence; chosen: a state
lens.drawDiagram = (
  svg,
  width,
  reading,
  { moves = lens.usualMoves(reading), lit = null, chosen = null, choose = null } = {},
) => {
  const placed = boxes(reading, width);
  const height = Math.max(...placed.map(({ y, tall }) => y + tall / 2)) + 14;
  lens.size(svg, width, height);
  const name = (at) => lens.visible(reading.states[at].name);
  const widest = Math.max(1e-9, ...reading.moves.map(({ share }) => share));
  const titles = [...new Map(reading.states.map(({ column, level }) => [column, LEVELS[level]]))].map(
    ([column, title]) =>
      lens.text(placed.find((box) => box.column === column).x, 16, title, { class: 'soft', 'text-anchor': 'middle' }),
  );
  const shown = reading.moves.filter((move, at) => at < moves || move.from === chosen || move.to === chosen);
  const usual = shown.map((move) => {
    const mine = chosen === null || move.from === chosen || move.to === chosen;
    return {
      ...move,
      points: curve(placed[move.from], placed[move.to]),
      colour: colourOf(reading.states[move.to]),
      mark: 'usual',
      width: 1 + 6 * Math.sqrt(move.share / widest),
      opacity: lit ? 0.12 : mine ? 0.65 : 0.12,
      strong: false,
      label: lit || !mine ? null : [lens.percent(move.rate), ...wrapped(lens.visible(move.words), 18)],
      tip: `From \u201c${name(move.from)}\u201d to \u201c${name(move.to)}\u201d: ${lens.percent(move.rate, 1)} of the words read there, such as ${lens.visible(move.words)}`,
    };
  });
  const taken = lit
    ? lit.moved
        .filter(({ from, to, mass }) => from !== to && mass >= LEAST_LIT)
        .map(({ from, to, mass }) => ({
          from,
          to,
          points: curve(placed[from], placed[to]),
          colour: 'var(--ink)',
          mark: 'lit',
          width: 1.5 + 7 * mass,
          opacity: 0.9,
          strong: true,
          label: [`${lens.visible(lit.word)} ${lens.percent(mass)}`],
          tip: `\u201c${lens.visible(lit.word)}\u201d moves ${lens.percent(mass)} of the probability from \u201c${name(from)}\u201d to \u201c${name(to)}\u201d`,
        }))
    : [];
  const arrows = [...usual, ...taken];
  const lines = arrows.map((arrow) => [
    s('path', {
      d: bow(arrow.points),
      class: `arrow ${arrow.mark}`,
      fill: 'none',
      stroke: arrow.colour,
      'stroke-width': arrow.width.toFixed(1),
      opacity: arrow.opacity,
      'stroke-dasharray': placed[arrow.to].column < placed[arrow.from].column ? '7 4' : null,
      'data-tip': arrow.tip,
    }),
    head(arrow.points, arrow.colour, Math.min(1, arrow.opacity + 0.15), 7 + arrow.width),
  ]);
  const states = reading.states.map((state, at) => {
    const box = placed[at],
      share = lit ? lit.place[at] : null,
      faint = lit && share < 0.02;
    const press = choose && {
      click: () => choose(at),
      keydown: (event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          choose(at);
        }
      },
    };
    const more = lit
      ? faint
        ? ''
        : `now ${lens.percent(share)}`
      : at === 0 && state.stays === 0
        ? 'before any word'
        : `${lens.percent(state.stays)} of words stay`;
    const text = [
      ...box.lines.map((line) => [line, 'strong']),
      ...box.outputs.map((line) => [line, '']),
      [more, lit ? 'strong' : 'soft'],
    ];
    return s(
      'g',
      {
        class: `box${at === chosen ? ' chosen' : ''}${faint ? ' faint' : ''}`,
        'data-node': at,
        transform: `translate(${box.x.toFixed(1)},${box.y.toFixed(1)})`,
        'data-tip': `${name(at)}: ${reading.class_names
          .map((label, column) => [state.mix[column], `${lens.visible(label)} ${lens.percent(state.mix[column])}`])
          .sort((a, b) => b[0] - a[0])
          .slice(0, 4)
          .map(([, label]) => label)
          .join(
            ', ',
          )}; ${lens.percent(state.read, 1)} of all words are read here${lit ? `; now ${lens.percent(share)} of the probability` : ''}`,
        ...(choose
          ? {
              tabindex: 0,
              role: 'button',
              'aria-pressed': String(at === chosen),
              'aria-label': `${name(at)}: ${best(reading, state).join(' ')}, ${more}`,
              on: press,
            }
          : {}),
      },
      s('rect', { x: -box.wide / 2, y: -box.tall / 2, width: box.wide, height: box.tall, rx: 9, fill: 'var(--panel)' }),
      s('rect', {
        class: 'ring',
        x: -box.wide / 2,
        y: -box.tall / 2,
        width: box.wide,
        height: box.tall,
        rx: 9,
        fill: colourOf(state),
        'fill-opacity': lit ? (0.05 + 0.35 * share).toFixed(3) : 0.14,
        stroke: lit && share >= 0.5 ? 'var(--ink)' : colourOf(state),
        'stroke-width': lit ? (1 + 3 * share).toFixed(1) : 1.5,
      }),
      text.map(([line, look], row) =>
        s(
          'text',
          {
            class: look,
            'text-anchor': 'middle',
            y: (LINE * (row - (text.length - 1) / 2) + 4).toFixed(1),
            'pointer-events': 'none',
            'aria-hidden': choose ? 'true' : null,
            opacity: faint ? 0.75 : null,
          },
          line,
        ),
      ),
    );
  });
  lens.put(
    svg,
    titles,
    lines,
    states,
    labelled(
      [...taken, ...usual].filter(({ label }) => label),
      placed,
    ),
  );
  const frame = svg.parentElement; // on narrow pages: where the sentence is
  if (lit && frame && frame.scrollWidth > frame.clientWidth)
    frame.scrollLeft = placed[lens.argmax(lit.place)].x - frame.clientWidth / 2;
};

// what a sentence does at its word `at`; 0: before the first
lens.litAt = (reading, found, at) => {
  if (!found?.clusters) return null;
  const { places, steps } = lens.way(reading, found.clusters);
  return { place: places[at], moved: at ? steps[at - 1] : [], word: at ? found.words[at - 1] : '' };
};
