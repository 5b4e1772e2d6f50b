// Figures for a paper: with title, legend and the whole drawing, as SVG, PNG or PDF.
const { h, s } = lens;
const KEPT = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'paint-order',
  'opacity',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'text-anchor',
  'visibility',
];
const FINENESS = 3; // pixels of a saved picture for each of the screen
const FONT = 'system-ui, sans-serif';

// colours and fonts come from the page's style; a saved drawing must carry them itself
function painted(svg) {
  const copy = svg.cloneNode(true);
  const nodes = [...svg.querySelectorAll('*')],
    twins = [...copy.querySelectorAll('*')];
  nodes.forEach((node, at) => {
    const style = getComputedStyle(node),
      twin = twins[at];
    for (const name of KEPT) twin.setAttribute(name, style.getPropertyValue(name));
    for (const name of [...twin.getAttributeNames()])
      if (/^(data-|aria-|tabindex|role|class|style)/.test(name)) twin.removeAttribute(name);
    const tip = node.getAttribute('data-tip');
    if (tip) twin.append(s('title', null, tip));
  });
  return copy;
}

function lines(text, most) {
  const found = [''];
  for (const word of text.split(' ')) {
    if (found.at(-1) && found.at(-1).length + word.length >= most) found.push(word);
    else found[found.length - 1] += (found.at(-1) ? ' ' : '') + word;
  }
  return found;
}

function resolved(colour) {
  const probe = h('span', { style: { color: colour } });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// a paper is white, whatever the page looks like
function inLight(work) {
  const { dataset } = document.documentElement,
    before = dataset.theme;
  dataset.theme = 'light';
  try {
    return work();
  } finally {
    if (before === undefined) delete dataset.theme;
    else dataset.theme = before;
  }
}

// legend: [{name, colour}], drawn below in rows
lens.standalone = (svg, title, legend = []) =>
  inLight(() => {
    const { width, height } = svg.zoom,
      drawing = painted(svg);
    const ink = resolved('var(--ink)'),
      paper = resolved('var(--panel)');
    const text = (x, y, content, more = {}) =>
      s('text', { x, y, fill: ink, 'font-family': FONT, 'font-size': 13, ...more }, content);
    const head = lines(title, Math.max(20, Math.floor(width / 8)));
    const top = 12 + 20 * head.length;
    let x = 12,
      y = top + height + 22;
    const keys = legend.map(({ name, colour }) => {
      const room = 26 + 7.5 * name.length;
      if (x > 12 && x + room > width) {
        x = 12;
        y += 20;
      }
      const made = [s('rect', { x, y: y - 10, width: 12, height: 12, fill: resolved(colour) }), text(x + 18, y, name)];
      x += room;
      return made;
    });
    const whole = Math.ceil(legend.length ? y + 14 : top + height + 8);
    for (const [name, value] of Object.entries({
      x: 0,
      y: top,
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      overflow: 'visible',
    }))
      drawing.setAttribute(name, value);
    for (const name of ['class', 'style', 'tabindex', 'role', 'aria-label']) drawing.removeAttribute(name);
    const made = s(
      'svg',
      { xmlns: 'http://www.w3.org/2000/svg', width, height: whole, viewBox: `0 0 ${width} ${whole}` },
      s('rect', { width, height: whole, fill: paper }),
      head.map((line, at) => text(12, 22 + 20 * at, line, { 'font-size': 15, 'font-weight': 600 })),
      drawing,
      keys,
    );
    return { text: new XMLSerializer().serializeToString(made), width, height: whole };
  });

// one picture on one page
function pdf(image, pixels, width, height) {
  const encoder = new TextEncoder(),
    parts = [],
    starts = [];
  let length = 0;
  const add = (piece) => {
    const bytes = typeof piece === 'string' ? encoder.encode(piece) : piece;
    parts.push(bytes);
    length += bytes.length;
  };
  const object = (number, ...pieces) => {
    starts[number] = length;
    add(`${number} 0 obj\n`);
    pieces.forEach(add);
    add('\nendobj\n');
  };
  const draw = `q ${width} 0 0 ${height} 0 0 cm /Figure Do Q`;
  add('%PDF-1.4\n');
  object(1, '<< /Type /Catalog /Pages 2 0 R >>');
  object(2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>');
  object(
    3,
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources << /XObject << /Figure 5 0 R >> >> /Contents 4 0 R >>`,
  );
  object(4, `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`);
  object(
    5,
    `<< /Type /XObject /Subtype /Image /Width ${pixels[0]} /Height ${pixels[1]} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${image.length} >>\nstream\n`,
    image,
    '\nendstream',
  );
  const table = length;
  add(
    `xref\n0 6\n0000000000 65535 f \n${starts
      .slice(1)
      .map((at) => `${String(at).padStart(10, '0')} 00000 n \n`)
      .join('')}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`,
  );
  return new Blob(parts, { type: 'application/pdf' });
}

function download(blob, name) {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

lens.save = (svg, title, kind, legend) => {
  const name = `${title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.${kind}`;
  const { text, width, height } = lens.standalone(svg, title, legend);
  if (kind === 'svg') {
    download(new Blob([text], { type: 'image/svg+xml' }), name);
    return;
  }
  const image = new Image();
  image.onload = () => {
    const canvas = h('canvas', { width: Math.round(FINENESS * width), height: Math.round(FINENESS * height) });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    if (kind === 'png') {
      canvas.toBlob((blob) => download(blob, name), 'image/png');
      return;
    }
    canvas.toBlob(
      async (blob) =>
        download(pdf(new Uint8Array(await blob.arrayBuffer()), [canvas.width, canvas.height], width, height), name),
      'image/jpeg',
      0.95,
    );
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
};
