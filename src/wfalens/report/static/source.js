// Where the data comes from: embedded in a report, or asked from the server of the live page. Views do not know which.
const POLL = 600;

lens.wordColumns = ['word', 'count', 'strength']; // by which words can be sorted

async function ask(path, options) {
  const answer = await fetch(path, options);
  const data = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(data.error || `the server answered ${answer.status}`);
  return data;
}

// what could not be made carries the reason
function checked(found) {
  if (found?.error) throw new Error(found.error);
  return found;
}

function live() {
  const get = (path, parameters) => ask(`api/${path}?${new URLSearchParams(parameters || {})}`);
  const post = (path, body, signal) =>
    ask(`api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
  const begun = new Map();
  // a new text aborts the request about the one before, which then fails: who asked must expect it
  const latest = (path, text, slot = path) => {
    begun.get(slot)?.abort();
    begun.set(slot, new AbortController());
    return post(path, { text }, begun.get(slot).signal);
  };
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
  async function job(name, onProgress) {
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
      onProgress({ ...answer, cancel });
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }
  const view =
    (name) =>
    (onProgress = () => {}) =>
      once(name, () => job(name, onProgress));
  return {
    live: true,
    typing: true,
    overview: () => once('overview', () => get('overview')),
    trace: (text) => latest('trace', text),
    preview: (text) => latest('trace', text, 'preview'),
    counterfactuals: (text) => latest('counterfactuals', text),
    attribution: async (text) => checked(await latest('attribution', text)),
    measured: () => once('measured', () => get('measured')),
    words: (given) => get('words', given),
    word: (word) => get('word', { word }),
    opinionOf: (name) => get('opinion', { name }),
    opinion: view('opinion'),
    findings: view('findings'),
    states: view('states'),
    fidelity: view('fidelity'),
    sentences: view('sentences'),
    attacks: view('attacks'),
    comparison: view('comparison'),
    texts: view('texts'),
  };
}

function report(data) {
  const part = (name) => async () => checked(data[name]);
  const one =
    (name, key, missing) =>
    async (...given) => {
      const all = data[name] || {},
        entry = key(...given);
      if (!Object.hasOwn(all, entry)) throw new Error(missing);
      return checked(all[entry]);
    };
  const picked = one(
    'traces',
    (text) => text,
    'the report carries the sentences that can be picked here; on the live page you can type',
  );
  const typed = data.runtime && !data.runtime.error ? lens.typed(data.runtime, data.overview) : null;
  async function words({
    query = '',
    towards = '',
    sort = 'strength',
    falling = true,
    min_count: least = 1,
    offset = 0,
    limit = 100,
  }) {
    const at = lens.wordColumns.indexOf(sort),
      label = data.overview.class_names.indexOf(towards);
    const lower = query.toLowerCase();
    const rows = data.words.rows.filter(
      (row) => row[1] >= least && (label < 0 || row[3] === label) && row[0].toLowerCase().includes(lower),
    );
    const sign = falling === true || falling === 'true' ? -1 : 1;
    const exact = (row) => Number(row[0].toLowerCase() !== lower);
    const guessed = (row) => Number(at === 2 && row[4] === null); // what was measured comes first
    rows.sort(
      (a, b) =>
        exact(a) - exact(b) || guessed(a) - guessed(b) || sign * (at === 0 ? (a[0] < b[0] ? -1 : 1) : a[at] - b[at]),
    );
    return { total: rows.length, offset, rows: rows.slice(offset, offset + limit), of: data.words.of };
  }
  async function word(name) {
    if (Object.hasOwn(data.word_pages, name)) return data.word_pages[name];
    const row = data.words.rows.find((each) => each[0] === name);
    if (!row) throw new Error('this word is not among those that the report carries; the live page has all');
    return {
      word: name,
      count: row[1],
      changes: [[row[3], row[2], row[4]]],
      read: null,
      acting: null,
      meaning: null,
      sentences: null,
    };
  }
  const trace = async (text) => (Object.hasOwn(data.traces, text) || !typed ? picked(text) : typed.trace(text));
  return {
    live: false,
    typing: Boolean(typed),
    overview: part('overview'),
    fidelity: part('fidelity'),
    opinion: part('opinion'),
    findings: part('findings'),
    states: part('states'),
    sentences: part('sentences'),
    attacks: part('attacks'),
    comparison: part('comparison'),
    texts: part('texts'),
    trace,
    preview: trace,
    attribution: one('attributions', (text) => text, 'a report cannot ask the network; the live page can'),
    counterfactuals: one(
      'counterfactuals',
      (text) => text,
      'A report has counterfactuals of its own sentences only; the live page finds them for any.',
    ),
    measured: async () => ({}),
    words,
    word,
    carried: { words: () => data.words, sampling: data.sampling },
  };
}

const carried = document.getElementById('data');
lens.source = carried ? report(JSON.parse(carried.textContent)) : live();
