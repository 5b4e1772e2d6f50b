// Texts that a changed word turns over.
const { h } = lens;

const marked = (words, changed, tag) => words.map((word, at) => [at ? ' ' : '', changed.includes(at) ? h(tag, null, lens.word(word)) : lens.word(word)]);

lens.views.push({
  name: 'attacks',
  title: 'Attacks',
  lead: 'One word is changed for a similar one, so that the network errs. The automaton tells where to look.',
  async build(view) {
    await lens.fill(view, lens.source.attacks, (found) => {
      const given = { recipe: 'guided', from: 'any', to: 'any' };
      const content = h('div');
      const labels = (key) => [...new Set(found.examples.map((each) => each[key]))].sort();
      const choice = (key, title, values) => lens.field(title, lens.select([['any', 'any class'], ...values.map((name) => [name, name])], 'any', (value) => { given[key] = value; draw(); }));
      function draw() {
        const rows = found.examples.filter((each) => each.recipe === given.recipe && (given.from === 'any' || each.label_before === given.from) && (given.to === 'any' || each.label_after === given.to));
        lens.put(content, h('p', { class: 'note', role: 'status' }, `${lens.plural(rows.length, 'example')}; at most ${found.shown_per_recipe} of each recipe are kept.`),
          rows.length > 0 && lens.table('Successful examples', ['network before', 'network after', 'text', 'tries'], rows.map((each) => [
            `${lens.visible(each.label_before)} ${lens.percent(each.probability_before)}`, `${lens.visible(each.label_after)} ${lens.percent(each.probability_after)}`,
            h('td', { class: 'text' }, each.before.map((word, at) => [at ? ' ' : '', each.changed.includes(at) ? [h('del', null, lens.word(word)), ' ', h('ins', null, lens.word(each.after[at]))] : lens.word(word)])), String(each.queries)])));
      }
      draw();
      return [
        lens.table(`Success on ${lens.plural(found.texts, 'text')} of ${lens.visible(found.corpus)}`, ['recipe', 'succeeds, of correct texts', 'of all texts', 'accuracy', 'words changed', 'tries'], found.recipes.map((each) => [
          h('span', { title: each.about }, each.recipe), lens.percent(each.asr_correct, 1), lens.percent(each.asr_all, 1), `${lens.percent(each.accuracy_before)} \u2192 ${lens.percent(each.accuracy_after)}`, lens.percent(each.words_changed, 1), each.queries.toFixed(1)])),
        h('ul', null, found.recipes.map((each) => h('li', null, h('b', null, each.recipe), ` \u2013 ${each.about}`))),
        h('p', { class: 'note' }, `A word may be changed for one whose vector (${lens.visible(found.vectors)}) is as near as those of one in a thousand pairs of words: d_S \u2264 ${found.bound.toPrecision(2)}.`),
        h('h2', null, 'Examples'),
        h('div', { class: 'controls' }, lens.field('Recipe', lens.select(found.recipes.map((each) => [each.recipe, each.recipe]), given.recipe, (value) => { given.recipe = value; draw(); })), choice('from', 'From', labels('label_before')), choice('to', 'To', labels('label_after'))),
        content];
    });
  },
});
