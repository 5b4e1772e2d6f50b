// The automaton itself, rounded, so that a report without a server can read what somebody types.
const SPLIT = /[.,()!?']/g;
const MOST_NODES = 12;
const TOKENIZERS = {
  basic_english: (text) =>
    text
      .toLowerCase()
      .replaceAll('<br />', ' ')
      .replace(SPLIT, ' $& ')
      .replaceAll('"', '')
      .replace(/[;:]/g, ' ')
      .split(/\s+/u)
      .filter(Boolean),
  whitespace: (text) => text.split(/\s+/u).filter(Boolean),
  characters: (text) => [...text],
};
const NORMALISERS = {
  lower: (text) => text.toLowerCase(),
  strip: (text) => text.trim(),
  title: (text) =>
    text.toLowerCase().replace(/\p{Cased}+/gu, ([first, ...rest]) => first.toUpperCase() + rest.join('')),
  quotes: (text) => text.replace(/[‘’‚‛′]/g, "'").replace(/[“”„‟″«»]/g, '"'),
};

// 'strip+title+ngrams:3' as a function from a text to its tokens
function tokenizer(name) {
  const steps = name
      .split('+')
      .slice(0, -1)
      .map((step) => NORMALISERS[step]),
    last = name.split('+').at(-1);
  const size = last === 'bigrams' ? 2 : Number(/^ngrams:(\d+)$/.exec(last)?.[1]);
  const split =
    TOKENIZERS[last] ??
    ((text) => {
      const all = [...text];
      return all.slice(size - 1).map((_, at) => all.slice(at, at + size).join(''));
    });
  return (text) => split(steps.reduce((made, step) => step(made), text));
}

function bytes(text) {
  const raw = atob(text),
    made = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) made[at] = raw.charCodeAt(at);
  return made;
}
const floats = (text) => new Float32Array(bytes(text).buffer);

// d -> d·E of the word at `index`, for rows stored as bytes
function stochastic(data) {
  const n = data.states,
    sizes = bytes(data.sizes),
    targets = bytes(data.targets),
    weights = bytes(data.weights);
  const starts = new Uint32Array(data.words.length * n + 1);
  for (let row = 0; row < sizes.length; row += 1) starts[row + 1] = starts[row] + sizes[row];
  const initial = new Float64Array(n);
  initial[0] = 1;
  return {
    initial,
    step(d, index) {
      const after = new Float64Array(n);
      for (let i = 0; i < n; i += 1) {
        if (d[i] === 0) continue;
        for (let at = starts[index * n + i]; at < starts[index * n + i + 1]; at += 1)
          after[targets[at]] += (d[i] * weights[at]) / 255;
      }
      return after;
    },
    back(column, index) {
      // E·column
      const before = new Float64Array(n);
      for (let i = 0; i < n; i += 1)
        for (let at = starts[index * n + i]; at < starts[index * n + i + 1]; at += 1)
          before[i] += (weights[at] / 255) * column[targets[at]];
      return before;
    },
    columns: data.centres[0].map((_, column) => Float64Array.from(data.centres, (row) => row[column])),
    shared: (row) => row,
    weights: (d) =>
      data.centres[0].map((_, column) => d.reduce((sum, mass, state) => sum + mass * data.centres[state][column], 0)),
    probabilities(row) {
      const total = row.reduce((a, b) => a + b, 0);
      return row.map((value) => (total > 0 ? value / total : 1 / row.length));
    },
  };
}

function centred(row) {
  const mean = row.reduce((a, b) => a + b, 0) / row.length;
  return row.map((value) => value - mean);
}

