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
// a hash before the next block
const mixed = (one, two) => Math.imul(one ^ (two >>> 15), 0x85ebca6b);

// A perfect hash: one hash of a word's bytes gives the bucket, whose pilot and the other hash give the only place where
// the word can be. There stand 24 bits of the first hash, and the entry. Returns a word's entry, -1: it has none.
function wordTable({ word_slots: slots, word_buckets: buckets, wide_entries: wide }, { pilots, words }) {
  const size = 4 + wide,
    share = (hash, count) => ((hash >>> 0) * count) / 2 ** 32;
  const checks = Int32Array.from(
    { length: slots },
    (_, at) => words[at * size] | (words[at * size + 1] << 8) | (words[at * size + 2] << 16),
  );
  const entries = Uint16Array.from(
    { length: slots },
    (_, at) => words[at * size + 3] + (wide ? 256 * words[at * size + 4] : 0),
  );
  return (first, second, bytes) => {
    if (slots === 0) return -1;
    const a = mixed(first + bytes, second),
      displaced = Math.imul(second ^ Math.imul(pilots[share(a, buckets) | 0], 0x9e3779b1), 0x85ebca6b),
      at = share(displaced, slots) | 0;
    return checks[at] === a >>> 8 ? entries[at] : -1;
  };
}

// the bytes of a code point in UTF-8, also of half a pair
function bytesOf(code) {
  if (code < 0x80) return [code];
  const last = 0x80 | (code & 63);
  if (code < 0x800) return [0xc0 | (code >> 6), last];
  const third = 0x80 | ((code >> 6) & 63);
  return code < 0x10000
    ? [0xe0 | (code >> 12), third, last]
    : [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), third, last];
}

const ODD = -1,
  MARK = -3; // less the entry, which may be -1
// Reads a text: how many words it has. Their entries, -1 for unknown ones, stand in `entries` until the next text.
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
        if (bytes > 0 && bytes % BLOCK === 0) {
          a = mixed(a, b);
          b = mixed(b, a);
        }
        a = (a + Math.imul(byte, FIRST[bytes % BLOCK])) | 0;
        b = (b + Math.imul(byte, SECOND[bytes % BLOCK])) | 0;
        bytes += 1;
      }
    return find(a, b, bytes);
  }
  // of every character a letter, 0: a blank, ODD: what it does depends on those around it, below: a mark, a word itself
  const kinds = Int32Array.from(plain.subarray(0, 128), (letter) => (letter > 32 ? letter : letter === 32 ? 0 : ODD));
  for (const mark of basic ? ".,()!?'" : '') kinds[mark.charCodeAt(0)] = MARK - entryOf(mark);
  // how many words a text has, read in one pass, if what every character does is plain; else -1
  function quick(text) {
    const size = text.length;
    if (size > entries.length) entries = new Int32Array(2 * size);
    const found = entries;
    let count = 0,
      seen = 0; // bits of all characters
    for (let at = 0; at < size; at += 1) {
      let code = text.charCodeAt(at),
        kind = kinds[code & 127];
      seen |= code;
      if (kind > 0) {
        const begin = at;
        let a = seed,
          b = seed,
          four = 0; // letters that are not in the hashes yet
        do {
          four |= kind << (8 * (at - begin)); // in whole turns of 32 bits
          at += 1;
          code = at < size ? text.charCodeAt(at) : 32;
          kind = kinds[code & 127];
          seen |= code;
          const bytes = at - begin;
          if ((bytes & 3) === 0 || kind <= 0) {
            const place = (bytes - 1) & (BLOCK - 4);
            if (place === 0 && bytes > 4) {
              a = mixed(a, b);
              b = mixed(b, a);
            }
            a = (a + Math.imul(four, FIRST[place])) | 0;
            b = (b + Math.imul((four << 16) | (four >>> 16), SECOND[place + 2])) | 0;
            four = 0;
          }
        } while (kind > 0);
        found[count++] = find(a, b, at - begin);
      }
      if (kind === ODD) return -1;
      if (kind < 0) found[count++] = MARK - kind;
    }
    return seen < 128 ? count : -1;
  }
  return {
    at: (place) => entries[place],
    read(text) {
      let count = plain.length > 0 ? quick(text) : -1;
      if (count < 0 && basic && text.includes('"')) count = quick(text.replaceAll('"', '')); // no word has one
      if (count >= 0) return count;
      const words = split(text);
      if (words.length > entries.length) entries = new Int32Array(2 * words.length);
      words.forEach((word, at) => (entries[at] = entryOf(word)));
      return words.length;
    },
  };
}

