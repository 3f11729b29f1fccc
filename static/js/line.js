// Live lines that notice when nothing comes through any more. A network that drops packets closes nothing: the browser
// itself would wait for minutes. As long as a page is in view and hears nothing, it asks for a sign of life.

import { reportNoAnswer } from './no-answer.js';

const QUIET_MS = 2500; // without a message, after which the page asks
const ANSWER_MS = 2000; // without an answer, after which it says that the connection is lost
const DEAD_MS = 5000; // after which it gives the line up as well
const OPENING_MS = 10000; // for a line to open; that it does not, the page says as early as if it had lost it
const PING = '{"ping":true}';
const PONG = '{"pong":true}';

// Codes with which the server closes a line.
export const NOT_FOUND = 4404;
export const TOO_OFTEN = 4429;
/** How long to wait before opening a line that was opened too often. */
export const whenAllowed = () => 10000 + Math.random() * 20000;

/**
 * A websocket that also closes when it is dead, as if by itself. `silent(true)` is called as soon as an answer is
 * missing, `silent(false)` when something comes after all, `dead()` when the line is given up.
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
    // A page that slept, or was busy itself, has not listened: it asks again.
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
    socket.close(); // which a dead line does not answer for long
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

  const seen = () => { if (!document.hidden && !timer && socket.readyState === WebSocket.OPEN) ask(); };
  document.addEventListener('visibilitychange', seen);
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
    document.removeEventListener('visibilitychange', seen);
  });
  socket.giveUp = giveUp;
  return socket;
}

// --- the line of a page with htmx ---------------------------------------------------------------------------------------

const HTMX_RETRIES = [1006, 1011, 1012, 1013];
const AT_ONCE_MS = 600; // a line that is back by then was not missed
const byId = (id) => document.getElementById(id);

/**
 * The line of this page. It is opened again whenever it is lost, and `#lost` says so meanwhile. `opened()` is called each
 * time; the document hears `line-back` when something comes through again. Posts that hang are given up with the line.
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
    if (code !== NOT_FOUND && !HTMX_RETRIES.includes(code)) {
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

// --- posts without an answer ----------------------------------------------------------------------------------------------

const posts = new Map(); // request under way → the element that made it

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