// x -> x∘d + (x·P)∘s + b of the word at `index`, with d, s and b made from its factors. Nothing leads to the first
// layer: there s multiplies each number's partner, which turns pairs of numbers.
function linear(data) {
  const n = data.states,
    m = data.width,
    scale = floats(data.scale),
    table = new Int16Array(bytes(data.factors).buffer);
  const [expansion, offset, links, start, final, bias] = ['expansion', 'offset', 'links', 'start', 'final', 'bias'].map(
    (name) => floats(data[name]),
  );
  const rank = scale.length,
    width = offset.length,
    classes = bias.length;
  const known = new Map();
  function coefficients(index) {
    if (!known.has(index)) {
      const made = Float64Array.from(offset);
      for (let r = 0; r < rank; r += 1) {
        const value = table[index * rank + r] * scale[r];
        for (let column = 0; column < width; column += 1) made[column] += value * expansion[r * width + column];
      }
      known.set(index, step(made));
    }
    return known.get(index);
  }
  const half = data.turns ? Math.floor(m / 2) : 0;
  const partner = (j) => (j < half ? j + half : j - half);
  const sigmoid = (value) => 1 / (1 + Math.exp(-value));
  function step(made) {
    const d = Float64Array.from(
      { length: n },
      (_, j) => data.decay * (data.turns ? Math.tanh(made[j]) : sigmoid(made[j])),
    );
    const s = Float64Array.from({ length: n }, (_, j) => (j < m ? 0 : made[n + j - m]));
    for (let j = 0; j < half; j += 1) {
      const radius = data.decay * sigmoid(made[j]),
        angle = made[half + j];
      d[j] = d[half + j] = radius * Math.cos(angle);
      s[j] = -radius * Math.sin(angle);
      s[half + j] = -s[j];
    }
    return { d, s, b: made.subarray(2 * n - m) };
  }
  return {
    initial: Float64Array.from(start),
    step(x, index) {
      const { d, s, b } = coefficients(index),
        after = new Float64Array(n);
      for (let j = 0; j < n; j += 1) {
        let read = j < 2 * half ? x[partner(j)] : 0;
        if (j >= m) for (let i = 0; i < j; i += 1) read += x[i] * links[i * n + j];
        after[j] = x[j] * d[j] + read * s[j] + b[j];
      }
      return after;
    },
    back(column, index) {
      // what a change of the state before the word does to column·(state after it)
      const { d, s } = coefficients(index),
        before = new Float64Array(n);
      for (let i = 0; i < n; i += 1) {
        before[i] = column[i] * d[i];
        if (i < 2 * half) before[i] += column[partner(i)] * s[partner(i)];
        for (let j = Math.max(m, i + 1); j < n; j += 1) before[i] += links[i * n + j] * s[j] * column[j];
      }
      return before;
    },
    columns: Array.from({ length: classes }, (_, column) =>
      Float64Array.from({ length: n }, (_, state) => final[state * classes + column]),
    ),
    shared: centred,
    weights: (x) =>
      centred(
        Array.from(
          { length: classes },
          (_, column) =>
            bias[column] + x.reduce((sum, value, state) => sum + value * final[state * classes + column], 0),
        ),
      ),
    probabilities(row) {
      const most = Math.max(...row),
        shifted = row.map((value) => Math.exp(value - most));
      const total = shifted.reduce((a, b) => a + b, 0);
      return shifted.map((value) => value / total);
    },
    likely: null,
  };
}

// Gauss-Legendre nodes z and weights on [0, 1], by Newton's method
function quadrature(count) {
  return Array.from({ length: count }, (_, at) => {
    let x = Math.cos((Math.PI * (at + 0.75)) / (count + 0.5)),
      slope = 1;
    for (let round = 0; round < 50; round += 1) {
      let [before, here] = [1, x];
      for (let k = 2; k <= count; k += 1) [before, here] = [here, ((2 * k - 1) * x * here - (k - 1) * before) / k];
      slope = (count * (x * here - before)) / (x * x - 1);
      x -= here / slope;
    }
    return [(x + 1) / 2, 1 / ((1 - x * x) * slope * slope)];
  });
}

// Exact Shapley values where an absent word is deleted; beyond 24 words with an error below 0.0001.
function shapley(automaton, indices) {
  const mix = (z, one, two) => one.map((value, at) => (1 - z) * value + z * two[at]);
  const values = indices.map(() => automaton.columns.map(() => 0));
  for (const [z, weight] of quadrature(Math.min(MOST_NODES, Math.ceil(indices.length / 2)))) {
    const changes = [];
    let state = automaton.initial;
    for (const index of indices) {
      const after = automaton.step(state, index);
      changes.push(after.map((value, at) => value - state[at]));
      state = mix(z, state, after);
    }
    automaton.columns.forEach((final, column) => {
      let ahead = final;
      for (let at = indices.length - 1; at >= 0; at -= 1) {
        values[at][column] += weight * changes[at].reduce((sum, value, i) => sum + value * ahead[i], 0);
        ahead = mix(z, ahead, automaton.back(ahead, indices[at]));
      }
    });
  }
  return values.map(automaton.shared);
}

// What the server's /api/trace answers, as far as the page can know it.
lens.runtime = (data, overview) => {
  const automaton = data.kind === 'linear' ? linear(data) : stochastic(data);
  const indices = new Map(data.words.map((word, at) => [word, at]));
  const tokens = tokenizer(data.tokenizer),
    keepsEnd = data.truncation_side === 'left';
  const output = (vector) => automaton.probabilities(automaton.weights(vector));
  function trace(text) {
    const all = tokens(text);
    const words =
      data.max_length === null ? all : keepsEnd ? all.slice(-data.max_length) : all.slice(0, data.max_length);
    const read = words.map((word) => indices.get(word) ?? 0),
      vectors = [automaton.initial]; // index 0 is <unk>
    for (const index of read) vectors.push(automaton.step(vectors.at(-1), index));
    const outputs = vectors.map(output),
      last = outputs.at(-1),
      ranked = [...last].sort((a, b) => b - a);
    return {
      text,
      words,
      rounded: true,
      cut: words.length < all.length,
      unit: overview.unit,
      truth: null,
      counts: words.map((word) => (indices.has(word) ? data.counts[indices.get(word)] : 0)),
      rows: words.map((word) => (indices.get(word) > 0 ? 'carried' : 'absent')),
      automaton: outputs,
      contributions: shapley(automaton, read),
      label: overview.class_names[lens.argmax(last)],
      confidence: ranked[0],
    };
  }
  // where a word leads from each state; of a linear automaton from the mean vector of each region
  return { trace };
};
