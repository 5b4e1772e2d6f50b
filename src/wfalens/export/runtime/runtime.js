// Reads texts with an automaton of whole numbers. runtime.c computes the same numbers, bit for bit: every product and
// sum stays below 2^53, up to which the numbers of JavaScript are exact, and every division rounds down.
const ONE = 2 ** 22; // of outputs, nodes of quadrature and steps of the linear kind
const ARRAYS = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
};
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u; // as Python splits
const SIGMA = 0x3a3,
  FINAL_SIGMA = 0x3c2,
  DOTTED_I = 0x130; // the one letter whose small form has two code points

function decoded([type, text]) {
  const raw = atob(text),
    bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) bytes[at] = raw.charCodeAt(at);
  return new ARRAYS[type](bytes.buffer);
}

// --- texts to tokens

// the row of `width` numbers whose first one is the last that is not above `code`; -1: there is none
function rowOf(table, width, code) {
  let low = 0,
    high = table.length / width;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (table[middle * width] <= code) low = middle + 1;
    else high = middle;
  }
  return (low - 1) * width;
}

function moved(runs, code) {
  const at = rowOf(runs, 4, code);
  return at >= 0 && code <= runs[at + 1] && (code - runs[at]) % runs[at + 2] === 0 ? code + runs[at + 3] : code;
}

function within(ranges, code) {
  const at = rowOf(ranges, 2, code);
  return at >= 0 && code <= ranges[at + 1];
}

function stripped(text) {
  let first = 0,
    end = text.length;
  while (first < end && SPACES.test(text[first])) first += 1;
  while (first < end && SPACES.test(text[end - 1])) end -= 1;
  return text.slice(first, end);
}

function quotesOf(text) {
  return text.replace(/[‘’‚‛′]/g, "'").replace(/[“”„‟″«»]/g, '"');
}

