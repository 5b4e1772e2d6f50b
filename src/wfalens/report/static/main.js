// The page: its head, the way between the views, light and dark.
const { h } = lens;
const view = h('main', { id: 'view', tabindex: -1 });
const links = new Map();
const LANGUAGE_MODEL =
  'The network is a language model. Its classes are the symbols that may come next, or the end of the text; “the network\u2019s class” of a text is the likeliest symbol after it.';

// Shows how far a piece of work has come, then what it found or why it failed.
lens.fill = async (node, fetch, render) => {
  const bar = h('progress', { max: 1, 'aria-label': 'How far the work has come' });
  const label = h('span', null, 'working');
  let cancel = null;
  const stop = h(
    'button',
    {
      type: 'button',
      class: 'small',
      hidden: true,
      on: {
        click: () => {
          stop.disabled = true;
          lens.put(label, 'stopping');
          cancel();
        },
      },
    },
    'Cancel',
  );
  const busy = h('div', { class: 'busy', role: 'status' }, bar, label, stop);
  const timer = setTimeout(() => node.append(busy), 150);
  const onProgress = ({ task, share, cancel: how }) => {
    if (how && !stop.disabled) {
      cancel = how;
      stop.hidden = false;
    }
    lens.put(label, stop.disabled ? 'stopping' : task);
    if (share === null) bar.removeAttribute('value');
    else bar.value = share;
  };
  const done = () => {
    clearTimeout(timer);
    busy.remove();
  };
  let found;
  try {
    found = await fetch(onProgress);
  } catch (error) {
    done();
    const again = h(
      'button',
      {
        type: 'button',
        class: 'small',
        on: {
          click: () => {
            problem.remove();
            lens.fill(node, fetch, render);
          },
        },
      },
      'Start again',
    );
    const problem = h(
      'p',
      { class: 'note', role: 'alert' },
      error.message,
      cancel && stop.disabled ? [' ', again] : null,
    );
    node.append(problem);
    return;
  }
  done();
  node.append(...[render(found)].flat(3).filter((child) => child !== null && child !== undefined && child !== false));
};

const route = () => {
  const [name, query = ''] = location.hash.slice(1).split(/\?(.*)/s); // a lone % in it is no error
  return [lens.views.find((each) => each.name === name) || lens.views[0], new URLSearchParams(query)];
};

// keeps the address true to what is shown, without another step in the history
lens.remember = (parameters) => {
  const known = Object.fromEntries(
    Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  );
  history.replaceState(null, '', lens.link(route()[0].name, known));
};

async function show(moved) {
  const [shown, parameters] = route();
  const page = h('div');
  const title = h('h1', { tabindex: -1 }, shown.title);
  lens.put(
    view,
    title,
    h('p', { class: 'lead' }, shown.lead),
    lens.isLanguageModel ? h('p', { class: 'note' }, LANGUAGE_MODEL) : null,
    page,
  );
  for (const [name, link] of links) {
    if (name === (shown.hidden || shown.name)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${shown.title} \u2013 ${lens.title}`;
  if (moved) {
    window.scrollTo(0, 0);
    title.focus();
  }
  try {
    await shown.build(page, parameters);
  } catch (error) {
    console.error(error);
    page.append(h('p', { class: 'error', role: 'alert' }, error.message));
  }
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      page.dataset.ready = shown.name;
    }),
  ); // figures are drawn by then
}

function themeButton() {
  const dark = () =>
    (document.documentElement.dataset.theme ||
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const button = h('button', {
    type: 'button',
    class: 'small',
    on: {
      click: () => {
        document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
        tell();
      },
    },
  });
  const tell = () => lens.put(button, dark() ? 'Light' : 'Dark');
  tell();
  return button;
}

async function start() {
  const overview = await lens.source.overview();
  lens.isLanguageModel = overview.next_symbol;
  lens.title = `${lens.visible(overview.name)} \u2013 wfalens`;
  lens.views = lens.views.filter((each) => !each.absent?.(overview)); // a view without anything to show has no tab
  const items = lens.views
    .filter((each) => !each.hidden)
    .map((each) => {
      const link = h('a', { href: lens.link(each.name) }, each.title);
      links.set(each.name, link);
      return h('li', null, link);
    });
  document
    .getElementById('page')
    .replaceWith(
      h(
        'header',
        null,
        h(
          'div',
          { class: 'bar' },
          h(
            'div',
            { class: 'brand' },
            h('strong', null, 'wfalens'),
            h(
              'span',
              null,
              `${lens.visible(overview.name)} \u00b7 ${overview.kind} automaton, ${lens.whole(overview.summary.states)} states, ${overview.next_symbol ? lens.plural(overview.class_names.length - 1, 'symbol') : lens.plural(overview.summary.words, 'word')}`,
            ),
            themeButton(),
          ),
          h('nav', { 'aria-label': 'Views' }, h('ul', null, items)),
        ),
      ),
      view,
    );
  window.addEventListener('hashchange', () => show(true));
  show(false);
}

start().catch((error) =>
  document.getElementById('page').append(h('p', { class: 'error', role: 'alert' }, error.message)),
);
