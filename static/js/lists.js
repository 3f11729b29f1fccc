// The open page and the order of each list, as `name:value` items for the server.

const MOST = 16; // the server reads no more; the oldest return to their first page

let turned = '';

/** Scroll to the top of a list after its next update. */
export const turn = (name) => { turned = name; };

/** Call this after every update. */
export function settleTurn() {
  const nav = turned && document.querySelector(`.pager:has([data-list="${CSS.escape(turned)}"])`);
  turned = '';
  const list = nav?.previousElementSibling;
  const scroll = list?.closest('.scroll');
  if (scroll && list.getBoundingClientRect().top < scroll.getBoundingClientRect().top) list.scrollIntoView({ block: 'start' });
}

/** Return the items with a new value of a list at the end; without it for the default. */
export function put(items, name, value) {
  const held = new Map(items.split(' ').filter(Boolean).map((item) => item.split(':')));
  held.delete(name);
  if (value) held.set(name, value);
  return [...held].slice(-MOST).map((item) => item.join(':')).join(' ');
}
