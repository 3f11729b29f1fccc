// A key that only ends or steers an input method, such as Esc while Japanese is composed, means nothing else to the page.

window.addEventListener('keydown', (event) => { if (event.isComposing) event.stopImmediatePropagation(); }, true);