// --- outputs

// the sums become vector·table
function multiply(vector, table, rows, sums) {
  const columns = sums.length;
  for (let c = 0; c < columns; c += 1) {
    let sum = 0;
    for (let i = 0, at = c; i < rows; i += 1, at += columns) sum += vector[i] * table[at];
    sums[c] = sum;
  }
}

function placeOfLargest(sums) {
  let best = 0;
  for (let c = 1; c < sums.length; c += 1) if (sums[c] > sums[best]) best = c;
  return best;
}

// --- stochastic kinds: a distribution of whole numbers that sum to `state_one`

const SIDE = 7, // numbers of a row that are read at once: enough for 14 states
  TWO = 2 ** 24; // a number stands for two columns, the second one in parts of this
const sidesOf = (count) => Math.ceil(count / SIDE);

// SIDE numbers of vector·table, whose rows of SIDE numbers begin at `first`
function addRows(vector, rows, table, first, sums, to) {
  let a = 0,
    b = 0,
    c = 0,
    d = 0,
    e = 0,
    f = 0,
    g = 0;
  for (let i = 0, at = first; i < rows; i += 1, at += SIDE) {
    const one = vector[i];
    a += one * table[at];
    b += one * table[at + 1];
    c += one * table[at + 2];
    d += one * table[at + 3];
    e += one * table[at + 4];
    f += one * table[at + 5];
    g += one * table[at + 6];
  }
  sums[to] = a;
  sums[to + 1] = b;
  sums[to + 2] = c;
  sums[to + 3] = d;
  sums[to + 4] = e;
  sums[to + 5] = f;
  sums[to + 6] = g;
}

// Reads small matrices of 8 bits. A sum of a column is at most total·one = 2^22: two fit into a number. What rounding takes
// of the state goes to state 0 with the next word: column 0 holds what it lacks to `one`.
function quickReader(numbers, { targets, row_sizes: sizes, final }, weights) {
  const { states: n, classes, state_one: total, row_one: one } = numbers,
    rows = sizes.length,
    sides = sidesOf(n / 2),
    width = SIDE * sides,
    columns = SIDE * sidesOf(classes);
  const table = new Float64Array(rows * width),
    outputs = new Float64Array(n * columns),
    sums = new Float64Array(Math.max(width, columns));
  for (let row = 0, k = 0; row < rows; row += 1) {
    table[row * SIDE] = -one;
    for (const end = k + sizes[row]; k < end; k += 1) {
      const pair = targets[k] >> 1;
      table[(Math.floor(pair / SIDE) * rows + row) * SIDE + (pair % SIDE)] += weights[k] * (targets[k] & 1 ? TWO : 1);
    }
  }
  for (let i = 0; i < n; i += 1)
    for (let c = 0; c < classes; c += 1)
      outputs[(Math.floor(c / SIDE) * n + i) * SIDE + (c % SIDE)] = final[i * classes + c] - final[c];
  // d -> d·E in place
  function advance(d, entry) {
    for (let side = 0; side < sides; side += 1)
      addRows(d, n, table, (side * rows + entry * n) * SIDE, sums, SIDE * side);
    sums[0] += total * one;
    for (let pair = 0; pair < width; pair += 1) {
      const both = sums[pair];
      d[2 * pair] = (both & (TWO - 1)) >> 8;
      d[2 * pair + 1] = (both / (256 * TWO)) | 0;
    }
  }
  const room = 2 * width,
    starts = new Float64Array((rows / n) * room); // the states after a first word
  for (let entry = 0; entry < rows / n; entry += 1) {
    const state = starts.subarray(entry * room, (entry + 1) * room);
    state[0] = total;
    advance(state, entry);
  }
  return {
    room,
    advance,
    start(d, entry) {
      for (let i = 0, at = entry * room; i < room; i += 1, at += 1) d[i] = starts[at];
    },
    // what is missing of d is in state 0
    weights(d, found) {
      for (let c = 0; c < columns; c += SIDE) addRows(d, n, outputs, n * c, sums, c);
      for (let c = 0; c < classes; c += 1) found[c] = sums[c] + total * final[c];
    },
  };
}

