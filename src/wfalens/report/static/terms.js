// One plain sentence for every term that a newcomer may not know.
const TERMS = {
  automaton:
    'A weighted finite automaton: a few states, and for every word how it leads from one state to another. It is a copy of the network that one can read.',
  network: 'The classifier under study. The automaton was extracted from its answers.',
  agreement: 'The consistency rate, CR: the share of texts on which automaton and network choose the same class.',
  CR: 'Consistency rate: the share of texts on which automaton and network choose the same class.',
  JSD: 'Jensen-Shannon divergence between the two outputs: 0 if they are equal, 0.69 if they have nothing in common.',
  interval: 'With 95 % confidence the true figure, on all texts of this sort, lies within the interval.',
  'bag of words': 'A simple rival that only counts words and ignores their order; it was fitted to the same network.',
  'readable automaton':
    'A small automaton that was fitted to the same network so that people can read it. It is as a rule less faithful than the one that answers.',
  confidence: 'The probability that the automaton gives the likeliest class: 1 is certain.',
  rows: 'How the automaton knows what a word does: observed (seen in this state), completed (the word was seen, but not in this state), unknown (the word was never seen). A report by itself knows some words only: carried are those that it has, absent the others.',
  d_T: 'Distance of two words by what they do to the automaton: 0 if they do the same in every state.',
  d_S: 'Distance of two words by their vectors, which stand for what they mean: 1 minus the cosine, 0 if they point the same way.',
  influence:
    'How a word changes the output when it is read, averaged over the states as often as each is visited. Later words may undo it.',
  push: 'By how much reading the word changes the network\u2019s probability of a class, on average over the places where no class is above 80 % yet.',
  contribution:
    'How much of the output is due to a word. Contributions of all words add up to the output minus the prior.',
  'Shapley value':
    'A word\u2019s mean effect over all orders in which the words could be added; the fair share of each word in the outcome.',
  state: 'What the automaton remembers of the words read so far.',
  group: 'States that give almost the same output, drawn as one.',
  region: 'A linear automaton has no states that stand for outputs: a region is a group of like outputs on some texts.',
  move: 'A word leads from one state to others, or leaves it where it is; where it may lead to several, shares say how likely each is.',
  'log-odds':
    'Of two classes ln(p / (1 \u2212 p)). Of several, the logarithm of the class\u2019s probability minus the mean of these logarithms over all classes.',
  'word cluster': 'Words that do the same in every state; they share one matrix. Its name is made of typical words.',
  open: 'A state in which words still matter: on average they move 5 % or more of the probability.',
  counterfactual: 'One word left out or replaced, so that the class changes.',
  plausible: 'The two words are near in meaning by their vectors; leaving a word out is plausible, too.',
  't-SNE': 'A map on which near words are alike; distances between groups say little.',
  recipe: 'A way to choose which word is changed and for which one; each is explained below the table.',
  success: 'The share of texts that the network had right and gets wrong after the change.',
  tries: 'Changed texts that the network was asked for, on average for each text.',
  effect:
    'How far the network\u2019s output moves when the word is replaced, on average over texts: 0 not at all, 1 wholly to other classes.',
  'observed rows':
    'Pairs of a word and a state that were seen in extraction; what each word does in other states is completed.',
  'possible rows': 'All pairs of a seen word and a state.',
  transitions: 'Weights that are stored: a word, from a state, to a state.',
  completion: 'How the automaton knows what a word does in a state in which it was never seen.',
  alpha: 'The share of the probability that stays where it is at every word.',
  beta: 'In completed rows, the share that moves as the word does in like states; the rest stays.',
  drift:
    'How far fitting moved what the states say from the mean outputs that they stood for: 0 not at all, at most 2.',
  'word clusters': 'Word clusters: all words of a cluster do the same.',
  layers: 'A linear automaton reads a text in layers, each from the ones before it.',
  factors: 'How many numbers describe a word; its matrix is made from them.',
  decay: 'How much of a number survives one word at most: below 1, so that nothing grows without end.',
  Kind: 'Stochastic: states say how likely each class is. Linear: real weights, as a rule more faithful, but its states do not stand for classes. Readable: few states and kinds of words, for people.',
  baseline: 'A trivial copy of the network; the automaton should agree with the network more often than it does.',
};

// a small (?) beside a word; its sentence shows on hover, focus or touch
lens.what = (term) => {
  if (!Object.hasOwn(TERMS, term)) throw new Error(`no sentence explains ${term}`);
  return lens.h(
    'button',
    { type: 'button', class: 'what', 'data-tip': TERMS[term], 'aria-label': `What is ${term}? ${TERMS[term]}` },
    '?',
  );
};
lens.hasTerm = (term) => Object.hasOwn(TERMS, term);
lens.explained = (text, term = text) => lens.h('span', null, text, ' ', lens.what(term));
