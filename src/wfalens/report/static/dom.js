// Building the page. Words and texts only ever become text nodes, so nothing in them is read as markup.
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === 'style') {
      for (const [property, setting] of Object.entries(value)) node.style.setProperty(property, setting);
    } else if (name === 'value') {
      node.value = value;
    } else {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

lens.h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
lens.s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);
lens.put = (node, ...children) => {
  node.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};

// Characters that would turn the line around, vanish, or break it are shown as their code.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
lens.visible = (text) =>
  String(text).replace(HIDDEN, (char) => `\u27e8${char.charCodeAt(0).toString(16).padStart(4, '0')}\u27e9`);
lens.word = (text, tag = 'bdi') => lens.h(tag, null, lens.visible(text));
lens.wordLink = (word) => lens.h('a', { href: lens.link('word', { word }) }, lens.word(word));
lens.textLink = (text, shown) => lens.h('a', { href: lens.link('trace', { text }) }, lens.word(shown ?? text));
lens.link = (view, parameters) => {
  const query = new URLSearchParams(parameters || {}).toString();
  return `#${view}${query ? `?${query}` : ''}`;
};

lens.field = (label, control, extra = '') => lens.h('label', { class: extra }, label, control);
lens.select = (options, chosen, change) => {
  const made = lens.h(
    'select',
    { on: { change: (event) => change(event.target.value) } },
    options.map(([value, label]) => lens.h('option', { value, selected: value === chosen }, lens.visible(label))),
  );
  made.value = chosen;
  return made;
};
lens.later = (wait, work) => {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
};
lens.count = 0;
lens.name = (prefix) => `${prefix}-${++lens.count}`;
