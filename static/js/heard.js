// htmx sends an element the events of its request. If an update has replaced the element, the body gets them.

const ENDS = ['htmx:afterRequest', 'htmx:sendError', 'htmx:timeout'];
const DONE = 4;

const tell = (type, detail) => document.body.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, cancelable: true }));

document.addEventListener('htmx:beforeSend', ({ detail: { elt, target, xhr } }) => {
  const over = new AbortController();
  const { signal } = over;
  let there = true; // htmx itself handles elements that its answer removes
  xhr.addEventListener('readystatechange', () => { if (xhr.readyState === DONE) there = elt.isConnected; });
  xhr.addEventListener('loadend', () => over.abort());
  const mine = (event) => event.detail.xhr === xhr;
  for (const kind of ENDS) elt.addEventListener(kind, (event) => { if (!there && mine(event)) tell(kind, event.detail); }, { signal });
  target.addEventListener('htmx:beforeSwap', (event) => {
    if (target.isConnected || !mine(event)) return;
    event.detail.target = document.getElementById(target.id) ?? document.getElementById('notice');
    tell('htmx:beforeSwap', event.detail);
  }, { signal });
});
