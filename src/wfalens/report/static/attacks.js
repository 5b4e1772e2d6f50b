// Texts that a changed word turns over.
const { h } = lens;

// What the table says, in a sentence: how often the network errs, and whether the automaton helps to find out.
function headline({ recipes, vectors, gain }) {
  const [guided, control] = ['guided', 'random-tries'].map((name) => recipes.find(({ recipe }) => recipe === name));
  if (!guided?.tried)
    return h(
      'p',
      { class: 'headline' },
      'Nothing was tried: no word of these texts has a word near in meaning that acts differently.',
    );
  const { low, high } = guided.interval;
  return h(
    'p',
    { class: 'headline' },
    `With one ${vectors ? 'word' : 'character'} changed, the network errs on `,
    h('b', null, lens.percent(guided.asr_correct)),
    ` of the texts that it had right (95 %: ${lens.percent(low)} to ${lens.percent(high)})`,
    control?.tried
      ? [
          '; with random changes and as many tries on ',
          h('b', null, lens.percent(control.asr_correct)),
          !gain?.shown
            ? ': no difference is shown'
            : gain.value > 0
              ? `: the automaton tells where to look (${lens.points(gain.value)} more)`
              : ': the automaton\u2019s advice is worse than none here',
        ]
      : '',
    '.',
  );
}

lens.views.push({
  name: 'attacks',
  title: 'Attacks',
  lead: 'Which swap changes the answer? One word is changed for one that is near in meaning, so that the network errs.',
  async build(view) {
    await lens.fill(view, lens.source.attacks, (found) => {
      const given = { recipe: 'guided', from: 'any', to: 'any' };
      const content = h('div');
      const labels = (key) => [...new Set(found.examples.map((each) => each[key]))].sort();
      const choice = (key, title, values) =>
        lens.field(
          title,
          lens.select([['any', 'any class'], ...values.map((name) => [name, name])], 'any', (value) => {
            given[key] = value;
            draw();
          }),
        );
      function draw() {
        const rows = found.examples.filter(
          (each) =>
            each.recipe === given.recipe &&
            (given.from === 'any' || each.label_before === given.from) &&
            (given.to === 'any' || each.label_after === given.to),
        );
        lens.put(
          content,
          h(
            'p',
            { class: 'note', role: 'status' },
            `${lens.plural(rows.length, 'example')}; at most ${found.shown_per_recipe} of each recipe are kept. A click on an answer opens its text.`,
          ),
          rows.length > 0 &&
            lens.table(
              'Successful examples',
              ['text', 'network before', 'network after', 'tries'],
              rows.map((each) => [
                h(
                  'td',
                  { class: 'text' },
                  each.before.map((word, at) => [
                    at ? ' ' : '',
                    each.changed.includes(at)
                      ? [h('del', null, lens.word(word)), ' ', h('ins', null, lens.word(each.after[at]))]
                      : lens.word(word),
                  ]),
                ),
                ...['before', 'after'].map((when, at) =>
                  lens.textLink(
                    each.texts[at],
                    `${each[`label_${when}`]} ${lens.percent(each[`probability_${when}`])}`,
                  ),
                ),
                String(each.queries),
              ]),
            ),
        );
      }
      draw();
      return [
        headline(found),
        h('h2', null, 'Examples'),
        h(
          'div',
          { class: 'controls' },
          lens.field(
            'Recipe',
            lens.select(
              found.recipes.map((each) => [each.recipe, each.recipe]),
              given.recipe,
              (value) => {
                given.recipe = value;
                draw();
              },
            ),
          ),
          choice('from', 'From', labels('label_before')),
          choice('to', 'To', labels('label_after')),
        ),
        content,
        h(
          'details',
          null,
          h('summary', null, 'All recipes and their controls'),
          lens.table(
            `Success on ${lens.plural(found.texts, 'text')} of ${lens.visible(found.corpus)}, ${found.vectors ? `near words by ${lens.visible(found.vectors)} vectors` : 'by edits of characters'}`,
            [
              lens.explained('recipe'),
              lens.explained('succeeds, of correct texts (95 %)', 'success'),
              'of all texts',
              'accuracy of the network',
              found.vectors ? 'words changed' : 'characters changed',
              lens.explained('tries'),
            ],
            found.recipes.map((each) =>
              each.tried
                ? [
                    each.recipe,
                    `${lens.percent(each.asr_correct)} (${(100 * each.interval.low).toFixed(0)}\u2013${(100 * each.interval.high).toFixed(0)})`,
                    lens.percent(each.asr_all),
                    `${lens.percent(each.accuracy_before)} \u2192 ${lens.percent(each.accuracy_after)}`,
                    each.words_changed === null ? '\u2013' : lens.percent(each.words_changed),
                    each.queries.toFixed(1),
                  ]
                : [
                    each.recipe,
                    'nothing was tried',
                    '\u2013',
                    `${lens.percent(each.accuracy_before)}`,
                    '\u2013',
                    '\u2013',
                  ],
            ),
          ),
          h(
            'ul',
            null,
            found.recipes.map((each) => h('li', null, h('b', null, each.recipe), ` \u2013 ${each.about}`)),
          ),
          h(
            'p',
            { class: 'note' },
            !found.vectors
              ? 'A character is substituted, inserted, deleted, or transposed with the next, and the text is read anew: every example is a text.'
              : `A word may be changed for one that is near in meaning by the ${lens.visible(found.vectors)} vectors: each is among the ten nearest of the other, 1 \u2212 cosine is at most ${found.farthest.toFixed(2)}, and they act more differently than half of such pairs. ${lens.plural(found.candidates, 'replacement')} of the words of these texts are allowed.`,
          ),
        ),
      ];
    });
  },
});
