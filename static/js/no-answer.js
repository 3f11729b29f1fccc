// A post without an answer is told of at the form that asked, which keeps what was typed; else as a notice.

import './heard.js';

const byId = (id) => document.getElementById(id);

/** Where a form says what is wrong with what it sent; one that has gone says it no more. */
export const placeOf = (form) => (form?.isConnected && form.querySelector('[data-refusal]')) || byId('notice');

/** The sentence, which goes as soon as the server answers anything. */
export const noAnswer = () => byId('no-answer').content.cloneNode(true);

/** The same in a frame that stays until it is dismissed. */
export function toast() {
  const made = noAnswer();
  delete made.firstElementChild.dataset.noAnswer;
  return made;
}

export const sayNoAnswer = (element) => placeOf(element.closest?.('form')).replaceChildren(noAnswer());

for (const kind of ['htmx:sendError', 'htmx:timeout']) document.addEventListener(kind, ({ detail }) => sayNoAnswer(detail.elt));
document.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => {
  if (!xhr?.status) return;
  for (const said of document.querySelectorAll('[data-no-answer]')) said.remove();
});
