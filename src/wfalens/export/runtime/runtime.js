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

const BLOCK = 16; // bytes of a word that are hashed at once
const weighted = (groups, shifts) => Int32Array.from({ length: BLOCK }, (_, at) => groups[at >> 2] << shifts[at & 3]);
const FIRST = weighted([0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f], [0, 8, 16, 24]),
  SECOND = weighted([0x165667b1, 0x7feb352d, 0x846ca68b, 0xc2b2ae35], [16, 24, 0, 8]);
const mixed = (one, two) => Math.imul(one ^ (two >>> 15), 0x85ebca6b);
// both hashes before the next block
function nextBlock(a, b) {
  const first = mixed(a, b);
  return [first, mixed(b, first)];
}

// A perfect hash: one hash of a word's bytes gives the bucket, whose pilot and the other hash give the only place where
// the word can be. There stand 24 bits of the first hash, and the entry. Returns a word's entry, -1: it has none.
function wordTable({ word_slots: slots, word_buckets: buckets, wide_entries: wide }, { pilots, words }) {
  const share = (hash, count) => Math.floor(((hash >>> 0) * count) / 2 ** 32);
  return (first, second, bytes) => {
    if (slots === 0) return -1;
    const a = mixed(first + bytes, second),
      displaced = Math.imul(second ^ Math.imul(pilots[share(a, buckets)], 0x9e3779b1), 0x85ebca6b),
      at = share(displaced, slots) * (4 + wide);
    if ((words[at] | (words[at + 1] << 8) | (words[at + 2] << 16)) !== a >>> 8) return -1;
    return words[at + 3] + (wide ? 256 * words[at + 4] : 0);
  };
}

// the bytes of a code point in UTF-8, also of half a pair
function bytesOf(code) {
  if (code < 0x80) return [code];
  const last = 0x80 | (code & 63);
  if (code < 0x800) return [0xc0 | (code >> 6), last];
  const third = 0x80 | ((code >> 6) & 63);
  return code < 0x10000 ? [0xe0 | (code >> 12), third, last] : [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), third, last];
}

