// Hover or focus lights every mark of the same pod, node or plugin.

const KEYS = ['pod', 'node', 'plugin'];
let lit = [];
let pins = ''; // nodes that a clicked phrase pins

export const pinned = () => pins;

export const pin = (nodes) => { pins = pins === nodes ? '' : nodes; };

/** Light every mark of the named things, except the one under the pointer. */
function light(names = {}, from = null) {
  for (const marked of lit) marked.classList.remove('is-linked');
  lit = [];
  document.dispatchEvent(new CustomEvent('node-lit', { detail: names.node }));
  for (const key of KEYS) {
    if (!names[key]) continue;
    const marks = `[data-${key}="${CSS.escape(names[key])}"]`;
    for (const other of document.querySelectorAll(marks)) {
      if (other.contains(from) || other.id === 'app') continue;
      if (other.parentElement.closest(marks)) continue; // The outer mark is enough.
      other.classList.add('is-linked');
      lit.push(other);
    }
  }
}

export function link(root) {
  const from = ({ target }) => {
    if (target.closest?.('#heat-map')) return; // it reports the node under the pointer itself
    const nearest = target.closest?.('[data-pod], [data-node], [data-plugin]');
    light(nearest?.dataset, nearest);
  };
  root.addEventListener('pointerover', from);
  root.addEventListener('pointerleave', () => light());
  root.addEventListener('focusin', from);
  root.addEventListener('focusout', () => light());
  document.addEventListener('node-pointed', ({ detail }) => light({ node: detail }));
}

/** Mark what is chosen and what is pinned. Call this after every update. */
export function mark(view) {
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
