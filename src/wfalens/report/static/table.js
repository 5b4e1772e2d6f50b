// Tables: small ones as they are, long ones with only the rows that can be seen.
const { h } = lens;
const ROW = 32,
  PAGE = 100,
  MARGIN = 10;

const titled = (cell, column) => {
  const title = typeof column === 'string' ? column : column.firstChild?.textContent;
  if (title && !cell.matches('.text')) cell.dataset.title = title; // narrow pages show it beside the cell
  return cell;
};

// with more than two columns, rows are blocks on narrow pages
lens.table = (caption, columns, rows) =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      { class: columns.length > 2 ? 'stacked' : null },
      h('caption', null, h('span', null, caption)),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          columns.map((column, at) =>
            h(
              'th',
              {
                scope: 'col',
                class:
                  rows[0]?.[at] instanceof HTMLTableCellElement && rows[0][at].matches('.text, .left') ? 'left' : null,
              },
              column,
            ),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((row) =>
          h(
            'tr',
            null,
            row.map((cell, at) =>
              cell instanceof HTMLTableCellElement
                ? titled(cell, columns[at])
                : at
                  ? titled(h('td', null, cell), columns[at])
                  : h('th', { scope: 'row' }, cell),
            ),
          ),
        ),
      ),
    ),
  );

// fetch(offset, limit) -> {total, rows}; columns: [{key, title, cell(row)}]; a click on a title sorts by its key
lens.longTable = ({ label, columns, fetch, sort, falling, onSort }) => {
  const body = h('tbody');
  const status = h('p', { class: 'note', role: 'status' });
  const titles = columns.map(({ key, title, left }) => {
    const chosen = key === sort;
    const mark = chosen ? (falling ? ' \u25be' : ' \u25b4') : '';
    return h(
      'th',
      {
        scope: 'col',
        class: left && 'left',
        'aria-sort': key && (chosen ? (falling ? 'descending' : 'ascending') : 'none'),
      },
      key ? h('button', { type: 'button', on: { click: () => onSort(key) } }, lens.visible(title), mark) : title,
    );
  });
  const table = h('table', { class: 'virtual', 'aria-label': label }, h('thead', null, h('tr', null, titles)), body);
  const box = h('div', { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': label }, table);
  const pages = new Map();
  let total = null;

  const space = (rows) =>
    h(
      'tr',
      { class: 'space', 'aria-hidden': 'true' },
      h('td', { colspan: columns.length, style: { height: `${rows * ROW}px` } }),
    );
  const rowAt = (at) => pages.get(Math.floor(at / PAGE))?.[at % PAGE];
  function draw() {
    if (total === null) return;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - MARGIN);
    const last = Math.min(total, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + MARGIN);
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page += 1) load(page);
    const rows = [];
    for (let at = first; at < last; at += 1) {
      const row = rowAt(at);
      const cells = columns.map(({ cell }, column) => {
        const inner = row ? cell(row) : '\u2026';
        return column
          ? inner instanceof HTMLTableCellElement
            ? inner
            : h('td', null, inner)
          : h('th', { scope: 'row' }, inner);
      });
      rows.push(h('tr', { 'aria-rowindex': at + 2 }, cells));
    }
    table.setAttribute('aria-rowcount', total + 1);
    lens.put(body, first ? space(first) : null, rows, last < total ? space(total - last) : null);
  }
  async function load(page) {
    if (pages.has(page)) return;
    pages.set(page, null);
    try {
      const found = await fetch(page * PAGE, PAGE);
      pages.set(page, found.rows);
      total = found.total;
      lens.put(status, total ? lens.plural(total, 'word') : 'no word is like that');
      requestAnimationFrame(draw);
    } catch (error) {
      lens.put(status, h('span', { class: 'error' }, error.message));
    }
  }
  box.addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(box);
  load(0);
  return h('div', null, status, box);
};
