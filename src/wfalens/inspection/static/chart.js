// Figures: a title, a drawing that fits the width, a legend, a note, and two ways to save it.
const { h, s } = lens;

function standalone(svg) {
  // colours and fonts come from the page's style; a saved drawing must carry them itself
  const copy = svg.cloneNode(true);
  const pairs = [[svg, copy], ...[...svg.querySelectorAll('*')].map((node, at) => [node, copy.querySelectorAll('*')[at]])];
  for (const [node, twin] of pairs) {
    const style = getComputedStyle(node);
    for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor']) {
      twin.setAttribute(name, style.getPropertyValue(name));
    }
  }
  const box = svg.viewBox.baseVal;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', box.width);
  copy.setAttribute('height', box.height);
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.prepend(s('rect', { x: box.x, y: box.y, width: box.width, height: box.height, fill: paper }));
  return new XMLSerializer().serializeToString(copy);
}

function download(blob, name) {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function save(svg, title, kind) {
  const name = `${title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.${kind}`;
  const text = standalone(svg);
  if (kind === 'svg') { download(new Blob([text], { type: 'image/svg+xml' }), name); return; }
  const image = new Image();
  image.onload = () => {
    const canvas = h('canvas', { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, name), 'image/png');
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

// draw(svg, width) is called again whenever the figure gets another width
lens.figure = ({ title, describe, draw, legend, note, interactive = false }) => {
  const svg = s('svg', { role: interactive ? 'group' : 'img', 'aria-label': describe || title });
  const made = h('figure', null,
    h('figcaption', null, h('h2', null, title),
      ['svg', 'png'].map((kind) => h('button', { class: 'small', type: 'button', title: `Save this figure as ${kind.toUpperCase()}`, 'aria-label': `Save ${title} as ${kind.toUpperCase()}`, on: { click: () => save(svg, title, kind) } }, kind.toUpperCase()))),
    svg, legend, note && h('p', { class: 'note' }, note));
  let width = 0;
  const redraw = () => { if (width) draw(svg, width); };
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now && now !== width) { width = now; redraw(); }
  }).observe(svg);
  made.redraw = redraw;
  return made;
};

lens.size = (svg, width, height) => { svg.setAttribute('viewBox', `0 0 ${width} ${height}`); svg.style.setProperty('aspect-ratio', `${width} / ${height}`); };

// a text of at most so many characters; the whole one is its tooltip
const TEXT = (x, y, text, more, most = Infinity) => s('text', { x, y, ...more }, text.length > most ? [`${text.slice(0, Math.max(1, most - 1))}\u2026`, s('title', null, text)] : text);
lens.text = TEXT;

