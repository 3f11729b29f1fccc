// A page that waits for its answer says so if the server does not answer, and asks again if somebody comes back to it.

const asking = () => document.getElementById('asking');

document.addEventListener('htmx:sendError', ({ detail: { elt } }) => {
  if (elt === asking()) elt.replaceChildren(document.getElementById('lost').content.cloneNode(true));
});
// The part that the address names is there only now.
document.addEventListener('htmx:afterSettle', ({ detail: { elt } }) => {
  if (elt.id === 'answer' && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
});
addEventListener('pageshow', ({ persisted }) => { if (persisted && asking()) location.reload(); });
