// Numbers and classes as people read them.
lens.percent = (value, digits = 0) => `${(100 * value).toFixed(digits)} %`;
lens.signed = (value, digits = 2) => `${value < 0 ? '\u2212' : '+'}${Math.abs(value).toFixed(digits)}`;
lens.number = (value, digits = 3) => Number(value).toFixed(digits);
lens.whole = (value) => Number(value).toLocaleString('en-US');
lens.plural = (count, one, many = `${one}s`) => `${lens.whole(count)} ${count === 1 ? one : many}`;
lens.colour = (index) => `var(--class-${index % 10})`;
lens.argmax = (row) => row.reduce((best, value, at) => (value > row[best] ? at : best), 0);
lens.interval = (estimate, digits = 3) => `${lens.number(estimate.low, digits)}\u2013${lens.number(estimate.high, digits)}`;
lens.shade = (share) => `rgba(var(${share >= 0 ? '--for' : '--against'}), ${(0.5 * Math.min(1, Math.abs(share))).toFixed(3)})`;

lens.swatch = (index) => lens.h('span', { class: 'swatch', style: { background: lens.colour(index) } });
lens.className = (names, index) => lens.h('span', null, lens.swatch(index), lens.word(names[index]));
lens.legend = (names) => lens.h('ul', { class: 'legend' }, names.map((_, at) => lens.h('li', null, lens.className(names, at))));

// Bars of one row of numbers by class: shares from the left, signed values from the middle.
lens.mix = (names, values, { signed = false, digits = 1, unit = '' } = {}) => {
  const most = Math.max(1e-9, ...values.map(Math.abs));
  const rows = names.map((name, at) => {
    const share = signed ? values[at] / most / 2 : values[at];
    const bar = lens.h('span', { class: 'fill', style: {
      background: lens.colour(at),
      width: `${100 * Math.abs(share)}%`,
      left: signed ? `${50 + Math.min(0, 100 * share)}%` : '0',
    } });
    const label = signed ? lens.signed(values[at], 3) + unit : lens.percent(values[at], digits);
    return [lens.word(name, 'span'), lens.h('span', { class: 'track', 'aria-hidden': 'true' }, bar, signed && lens.h('span', { class: 'zero' })), lens.h('span', null, label)];
  });
  return lens.h('div', { class: 'mix' }, rows);
};
