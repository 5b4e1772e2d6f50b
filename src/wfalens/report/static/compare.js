// Two automata: what changed from the earlier to this one.
const { h, s } = lens;
const LABELLED = 24;

// influence before against influence after: words on the diagonal have not changed
function scatter(found, at) {
  const names = found.class_names,
    points = found.scatter.map(([word, before, after]) => [word, before[at], after[at]]);
  const most = Math.max(1e-6, ...points.flatMap(([, before, after]) => [Math.abs(before), Math.abs(after)]));
  return lens.figure({
    title: `Influence on ${lens.visible(names[at])}, before and after (points of probability)`,
    describe: `${points.length} words by their influence on ${lens.visible(names[at])} in both automata`,
    draw: (svg, width) => {
      const size = Math.min(width, 620),
        pad = 44;
      lens.size(svg, width, size);
      const x = (value) => (width - size) / 2 + pad + ((size - 2 * pad) * (value + most)) / (2 * most),
        y = (value) => size - pad - ((size - 2 * pad) * (value + most)) / (2 * most);
      const axis = (x1, y1, x2, y2, more) =>
        s('line', { class: 'axis', x1: x(x1), y1: y(y1), x2: x(x2), y2: y(y2), ...more });
      const farthest = [...points.keys()].sort(
          (a, b) => Math.abs(points[b][2] - points[b][1]) - Math.abs(points[a][2] - points[a][1]),
        ),
        boxes = [];
      const labels = farthest.slice(0, 3 * LABELLED).filter((each) => {
        const [word, before, after] = points[each],
          box = [x(before) + 5, y(after) - 6, x(before) + 9 + 6.6 * lens.visible(word).length, y(after) + 6];
        if (
          boxes.length >= LABELLED ||
          box[2] > width ||
          boxes.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])
        )
          return false;
        boxes.push(box);
        return true;
      });
      lens.put(
        svg,
        axis(-most, 0, most, 0),
        axis(0, -most, 0, most),
        axis(-most, -most, most, most, { 'stroke-dasharray': '4 4' }),
        [-most, most].map((tick) => [
          lens.text(x(tick), size - pad + 16, lens.asPoints(tick), { class: 'soft', 'text-anchor': 'middle' }),
          lens.text(x(-most) - 6, y(tick) + 4, lens.asPoints(tick), { class: 'soft', 'text-anchor': 'end' }),
        ]),
        lens.text(x(0), size - 8, 'before \u2192', { class: 'soft', 'text-anchor': 'middle' }),
        lens.text(x(-most), y(most) - 12, 'after \u2191', { class: 'soft', 'text-anchor': 'middle' }),
        points.map(([word, before, after]) =>
          s('circle', {
            cx: x(before).toFixed(1),
            cy: y(after).toFixed(1),
            r: 3.5,
            fill: lens.colour(at),
            opacity: 0.65,
            'data-tip': `${lens.visible(word)}: ${lens.asPoints(before)} before, ${lens.asPoints(after)} after`,
          }),
        ),
        labels.map((each) =>
          lens.text(x(points[each][1]) + 6, y(points[each][2]) + 4, lens.visible(points[each][0]), {
            'font-size': 11,
            'pointer-events': 'none',
          }),
        ),
      );
    },
    note: 'Words on the dashed line act as before; the farther from it, the more they changed. Shown are the words that are strongest for each class in either automaton.',
  });
}

