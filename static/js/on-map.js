// A question is also answered on the page itself: a click on a node, a pod or a lane that is a choice names it.

import { say } from './words.js';

/** What choices are on the page → where. */
const PLACES = {
  node: '#panel-cluster :is(article, .tile)[data-node]',
  pod: '#panel-cluster .pod[data-pod]',
  queue: '#panel-queues .lane[data-queue]',
};
const OPENS = '.node-n, .lane ol, .pager'; // these do what they always do

/** Return the form of the open question and the place of its choices, null without one. */
function asked() {
  const form = document.querySelector('.p-lesson .les-q[data-thing]');
  return form && { form, key: form.dataset.thing, selector: PLACES[form.dataset.thing] };
}

const fields = (form) => [...form.querySelectorAll('[name="named"]')];
const isNamed = (form, choice) => fields(form).some((field) => field.value === choice && (field.checked || field.list));

function name(form, choice) {
  const [first] = fields(form);
  const field = first?.list ? first : fields(form).find(({ value }) => value === choice);
  if (!field) return false;
  if (field.list) field.value = field.value === choice ? '' : choice;
  else field.checked = field.type === 'radio' || !field.checked;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
  document.getElementById('lesson-points').textContent = say(isNamed(form, choice) ? 'script.named' : 'script.not-named', { choice });
  return true;
}

/** Show on the page what is named in the form. */
export function markNamed() {
  const open = asked();
  const named = open ? [...document.querySelectorAll(open.selector)].filter((thing) => isNamed(open.form, thing.dataset[open.key])) : [];
  for (const thing of document.querySelectorAll('.is-named')) if (!named.includes(thing)) thing.classList.remove('is-named');
  for (const thing of named) thing.classList.add('is-named');
}

/** Listen before the page's own table of clicks, which would choose the thing. */
export function answerOnMap() {
  document.addEventListener('click', (event) => {
    const open = asked();
    const thing = open && !event.target.closest(OPENS) && event.target.closest(open.selector);
    if (!thing || !name(open.form, thing.dataset[open.key])) return;
    event.preventDefault();
    event.stopPropagation();
    markNamed();
  }, true);
  document.addEventListener('change', ({ target }) => { if (target.closest?.('.les-q')) markNamed(); });
}
