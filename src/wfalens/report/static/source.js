// Where the data comes from: embedded in a report, or asked from the explorer's server. Views do not know which.
const POLL = 600;
const PLAIN = ['word', 'count', 'strength'];

// By what words can be sorted; a class that is called like another column says that it is one.
lens.wordColumns = (names) => [...PLAIN, ...names.map((name) => (PLAIN.includes(name) ? `class ${name}` : name))];

async function ask(path, options) {
  const answer = await fetch(path, options);
  const data = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(data.error || `the server answered ${answer.status}`);
  return data;
}

function explorer() {
  const get = (path, parameters) => ask(`api/${path}?${new URLSearchParams(parameters || {})}`);
  const post = (path, body) =>
    ask(`api/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const kept = new Map();
  const once = (name, make) => {
    if (!kept.has(name))
      kept.set(
        name,
        make().catch((error) => {
          kept.delete(name);
          throw error;
        }),
      );
    return kept.get(name);
  };
  async function job(name, heard) {
    let cancelled = false;
    const cancel = () => {
      cancelled = true;
      return post(`job/${name}/cancel`, {});
    };
    for (;;) {
      if (cancelled) throw new Error('This was cancelled.');
      const answer = await get(`job/${name}`);
      if (answer.state === 'done') return answer.result;
      if (answer.state === 'failed') throw new Error(answer.error);
      heard({ ...answer, cancel });
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }
  const view =
    (name) =>
    (heard = () => {}) =>
      once(name, () => job(name, heard));
  return {
    live: true,
    typing: true,
    overview: () => once('overview', () => get('overview')),
    map: () => once('map', () => get('map')),
    moves: (word) => get('moves', { word }),
    play: (text) => post('play', { text }),
    flips: (text) => post('flips', { text }),
    why: (text) => post('why', { text }),
    words: (given) => get('words', given),
    word: (word) => get('word', { word }),
    swaps: (first, second) => get('swaps', { first, second }),
    fidelity: view('fidelity'),
    sentences: view('sentences'),
    wordmap: view('wordmap'),
    contrast: view('contrast'),
    attacks: view('attacks'),
    comparison: view('comparison'),
    texts: view('texts'),
  };
}

function report(data) {
  const part = (name) => async () => {
    const found = data[name];
    if (found && found.error) throw new Error(found.error);
    return found;
  };
  const one =
    (name, key, missing) =>
    async (...given) => {
      const all = data[name] || {},
        wanted = key(...given);
      if (!Object.hasOwn(all, wanted)) throw new Error(missing);
      if (all[wanted].error) throw new Error(all[wanted].error);
      return all[wanted];
    };
  const picked = one(
    'plays',
    (text) => text,
    'the report carries the sentences that can be picked here; in the explorer you can type',
  );
  const carriedMoves = one(
    'moves',
    (name) => (Object.hasOwn(data.moves || {}, name) ? name : name.toLowerCase()),
    'the report carries the moves of its strongest words only; the explorer has all',
  );
  const typed = data.pocket && !data.pocket.error ? lens.pocket(data.pocket, data.overview, data.map) : null;
  async function words({
    query = '',
    sort = 'strength',
    falling = true,
    min_count: least = 1,
    offset = 0,
    limit = 100,
  }) {
    const at = lens.wordColumns(data.overview.class_names).indexOf(sort);
    const wanted = query.toLowerCase();
    const rows = data.words.rows.filter((row) => row[1] >= least && row[0].toLowerCase().includes(wanted));
    const turn = falling === true || falling === 'true' ? -1 : 1;
    rows.sort((a, b) => turn * (at === 0 ? (a[0] < b[0] ? -1 : 1) : a[at] - b[at]));
    return { total: rows.length, offset, rows: rows.slice(offset, offset + limit), of: data.words.of };
  }
  async function word(name) {
    if (Object.hasOwn(data.word_pages, name)) return data.word_pages[name];
    const row = data.words.rows.find((each) => each[0] === name);
    if (!row) throw new Error('this word is not among those that the report carries; the explorer has all');
    return {
      word: name,
      count: row[1],
      strength: row[2],
      scores: row.slice(3),
      unit: data.overview.unit,
      acting: null,
      meaning: null,
      sentences: null,
    };
  }
  return {
    live: false,
    typing: Boolean(typed),
    overview: part('overview'),
    fidelity: part('fidelity'),
    map: part('map'),
    sentences: part('sentences'),
    wordmap: part('wordmap'),
    contrast: part('contrast'),
    attacks: part('attacks'),
    comparison: part('comparison'),
    texts: part('texts'),
    moves: async (name) =>
      Object.hasOwn(data.moves || {}, name) || !typed || data.map.error ? carriedMoves(name) : typed.moves(name),
    play: async (text) => (Object.hasOwn(data.plays, text) || !typed ? picked(text) : typed.play(text)),
    why: one('whys', (text) => text, 'the network is not here to be asked; the explorer asks it'),
    flips: one(
      'flips',
      (text) => text,
      'A report looks for flips of its own sentences only; the explorer does for any.',
    ),
    swaps: one('swaps', (first, second) => `${first}\n${second}`, 'the report carries no sentences for this pair'),
    words,
    word,
    carried: { words: () => data.words, moves: () => Object.keys(data.moves || {}), sampling: data.sampling },
  };
}

const carried = document.getElementById('data');
lens.source = carried ? report(JSON.parse(carried.textContent)) : explorer();
