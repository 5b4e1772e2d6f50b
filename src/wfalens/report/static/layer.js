// What lies over all charts: tooltips for anything with a data-tip, and zoom.
const { h } = lens;
const MOST = 8,
  STEP = 1.4; // of the zoom

const tip = h('div', { class: 'tip', role: 'tooltip', hidden: true });
let shownFor = null,
  pointer = null; // where the mouse is, once it has moved

function place(x, y) {
  const box = tip.getBoundingClientRect(),
    gap = 12;
  const left = Math.max(4, Math.min(innerWidth - box.width - 4, x - box.width / 2));
  const above = y - box.height - gap;
  tip.style.setProperty('left', `${left}px`);
  tip.style.setProperty('top', `${above > 4 ? above : Math.min(innerHeight - box.height - 4, y + gap)}px`);
}

function show(node, x, y) {
  shownFor = node;
  lens.put(tip, node.getAttribute('data-tip')); // a text node: nothing in it is read as markup
  tip.hidden = false;
  if (x === undefined) {
    const box = node.getBoundingClientRect();
    place(box.left + box.width / 2, box.top);
  } else place(x, y);
}
function hide() {
  shownFor = null;
  tip.hidden = true;
}
const tipped = (target) => (target instanceof Element ? target.closest('[data-tip]') : null);

document.addEventListener('pointermove', (event) => {
  if (event.pointerType === 'touch') return;
  pointer = [event.clientX, event.clientY];
  const node = tipped(event.target);
  if (node) show(node, event.clientX, event.clientY);
  else if (shownFor && shownFor !== document.activeElement) hide();
});
document.addEventListener('pointerdown', (event) => {
  // a touch shows what hovering would
  const node = tipped(event.target);
  if (node && event.pointerType === 'touch') show(node, event.clientX, event.clientY);
  else if (!node) hide();
});
document.addEventListener('click', (event) => {
  const node = tipped(event.target);
  if (node && node.classList.contains('what')) show(node);
});
document.addEventListener('focusin', (event) => {
  const node = tipped(event.target);
  if (node && event.target.matches(':focus-visible')) show(node);
});
document.addEventListener('focusout', hide);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hide();
});
const isPointedAt = (node) => pointer !== null && tipped(document.elementFromPoint(...pointer)) === node;
window.addEventListener(
  'scroll',
  () => {
    if (shownFor && !isPointedAt(shownFor)) hide();
  },
  { passive: true, capture: true },
);
document.body.append(tip);

// The part of the drawing that is shown: {x, y, scale} within its full size.
function apply(svg) {
  const { width, height, scale, x, y } = svg.zoom;
  svg.setAttribute(
    'viewBox',
    `${x.toFixed(2)} ${y.toFixed(2)} ${(width / scale).toFixed(2)} ${(height / scale).toFixed(2)}`,
  );
  svg.classList.toggle('zoomed', scale > 1);
  svg.closest('figure')?.classList.toggle('zoomed', scale > 1);
}
function within(zoom) {
  zoom.scale = Math.max(1, Math.min(MOST, zoom.scale));
  zoom.x = Math.max(0, Math.min(zoom.width - zoom.width / zoom.scale, zoom.x));
  zoom.y = Math.max(0, Math.min(zoom.height - zoom.height / zoom.scale, zoom.y));
}
// keeps the point (px, py), as shares of what is shown, where it is
lens.zoomBy = (svg, factor, px = 0.5, py = 0.5) => {
  const { zoom } = svg;
  if (!zoom) return;
  const before = zoom.scale;
  zoom.scale = Math.max(1, Math.min(MOST, before * factor));
  zoom.x += px * zoom.width * (1 / before - 1 / zoom.scale);
  zoom.y += py * zoom.height * (1 / before - 1 / zoom.scale);
  within(zoom);
  apply(svg);
};
lens.zoomOut = (svg) => {
  if (svg.zoom) {
    Object.assign(svg.zoom, { x: 0, y: 0, scale: 1 });
    apply(svg);
  }
};
lens.panBy = (svg, dx, dy) => {
  if (svg.zoom) {
    svg.zoom.x += (dx * svg.zoom.width) / svg.zoom.scale;
    svg.zoom.y += (dy * svg.zoom.height) / svg.zoom.scale;
    within(svg.zoom);
    apply(svg);
  }
};

// the full size of a drawing; a zoom that was chosen before stays
lens.size = (svg, width, height) => {
  svg.zoom = { x: 0, y: 0, scale: 1, ...svg.zoom, width, height };
  within(svg.zoom);
  svg.style.setProperty('aspect-ratio', `${width} / ${height}`);
  apply(svg);
};

lens.zoomable = (svg) => {
  const pointers = new Map();
  const share = (event) => {
    const box = svg.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  svg.addEventListener(
    'wheel',
    (event) => {
      // with Ctrl, as in maps: a plain wheel scrolls the page
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      lens.zoomBy(svg, event.deltaY < 0 ? STEP : 1 / STEP, ...share(event));
    },
    { passive: false },
  );
  svg.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, share(event));
  });
  svg.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (!before || !svg.zoom || (svg.zoom.scale === 1 && pointers.size < 2)) return;
    const now = share(event);
    if (pointers.size === 1) lens.panBy(svg, before[0] - now[0], before[1] - now[1]);
    else {
      // two fingers
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const gap = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1e-3;
      lens.zoomBy(svg, gap(now) / gap(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of ['pointerup', 'pointercancel', 'pointerleave'])
    svg.addEventListener(name, (event) => pointers.delete(event.pointerId));
  svg.addEventListener('dblclick', (event) => lens.zoomBy(svg, STEP * STEP, ...share(event)));
  return svg;
};

// Keys in a drawing that has the focus: + - 0 zoom; arrows move a zoomed drawing, else they walk through its tooltips.
function walk(svg, by) {
  const marks = [...svg.querySelectorAll('[data-tip]')];
  if (!marks.length) return;
  svg.mark = ((svg.mark ?? (by > 0 ? -1 : 0)) + by + marks.length) % marks.length;
  show(marks[svg.mark]);
}
lens.zoomKeys = (svg) => (event) => {
  if (event.target !== svg || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = (dx, dy) => () => (svg.zoom?.scale > 1 ? lens.panBy(svg, 0.1 * dx, 0.1 * dy) : walk(svg, dx + dy));
  const keys = {
    '+': () => lens.zoomBy(svg, STEP),
    '=': () => lens.zoomBy(svg, STEP),
    '-': () => lens.zoomBy(svg, 1 / STEP),
    0: () => lens.zoomOut(svg),
    ArrowLeft: arrow(-1, 0),
    ArrowRight: arrow(1, 0),
    ArrowUp: arrow(0, -1),
    ArrowDown: arrow(0, 1),
  };
  if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key]();
  }
};
lens.zoomStep = STEP;
