// While a modal dialog is open, the rest of the page cannot be read or clicked: notices appear in the dialog. Those that
// report nothing wrong disappear after a while.

import { toast } from './no-answer.js';

const CALM_MS = 5000;

export function noticesInSight() {
  const notices = document.getElementById('notices');
  const home = notices.parentElement;
  const settle = () => {
    const box = document.querySelector('dialog:modal') ?? home;
    if (notices.parentElement !== box) box.append(notices);
  };
  new MutationObserver(settle).observe(document.body, { subtree: true, attributeFilter: ['open'] });
}

export function sayCalmly(words) {
  const notice = toast(words);
  notice.firstElementChild.classList.add('is-calm');
  notice.querySelector('.toast > .i').remove();
  document.getElementById('notice').replaceChildren(notice);
  calmDown();
}

/** Remove a calm notice after a while, but not while somebody points at it. */
function calmDown() {
  const calm = document.querySelector('#notice .toast.is-calm:not([data-going])');
  if (!calm) return;
  calm.dataset.going = '';
  const go = () => { if (calm.matches(':hover, :focus-within')) setTimeout(go, CALM_MS); else calm.remove(); };
  setTimeout(go, CALM_MS);
}

document.body.addEventListener('htmx:afterSwap', calmDown);