// entries of the words of a text, -1 for unknown ones; the array is used again
function entryReader(numbers, arrays, split) {
  const { basic, word_seed: seed } = numbers,
    { plain } = arrays,
    find = wordTable(numbers, arrays);
  let entries = new Int32Array(64);
  function entryOf(word) {
    let a = seed,
      b = seed,
      bytes = 0;
    for (const character of word)
      for (const byte of bytesOf(character.codePointAt(0))) {
        if (bytes > 0 && bytes % BLOCK === 0) [a, b] = nextBlock(a, b);
        a = (a + Math.imul(byte, FIRST[bytes % BLOCK])) | 0;
        b = (b + Math.imul(byte, SECOND[bytes % BLOCK])) | 0;
        bytes += 1;
      }
    return find(a, b, bytes);
  }
  // how many words a text has, read in one pass, if what every character does is plain; else -1
  function quick(text) {
    if (text.length > entries.length) entries = new Int32Array(2 * text.length);
    let a = seed,
      b = seed,
      bytes = 0,
      count = 0;
    for (let at = 0; at <= text.length; at += 1) {
      const code = at < text.length ? text.charCodeAt(at) : 32,
        letter = code < 128 ? plain[code] : 0,
        place = bytes & (BLOCK - 1);
      if (letter > 32) {
        if (place === 0 && bytes > 0) [a, b] = nextBlock(a, b);
        a = (a + Math.imul(letter, FIRST[place])) | 0;
        b = (b + Math.imul(letter, SECOND[place])) | 0;
        bytes += 1;
        continue;
      }
      const mark = letter === 0 && basic && ".,()!?'".includes(text[at]);
      if (letter !== 32 && !mark) return -1;
      if (bytes > 0) entries[count++] = find(a, b, bytes);
      if (mark) entries[count++] = entryOf(text[at]);
      a = b = seed;
      bytes = 0;
    }
    return count;
  }
  return (text) => {
    const count = plain.length > 0 ? quick(text) : -1;
    return count < 0 ? Int32Array.from(split(text), entryOf) : entries.subarray(0, count);
  };
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

// Rows as targets and weights, one after the other. Of 8 bits, 255 stands for 256.
function sparseRows({ states: n, row_one: one, dense }, { weights, targets, row_sizes: sizes, matrix_starts: starts }) {
  const whole = one === 256 ? Uint16Array.from(weights, (weight) => weight + (weight === 255)) : weights;
  if (!dense) return { weights: whole, targets, start: (entry) => starts[entry], size: (row) => sizes[row] };
  return {
    weights: whole,
    targets: Uint16Array.from(weights, (_, at) => at % n),
    start: (entry) => entry * n * n,
    size: () => n,
  };
}

// Of small matrices of 8 bits, two columns stand in one number, so that a product makes both.
function quickStep({ states: n, state_one: total, row_one: one }, { weights, targets, start, size }, entries) {
  const SECOND_COLUMN = 2 ** 23,
    pairs = (n + 3) >> 2, // of such numbers
    packed = new Float64Array(entries * pairs * 2 * n);
  for (let entry = 0; entry < entries; entry += 1)
    for (let i = 0, at = start(entry); i < n; i += 1) {
      const place = (column) => ((entry * pairs + (column >> 2)) * n + i) * 2 + ((column >> 1) & 1);
      packed[place(0)] -= one; // what column 0 lacks is what rounding took
      for (let k = size(entry * n + i); k > 0; k -= 1, at += 1)
        packed[place(targets[at])] += weights[at] * (targets[at] & 1 ? SECOND_COLUMN : 1);
    }
  return (d, entry, after) => {
    for (let pair = 0, at = entry * pairs * 2 * n; pair < pairs; pair += 1) {
      let left = pair === 0 ? total * one : 0,
        right = 0;
      for (let i = 0; i < n; i += 1, at += 2) {
        left += d[i] * packed[at];
        right += d[i] * packed[at + 1];
      }
      const second = (left / SECOND_COLUMN) | 0,
        fourth = (right / SECOND_COLUMN) | 0;
      after[4 * pair] = (left - second * SECOND_COLUMN) >> 8;
      after[4 * pair + 1] = second >> 8;
      after[4 * pair + 2] = (right - fourth * SECOND_COLUMN) >> 8;
      after[4 * pair + 3] = fourth >> 8;
    }
  };
}

function stochastic(numbers, arrays) {
  const { states: n, classes, free_classes: free, state_one: total, row_one: one, blocks, lossy } = numbers,
    { final } = arrays;
  const rows = sparseRows(numbers, arrays),
    { weights, targets } = rows,
    sums = new Float64Array(n);
  // what rounding took of the state, which goes to state 0 with the next word
  function missing(d) {
    if (lossy) return 0;
    let mass = 0;
    for (let j = 0; j < n; j += 1) mass += d[j];
    return total - mass;
  }
  // d -> d·E
  function step(d, entry, after) {
    sums.fill(0);
    sums[0] = missing(d) * one;
    for (let i = 0, at = rows.start(entry); i < n; i += 1) {
      const mass = d[i],
        end = at + rows.size(entry * n + i);
      if (mass > 0) for (let k = at; k < end; k += 1) sums[targets[k]] += mass * weights[k];
      at = end;
    }
    for (let j = 0; j < n; j += 1) after[j] = Math.floor(sums[j] / one);
  }
  const entries = numbers.dense ? weights.length / (n * n) : arrays.matrix_starts.length;
  return {
    initial: Float64Array.from({ length: n + (-n & 3) }, (_, at) => (at === 0 ? total : 0)),
    changeOne: 1,
    // change·column in parts of 2^26
    dot(changes, at, columns, c) {
      let sum = 0;
      for (let i = 0; i < n; i += 1) sum += changes[at + i] * columns[i * free + c];
      return Math.floor(sum / (total / 16));
    },
    step: blocks ? quickStep(numbers, rows, entries) : step,
    // columns -> E·columns; those of different classes stand side by side
    back(columns, entry, before) {
      for (let i = 0, at = rows.start(entry); i < n; i += 1) {
        const end = at + rows.size(entry * n + i);
        for (let c = 0; c < free; c += 1) {
          let sum = 0;
          for (let k = at; k < end; k += 1) sum += weights[k] * columns[targets[k] * free + c];
          before[i * free + c] = Math.floor(sum / one);
        }
        at = end;
      }
    },
    columns: () => Float64Array.from({ length: n * free }, (_, at) => final[Math.floor(at / free) * classes + (at % free)]),
    // where mass is lost, what is left is doubled until it is more than half
    rescale(d) {
      if (!lossy) return;
      let mass = 0;
      for (let j = 0; j < n; j += 1) mass += d[j];
      for (; mass > 0 && 2 * mass <= total; mass *= 2) for (let j = 0; j < n; j += 1) d[j] *= 2;
    },
    weights(d) {
      const lost = missing(d);
      return products(d, final, n, classes).map((sum, c) => sum + lost * final[c]);
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
  const { states, classes, free_classes: free, width: m, factors, columns, turns, decay, state_one: total } = numbers;
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
  // what a change of the state before the word does to column·(state after it)
  function backColumn(column, { d, s }, before) {
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
  }
  return {
    initial: Float64Array.from(arrays.start),
    changeOne: 64,
    // change·column in parts of 2^(26 − logit_bits)
    dot(changes, at, columns, c) {
      let sum = 0;
      for (let i = 0; i < n; i += 1) sum += Math.floor((changes[at + i] * columns[c * states + i]) / 256);
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
    back(columns, entry, before) {
      const word = parts(entry);
      for (let c = 0; c < free; c += 1) {
        const one = [c * states, (c + 1) * states];
        backColumn(columns.subarray(...one), word, before.subarray(...one));
      }
    },
    columns: () => Float64Array.from({ length: free * states }, (_, at) => 16 * final[(at % states) * classes + Math.floor(at / states)]),
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
  const { states, classes, free_classes: free } = numbers,
    length = entries.length,
    values = new Float64Array(length * classes);
  const changes = new Float64Array(length * states);
  const [state, after, base] = [0, 0, 0].map(() => kind.initial.slice()),
    [ahead, before, hidden] = [0, 0, 0].map(kind.columns);
  const last = kind.columns();
  const mix = (z, one, two, out) => {
    for (let i = 0; i < out.length; i += 1) out[i] = Math.floor(((ONE - z) * one[i] + z * two[i]) / ONE);
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
    ahead.set(last);
    for (let t = length - 1; t >= 0; t -= 1) {
      for (let c = 0; c < free; c += 1) values[t * classes + c] += weight * kind.dot(changes, t * states, ahead, c);
      kind.back(ahead, entries[t], before);
      if (absent !== null) kind.back(ahead, absent, hidden);
      mix(z, absent === null ? ahead : hidden, before, ahead);
    }
  }
  let rule = 0,
    at = 0;
  for (; arrays.node_limits[rule] < length; rule += 1) at += (arrays.node_counts[rule] + 1) >> 1;
  for (let count = arrays.node_counts[rule], k = 0; k < count; k += 1) {
    const place = at + Math.min(k, count - 1 - k), // a rule lists the lower half of its nodes
      z = arrays.node_z[place];
    add(2 * k < count ? z : ONE - z, arrays.node_weights[place]);
  }
  for (let t = 0; t < length && free < classes; t += 1) // those of all classes sum to 0
    for (let c = 0; c < free; c += 1) values[t * classes + free] -= values[t * classes + c];
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
    for (let t = 0; t < entries.length; t += 1)
      if (entries[t] < 0) {
        if (numbers.closed) throw new RangeError('the alphabet is closed and lacks a word');
        entries[t] = 0; // that of unknown words
      }
    return entries;
  }
  function answer(state) {
    const sums = kind.weights(state);
    const index = kind.decided(sums) ? sums.indexOf(Math.max(...sums)) : -1;
    const probabilities = kind.probabilities(sums).map((part) => part / ONE);
    return { label: index < 0 ? null : classes[index], index, probabilities };
  }
  const states = [kind.initial.slice(), kind.initial.slice()];
  function last(entries, each = () => {}) {
    states[0].set(kind.initial);
    each(states[0]);
    for (let t = 0; t < entries.length; t += 1) {
      const after = states[1 - (t & 1)];
      kind.step(states[t & 1], entries[t], after);
      kind.rescale(after);
      each(after);
    }
    return states[entries.length & 1];
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
      const known = Array.from(kept(found(text)), (entry) => entry >= 0),
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