function stochastic(numbers, arrays) {
  const { states: n, classes, free_classes: free, state_one: total, row_one: one, blocks, lossy } = numbers,
    { final } = arrays;
  const { targets, row_sizes: sizes, matrix_starts: starts } = arrays,
    sums = new Float64Array(n),
    weights = one === 256 ? Uint16Array.from(arrays.weights, (weight) => weight + (weight === 255)) : arrays.weights; // 255: 256
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
    for (let i = 0, at = starts[entry]; i < n; i += 1) {
      const mass = d[i],
        end = at + sizes[entry * n + i];
      if (mass > 0) for (let k = at; k < end; k += 1) sums[targets[k]] += mass * weights[k];
      at = end;
    }
    for (let j = 0; j < n; j += 1) after[j] = Math.floor(sums[j] / one);
  }
  const quick = blocks ? quickReader(numbers, arrays, weights) : null;
  return {
    quick,
    initial: Float64Array.from({ length: quick ? quick.room : n }, (_, at) => (at === 0 ? total : 0)),
    changeOne: 1,
    // change·column in parts of 2^26
    dot(changes, at, columns, c) {
      let sum = 0;
      for (let i = 0; i < n; i += 1) sum += changes[at + i] * columns[i * free + c];
      return Math.floor(sum / (total / 16));
    },
    step,
    // columns -> E·columns; those of different classes stand side by side
    back(columns, entry, before) {
      for (let i = 0, at = starts[entry]; i < n; i += 1) {
        const end = at + sizes[entry * n + i];
        for (let c = 0; c < free; c += 1) {
          let sum = 0;
          for (let k = at; k < end; k += 1) sum += weights[k] * columns[targets[k] * free + c];
          before[i * free + c] = Math.floor(sum / one);
        }
        at = end;
      }
    },
    columns: Float64Array.from({ length: n * free }, (_, at) => final[Math.floor(at / free) * classes + (at % free)]),
    // where mass is lost, what is left is doubled until it is more than half
    rescale(d) {
      if (!lossy) return;
      let mass = 0;
      for (let j = 0; j < n; j += 1) mass += d[j];
      for (; mass > 0 && 2 * mass <= total; mass *= 2) for (let j = 0; j < n; j += 1) d[j] *= 2;
    },
    weights(d, sums) {
      if (quick) return quick.weights(d, sums);
      multiply(d, final, n, sums);
      const lost = missing(d);
      if (lost > 0) for (let c = 0; c < classes; c += 1) sums[c] += lost * final[c];
      return undefined;
    },
    // whole parts of ONE; returns whether there are any
    probabilities(sums, parts) {
      let all = 0;
      for (let c = 0; c < classes; c += 1) all += parts[c] = Math.floor(sums[c] / total);
      if (lossy)
        for (let c = 0; c < classes; c += 1) parts[c] = Math.floor(all > 0 ? (parts[c] * ONE) / all : ONE / classes);
      return all > 0;
    },
  };
}

