// Which page of which list is looked at, and in which order it stands: `name:value` items, as the server reads them.

const MOST = 16; // the server reads no more; the ones turned first start from the beginning again

let turned = '';

/** A page has been asked for: once it is there, it is read from its top. */
export function turn(name) {
  turned = name;
}

/** Called after every update. */
export function settleTurn() {
  const nav = turned && document.querySelector(`.pager:has([data-list="${CSS.escape(turned)}"])`);
  turned = '';
  const list = nav?.previousElementSibling;
  const scroll = list?.closest('.scroll');
  if (scroll && list.getBoundingClientRect().top < scroll.getBoundingClientRect().top) list.scrollIntoView({ block: 'start' });
}

/** The items with a list's value put last, or without it when it is the usual one. */
export function put(items, name, value) {
  const held = new Map(items.split(' ').filter(Boolean).map((item) => item.split(':')));
  held.delete(name);
  if (value) held.set(name, value);
  return [...held].slice(-MOST).map((item) => item.join(':')).join(' ');
}
