// Drawings that come as SVG from Python, wide and narrow: their words and texts become links.
const { h, s } = lens;
const VIEW = { word: 'word', text: 'trace' };

function adopted(text, form) {
  const svg = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
  svg.classList.add(form);
  for (const [name, view] of Object.entries(VIEW))
    for (const label of svg.querySelectorAll(`[data-${name}]`)) {
      const link = s('a', { href: lens.link(view, { [name]: label.dataset[name] }), class: 'inlink' });
      label.replaceWith(link);
      link.append(label);
    }
  lens.size(svg, Number(svg.getAttribute('width')), Number(svg.getAttribute('height')));
  return svg;
}

// forms: {wide, narrow}, as SVG; without a narrow form the wide one scrolls
lens.picture = (title, { wide, narrow }) => {
  const drawn = adopted(wide, narrow ? 'wide-form' : 'only-form');
  return h(
    'figure',
    { class: 'picture' },
    h('div', { class: 'drawing' }, drawn, narrow && adopted(narrow, 'narrow-form')),
    h(
      'span',
      { class: 'tools' },
      ['svg', 'png', 'pdf'].map((kind) =>
        h(
          'button',
          {
            class: 'small',
            type: 'button',
            'aria-label': `Save ${title} as ${kind.toUpperCase()}`,
            on: { click: () => lens.save(drawn, title, kind, []) },
          },
          kind.toUpperCase(),
        ),
      ),
    ),
  );
};
