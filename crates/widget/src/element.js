// The shell of the elements: `<script type="module" src="element.js"></script>` and the tags work.
//
// Rust cannot subclass HTMLElement, and the wasm is fetched only when the first tag nears the viewport, so what
// defines the tags is this file. It holds no readout and no verdict. The text inside a tag (its light DOM) is shown
// until the view is there, and again when anything fails, with one line that says what happened.
//
// Importing it without a browser does nothing: static site generators do that.

const TAGS = [
  'emq-fence',
  'emq-complete',
  'emq-retry',
  'emq-round-trip',
  'emq-race',
  'emq-rung',
];

/** How far from the viewport a tag may be when its load begins. */
const NEAR = '300px';

/** The wasm module, once per page: a promise while it loads. */
let instance;
/** A failed or trapped instance is not used again: a new one is a new module, which takes a new address. */
let starts = 0;

function load() {
  instance ??= start();
  return instance;
}

async function start() {
  const again = starts++;
  const module = again ? await import(`./echomq-widget.js?start=${again}`) : await import('./echomq-widget.js');
  await module.default();
  return module;
}

const Base = globalThis.HTMLElement ?? class {};

class Element extends Base {
  #root = this.attachShadow({ mode: 'open' });
  #mounted;
  #attributes;

  connectedCallback() {
    if (this.#mounted) return;
    this.#showText();
    if (!near) return void this.#run();
    near.observe(this);
  }

  disconnectedCallback() {
    near?.unobserve(this);
    // Moving an element within a page disconnects it for a moment only.
    queueMicrotask(() => this.isConnected || this.#unmount());
  }

  /** Called when the element nears the viewport. */
  approach() {
    near.unobserve(this);
    this.#run();
  }

  /** Called when the instance that this element's view runs in has failed. */
  fail(error) {
    // A dead instance cannot take its view down; leaving it is all there is.
    this.#attributes?.disconnect();
    this.#mounted = undefined;
    live.delete(this);
    this.#showText(error);
  }

  /** Called after a trap, once the static text stands: the view comes back in a new instance, and says so. */
  restart(error) {
    this.#run(`The engine was started again (${reason(error)}). The readout is at its start.`);
  }

  async #run(told) {
    try {
      const module = await load();
      if (!this.isConnected || this.#mounted) return;
      const sheets = [sheet('', () => module.base_style()), sheet(this.localName, (tag) => module.style(tag))];
      const into = document.createElement('div');
      this.#mounted = module.mount(this.localName, this, into);
      live.add(this);
      // The view reads the attributes, and follows them.
      this.#attributes = new MutationObserver(() => this.#mounted?.changed());
      this.#attributes.observe(this, { attributes: true });
      this.#root.adoptedStyleSheets = sheets;
      this.#root.replaceChildren(into, ...(told ? [line(told)] : []));
    } catch (error) {
      broken(error, this);
    }
  }

  #unmount() {
    this.#attributes?.disconnect();
    this.#mounted?.free();
    this.#mounted = undefined;
    live.delete(this);
    this.#showText();
  }

  /** The static text, and below it what went wrong, if anything did. */
  #showText(error) {
    this.#root.adoptedStyleSheets = [];
    this.#root.replaceChildren(document.createElement('slot'));
    if (!error) return;
    const note = line(`The live check did not run (${reason(error)}). What you see is the recorded text.`);
    const retry = document.createElement('button');
    retry.type = 'button';
    retry.part = 'retry';
    retry.textContent = 'Try again';
    retry.addEventListener('click', () => {
      this.#showText();
      this.#run();
    });
    note.append(retry);
    this.#root.append(note);
  }
}

/** A line that says what went wrong. */
function line(told) {
  const note = document.createElement('p');
  note.part = 'failure';
  note.setAttribute('role', 'status');
  const text = document.createElement('span');
  text.textContent = told;
  note.append(text);
  return note;
}

/** The style sheets by tag, and under '' the one that all elements share: made once, adopted by every shadow root. */
const sheets = new Map();

function sheet(tag, text) {
  if (!sheets.has(tag)) {
    const made = new CSSStyleSheet();
    made.replaceSync(text(tag));
    sheets.set(tag, made);
  }
  return sheets.get(tag);
}

/** The elements that have a view in the current instance. */
const live = new Set();

/** After an error the instance is not trusted: every element that used it shows its text again. */
function broken(error, ...more) {
  instance = undefined;
  for (const element of new Set([...live, ...more])) element.fail(error);
}

function reason(error) {
  if (!globalThis.WebAssembly) return 'this browser has no WebAssembly';
  if (error instanceof WebAssembly.CompileError && /content security|unsafe-eval|disallowed/i.test(error.message)) {
    return "this page's content security policy forbids WebAssembly; it needs 'wasm-unsafe-eval'";
  }
  if (error instanceof WebAssembly.CompileError) return 'this browser cannot run the engine: it lacks wasm exceptions';
  if (error instanceof WebAssembly.RuntimeError) return `the engine stopped: ${error.message}`;
  return `${error?.message ?? error}`;
}

let near;

if (globalThis.customElements) {
  if (globalThis.IntersectionObserver) {
    const seen = (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => entry.target.approach());
    near = new IntersectionObserver(seen, { rootMargin: NEAR });
  }
  // A trap in an event handler or a task of the view surfaces here and nowhere else.
  const trapped = (error) => {
    const views = [...live];
    if (!views.length || !(error instanceof (globalThis.WebAssembly?.RuntimeError ?? Error))) return;
    broken(error);
    for (const element of views) element.restart(error);
  };
  addEventListener('error', (event) => trapped(event.error));
  addEventListener('unhandledrejection', (event) => trapped(event.reason));
  for (const tag of TAGS) {
    if (!customElements.get(tag)) customElements.define(tag, class extends Element {});
  }
}