lens.views.push({
  name: 'compare',
  title: 'Compare',
  lead: 'What changed from an earlier automaton to this one.',
  absent: (overview) => !overview.has.other,
  async build(view, parameters) {
    await lens.fill(view, lens.source.comparison, (found) => {
      const names = found.class_names;
      const given = { class: parameters.get('class') || 'all' };
      const content = h('div'),
        plot = h('div');
      const both = (label, { before, after }, read) =>
        (before || after) && [label, before ? read(before) : '\u2013', after ? read(after) : '\u2013'];
      const rate = (item) => `${lens.number(item.cr.value)} (${lens.interval(item.cr)})`;
      const share = (item) => `${lens.number(item.value)} (${lens.interval(item)})`;
      const rows = [
        both('Consistency with its own network', found.fidelity, rate),
        both('Accuracy', found.accuracy, share),
      ].filter(Boolean);
      const models = [
        ['model_before', 'network before'],
        ['model_after', 'network after'],
      ].filter(([key]) => found.texts[0]?.[key]);
      function draw() {
        lens.remember(given);
        const at = names.indexOf(given.class);
        const words =
          at < 0
            ? found.words
            : [...found.words].sort(
                (a, b) => Math.abs(b.after[at] - b.before[at]) - Math.abs(a.after[at] - a.before[at]),
              );
        lens.put(plot, scatter(found, Math.max(0, at)));
        lens.put(
          content,
          lens.table(
            'Words that changed most (influence in points of probability)',
            ['word', 'seen before / after', 'change', 'gained', 'lost'],
            words.slice(0, 60).map((each) => {
              const gap = each.after.map((value, column) => value - each.before[column]);
              const up = at < 0 ? lens.argmax(gap) : at,
                down = lens.argmax(gap.map((value) => -value));
              const cell = (column) =>
                h(
                  'span',
                  null,
                  lens.className(names, column),
                  ` ${lens.asPoints(each.before[column])} \u2192 ${lens.asPoints(each.after[column])}`,
                );
              return [
                h(
                  'span',
                  null,
                  lens.wordLink(each.word),
                  each.where === 'both' ? '' : h('small', null, ` only ${each.where}`),
                ),
                `${lens.whole(each.counts[0])} / ${lens.whole(each.counts[1])}`,
                lens.whole(Math.round(100 * each.change)),
                cell(up),
                cell(down),
              ];
            }),
          ),
        );
      }
      draw();
      return [
        h(
          'p',
          null,
          h('b', null, lens.visible(found.before)),
          ' \u2192 ',
          h('b', null, lens.visible(found.after)),
          found.agreement
            ? `: they choose the same class on ${lens.percent(found.agreement.cr.value, 1)} of ${lens.plural(found.agreement.texts, 'text')}, divergence ${lens.number(found.agreement.jsd.value)}.`
            : '.',
        ),
        found.corpus &&
          h(
            'p',
            { class: 'note' },
            `All figures of this page are of the same ${lens.plural(found.texts_read, 'text')} of ${lens.visible(found.corpus)}.`,
          ),
        rows.length > 0 && lens.table('How faithful each is', ['measure', 'before', 'after'], rows),
        h(
          'p',
          { class: 'note' },
          found.sides
            .map(({ name, kind, states }) => `${lens.visible(name)}: ${kind}, ${lens.plural(states, 'state')}`)
            .join('; '),
        ),
        h('h2', null, 'Words'),
        h(
          'div',
          { class: 'controls' },
          lens.field(
            'By change for',
            lens.select([['all', 'all classes'], ...names.map((name) => [name, name])], given.class, (value) => {
              given.class = value;
              draw();
            }),
          ),
        ),
        plot,
        content,
        found.texts.length > 0 && [
          h('h2', null, 'Sentences that prove it'),
          lens.table(
            'Texts that the two read most differently',
            [
              'text',
              'divergence',
              'before',
              'after',
              ...models.map(([, title]) => title),
              ...(found.texts[0].truth ? ['truth'] : []),
            ],
            found.texts.map((each) => {
              const cell = (row) => {
                const at = lens.argmax(row);
                return h('span', null, lens.className(names, at), ` ${lens.percent(row[at])}`);
              };
              return [
                h('td', { class: 'text roomy' }, lens.textLink(each.text, lens.cut(each.text, 160))),
                lens.number(each.divergence),
                cell(each.before),
                cell(each.after),
                ...models.map(([key]) => cell(each[key])),
                ...(each.truth ? [lens.visible(each.truth)] : []),
              ];
            }),
          ),
        ],
        h('h2', null, 'States'),
        found.states
          ? lens.table(
              'States, matched so that their centres are nearest; the farthest apart first',
              ['before', 'after', 'distance'],
              found.states.map((each) => [
                each.before === null
                  ? '\u2013'
                  : `${each.before}: ${lens.visible(each.label_before)}, ${lens.percent(each.share_before, 1)}`,
                each.after === null
                  ? '\u2013'
                  : `${each.after}: ${lens.visible(each.label_after)}, ${lens.percent(each.share_after, 1)}`,
                each.distance === null ? '\u2013' : lens.number(each.distance),
              ]),
            )
          : h('p', { class: 'note' }, found.states_note),
      ];
    });
  },
});