// lower and title case by tables, so that the same letters change as where the automaton comes from
function casing(numbers, arrays) {
  const seen = (codes, at, step) => {
    let place = at + step;
    while (place >= 0 && place < codes.length && within(arrays.ignorable, codes[place])) place += step;
    return place >= 0 && place < codes.length && within(arrays.cased, codes[place]);
  };
  function small(codes, at) {
    if (codes[at] === DOTTED_I) return [0x69, 0x307];
    if (codes[at] === SIGMA && numbers.sigma && seen(codes, at, -1) && !seen(codes, at, 1)) return [FINAL_SIGMA];
    return [moved(arrays.lower_runs, codes[at])];
  }
  function large(code) {
    const at = rowOf(arrays.title_long, 4, code);
    if (at < 0 || arrays.title_long[at] !== code) return [moved(arrays.title_runs, code)];
    return [...arrays.title_long.subarray(at + 1, at + 4)].filter(Boolean);
  }
  return (text) => {
    if (numbers.lower && /^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
    const codes = Array.from(text, (character) => character.codePointAt(0));
    let afterCased = false;
    return codes
      .flatMap((code, at) => {
        const made = numbers.lower || afterCased ? small(codes, at) : large(code);
        afterCased = numbers.title === 1 && within(arrays.cased, code);
        return made;
      })
      .map((code) => String.fromCodePoint(code))
      .join('');
  };
}

function tokenizer(numbers, arrays) {
  const cased = numbers.lower || numbers.title ? casing(numbers, arrays) : (text) => text;
  function split(text) {
    if (numbers.gram) {
      const all = Array.from(text),
        count = Math.max(0, all.length - numbers.gram + 1);
      return Array.from({ length: count }, (_, at) => all.slice(at, at + numbers.gram).join(''));
    }
    if (!numbers.basic) return text.split(SPACES).filter(Boolean);
    return text
      .replaceAll('<br />', ' ')
      .replace(/[.,()!?']/g, ' $& ')
      .replaceAll('"', '')
      .replace(/[;:]/g, ' ')
      .split(SPACES)
      .filter(Boolean);
  }
  return (text) => {
    let made = numbers.quotes === 1 ? quotesOf(text) : text;
    made = cased(made);
    if (numbers.quotes === 2) made = quotesOf(made);
    if (numbers.strip) made = stripped(made);
    return split(made);
  };
}

// --- tokens to entries

// A perfect hash: one hash of a word gives the bucket, whose pilot and the other hash give the only place where the word
// can be. There stand 24 bits of the first hash, and the entry. Returns the entry of a word by its hashes, -1: it has none.
function wordTable({ word_slots: slots, word_buckets: buckets, wide_entries: wide }, { pilots, words }) {
  const share = (hash, count) => Math.floor(((hash >>> 0) * count) / 2 ** 32);
  return (a, b) => {
    if (slots === 0) return -1;
    const mixed = Math.imul(b ^ Math.imul(pilots[share(a, buckets)], 0x9e3779b1), 0x85ebca6b),
      at = share(mixed, slots) * (4 + wide);
    if ((words[at] | (words[at + 1] << 8) | (words[at + 2] << 16)) !== a >>> 8) return -1;
    return words[at + 3] + (wide ? 256 * words[at + 4] : 0);
  };
}

// entries of the words of a text, -1 for unknown ones
function entryReader(numbers, arrays, split) {
  const { basic, word_seed: seed } = numbers,
    { plain } = arrays,
    find = wordTable(numbers, arrays);
  const first = (hash, code) => Math.imul(hash ^ code, 0x9e3779b1),
    second = (hash, code) => Math.imul(hash ^ code, 0x85ebca77);
  function entryOf(word) {
    let a = seed,
      b = seed;
    for (const character of word) {
      const code = character.codePointAt(0);
      a = first(a, code);
      b = second(b, code);
    }
    return find(a, b);
  }
  // in one pass, if what every character does is plain; else null
  function quick(text) {
    const entries = [];
    let a = seed,
      b = seed,
      begun = false;
    for (let at = 0; at <= text.length; at += 1) {
      const code = at < text.length ? text.charCodeAt(at) : 32,
        letter = plain[code],
        mark = letter === 0 && basic && ".,()!?'".includes(text[at]);
      if (letter > 32) {
        a = first(a, letter);
        b = second(b, letter);
        begun = true;
        continue;
      }
      if (letter !== 32 && !mark) return null;
      if (begun) entries.push(find(a, b));
      if (mark) entries.push(find(first(seed, code), second(seed, code)));
      a = b = seed;
      begun = false;
    }
    return entries;
  }
  return (text) => (plain.length > 0 ? quick(text) : null) ?? split(text).map(entryOf);
}

// --- outputs: vector·table

function products(vector, table, rows, columns) {
  const sums = [];
  for (let c = 0; c < columns; c += 1) {
    let sum = 0;
    for (let i = 0; i < rows; i += 1) sum += vector[i] * table[i * columns + c];
    sums.push(sum);
  }
  return sums;
}

// --- stochastic kinds: a distribution of whole numbers that sum to `state_one`

function stochastic(numbers, arrays) {
  const { states: n, classes, state_one: total, row_one: one, dense, lossy } = numbers;
  const { weights, targets, row_sizes: sizes, matrix_starts: starts, final } = arrays;
  const State = total < 2 ** 16 ? Int32Array : Float64Array,
    sums = new State(n);
  // what rounding took of the state, which goes to state 0 with the next word
  function missing(d) {
    if (lossy) return 0;
    let mass = 0;
    for (let j = 0; j < n; j += 1) mass += d[j];
    return total - mass;
  }
  return {
    State,
    initial: State.from({ length: n }, (_, at) => (at === 0 ? total : 0)),
    changeOne: 1,
    // change·column in parts of 2^26
    dot(changes, at, column) {
      let sum = 0;
      for (let i = 0; i < n; i += 1) sum += changes[at + i] * column[i];
      return Math.floor(sum / (total / 16));
    },
    // d -> d·E
    step(d, entry, after) {
      sums.fill(0);
      sums[0] = missing(d) * one;
      for (let i = 0, at = dense ? entry * n * n : starts[entry]; i < n; i += 1) {
        const mass = d[i],
          size = dense ? n : sizes[entry * n + i];
        if (mass > 0 && dense) for (let j = 0; j < n; j += 1) sums[j] += mass * weights[at + j];
        else if (mass > 0) for (let k = at; k < at + size; k += 1) sums[targets[k]] += mass * weights[k];
        at += size;
      }
      for (let j = 0; j < n; j += 1) after[j] = Math.floor(sums[j] / one);
    },
    // column -> E·column
    back(column, entry, before) {
      let at = dense ? entry * n * n : starts[entry];
      for (let i = 0; i < n; i += 1) {
        const size = dense ? n : sizes[entry * n + i];
        let sum = 0;
        for (let k = 0; k < size; k += 1) sum += weights[at + k] * column[dense ? k : targets[at + k]];
        before[i] = Math.floor(sum / one);
        at += size;
      }
    },
    column: (c) => Float64Array.from({ length: n }, (_, i) => final[i * classes + c]),
    // where mass is lost, what is left is doubled until it is more than half
    rescale(d) {
      if (!lossy) return;
      let mass = 0;
      for (let j = 0; j < n; j += 1) mass += d[j];
      for (; mass > 0 && 2 * mass <= total; mass *= 2) for (let j = 0; j < n; j += 1) d[j] *= 2;
    },
    weights(d) {
      const whole = new Float64Array(d);
      whole[0] += missing(d);
      return products(whole, final, n, classes);
    },
    probabilities(sums) {
      const parts = sums.map((sum) => Math.floor(sum / total)),
        all = parts.reduce((a, b) => a + b, 0);
      return lossy ? parts.map((part) => Math.floor(all > 0 ? (part * ONE) / all : ONE / classes)) : parts;
    },
    decided: (sums) => sums.some((sum) => sum >= total),
  };
}

// --- the linear kind: x -> x∘d + (x·P)∘s + b, with d, s and b made from the factors of a word

// numbers beyond `most` are cut there, so that none can leave 53 bits
const cut = (value, most) => Math.max(-most, Math.min(most, value));

function linear(numbers, arrays) {
  const { states, classes, width: m, factors, columns, turns, decay, state_one: total } = numbers;
  const { first_shift: firstShift, link_bits: linkBits, read_shift: readShift } = numbers;
  const { gate_bits: gateBits, logit_bits: logitBits } = numbers;
  const { expansion, multipliers, shifts, offset, links, final, exp2, sine } = arrays;
  const n = states - 1,
    half = turns ? m >> 1 : 0,
    known = new Map(),
    read = new Float64Array(n),
    short = new Float64Array(n);
  const partner = (j) => (j < half ? j + half : j - half);
  const polynomial = (table, x) => {
    let sum = table[0];
    for (let k = 1; k < table.length; k += 1) sum = table[k] + Math.floor((sum * x) / ONE);
    return sum;
  };
  // 2^-t in parts of 2^30, for t ≥ 0 in parts of ONE
  function halved(t) {
    const whole = Math.floor(t / ONE);
    return whole > 30 ? 0 : Math.floor(polynomial(exp2, t - whole * ONE) / 2 ** whole);
  }
  const sigmoid = (t) => (t >= 0 ? Math.floor(2 ** 52 / (2 ** 30 + halved(t))) : ONE - sigmoid(-t));
  // of an angle in turns
  function sin(t) {
    const part = t - Math.floor(t / ONE) * ONE,
      quadrant = Math.floor((part * 4) / ONE);
    let y = part * 4 - quadrant * ONE;
    if (quadrant % 2 === 1) y = ONE - y;
    const value = Math.floor(polynomial(sine, y) / 64);
    return quadrant >= 2 ? -value : value;
  }
  function described(entry) {
    return Float64Array.from({ length: columns }, (_, c) => {
      let sum = 0;
      for (let r = 0; r < factors; r += 1) sum += arrays.factors[entry * factors + r] * expansion[r * columns + c];
      const value = offset[c] + Math.floor((Math.floor(sum / 2 ** firstShift) * multipliers[c]) / 2 ** shifts[c]);
      return cut(value, 2 ** 31 - 1);
    });
  }
  function parts(entry) {
    if (!known.has(entry)) {
      const numbersOf = described(entry),
        d = new Float64Array(n),
        s = new Float64Array(n);
      for (let j = 0; j < n; j += 1) {
        const sigma = sigmoid(numbersOf[j]);
        d[j] = Math.floor((decay * (turns ? 2 * sigma - ONE : sigma)) / ONE);
        if (j >= m) s[j] = cut(numbersOf[n + j - m], ONE);
      }
      for (let j = 0; j < half; j += 1) {
        const radius = Math.floor((decay * sigmoid(numbersOf[j])) / ONE),
          angle = numbersOf[half + j];
        d[j] = d[half + j] = Math.floor((radius * sin(angle + ONE / 4)) / ONE);
        s[half + j] = Math.floor((radius * sin(angle)) / ONE);
        s[j] = -s[half + j];
      }
      known.set(entry, { d, s, b: numbersOf.subarray(2 * n - m) });
    }
    return known.get(entry);
  }
  return {
    State: Float64Array,
    initial: Float64Array.from(arrays.start),
    changeOne: 64,
    // change·column in parts of 2^(26 − logit_bits)
    dot(changes, at, column) {
      let sum = 0;
      for (let i = 0; i < n; i += 1) sum += Math.floor((changes[at + i] * column[i]) / 256);
      return cut(Math.floor(sum / 2 ** 16), 2 ** 28);
    },
    step(x, entry, after) {
      const { d, s, b } = parts(entry);
      for (let j = 0; j < m; j += 1) read[j] = j < 2 * half ? x[partner(j)] : 0;
      for (let i = 0; i < n; i += 1) short[i] = Math.floor(x[i] / 2 ** readShift);
      for (let layer = m, at = 0; layer < n; layer += m)
        for (let j = layer; j < layer + m; j += 1, at += layer) {
          let sum = 0;
          for (let i = 0; i < layer; i += 1) sum += short[i] * links[at + i];
          read[j] = Math.floor((sum * 2 ** readShift) / 2 ** linkBits);
        }
      for (let j = 0; j < n; j += 1) {
        const gated = Math.floor((read[j] * s[j]) / 2 ** (j < m ? 22 : gateBits));
        after[j] = cut(Math.floor((x[j] * d[j]) / ONE) + gated + b[j] * 256, total - 1);
      }
      after[n] = x[n];
    },
    // what a change of the state before the word does to column·(state after it)
    back(column, entry, before) {
      const { d, s } = parts(entry);
      const gated = Float64Array.from({ length: n }, (_, j) =>
        cut(Math.floor((s[j] * column[j]) / 2 ** (j < m ? 22 : gateBits)), 2 ** 26),
      );
      for (let i = 0; i < n; i += 1) {
        before[i] = Math.floor((column[i] * d[i]) / ONE);
        if (i < 2 * half) before[i] += gated[partner(i)];
      }
      for (let layer = m, at = 0; layer < n; layer += m) {
        const sums = new Float64Array(layer);
        for (let j = layer; j < layer + m; j += 1, at += layer)
          for (let i = 0; i < layer; i += 1) sums[i] += links[at + i] * gated[j];
        for (let i = 0; i < layer; i += 1) before[i] += Math.floor(sums[i] / 2 ** linkBits);
      }
      for (let i = 0; i < n; i += 1) before[i] = cut(before[i], 2 ** 27);
      before[n] = column[n];
    },
    column: (c) => Float64Array.from({ length: states }, (_, i) => 16 * final[i * classes + c]),
    rescale: () => {},
    weights: (x) => products(x, final, states, classes),
    // the softmax, to the base of 2
    probabilities(sums) {
      const most = Math.max(...sums);
      const parts = sums.map((sum) => {
        const gap = Math.min(40 * 2 ** 20, Math.floor((most - sum) / 2 ** (32 - logitBits)));
        return halved(Math.floor((gap * 6051102) / 2 ** 20)); // log2(e) in parts of ONE
      });
      const all = parts.reduce((a, b) => a + b, 0);
      return parts.map((part) => Math.floor((part * ONE) / all));
    },
    decided: () => true,
  };
}

// --- exact Shapley values

// `absent` is the entry that an absent word has, or null if it is deleted. Values are whole, in parts of 2^(50 − logit_bits).
function shapley(kind, numbers, arrays, entries, absent) {
  const { states, classes } = numbers,
    length = entries.length,
    values = new Float64Array(length * classes);
  const changes = new Float64Array(length * states);
  const [state, after, base] = [0, 0, 0].map(() => new kind.State(states)),
    [ahead, before, hidden] = [0, 0, 0].map(() => new Float64Array(states));
  const mix = (z, one, two, out) => {
    for (let i = 0; i < states; i += 1) out[i] = Math.floor(((ONE - z) * one[i] + z * two[i]) / ONE);
  };
  function add(z, weight) {
    state.set(kind.initial);
    entries.forEach((entry, t) => {
      kind.step(state, entry, after);
      if (absent === null) base.set(state);
      else kind.step(state, absent, base);
      for (let i = 0; i < states; i += 1) changes[t * states + i] = Math.floor((after[i] - base[i]) / kind.changeOne);
      mix(z, base, after, state);
    });
    for (let c = 0; c < classes; c += 1) {
      ahead.set(kind.column(c));
      for (let t = length - 1; t >= 0; t -= 1) {
        values[t * classes + c] += weight * kind.dot(changes, t * states, ahead);
        kind.back(ahead, entries[t], before);
        if (absent === null) hidden.set(ahead);
        else kind.back(ahead, absent, hidden);
        mix(z, hidden, before, ahead);
      }
    }
  }
  let rule = 0;
  while (arrays.node_limits[rule] < length) rule += 1;
  if (rule === 0) add(ONE / 2, arrays.node_weights[0]);
  for (let count = 2 ** rule / 2, at = count; rule > 0 && at < 2 * count; at += 1) {
    add(arrays.node_z[at], arrays.node_weights[at]);
    add(ONE - arrays.node_z[at], arrays.node_weights[at]);
  }
  return values;
}

// --- the model

/* exported automaton */
function automaton(tables) {
  const { numbers, class_names: classes } = tables;
  const arrays = Object.fromEntries(Object.entries(tables.arrays).map(([name, array]) => [name, decoded(array)]));
  const split = tokenizer(numbers, arrays),
    found = entryReader(numbers, arrays, split);
  const kind = numbers.linear ? linear(numbers, arrays) : stochastic(numbers, arrays);
  const valueOne = 2 ** (50 - numbers.logit_bits);

  // those words that are read, where texts are cut
  function kept(all) {
    const most = numbers.max_length;
    if (most === 0 || all.length <= most) return all;
    return numbers.keeps_end ? all.slice(-most) : all.slice(0, most);
  }
  const tokens = (text) => kept(split(text));
  function entriesOf(text) {
    const entries = kept(found(text));
    if (numbers.closed && entries.includes(-1)) throw new RangeError('the alphabet is closed and lacks a word');
    return entries.map((entry) => Math.max(0, entry)); // 0 is that of unknown words
  }
  function answer(state) {
    const sums = kind.weights(state);
    const index = kind.decided(sums) ? sums.indexOf(Math.max(...sums)) : -1;
    const probabilities = kind.probabilities(sums).map((part) => part / ONE);
    return { label: index < 0 ? null : classes[index], index, probabilities };
  }
  function last(entries, each = () => {}) {
    let state = kind.initial.slice(),
      after = new kind.State(numbers.states);
    each(state);
    for (let t = 0; t < entries.length; t += 1) {
      const before = state;
      kind.step(before, entries[t], after);
      state = after;
      after = before;
      kind.rescale(state);
      each(state);
    }
    return state;
  }
  return {
    classes,
    unit: tables.unit,
    tokens,
    // the class of a text, its number, and the probabilities of all classes
    predict: (text) => answer(last(entriesOf(text))),
    // the probabilities before the first word and after every word
    trace(text) {
      const words = tokens(text),
        probabilities = [];
      last(entriesOf(text), (state) => probabilities.push(answer(state).probabilities));
      const known = kept(found(text)).map((entry) => entry >= 0),
        cut = numbers.max_length > 0 && split(text).length > words.length;
      return { words, known, probabilities, cut };
    },
    // for every word its Shapley value for every class; an absent word is deleted, or read as unknown
    explain(text, absence = 'delete') {
      const words = tokens(text);
      if (words.length > numbers.most_explained)
        throw new RangeError(`a text of ${words.length} words is too long to explain word by word`);
      const absent = { delete: null, unknown: 0 }[absence];
      if (absent === undefined) throw new RangeError(`unknown absence ${absence}`);
      const values = shapley(kind, numbers, arrays, entriesOf(text), absent);
      return {
        words,
        unit: tables.unit,
        values: words.map((_, t) => classes.map((_, c) => values[t * classes.length + c] / valueOne)),
      };
    },
  };
}
