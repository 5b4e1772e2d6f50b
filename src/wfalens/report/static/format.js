// Numbers and classes as people read them.
lens.percent = (value, digits = 0) => `${(100 * value).toFixed(digits)}\u00a0%`; // no line ends between the two
lens.signed = (value, digits = 2) => `${value < 0 ? '\u2212' : '+'}${Math.abs(value).toFixed(digits)}`;
// a change of probability in points, without and with the unit
lens.asPoints = (value) =>
  Math.round(100 * value) ? `${value < 0 ? '\u2212' : '+'}${Math.abs(Math.round(100 * value))}` : '0';
lens.points = (value) => `${lens.asPoints(value)}\u00a0${Math.abs(Math.round(100 * value)) === 1 ? 'point' : 'points'}`;
lens.number = (value, digits = 3) => Number(value).toFixed(digits);
lens.whole = (value) => Number(value).toLocaleString('en-US');
lens.plural = (count, one, many = `${one}s`) => `${lens.whole(count)} ${count === 1 ? one : many}`;
// a colour always means a class; see palette.py
const COLOURS = 24,
  HUES = 8;
lens.colour = (index) => `var(--class-${index % COLOURS})`;
// classes beyond the eight hues have other marks, too: lines are dashed, swatches round
lens.dash = (index) => [null, '7 4', '2 3'][Math.floor(index / HUES) % 3];
lens.cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
lens.argmax = (row) => row.reduce((best, value, at) => (value > row[best] ? at : best), 0);
lens.interval = (estimate, digits = 3) =>
  `${lens.number(estimate.low, digits)}\u2013${lens.number(estimate.high, digits)}`;
// what is for a class has its colour, what is against it is grey
lens.shade = (share, index) =>
  `color-mix(in srgb, ${share >= 0 ? lens.colour(index) : 'var(--against)'} calc(var(--tint) * ${Math.min(1, Math.abs(share)).toFixed(3)}), transparent)`;

lens.swatch = (index) =>
  lens.h('span', { class: `swatch round-${Math.floor(index / HUES) % 3}`, style: { background: lens.colour(index) } });
lens.className = (names, index) => lens.h('span', null, lens.swatch(index), lens.word(names[index]));

// Bars of one row of numbers by class: shares from the left, signed values from the middle.
lens.mix = (names, values, { signed = false, digits = 1, unit = '', most = 1 } = {}) => {
  const rows = names.map((name, at) => {
    const share = signed ? Math.max(-1, Math.min(1, values[at] / most)) / 2 : values[at];
    const bar = lens.h('span', {
      class: 'fill',
      style: {
        background: lens.colour(at),
        width: `${100 * Math.abs(share)}%`,
        left: signed ? `${50 + Math.min(0, 100 * share)}%` : '0',
      },
    });
    const label = signed ? lens.signed(values[at], 3) + unit : lens.percent(values[at], digits);
    return [
      lens.word(name, 'span'),
      lens.h('span', { class: 'track', 'aria-hidden': 'true' }, bar, signed && lens.h('span', { class: 'zero' })),
      lens.h('span', null, label),
    ];
  });
  return lens.h('div', { class: 'mix' }, rows);
};

// what an output says, in two words: how sure, and of which class; the bounds are those of the names of states
const SURE = 0.8,
  LEANING = 0.5,
  LEANING_OF_TWO = 0.6;
lens.says = (names, mix) => {
  const top = lens.argmax(mix),
    most = mix[top],
    name = lens.visible(names[top]);
  if (most >= SURE) return `sure ${name}`;
  return most >= (mix.length === 2 ? LEANING_OF_TWO : LEANING) ? `leaning ${name}` : 'undecided';
};
lens.outcome = (names, row) => {
  const top = lens.argmax(row);
  return [lens.className(names, top), ` ${lens.percent(row[top])}`];
};
