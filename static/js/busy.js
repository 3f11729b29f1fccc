// A form in a dialog or a drawer waits while it is sent, or replaced after a choice in it: the answer would remove what is
// typed meanwhile. It shows that it waits.

const FREE = ['Tab', 'Escape'];

document.addEventListener('htmx:beforeSend', ({ target, detail: { xhr, requestConfig: { verb }, target: place } }) => {
  const takesAway = verb !== 'get' || place.contains(target);
  const box = takesAway && target.matches('form, select') && target.closest('dialog');
  if (!box) return;
  box.setAttribute('aria-busy', 'true');
  xhr.addEventListener('loadend', () => box.removeAttribute('aria-busy'));
});
for (const name of ['keydown', 'beforeinput', 'pointerdown', 'mousedown', 'click', 'paste', 'drop']) {
  document.addEventListener(name, (event) => {
    if (!event.target.closest?.('dialog[aria-busy]') || FREE.includes(event.key) || event.target.closest('[data-close], #notices')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
}
