// Two automata: what changed from the earlier to this one.
const { h } = lens;

lens.views.push({
  name: 'compare',
  title: 'Compare',
  lead: 'What changed from an earlier automaton to this one.',
  async build(view, parameters) {
    const overview = await lens.source.overview();
    if (!overview.has.other) { view.append(h('p', null, 'There is nothing to compare with: give an earlier automaton with --compare.')); return; }
    await lens.fill(view, lens.source.comparison, (found) => {
      const names = found.class_names;
      const given = { class: parameters.get('class') || 'all' };
      const content = h('div');
      const side = (label, pair, read) => (pair.before || pair.after) && [label, pair.before ? read(pair.before) : '\u2013', pair.after ? read(pair.after) : '\u2013'];
      const rate = (item) => `${lens.number(item.cr.value)} (${lens.interval(item.cr)})`;
      const share = (item) => `${lens.number(item.value)} (${lens.interval(item)})`;
      const rows = [side('Consistency with its own network', found.fidelity, rate), side('Accuracy', found.accuracy, share)].filter(Boolean);
      const models = [['model_before', 'network before'], ['model_after', 'network after']].filter(([key]) => found.texts[0]?.[key]);
      function draw() {
        lens.remember(given);
        const at = names.indexOf(given.class);
        const words = at < 0 ? found.words : [...found.words].sort((a, b) => Math.abs(b.after[at] - b.before[at]) - Math.abs(a.after[at] - a.before[at]));
        lens.put(content, lens.table(`Words that changed most (influence in ${found.unit})`, ['word', 'seen before / after', 'change', 'gained', 'lost'], words.slice(0, 60).map((each) => {
          const gap = each.after.map((value, column) => value - each.before[column]);
          const up = at < 0 ? lens.argmax(gap) : at, down = lens.argmax(gap.map((value) => -value));
          const cell = (column) => h('span', null, lens.className(names, column), ` ${lens.signed(each.before[column])} \u2192 ${lens.signed(each.after[column])}`);
          return [h('span', null, lens.wordLink(each.word), each.where === 'both' ? '' : h('small', null, ` only ${each.where}`)), `${lens.whole(each.counts[0])} / ${lens.whole(each.counts[1])}`, lens.number(each.change), cell(up), cell(down)];
        })));
      }
      draw();
      return [
        h('p', null, h('b', null, lens.visible(found.before)), ' \u2192 ', h('b', null, lens.visible(found.after)), found.agreement ? `: they choose the same class on ${lens.percent(found.agreement.cr.value, 1)} of ${lens.plural(found.agreement.texts, 'text')}, divergence ${lens.number(found.agreement.jsd.value)}.` : '.'),
        rows.length > 0 && lens.table('How faithful each is', ['measure', 'before', 'after'], rows),
        h('h2', null, 'Words'),
        h('div', { class: 'controls' }, lens.field('By change for', lens.select([['all', 'all classes'], ...names.map((name) => [name, name])], given.class, (value) => { given.class = value; draw(); }))), content,
        found.texts.length > 0 && [h('h2', null, 'Sentences that prove it'), lens.table('Texts that the two read most differently', ['text', 'divergence', 'before', 'after', ...models.map(([, title]) => title), ...(found.texts[0].truth ? ['truth'] : [])], found.texts.map((each) => {
          const cell = (row) => { const at = lens.argmax(row); return h('span', null, lens.className(names, at), ` ${lens.percent(row[at])}`); };
          return [h('td', { class: 'text' }, lens.source.live ? lens.textLink(each.text, each.text.slice(0, 160)) : lens.word(each.text.slice(0, 160))), lens.number(each.divergence), cell(each.before), cell(each.after), ...models.map(([key]) => cell(each[key])), ...(each.truth ? [lens.visible(each.truth)] : [])];
        }))],
        h('h2', null, 'States'),
        found.states ? lens.table('States, matched so that their centres are nearest; the farthest apart first', ['before', 'after', 'distance'], found.states.map((each) => [
          each.before === null ? '\u2013' : `${each.before}: ${lens.visible(each.label_before)}, ${lens.percent(each.share_before, 1)}`, each.after === null ? '\u2013' : `${each.after}: ${lens.visible(each.label_after)}, ${lens.percent(each.share_after, 1)}`, each.distance === null ? '\u2013' : lens.number(each.distance)])) : h('p', { class: 'note' }, found.states_note)];
    });
  },
});
