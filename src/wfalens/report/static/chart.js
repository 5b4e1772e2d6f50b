// Figures: a title, a drawing that fits the width, a legend, a note, zoom, and three ways to save it.
const { h, s } = lens;

// draw(svg, width) is called again whenever the figure gets another width, and so is legend(): [{name, colour}]
lens.figure = ({ title, term, describe, draw, legend = () => [], note, interactive = false, least = 0 }) => {
  const svg = s('svg', {
    role: interactive ? 'group' : 'img',
    tabindex: 0,
    'aria-label': `${describe || title}. Keys: plus and minus zoom, arrows walk through the figures.`,
  });
  lens.zoomable(svg);
  svg.addEventListener('keydown', lens.zoomKeys(svg));
  const button = (label, about, act) =>
    h(
      'button',
      { class: 'small', type: 'button', title: about, 'aria-label': `${about}: ${title}`, on: { click: act } },
      label,
    );
  const keys = h('ul', { class: 'legend' });
  const made = h(
    'figure',
    null,
    h(
      'figcaption',
      null,
      h('h2', null, title, term && [' ', lens.what(term)]),
      h(
        'span',
        { class: 'tools' },
        button('+', 'Zoom in', () => lens.zoomBy(svg, lens.zoomStep)),
        button('\u2212', 'Zoom out', () => lens.zoomBy(svg, 1 / lens.zoomStep)),
        ['svg', 'png', 'pdf'].map((kind) =>
          h(
            'button',
            {
              class: 'small',
              type: 'button',
              title: `Save this figure as ${kind.toUpperCase()}`,
              'aria-label': `Save ${title} as ${kind.toUpperCase()}`,
              on: { click: () => lens.save(svg, title, kind, legend()) },
            },
            kind.toUpperCase(),
          ),
        ),
      ),
    ),
    h('div', { class: 'drawing' }, svg),
    keys,
    note && h('p', { class: 'note' }, note),
  );
  if (least) svg.style.setProperty('min-width', `${least}px`);
  let width = 0;
  const redraw = () => {
    if (!width) return;
    draw(svg, width);
    lens.put(
      keys,
      legend().map(({ name, colour }) =>
        h('li', null, h('span', { class: 'swatch', style: { background: colour } }), name),
      ),
    );
  };
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now && now !== width) {
      width = now;
      redraw();
    }
  }).observe(svg);
  made.redraw = redraw;
  made.svg = svg;
  return made;
};

// a text of at most so many characters; the whole one is its tooltip
const TEXT = (x, y, text, more, most = Infinity) =>
  s(
    'text',
    { x, y, 'data-tip': text.length > most ? text : null, ...more },
    text.length > most ? `${text.slice(0, Math.max(1, most - 1))}\u2026` : text,
  );
lens.text = TEXT;
const room = (labels, width, most) =>
  Math.min(width * most, 14 + 6.9 * Math.max(...labels.map((label) => label.length)));

