// Live lines that notice when they are dead. A network that drops packets closes nothing, and the browser itself would wait
// for minutes. So a page in view that receives nothing asks for a sign of life.

import { reportNoAnswer } from './no-answer.js';
import { say } from './words.js';

const QUIET_MS = 2500; // without a message until the page asks
const ANSWER_MS = 2000; // without an answer until it reports a lost connection
const DEAD_MS = 5000; // from then until it closes the line
const OPENING_MS = 10000; // for a line to open
const PING = '{"ping":true}';
const PONG = '{"pong":true}';

export const NOT_FOUND = 4404;
export const TOO_OFTEN = 4429;
/** Return how long to wait before opening a line that was opened too often. */
export const whenAllowed = () => 10000 + Math.random() * 20000;

/**
 * Return a websocket that also closes when it is dead. `silent(true)` is called when an answer is missing, `silent(false)`
 * when something arrives after all, `dead()` when the line is closed.
 */
export function connect(url, { silent, dead = () => {} }) {
  const socket = new WebSocket(url);
  let heard = 0;
  let asked = 0;
  let missing = false;
  let over = false;
  let timer = setTimeout(() => { miss(); next(die, OPENING_MS - QUIET_MS - ANSWER_MS); }, QUIET_MS + ANSWER_MS);

  function next(act, ms) {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
  }

  function ask() {
    timer = 0;
    if (document.hidden || over) return;
    const quiet = Date.now() - heard;
    if (quiet < QUIET_MS) return next(ask, QUIET_MS - quiet);
    asked = Date.now();
    socket.send(PING);
    next(judge, ANSWER_MS);
  }

  function judge() {
    // A page that slept or was busy has not listened: it asks again.
    if (heard >= asked || Date.now() - asked > ANSWER_MS * 1.5) return ask();
    miss();
    next(() => { if (heard >= asked) ask(); else die(); }, DEAD_MS);
  }

  function miss() {
    missing = true;
    silent(true);
  }

  function giveUp() {
    const end = new CloseEvent('close', { code: 1006 });
    socket.onerror = null;
    socket.dispatchEvent(end);
    socket.close(); // a dead line takes long to answer this
  }

  function die() {
    giveUp();
    dead();
  }

  function hear() {
    heard = Date.now();
    if (missing) silent(false);
    missing = false;
  }

  const askInView = () => { if (!document.hidden && !timer && socket.readyState === WebSocket.OPEN) ask(); };
  document.addEventListener('visibilitychange', askInView);
  socket.addEventListener('open', (event) => {
    if (over) return event.stopImmediatePropagation();
    hear();
    next(ask, QUIET_MS);
  });
  socket.addEventListener('message', (event) => {
    if (over) return event.stopImmediatePropagation();
    hear();
    if (event.data === PONG) event.stopImmediatePropagation();
  });
  socket.addEventListener('close', (event) => {
    if (over) return event.stopImmediatePropagation();
    over = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', askInView);
  });
  socket.giveUp = giveUp;
  return socket;
}

const HTMX_RETRIES = [1006, 1011, 1012, 1013];
const AT_ONCE_MS = 600; // nobody misses a line for so long
const byId = (id) => document.getElementById(id);

/**
 * Keep the line of this page open. While it is lost, or if its link no longer works, `#lost` says so. `opened()` is called each time it opens; the document
 * gets the event `line-back` when something arrives again. Posts that hang are aborted with a dead line.
 */
export function keepLine(htmx, opened) {
  const lost = byId('lost');
  let line = null;
  let wrapper = null;
  let open = false;
  let late = 0;
  let mute = false; // an answer is missing
  const back = () => document.dispatchEvent(new CustomEvent('line-back'));
  const silent = (yes) => { mute = yes; lost.hidden = !yes; if (!yes) back(); };
  htmx.createWebSocket = (url) => {
    line = connect(url, { silent, dead: () => giveUpPosts(htmx) });
    return line;
  };
  htmx.config.timeout = Number(document.querySelector('[data-patience]').dataset.patience);
  htmx.config.wsReconnectDelay = (tries) => Math.random() * Math.min(500 * 2 ** tries, 5000);
  document.body.addEventListener('htmx:wsOpen', ({ detail }) => {
    clearTimeout(late);
    lost.hidden = true;
    wrapper = detail.socketWrapper;
    open = true;
    mute = false;
    opened();
    back();
  });
  document.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => { if (xhr?.status && open && !mute) lost.hidden = true; });
  document.body.addEventListener('htmx:wsClose', ({ detail: { event: { code }, socketWrapper } }) => {
    open = false;
    if (code === NOT_FOUND) (lost.querySelector('span') ?? lost).textContent = say('script.gone');
    else if (!HTMX_RETRIES.includes(code)) {
      setTimeout(() => { if (!open) socketWrapper.reconnect(); }, code === TOO_OFTEN ? whenAllowed() : 1500);
    }
    clearTimeout(late);
    late = setTimeout(() => { lost.hidden = false; }, AT_ONCE_MS);
  });
  return {
    send: (text) => wrapper?.send(text),
    reconnect: () => line.giveUp(),
  };
}

const posts = new Map(); // running request → its element

function giveUpPosts(htmx) {
  for (const [xhr, element] of posts) {
    posts.delete(xhr);
    htmx.trigger(element, 'htmx:abort');
    reportNoAnswer(element);
  }
}

document.addEventListener('htmx:beforeSend', ({ detail: { xhr, requestConfig, elt } }) => {
  if (requestConfig.verb === 'post') posts.set(xhr, elt);
});
document.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => posts.delete(xhr));
for (const kind of ['htmx:sendError', 'htmx:timeout']) document.addEventListener(kind, () => { byId('lost').hidden = false; });
