// Messages between an embed and the page around it. `docs/embed.d.ts` describes them.
//
// It accepts only messages of the window around it, and, if origins are named, only from these. No message contains the
// address of the sandbox, which is the key to it.

const SOURCE = 'scheduler-sandbox';
const VERSION = 1;
const origins = (document.getElementById('app')?.dataset.origins ?? '').split(' ').filter(Boolean); // A figure has no secret, and names none.
const target = origins.length === 1 ? origins[0] : '*';

/** Types of messages to the page around it. */
export const SENT = ['ready', 'moment', 'facts', 'refused', 'resize'];
/** Types of messages from it. */
export const ACCEPTED = ['step', 'back', 'go', 'show'];

export function tell(type, more) {
  if (window.parent === window || !SENT.includes(type)) return;
  window.parent.postMessage({ source: SOURCE, version: VERSION, type, ...more }, target);
}

/** Tell how tall these parts are together, whenever that changes. Return what observes them. */
export function tellHeight(parts) {
  let last = 0;
  const sizes = new ResizeObserver(() => {
    const height = Math.ceil(parts.reduce((sum, part) => sum + part.getBoundingClientRect().height, 0)) + 2;
    if (height !== last) tell('resize', { height });
    last = height;
  });
  for (const part of parts) sizes.observe(part);
  return sizes;
}

/** `acts`: type of a message → function that takes it. */
export function listen(acts) {
  addEventListener('message', (event) => {
    if (window.parent === window || event.source !== window.parent) return;
    if (origins.length && !origins.includes(event.origin)) return;
    const { data } = event;
    if (data?.source !== SOURCE || data.version !== VERSION || !ACCEPTED.includes(data.type)) return;
    acts[data.type](data);
  });
}
