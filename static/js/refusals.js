// A form shows the server's refusal until it is sent again or edited. Nothing typed is lost.

import { fragment, placeOf, refusal } from './no-answer.js';

const FIELD = 'data-refused';

const formOf = (element) => element.closest?.('form') ?? null;

function clear(form) {
  if (!form?.querySelector('[data-refusal]')?.hasChildNodes()) return;
  placeOf(form).replaceChildren();
  for (const field of form.querySelectorAll(`[${FIELD}]`)) {
    for (const name of [FIELD, 'aria-invalid', 'aria-describedby']) field.removeAttribute(name);
  }
}

/** Show a refusal in its form, and tie it to its fields. */
function show(element, content) {
  const form = formOf(element);
  const place = placeOf(form);
  place.id ||= `refusal-${[...document.querySelectorAll('[data-refusal]')].indexOf(place)}`;
  place.replaceChildren(content);
  for (const item of place.querySelectorAll('[data-field]')) {
    const field = form?.elements[item.dataset.field];
    if (!(field instanceof HTMLElement)) continue;
    field.setAttribute(FIELD, '');
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', place.id);
  }
}

document.body.addEventListener('htmx:beforeSwap', ({ detail }) => {
  if (detail.xhr.status < 400) return;
  // The server returns some forms whole, with what was typed and its errors.
  const whole = detail.requestConfig.elt.closest('[hx-select]')?.getAttribute('hx-select');
  if (whole && !detail.xhr.responseText.includes('data-notice')) {
    const again = { target: document.querySelector(whole), swapOverride: 'outerHTML', selectOverride: whole };
    if (fragment(detail.xhr.responseText).querySelector(whole)) return Object.assign(detail, { ...again, shouldSwap: true, isError: true });
  }
  Object.assign(detail, { shouldSwap: false, isError: true });
  show(detail.requestConfig.elt, refusal(detail.xhr));
});
document.body.addEventListener('htmx:beforeRequest', ({ detail }) => clear(formOf(detail.elt)));
for (const kind of ['input', 'change']) document.body.addEventListener(kind, ({ target }) => clear(formOf(target)));
document.body.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-do="dismiss"]');
  if (!button) return;
  const form = formOf(button);
  if (form) clear(form);
  else button.closest('.toast').remove();
});
