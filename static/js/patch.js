// A new version of a panel is put in place by changing only what it says otherwise than the version before: what stays
// keeps its focus, its scrolling and what a person unfolded, and the browser lays out and paints the rest alone.
//
// What is compared is what the server said then and says now, never the page: the page also has what the browser itself
// put there, such as marks and half-typed text. Where the page has other nodes than the version before, it is replaced;
// what is marked with data-own the page has put there, and nothing else is compared with it.

const held = new Map(); // id of a panel → it as the server sent it last, apart from the page

// What came with the page was sent by the server as well: a choice that is made before the first update outlives it.
for (const panel of document.querySelectorAll('section[id], [data-live]')) held.set(panel.id, panel.cloneNode(true));

/** Put a panel in the place of the one with its id. `born` is told of every element that is new on the page. */
export function patch(panel, born) {
  const live = document.getElementById(panel.id);
  const before = held.get(panel.id);
  held.set(panel.id, panel);
  if (!live || before?.isEqualNode(panel) && !fetches(panel)) return;
  if (before && alike(before, panel) && !fetches(panel)) update(live, before, panel, born);
  else live.replaceWith(made(panel, born));
}

/** What a person asks for anew while choosing is patched as well: a click meets what it was aimed at. Empties it, too. */
export function patchInside(place, html, born) {
  const panel = place.cloneNode(false);
  panel.innerHTML = html;
  patch(panel, born);
}

/** Whether it is only a place, for which htmx asks. */
const fetches = (panel) => panel.hasAttribute('hx-get');

function made(node, born) {
  const copy = document.importNode(node, true);
  if (copy.nodeType === Node.ELEMENT_NODE) born(copy);
  return copy;
}

/** By what a node is known among its siblings, whatever else is said of it. */
function keyOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
  const { whose, node: name, pod } = node.dataset;
  return [node.nodeName, node.id || name || pod || node.firstElementChild?.id, whose].join();
}

const alike = (one, other) => keyOf(one) === keyOf(other);

function update(live, before, after, born) {
  if (before.isEqualNode(after)) return;
  if (after.nodeType !== Node.ELEMENT_NODE) {
    live.data = after.data;
    return;
  }
  attributes(live, before, after, born);
  children(live, before, after, born);
}

function attributes(live, before, after, born) {
  let asks = false;
  for (const { name, value } of after.attributes) {
    if (before.getAttribute(name) === value) continue;
    if (name === 'class') classes(live, before, after);
    else live.setAttribute(name, value);
    asks ||= name.startsWith('hx-');
  }
  for (const { name } of before.attributes) {
    if (after.hasAttribute(name)) continue;
    if (name === 'class') classes(live, before, after);
    else live.removeAttribute(name);
    asks ||= name.startsWith('hx-');
  }
  if (asks) born(live);
}

/** The browser has classes of its own there. */
function classes(live, before, after) {
  for (const name of before.classList) if (!after.classList.contains(name)) live.classList.remove(name);
  live.classList.add(...after.classList);
}

function children(live, before, after, born) {
  const was = [...before.childNodes];
  const is = [...after.childNodes];
  let start = 0;
  while (start < was.length && start < is.length && was[start].isEqualNode(is[start])) start += 1;
  let end = 0;
  while (end < Math.min(was.length, is.length) - start && was.at(-1 - end).isEqualNode(is.at(-1 - end))) end += 1;
  if (start + end === was.length && was.length === is.length) return;
  const here = [...live.childNodes].filter((node) => !isOwn(node));
  if (here.length !== was.length || here.some((node, place) => node.nodeName !== was[place].nodeName)) {
    live.replaceChildren(...is.map((node) => made(node, born)));
    return;
  }
  const left = new Map(); // key → places of nodes that were there, the first one last
  for (let place = was.length - end - 1; place >= start; place -= 1) {
    const key = keyOf(was[place]);
    if (left.has(key)) left.get(key).push(place);
    else left.set(key, [place]);
  }
  const wanted = is.slice(start, is.length - end).map((node) => {
    const place = left.get(keyOf(node))?.pop();
    if (place === undefined) return made(node, born);
    update(here[place], was[place], node, born);
    return here[place];
  });
  for (const place of [...left.values()].flat()) here[place].remove();
  let next = here[was.length - end] ?? null;
  for (const node of wanted.reverse()) {
    if (following(node) !== next || node.parentNode !== live) put(live, node, next);
    next = node;
  }
}

const isOwn = (node) => node.dataset?.own !== undefined;

function following(node) {
  let next = node.nextSibling;
  while (next && isOwn(next)) next = next.nextSibling;
  return next;
}

/** Where the browser can, without the node losing its focus and its scrolling. */
function put(parent, node, next) {
  if (node.isConnected && parent.moveBefore) parent.moveBefore(node, next);
  else parent.insertBefore(node, next);
}