// Several lines over the same steps; `current` marks one of them.
lens.lineChart = (svg, width, { series, labels, current, yTitle, xTitle, yMax = 1 }) => {
  const longest = Math.min(18, Math.max(...labels.map((label) => lens.visible(label).length)));
  const left = 60,
    right = 12,
    top = 10,
    bottom = 30 + 4.6 * longest,
    height = 200 + bottom;
  lens.size(svg, width, height);
  const last = Math.max(1, labels.length - 1);
  const x = (at) => left + ((width - left - right) * at) / last;
  const y = (value) => top + (height - top - bottom) * (1 - value / yMax);
  const shapes = [];
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    shapes.push(
      s('line', { class: 'axis', x1: left, x2: width - right, y1: y(tick * yMax), y2: y(tick * yMax) }),
      TEXT(left - 6, y(tick * yMax) + 4, lens.percent(tick * yMax), { 'text-anchor': 'end', class: 'soft' }),
    );
  }
  const every = Math.ceil(labels.length / Math.max(1, (width - left) / 22));
  labels.forEach((label, at) => {
    if (at % every) return;
    shapes.push(
      TEXT(
        x(at),
        height - bottom + 14,
        lens.visible(label),
        { class: 'soft', 'text-anchor': 'end', transform: `rotate(-40 ${x(at)} ${height - bottom + 14})` },
        18,
      ),
    );
  });
  if (current !== null && current !== undefined)
    shapes.push(
      s('line', {
        x1: x(current),
        x2: x(current),
        y1: top,
        y2: height - bottom,
        stroke: 'var(--ink)',
        'stroke-dasharray': '3 3',
      }),
    );
  for (const { name, values, colour, dash, from = 0 } of series) {
    const points = values.map((value, at) => `${x(at + from).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    shapes.push(s('polyline', { points, fill: 'none', stroke: colour, 'stroke-width': 2, 'stroke-dasharray': dash }));
    values.forEach((value, at) =>
      shapes.push(
        s('circle', {
          cx: x(at + from),
          cy: y(value),
          r: at + from === current ? 4 : 2.5,
          fill: colour,
          'data-tip': `after \u201c${lens.visible(labels[at + from])}\u201d: ${name} ${lens.percent(value, 1)}`,
        }),
      ),
    );
  }
  shapes.push(
    TEXT(12, top + (height - top - bottom) / 2, yTitle, {
      class: 'soft',
      'text-anchor': 'middle',
      transform: `rotate(-90 12 ${top + (height - top - bottom) / 2})`,
    }),
    TEXT(width - right, height - 4, xTitle, { class: 'soft', 'text-anchor': 'end' }),
  );
  lens.put(svg, shapes);
};

// Estimates with their intervals, one row each, on a common scale.
lens.intervalChart = (svg, width, { rows, xTitle, low, high }) => {
  const row = 26,
    left = room(
      rows.map(({ label }) => lens.visible(label)),
      width,
      0.5,
    ),
    right = 52,
    bottom = 40,
    top = 6;
  const height = top + row * rows.length + bottom;
  lens.size(svg, width, height);
  const x = (value) => left + ((width - left - right) * (value - low)) / (high - low || 1);
  const shapes = [];
  const step = [0.02, 0.05, 0.1, 0.2].find((size) => (high - low) / size <= (width - left - right) / 50) || 0.25;
  for (let value = high; value > low - 1e-9; value -= step) {
    shapes.push(
      s('line', { class: 'axis', x1: x(value), x2: x(value), y1: top, y2: height - bottom }),
      TEXT(x(value), height - bottom + 16, value.toFixed(2), { class: 'soft', 'text-anchor': 'middle' }),
    );
  }
  rows.forEach(({ label, estimate, colour }, at) => {
    const y = top + row * (at + 0.5);
    shapes.push(
      TEXT(left - 8, y + 4, lens.visible(label), { 'text-anchor': 'end' }, Math.floor(left / 6.8)),
      s('line', {
        x1: x(Math.max(low, estimate.low)),
        x2: x(Math.min(high, estimate.high)),
        y1: y,
        y2: y,
        stroke: colour,
        'stroke-width': 4,
        'stroke-linecap': 'round',
        opacity: 0.45,
      }),
      s('circle', {
        cx: x(estimate.value),
        cy: y,
        r: 5,
        fill: colour,
        'data-tip': `${lens.visible(label)}: ${lens.percent(estimate.value, 1)}, with 95 % confidence ${lens.percent(estimate.low, 1)} to ${lens.percent(estimate.high, 1)}`,
      }),
      TEXT(width - right + 8, y + 4, lens.number(estimate.value)),
    );
  });
  shapes.push(TEXT(left + (width - left - right) / 2, height - 6, xTitle, { class: 'soft', 'text-anchor': 'middle' }));
  lens.put(svg, shapes);
};

// Signed bars, one for each chosen class, from -most to most; the same for all words, so that bars can be compared.
lens.signedBars = (svg, width, { names, chosen, values, most }) => {
  const row = 26,
    left = room(
      chosen.map((at) => lens.visible(names[at])),
      width,
      0.4,
    ),
    right = 60,
    bottom = 38,
    top = 4;
  const height = top + row * chosen.length + bottom;
  lens.size(svg, width, height);
  const x = (value) => left + ((width - left - right) * (value + most)) / (2 * most);
  const shapes = [s('line', { class: 'axis', x1: x(0), x2: x(0), y1: top, y2: height - bottom })];
  chosen.forEach((label, at) => {
    const y = top + row * at + 4,
      name = names[label],
      value = values[at],
      shown = Math.max(-most, Math.min(most, value));
    shapes.push(
      TEXT(left - 8, y + 14, lens.visible(name), { 'text-anchor': 'end' }, Math.floor(left / 6.8)),
      s('rect', {
        class: 'bar',
        x: Math.min(x(0), x(shown)),
        y,
        width: Math.abs(x(shown) - x(0)),
        height: row - 8,
        fill: lens.colour(label),
        rx: 2,
        'data-tip': `${lens.visible(name)}: ${lens.points(value)}`,
      }),
      TEXT(width - right + 8, y + 14, lens.asPoints(value)),
    );
  });
  for (const value of [-most, 0, most])
    shapes.push(
      TEXT(x(value), height - bottom + 16, lens.asPoints(value), {
        class: 'soft',
        'text-anchor': 'middle',
      }),
    );
  shapes.push(TEXT(x(0), height - 4, 'mean change, in points', { class: 'soft', 'text-anchor': 'middle' }));
  lens.put(svg, shapes);
};
