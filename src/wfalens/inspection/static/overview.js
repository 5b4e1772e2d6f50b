// What was extracted from what, and how far to trust it.
const { h } = lens;

const card = (title, value, more) => h('div', { class: 'card' }, h('dt', null, title), h('dd', null, value, more && h('small', null, more)));

function faithful(data, names) {
  const rows = Object.entries(data.by_class).map(([name, item]) => ({ label: name, estimate: item.cr, colour: lens.colour(names.indexOf(name)) }));
  const lowest = Math.min(...rows.map(({ estimate }) => estimate.low), ...Object.values(data.stand_ins).map((item) => item.cr.low));
  const low = Math.max(0, Math.floor(lowest * 10) / 10);
  const others = Object.entries(data.stand_ins).map(([name, item]) => ({ label: name, estimate: item.cr, colour: 'var(--soft)' }));
  const all = { label: 'all texts', estimate: data.overall.cr, colour: 'var(--ink)' };
  const deciles = data.trust.deciles.map((each) => ({ label: each.number === 1 ? 'least sure tenth' : each.number === 10 ? 'surest tenth' : `tenth ${each.number}`, estimate: each.cr, colour: 'var(--accent)' }));
  const least = Math.max(0, Math.floor(Math.min(...deciles.map(({ estimate }) => estimate.low)) * 10) / 10);
  const half = data.trust.curve.find((each) => Math.abs(each.coverage - 0.8) < 0.06);
  return [
    h('dl', { class: 'cards' },
      card('Consistency rate', lens.number(data.overall.cr.value), `95 %: ${lens.interval(data.overall.cr)}`),
      card('Divergence (JSD)', lens.number(data.overall.jsd.value), `95 %: ${lens.interval(data.overall.jsd)}`),
      data.model_accuracy && card('Accuracy of the network', lens.number(data.model_accuracy.value), `automaton: ${lens.number(data.automaton_accuracy.value)}`),
      half && card(`Where it is sure (${lens.percent(half.coverage)})`, lens.number(half.cr.value), `confidence \u2265 ${lens.number(half.min_confidence, 2)}`)),
    h('p', { class: 'note' }, `On ${lens.plural(data.texts, 'text')} of ${lens.visible(data.corpus)}${data.texts < data.of ? `, drawn at random from ${lens.whole(data.of)}` : ''}. The consistency rate is the share of texts on which automaton and network choose the same class; the divergence is 0 for equal outputs and 0.69 for opposite ones.${data.undecided ? ` Undecided on ${data.undecided}.` : ''}`),
    h('div', { class: 'grid' },
      lens.figure({ title: 'Consistency by class, beside trivial stand-ins', describe: `Consistency rate by class: ${rows.map(({ label, estimate }) => `${label} ${lens.number(estimate.value)}`).join(', ')}`, draw: (svg, width) => lens.intervalChart(svg, width, { rows: [all, ...rows, ...others], xTitle: 'consistency rate with 95 % interval', low, high: 1 }), note: 'Classes as the network predicts them. An automaton that does not beat a bag of words has not understood much.' }),
      lens.figure({ title: 'Consistency by the automaton\u2019s confidence', describe: `Consistency rate by confidence: ${deciles.map(({ label, estimate }) => `${label} ${lens.number(estimate.value)}`).join(', ')}`, draw: (svg, width) => lens.intervalChart(svg, width, { rows: deciles, xTitle: 'consistency rate with 95 % interval', low: least, high: 1 }), note: 'Confidence is the margin between the two likeliest classes. Where it is low, ask the network.' })),
  ];
}

// What a readable automaton does; the drawing is an image, in which nothing runs.
function told({ story, diagram, caption, error }) {
  return [
    h('h2', null, 'What it does'),
    h('ul', { class: 'story' }, story.map(({ text }) => h('li', null, lens.word(text)))),
    error ? h('p', { class: 'note' }, lens.visible(error)) : h('div', { class: 'drawing', tabindex: 0, role: 'region', 'aria-label': 'The automaton as a diagram' }, h('img', { src: diagram, alt: `The states of the automaton and the moves between them. ${lens.visible(caption)}` })),
  ];
}

function provenance(data) {
  const made = data.provenance;
  const entries = [
    ['Kind', `${data.kind}: ${data.about}`],
    ['Extracted from', made.model ? `${made.model.type || 'model'} ${made.model.fingerprint || ''}` : 'unknown'],
    ['Texts', made.corpus ? `${made.corpus.name}: ${lens.plural(made.corpus.texts, 'text')}, ${lens.plural(made.corpus.tokens, 'token')}` : 'unknown'],
    ['States', lens.whole(data.summary.states)],
    ['Words', `${lens.whole(data.summary.words)}, of which ${lens.whole(data.words_seen)} were seen in extraction`],
    ...Object.entries(data.summary).filter(([name, value]) => value !== null && !['kind', 'states', 'words'].includes(name)).map(([name, value]) => [name.replaceAll('_', ' '), typeof value === 'number' ? (Number.isInteger(value) ? lens.whole(value) : lens.number(value)) : String(value)]),
    ['Versions', made.versions ? Object.entries(made.versions).map((pair) => pair.join(' ')).join(', ') : 'unknown'],
  ];
  return h('dl', { class: 'facts' }, entries.map(([name, value]) => [h('dt', null, name), h('dd', null, lens.visible(value))]));
}

lens.views = [{
  name: 'overview',
  title: 'Overview',
  lead: 'What was extracted from what, and how faithful the copy is.',
  async build(view) {
    const data = await lens.source.overview();
    const command = h('pre', null, lens.visible(data.command));
    const measured = h('div');
    view.append(
      ...[data.reading ? told(data.reading) : []].flat(),
      h('h2', null, 'How faithful'), measured,
      h('div', { class: 'grid' },
        h('section', null, h('h2', null, 'Where it comes from'), h('div', { class: 'panel' }, provenance(data))),
        h('section', null, h('h2', null, 'Classes'), h('div', { class: 'panel' }, lens.legend(data.class_names)),
          h('h2', null, 'How to make it again'), h('div', { class: 'panel' }, command,
            navigator.clipboard && h('button', { type: 'button', class: 'small', on: { click: () => navigator.clipboard.writeText(data.command) } }, 'Copy')),
          lens.source.carried?.sampling && [h('h2', null, 'What this report carries'), h('div', { class: 'panel' }, h('dl', { class: 'facts' }, Object.entries(lens.source.carried.sampling).map(([name, text]) => [h('dt', null, name), h('dd', null, text)])))])));
    if (data.has.model && data.has.texts) await lens.fill(measured, lens.source.fidelity, (found) => faithful(found, data.class_names));
    else lens.put(measured, h('p', null, 'To measure it, give the classifier with --model and texts with --corpus.'));
  },
}];
