// Details: the readable automaton as a diagram, named by what the network says in its states.
const { h } = lens;

lens.views.push({
  name: 'automaton',
  title: 'Details',
  lead: 'The readable automaton: a small copy of the network that proposes what to look at. Figures in its boxes are the network\u2019s.',
  async build(view) {
    await lens.fill(view, lens.source.states, (found) => [
      found.remark && h('p', { class: 'note' }, `This is ${lens.visible(found.remark)}.`),
      lens.picture('The readable automaton', { wide: found.drawing }),
      lens.table(
        'Moves between states, the most frequent first',
        ['from', 'to', 'of the words read there', 'words that carry it', 'their share'],
        found.moves.map((move) => [
          lens.visible(move.from),
          h('td', { class: 'left' }, lens.visible(move.to)),
          lens.percent(move.rate),
          h(
            'td',
            { class: 'text' },
            move.carried < 0.5 && 'many words, such as ',
            move.words.map((word) => [lens.wordLink(word), ' ']),
          ),
          lens.percent(move.carried),
        ]),
      ),
      h('h2', null, lens.explained('Word clusters', 'word cluster')),
      lens.table(
        'Words that move the automaton alike, the most frequent clusters first',
        [
          'words',
          'of all words',
          'words in it',
          ...(found.clusters[0]?.change === undefined ? [] : ['push the network']),
        ],
        found.clusters.map((cluster) => [
          h(
            'span',
            null,
            cluster.words.length
              ? cluster.words.map((word) => [word === '<unk>' ? 'unknown words' : lens.wordLink(word), ' '])
              : 'unknown words',
          ),
          lens.percent(cluster.share, 1),
          lens.whole(cluster.size),
          ...(cluster.change === undefined
            ? []
            : [`${lens.points(cluster.change)} towards ${lens.visible(cluster.towards)}`]),
        ]),
      ),
    ]);
  },
});
