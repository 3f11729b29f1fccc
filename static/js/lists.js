// The open page and the order of each list, and the words that somebody looks for in it, as `name:value` items for the server.

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

const SOON_MS = 150; // a word is typed in several letters
const MOST_LETTERS = 63;
let due = 0;

/** Let the fields of long lists narrow them. The server does it: a list has more rows than the page. */
export function listenToFinders(app, page) {
  app.addEventListener('input', ({ target: { dataset: { find }, value } }) => {
    if (find === undefined) return;
    clearTimeout(due);
    due = setTimeout(() => {
      const words = new URLSearchParams({ find: value.trim().slice(0, MOST_LETTERS) }).toString().slice('find='.length);
      page.choose({ finds: put(page.view.finds, find, words), pages: put(page.view.pages, find, 0) });
    }, SOON_MS);
  });
  // Escape empties the field. It does not take away what is chosen.
  app.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && event.target.dataset.find !== undefined && event.target.value) event.stopPropagation();
  });
}
