// The strongest words of each class in two spaces, side by side, with one selection.
const { h, s } = lens;

function labelled(words, points, width, height, order) {
  // labels that do not run into each other, in the given order
  const boxes = [],
    shown = [];
  for (const at of order) {
    const [x, y] = points[at];
    const box = [x + 5, y - 7, x + 9 + 6.6 * lens.visible(words[at]).length, y + 6];
    if (
      box[2] > width ||
      box[3] > height ||
      boxes.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])
    )
      continue;
    boxes.push(box);
    shown.push(at);
  }
  return shown;
}

lens.views.push({
  name: 'word_map',
  title: 'Word map',
  lead: 'The strongest words of each class, placed by what they do to the automaton and by what they mean. Choose a word to find it in both.',
  async build(view) {
    await lens.fill(view, lens.source.wordMap, (found) => {
      let chosen = null;
      const off = new Set();
      const select = (at) => {
        chosen = at === chosen ? null : at;
        redraw();
      };
      const shown = (at) => !off.has(found.classes[at]);
      const titles = ['By what they do', 'By what they mean'];
      const near = (space) => {
        if (chosen === null) return [];
        const [cx, cy] = space.points[chosen];
        return space.points
          .map(([x, y], at) => [Math.hypot(x - cx, y - cy), at])
          .filter(([, at]) => at !== chosen && shown(at))
          .sort((a, b) => a[0] - b[0])
          .slice(0, 8)
          .map(([, at]) => at);
      };
      const figures = found.spaces.map((space, which) =>
        lens.figure({
          title: `${titles[which]} (${lens.visible(space.name)})`,
          describe: `${found.words.length} words; ${lens.percent(space.purity)} of a word\u2019s ten nearest neighbours are of its class`,
          term: 't-SNE',
          legend: lens.classLegend(found.class_names),
          interactive: true,
          draw: (svg, width) => {
            const height = Math.round(width * 0.8);
            lens.size(svg, width, height);
            const xs = space.points.map(([x]) => x),
              ys = space.points.map(([, y]) => y);
            const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
            const points = space.points.map(([x, y]) => [
              14 + ((width - 60) * (x - x0)) / (x1 - x0 || 1),
              14 + (height - 28) * (1 - (y - y0) / (y1 - y0 || 1)),
            ]);
            const close = near(space);
            const order = found.words.map((_, at) => at).filter(shown);
            const first = chosen === null ? order : [chosen, ...close];
            lens.put(
              svg,
              order.map((at) =>
                s('circle', {
                  cx: points[at][0].toFixed(1),
                  cy: points[at][1].toFixed(1),
                  r: at === chosen ? 7 : close.includes(at) ? 5 : 3.5,
                  fill: lens.colour(found.classes[at]),
                  opacity: chosen === null || at === chosen || close.includes(at) ? 0.9 : 0.35,
                  stroke: at === chosen ? 'var(--ink)' : 'none',
                  'stroke-width': 2,
                  'data-word': found.words[at],
                  'data-tip': `${lens.visible(found.words[at])} (${lens.visible(found.class_names[found.classes[at]])})`,
                  on: { click: () => select(at) },
                }),
              ),
              labelled(found.words, points, width, height, first).map((at) =>
                s(
                  'text',
                  {
                    x: points[at][0] + 6,
                    y: points[at][1] + 4,
                    'font-size': at === chosen ? 14 : 11,
                    'font-weight': at === chosen ? 700 : 400,
                    'pointer-events': 'none',
                  },
                  lens.visible(found.words[at]),
                ),
              ),
            );
          },
          note: `t-SNE: neighbours are alike, distances between groups say little. ${lens.percent(space.purity)} of a word\u2019s ten nearest neighbours are of its class.`,
        }),
      );
      const status = h('span', { role: 'status', class: 'note' });
      const list = lens.name('words');
      const input = h('input', {
        type: 'search',
        list,
        maxlength: 200,
        placeholder: 'a word',
        autocomplete: 'off',
        on: {
          input: () => {
            const word = input.value.trim();
            const at = Math.max(found.words.indexOf(word), found.words.indexOf(word.toLowerCase()));
            chosen = at < 0 ? null : at;
            redraw();
          },
        },
      });
      const legend = h(
        'ul',
        { class: 'legend' },
        found.class_names.map((name, at) =>
          h(
            'li',
            null,
            h(
              'button',
              {
                type: 'button',
                'aria-pressed': 'true',
                on: {
                  click: (event) => {
                    const on = off.has(at);
                    if (on) off.delete(at);
                    else off.add(at);
                    event.currentTarget.setAttribute('aria-pressed', String(on));
                    redraw();
                  },
                },
              },
              lens.className(found.class_names, at),
            ),
          ),
        ),
      );
      function redraw() {
        figures.forEach((figure) => figure.redraw());
        lens.put(
          status,
          chosen === null
            ? ''
            : [lens.wordLink(found.words[chosen]), `: ${lens.visible(found.class_names[found.classes[chosen]])}`],
        );
      }
      return [
        h('div', { class: 'controls' }, lens.field('Find a word', input), status),
        h(
          'datalist',
          { id: list },
          found.words.map((word) => h('option', { value: word })),
        ),
        legend,
        h('br'),
        h('div', { class: 'grid' }, figures),
      ];
    });
  },
});