// Several lines over the same steps; `current` marks one of them.
lens.lineChart = (svg, width, { series, labels, current, yTitle, xTitle, yMax = 1 }) => {
  const height = 260, left = 60, right = 12, top = 10, bottom = 72;
  lens.size(svg, width, height);
  const last = Math.max(1, labels.length - 1);
  const x = (at) => left + (width - left - right) * at / last;
  const y = (value) => top + (height - top - bottom) * (1 - value / yMax);
  const shapes = [];
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    shapes.push(s('line', { class: 'axis', x1: left, x2: width - right, y1: y(tick * yMax), y2: y(tick * yMax) }),
      TEXT(left - 6, y(tick * yMax) + 4, lens.percent(tick * yMax), { 'text-anchor': 'end', class: 'soft' }));
  }
  const every = Math.ceil(labels.length / Math.max(1, (width - left) / 22));
  labels.forEach((label, at) => {
    if (at % every) return;
    shapes.push(TEXT(x(at), height - bottom + 14, lens.visible(label), { class: 'soft', 'text-anchor': 'end', transform: `rotate(-40 ${x(at)} ${height - bottom + 14})` }, 10));
  });
  if (current !== null && current !== undefined) shapes.push(s('line', { x1: x(current), x2: x(current), y1: top, y2: height - bottom, stroke: 'var(--accent)', 'stroke-dasharray': '3 3' }));
  for (const { values, colour, from = 0 } of series) {
    const points = values.map((value, at) => `${x(at + from).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    shapes.push(s('polyline', { points, fill: 'none', stroke: colour, 'stroke-width': 2 }));
    values.forEach((value, at) => shapes.push(s('circle', { cx: x(at + from), cy: y(value), r: at + from === current ? 4 : 2, fill: colour })));
  }
  shapes.push(TEXT(12, top + (height - top - bottom) / 2, yTitle, { class: 'soft', 'text-anchor': 'middle', transform: `rotate(-90 12 ${top + (height - top - bottom) / 2})` }),
    TEXT(width - right, height - 4, xTitle, { class: 'soft', 'text-anchor': 'end' }));
  lens.put(svg, shapes);
};

// Estimates with their intervals, one row each, on a common scale.
lens.intervalChart = (svg, width, { rows, xTitle, low, high }) => {
  const row = 26, left = Math.min(190, width * 0.36), right = 52, bottom = 40, top = 6;
  const height = top + row * rows.length + bottom;
  lens.size(svg, width, height);
  const x = (value) => left + (width - left - right) * (value - low) / (high - low || 1);
  const shapes = [];
  const step = [0.02, 0.05, 0.1, 0.2].find((size) => (high - low) / size <= (width - left - right) / 50) || 0.25;
  for (let value = high; value > low - 1e-9; value -= step) {
    shapes.push(s('line', { class: 'axis', x1: x(value), x2: x(value), y1: top, y2: height - bottom }),
      TEXT(x(value), height - bottom + 16, value.toFixed(2), { class: 'soft', 'text-anchor': 'middle' }));
  }
  rows.forEach(({ label, estimate, colour }, at) => {
    const y = top + row * (at + 0.5);
    shapes.push(TEXT(left - 8, y + 4, lens.visible(label), { 'text-anchor': 'end' }, Math.floor(left / 6.8)),
      s('line', { x1: x(Math.max(low, estimate.low)), x2: x(Math.min(high, estimate.high)), y1: y, y2: y, stroke: colour, 'stroke-width': 4, 'stroke-linecap': 'round', opacity: 0.45 }),
      s('circle', { cx: x(estimate.value), cy: y, r: 5, fill: colour }),
      TEXT(width - right + 8, y + 4, lens.number(estimate.value)));
  });
  shapes.push(TEXT(left + (width - left - right) / 2, height - 6, xTitle, { class: 'soft', 'text-anchor': 'middle' }));
  lens.put(svg, shapes);
};

// Signed bars, one per class.
lens.signedBars = (svg, width, { names, values, unit }) => {
  const row = 26, left = Math.min(130, width * 0.3), right = 60, bottom = 38, top = 4;
  const height = top + row * names.length + bottom;
  lens.size(svg, width, height);
  const most = Math.max(1e-6, ...values.map(Math.abs));
  const x = (value) => left + (width - left - right) * (value + most) / (2 * most);
  const shapes = [s('line', { class: 'axis', x1: x(0), x2: x(0), y1: top, y2: height - bottom })];
  names.forEach((name, at) => {
    const y = top + row * at + 4, value = values[at];
    shapes.push(TEXT(left - 8, y + 14, lens.visible(name), { 'text-anchor': 'end' }, Math.floor(left / 6.8)),
      s('rect', { x: Math.min(x(0), x(value)), y, width: Math.abs(x(value) - x(0)), height: row - 8, fill: lens.colour(at), rx: 2 }),
      TEXT(width - right + 8, y + 14, lens.signed(value, 3)));
  });
  for (const value of [-most, 0, most]) shapes.push(TEXT(x(value), height - bottom + 16, value === 0 ? '0' : lens.signed(value), { class: 'soft', 'text-anchor': 'middle' }));
  shapes.push(TEXT(x(0), height - 4, `mean change of ${unit}`, { class: 'soft', 'text-anchor': 'middle' }));
  lens.put(svg, shapes);
};
