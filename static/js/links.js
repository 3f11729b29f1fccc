// One thing is one thing everywhere: hover or focus lights every mark of the same pod, node or plugin.

const KEYS = ['pod', 'node', 'plugin'];
let lit = [];

function put(on, element) {
  for (const marked of lit) marked.classList.remove('is-linked');
  lit = [];
  document.dispatchEvent(new CustomEvent('node-lit', { detail: on ? element?.dataset.node : undefined }));
  if (!on || !element) return;
  for (const key of KEYS) {
    const name = element.dataset[key];
    if (!name) continue;
    for (const other of document.querySelectorAll(`[data-${key}="${CSS.escape(name)}"]`)) {
      if (other === element || other.contains(element) || other.id === 'app') continue;
      if (other.parentElement.closest(`[data-${key}="${CSS.escape(name)}"]`)) continue; // The outer mark says it for all within.
      other.classList.add('is-linked');
      lit.push(other);
    }
  }
}

export function link(root) {
  const nearest = (target) => target.closest?.('[data-pod], [data-node], [data-plugin]');
  root.addEventListener('pointerover', (event) => put(true, nearest(event.target)));
  root.addEventListener('pointerleave', () => put(false));
  root.addEventListener('focusin', (event) => put(true, nearest(event.target)));
  root.addEventListener('focusout', () => put(false));
}

/** Mark what is chosen in the inspector and what a clicked phrase pins; called after every update. */
export function mark(view, pins) {
  const all = (selector) => document.querySelectorAll(selector);
  for (const marked of all('.is-chosen:not(.cyc), .is-pinned')) marked.classList.remove('is-chosen', 'is-pinned');
  const choose = (selector, name) => {
    for (const element of all(`:is(${selector})`)) element.classList.add(name);
  };
  if (view.node) choose(`[data-node="${CSS.escape(view.node)}"]`, 'is-chosen');
  if (view.pod) choose(`.q[data-pod="${CSS.escape(view.pod)}"], .pod[data-pod="${CSS.escape(view.pod)}"]`, 'is-chosen');
  for (const name of pins ? pins.split(' ') : []) choose(`[data-node="${CSS.escape(name)}"]`, 'is-pinned');
  for (const phrase of all('[data-nodes]')) phrase.setAttribute('aria-pressed', String(Boolean(pins) && phrase.dataset.nodes === pins));
}
