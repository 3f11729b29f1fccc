// Keys for an input method, such as Esc while composing Japanese, do nothing else on the page.

window.addEventListener('keydown', (event) => { if (event.isComposing) event.stopImmediatePropagation(); }, true);
