// What somebody types into a report without a server: what the server's /api/trace answers, as far as the page can know.
lens.typed = ({ tables, counts }, overview) => {
  const model = lens.automaton(tables),
    countOf = new Map(Object.entries(counts));
  function trace(text) {
    const { words, known, probabilities, cut } = model.trace(text);
    const last = probabilities.at(-1),
      ranked = [...last].sort((a, b) => b - a);
    return {
      text,
      words,
      rounded: true,
      command: `wfalens serve ${overview.arguments}`,
      cut,
      unit: overview.unit,
      truth: null,
      counts: words.map((word) => countOf.get(word) ?? 0),
      rows: known.map((is) => (is ? 'carried' : 'absent')),
      automaton: probabilities,
      contributions: model.explain(text).values,
      label: overview.class_names[lens.argmax(last)],
      confidence: ranked[0],
    };
  }
  return { trace };
};
