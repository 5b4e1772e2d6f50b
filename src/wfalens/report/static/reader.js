// A sentence that is read word by word: the text, how far one is, and the ways to go on. Views draw what they hear.
const { h } = lens;
const STEP = 700; // milliseconds of play

class Reader {
  // onStep(found, at) is called when another word is the last one read, loaded(found, text) before it for a new text
  constructor({ onStep, loaded = () => {}, failed = () => {}, rows = 1 }) {
    Object.assign(this, { onStep, loaded, failed, found: null, at: 0, asked: 0, timer: null });
    const typed = lens.later(60, () => this.load(this.input.value, true));
    this.input = h('textarea', {
      class: 'bigtext',
      rows,
      maxlength: 10000,
      readonly: !lens.source.typing,
      placeholder: 'Type a sentence',
      on: {
        input: () => {
          this.fit();
          typed();
        },
      },
    });
    this.playing = h('button', { type: 'button', on: { click: () => this.toggle() } }, 'Play');
    this.where = h('span', { class: 'note' });
    this.buttons = h(
      'div',
      { class: 'steps' },
      h('button', { type: 'button', 'aria-label': 'One word back', on: { click: () => this.step(-1) } }, '\u2190'),
      this.playing,
      h('button', { type: 'button', 'aria-label': 'One word on', on: { click: () => this.step(1) } }, '\u2192'),
      this.where,
    );
  }

  // the box as high as its text
  fit() {
    const { style } = this.input;
    style.height = 'auto';
    if (this.input.scrollHeight) style.height = `${this.input.scrollHeight + 2}px`;
  }

  get words() {
    return this.found.words;
  }

  async load(text, typed = false) {
    const ticket = ++this.asked;
    this.stop();
    if (!typed) this.input.value = lens.source.typing ? text : lens.visible(text);
    if (!text && !lens.source.typing) return;
    try {
      const found = await lens.source.trace(text);
      if (ticket !== this.asked) return; // a later keystroke was quicker
      this.found = found;
      this.at = found.words.length;
      this.loaded(found, text);
      this.tell();
    } catch (error) {
      if (ticket === this.asked && error.name !== 'AbortError') this.failed(error);
    }
  }

  tell() {
    this.fit();
    lens.put(this.where, `word ${this.at} of ${this.words.length}`);
    this.onStep(this.found, this.at);
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.words.length, at));
    this.tell();
  }

  step(by) {
    if (this.found) {
      this.stop();
      this.go(this.at + by);
    }
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    lens.put(this.playing, 'Play');
  }

  toggle() {
    if (this.timer || !this.found) {
      this.stop();
      return;
    }
    if (this.at >= this.words.length) this.go(0);
    lens.put(this.playing, 'Pause');
    this.timer = setInterval(() => {
      if (!this.where.isConnected || this.at >= this.words.length) this.stop();
      else this.go(this.at + 1);
    }, STEP);
  }

  with(position, word) {
    return this.words
      .map((old, at) => (at === position ? word : old))
      .filter(Boolean)
      .join(' ');
  }

  replace(position, word) {
    this.load(this.with(position, word));
  }
}
lens.Reader = Reader;