// --- the linear kind: x -> x∘d + (x·P)∘s + b, with d, s and b made from the factors of a word

// numbers beyond `most` are cut there, so that none can leave 53 bits
const cut = (value, most) => Math.max(-most, Math.min(most, value));

function linear(numbers, arrays) {
  const { states, classes, free_classes: free, width: m, factors, columns, turns, decay, state_one: total } = numbers;
  const { first_shift: firstShift, link_bits: linkBits, read_shift: readShift } = numbers;
  const { gate_bits: gateBits, logit_bits: logitBits, short_steps: shortSteps } = numbers;
  const { expansion, multipliers, shifts, offset, final, exp2, sine } = arrays;
  const n = states - 1,
    half = turns ? m >> 1 : 0,
    known = new Map(),
    read = new Float64Array(n),
    short = new Float64Array(n);
  // what leads to a number of a layer stands in a row of `links`; in the file, in rows for two states, with zeros up to 16
  const links = [],
    padded = 16 * Math.ceil(m / 16);
  for (let layer = m, first = 0; layer < n; first += 2 * padded * Math.ceil(layer / 2), layer += m)
    for (let j = 0; j < m; j += 1)
      links.push(
        Float64Array.from({ length: layer }, (_, i) => arrays.links[first + 2 * padded * (i >> 1) + 2 * j + (i & 1)]),
      );
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
  // without the last bits where steps are short, to the nearest
  const rounded = (value) => (shortSteps ? cut(Math.floor((value + 64) / 128), 2 ** 15 - 1) * 128 : value);
  function parts(entry) {
    if (!known.has(entry)) {
      const numbersOf = described(entry),
        d = new Float64Array(n),
        s = new Float64Array(n);
      const b = numbersOf.slice(2 * n - m);
      for (let j = 0; j < n; j += 1) {
        const sigma = sigmoid(numbersOf[j]);
        d[j] = rounded(Math.floor((decay * (turns ? 2 * sigma - ONE : sigma)) / ONE));
        if (j >= m) s[j] = rounded(cut(numbersOf[n + j - m], ONE));
        b[j] = rounded(b[j]);
      }
      for (let j = 0; j < half; j += 1) {
        const radius = Math.floor((decay * sigmoid(numbersOf[j])) / ONE),
          angle = numbersOf[half + j];
        d[j] = d[half + j] = rounded(Math.floor((radius * sin(angle + ONE / 4)) / ONE));
        s[half + j] = rounded(Math.floor((radius * sin(angle)) / ONE));
        s[j] = -s[half + j];
      }
      known.set(entry, { d, s, b });
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
    for (let layer = m; layer < n; layer += m) {
      const sums = new Float64Array(layer);
      for (let j = layer; j < layer + m; j += 1)
        for (let i = 0, row = links[j - m]; i < layer; i += 1) sums[i] += row[i] * gated[j];
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
      for (let j = m; j < n; j += 1) {
        const row = links[j - m];
        let sum = 0;
        for (let i = 0; i < row.length; i += 1) sum += short[i] * row[i];
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
    columns: Float64Array.from({ length: free * states }, (_, at) => 16 * final[at]),
    rescale: () => {},
    weights(x, sums) {
      for (let c = 0; c < classes; c += 1) {
        sums[c] = 0;
        for (let i = 0, at = c * states; i < states; i += 1, at += 1) sums[c] += x[i] * final[at];
      }
    },
    // the softmax, to the base of 2
    probabilities(sums, parts) {
      const most = sums[placeOfLargest(sums)];
      let all = 0;
      for (let c = 0; c < classes; c += 1) {
        const gap = Math.min(40 * 2 ** 20, Math.floor((most - sums[c]) / 2 ** (32 - logitBits)));
        all += parts[c] = halved(Math.floor((gap * 6051102) / 2 ** 20)); // log2(e) in parts of ONE
      }
      for (let c = 0; c < classes; c += 1) parts[c] = Math.floor((parts[c] * ONE) / all);
      return true;
    },
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
    [ahead, before, hidden] = [0, 0, 0].map(() => kind.columns.slice());
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
    ahead.set(kind.columns);
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
  for (let t = 0; t < length && free < classes; t += 1)
    // those of all classes sum to 0
    for (let c = 0; c < free; c += 1) values[t * classes + free] -= values[t * classes + c];
  return values;
}

// --- the model

/* exported automaton */
function automaton(tables) {
  const { numbers, class_names: classes } = tables;
  const arrays = Object.fromEntries(Object.entries(tables.arrays).map(([name, array]) => [name, decoded(array)]));
  const split = tokenizer(numbers, arrays),
    words = entryReader(numbers, arrays, split);
  const kind = numbers.linear ? linear(numbers, arrays) : stochastic(numbers, arrays);
  const valueOne = 2 ** (50 - numbers.logit_bits);

  // those words that are read, where texts are cut: the first, and the one behind the last
  function kept(count) {
    const most = numbers.max_length || count,
      first = numbers.keeps_end ? Math.max(0, count - most) : 0;
    return [first, Math.min(count, first + most)];
  }
  function tokens(text) {
    const all = split(text);
    return all.slice(...kept(all.length));
  }
  const { closed } = numbers;
  function entry(place) {
    const found = words.at(place);
    if (found < 0 && closed) throw new RangeError('the alphabet is closed and lacks a word');
    return found < 0 ? 0 : found; // that of unknown words
  }
  const sums = new Float64Array(classes.length),
    parts = sums.slice();
  function answer(state) {
    const probabilities = [];
    kind.weights(state, sums);
    const index = kind.probabilities(sums, parts) ? placeOfLargest(sums) : -1;
    for (let c = 0; c < classes.length; c += 1) probabilities.push(parts[c] / ONE);
    return { label: index < 0 ? null : classes[index], index, probabilities };
  }
  const state = kind.initial.slice(),
    after = kind.initial.slice();
  function advance(d, word) {
    kind.step(d, word, after);
    kind.rescale(after);
    d.set(after);
  }
  const { quick } = kind,
    readWord = quick ? quick.advance : advance;
  // the state after the last word that is read
  function last(text, each = null) {
    const [begin, end] = kept(words.read(text)),
      isQuick = quick && !each && begin < end,
      first = begin + (isQuick ? 1 : 0);
    if (isQuick) quick.start(state, entry(begin));
    else state.set(kind.initial);
    if (each) each(state);
    for (let t = first; t < end; t += 1) {
      readWord(state, entry(t));
      if (each) each(state);
    }
    return state;
  }
  return {
    classes,
    unit: tables.unit,
    tokens,
    // the class of a text, its number, and the probabilities of all classes
    predict: (text) => answer(last(text)),
    // the probabilities before the first word and after every word
    trace(text) {
      const read = tokens(text),
        probabilities = [];
      last(text, (state) => probabilities.push(answer(state).probabilities));
      const count = words.read(text),
        [first] = kept(count),
        known = read.map((_, at) => words.at(first + at) >= 0);
      return { words: read, known, probabilities, cut: count > read.length };
    },
    // for every word its Shapley value for every class; an absent word is deleted, or read as unknown
    explain(text, absence = 'delete') {
      const read = tokens(text);
      if (read.length > numbers.most_explained)
        throw new RangeError(`a text of ${read.length} words is too long to explain word by word`);
      const absent = { delete: null, unknown: 0 }[absence];
      if (absent === undefined) throw new RangeError(`unknown absence ${absence}`);
      const [first] = kept(words.read(text)),
        entries = read.map((_, at) => entry(first + at)),
        values = shapley(kind, numbers, arrays, entries, absent);
      return {
        words: read,
        unit: tables.unit,
        values: read.map((_, t) => classes.map((_, c) => values[t * classes.length + c] / valueOne)),
      };
    },
  };
}
