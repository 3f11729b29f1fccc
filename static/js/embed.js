// <scheduler-sandbox scenario="…">, lesson="…", figure="…" or src="…" in any page. No dependency.
(() => {
  const SOURCE = 'scheduler-sandbox';
  const VERSION = 1;
  const ROWS = {}; // the server puts the rows of sandbox/words/en/element.yaml here
  const say = (key, places = {}) => ROWS[key].replace(/\{(\w+)\}/g, (_, name) => places[name]);
  const home = new URL(document.currentScript?.src ?? document.querySelector('script[src*="/embed.js"]').src).origin;
  const KINDS = ['scenario', 'lesson', 'figure'];
  const PASSED = ['panels', 'at', 'tab', 'pod', 'node', 'plugin', 'theme', 'size', 'lang'];
  const FLAGS = ['steps', 'live'];
  const SILENT = 5000; // milliseconds until the first message of a loaded page
  const SLOW = 30000; // and of one that does not load
  const NEAR = '200px'; // it loads this far outside of the view

  class SchedulerSandbox extends HTMLElement {
    static observedAttributes = [...KINDS, 'src', ...PASSED, ...FLAGS, 'height', 'title'];

    #frame = null;
    #near = null;
    #waits = 0; // timer until the frame counts as silent
    #note = null;
    #heard = (event) => this.#hear(event);

    connectedCallback() {
      if (!this.style.display) this.style.display = 'block';
      addEventListener('message', this.#heard);
      this.#near = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) this.#open(); }, { rootMargin: NEAR });
      if (!this.style.minHeight) this.style.minHeight = this.#height ?? '20rem';
      this.#near.observe(this);
    }

    disconnectedCallback() {
      removeEventListener('message', this.#heard);
      clearTimeout(this.#waits);
      this.#near.disconnect();
      this.#frame?.remove();
      this.#frame = null;
    }

    attributeChangedCallback(name, before, now) {
      if (!this.#frame || before === now) return;
      if (name === 'height') this.#frame.style.height = this.#height ?? this.#frame.style.height;
      else if (name === 'title') this.#frame.title = this.#title;
      else this.#load();
    }

    /** Show the next moment; in a live sandbox that the address may change, run one stage. */
    step() { this.#say({ type: 'step' }); }

    back() { this.#say({ type: 'back' }); }

    /** `at`: a moment such as 12.40, or start, or end. */
    go(at) { this.#say({ type: 'go', at: String(at) }); }

    /** `what`: { pod, node, panel }. */
    show(what) { this.#say({ ...what, type: 'show' }); }

    /** A fixed height, as CSS or as pixels; null = that of its content. */
    get #height() {
      const height = this.getAttribute('height');
      return height && (/^\d+$/.test(height) ? `${height}px` : height);
    }

    get #title() {
      const about = this.getAttribute(this.#kind) ?? say('element.sandbox');
      return this.getAttribute('title') || say('element.title', { name: about.replaceAll('-', ' ') });
    }

    get #kind() { return KINDS.find((name) => this.hasAttribute(name)); }

    get #address() {
      const kind = this.#kind;
      const slug = kind && this.getAttribute(kind);
      const src = this.getAttribute('src');
      const url = new URL(slug ? `/embed/${kind}/${encodeURIComponent(slug)}/` : src ?? '/', src && !slug ? document.baseURI : home);
      if (!slug && /^\/s\/[^/]+\/[^/]+\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/embed/`;
      for (const name of PASSED) if (this.hasAttribute(name)) url.searchParams.set(name, this.getAttribute(name));
      for (const name of FLAGS) if (this.hasAttribute(name)) url.searchParams.set(name, this.getAttribute(name) === '0' ? '0' : '1');
      if (location.origin !== 'null') url.searchParams.set('origin', location.origin);
      return url.href;
    }

    #open() {
      if (this.#frame || ![...KINDS, 'src'].some((name) => this.hasAttribute(name))) return;
      this.#near.disconnect();
      const frame = document.createElement('iframe');
      frame.title = this.#title;
      frame.loading = 'lazy';
      frame.referrerPolicy = 'no-referrer';
      frame.style.cssText = `display:block;width:100%;border:0;color-scheme:normal;height:${this.#height ?? '24rem'}`;
      // A frame that the browser blocks fires load as well, but its page stays silent.
      frame.addEventListener('load', () => this.#wait(SILENT));
      this.#frame = frame;
      this.replaceChildren(frame);
      this.#load();
    }

    #load() {
      this.#speaks();
      this.#frame.src = this.#address;
      this.#wait(SLOW);
    }

    #wait(milliseconds) {
      clearTimeout(this.#waits);
      this.#waits = setTimeout(() => this.#explain(), milliseconds);
    }

    /** The frame has sent a message: show it instead of the note. */
    #speaks() {
      clearTimeout(this.#waits);
      this.#note?.remove();
      this.#note = null;
      this.#frame.style.display = 'block';
    }

    /** Show why the frame is silent, and what to do, in its place. */
    async #explain() {
      const site = new URL(this.#frame.src).origin;
      const answers = await fetch(`${site}/embed.js`, { mode: 'no-cors', cache: 'no-store', referrerPolicy: 'no-referrer' }).then(() => true, () => false);
      if (!this.#frame || this.#note) return;
      const note = document.createElement('p');
      note.setAttribute('role', 'status');
      note.style.cssText = 'margin:0;padding:1rem;border:1px solid;border-radius:4px;font:1rem/1.4 system-ui,sans-serif';
      note.textContent = answers
        ? say('element.refused', { site, origin: location.origin })
        : say('element.no-answer', { site });
      this.#note = note;
      this.#frame.style.display = 'none';
      this.append(note);
    }

    #say(message) {
      this.#frame?.contentWindow.postMessage({ source: SOURCE, version: VERSION, ...message }, new URL(this.#frame.src).origin);
    }

    #hear({ source, origin, data }) {
      if (!this.#frame || source !== this.#frame.contentWindow || origin !== new URL(this.#frame.src).origin) return;
      if (data?.source !== SOURCE || data.version !== VERSION) return;
      this.#speaks();
      const { source: from, version, type, ...detail } = data;
      if (type === 'resize' && !this.#height) {
        this.#frame.style.height = `${data.height}px`;
        this.style.minHeight = '';
      }
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
    }
  }

  if (!customElements.get('scheduler-sandbox')) customElements.define('scheduler-sandbox', SchedulerSandbox);
})();
