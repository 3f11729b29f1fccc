// A form shows what went wrong with its own request, and keeps what was typed. If the form is no longer in sight (its drawer
// was closed, its row has gone), a notice shows it.

import './heard.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);
// Status → words, if not those of any other refusal. A proxy does not know what the site did.
const WORDS = { 404: 'script.missing', 502: 'script.away', 504: 'script.away' };

/** Return true if an element is in sight. In a room nothing closes while it waits for an answer. */
const inSight = (element) => Boolean(element?.isConnected && (element.checkVisibility() || !byId('bench')));

/** Return the place where a form shows errors. */
export const placeOf = (form) => (inSight(form) && form.querySelector('[data-refusal]')) || byId('notice');

/** Return the notice of a missing answer. It disappears as soon as the server answers anything. */
export const noAnswer = () => byId('no-answer').content.cloneNode(true);

/** Return a notice that stays until it is dismissed. */
export function toast(words) {
  const notice = noAnswer();
  delete notice.firstElementChild.dataset.noAnswer;
  if (words) notice.querySelector('p').textContent = words;
  return notice;
}

export function fragment(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}

/** Return the refusal in an answer. What a proxy or a busy server writes itself is not shown. */
export function refusal({ status, responseText }) {
  if (responseText.includes('data-notice')) return fragment(responseText);
  return toast(say(WORDS[status] ?? 'script.refused', { status }));
}

/** Add a button to a refusal that returns to its form, if the form is not in sight. */
export function withWayBack(content, element) {
  const box = element?.closest?.('dialog');
  if (!box || inSight(element)) return content;
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'btn btn-line way-back', textContent: say('script.return-to-form') });
  Object.assign(button.dataset, { do: 'back-to', box: box.id, form: element.closest('form')?.id ?? '' });
  const frame = content.querySelector('.toast');
  delete frame?.dataset.noAnswer; // It stays until somebody returns.
  frame?.querySelector('div').append(button);
  return content;
}

/** Show content in the form of an element, or as a notice. */
export const report = (element, content) => placeOf(element?.closest?.('form')).replaceChildren(withWayBack(content, element));

export const reportNoAnswer = (element) => report(element, noAnswer());

for (const kind of ['htmx:sendError', 'htmx:timeout']) document.addEventListener(kind, ({ detail }) => reportNoAnswer(detail.elt));
document.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => {
  if (!xhr?.status) return;
  for (const notice of document.querySelectorAll('[data-no-answer]')) notice.remove();
});
