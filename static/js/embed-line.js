// The live line of an embed. It only reports that something is new; the page then asks for it.

import { connect, NOT_FOUND, TOO_OFTEN, whenAllowed } from './line.js';
import { say } from './words.js';

const LOST = say('script.embed-lost');
let tries = 0;

/** Keep a line open. `note(text)` shows a sentence, `changed()` is called when something is new. */
export function followLine(path, note, changed) {
  const silent = (yes) => note(yes ? LOST : '');
  const socket = connect(new URL(path, location.href.replace(/^http/, 'ws')), { silent });
  socket.addEventListener('open', () => {
    tries = 0;
    if (document.getElementById('em-note').textContent === LOST) note('');
    socket.send(JSON.stringify({ open: 'status' }));
  });
  // The first message counts, too: something may have happened while there was no line.
  socket.addEventListener('message', ({ data }) => { if (!data.startsWith('{')) changed(); });
  socket.addEventListener('close', ({ code }) => {
    if (code === NOT_FOUND) return note(say('script.embed-gone'));
    if (tries) note(LOST);
    tries += 1;
    setTimeout(() => followLine(path, note, changed), code === TOO_OFTEN ? whenAllowed() : Math.random() * Math.min(500 * 2 ** tries, 10000) + 500);
  });
}
