// A panel is updated by changing only what differs from its last version. What stays keeps its focus, its scrolling and what
// a person unfolded, and the browser lays out and paints only the rest.
//
// Two versions of the server are compared, never the page: scripts add marks and half-typed text to the page. Where the page
// has other nodes than the last version, they are replaced. Scripts mark their own nodes with data-own; these are left alone.

const held = new Map(); // id of a panel → its last version from the server

// The page itself came from the server, too: a choice made before the first update survives it.
for (const panel of document.querySelectorAll('section[id], [data-live]')) held.set(panel.id, panel.cloneNode(true));

/** Update the panel with the same id. `born` is called with every element that is new on the page. */
export function patch(panel, born) {
  const live = document.getElementById(panel.id);
  const before = held.get(panel.id);
  held.set(panel.id, panel);
  if (!live || before?.isEqualNode(panel) && !fetches(panel)) return;
  if (before && alike(before, panel) && !fetches(panel)) update(live, before, panel, born);
  else live.replaceWith(create(panel, born));
}

/** Update the content of an element, so that a click hits what it was aimed at. */
export function patchInside(place, html, born) {
  const panel = place.cloneNode(false);
  panel.innerHTML = html;
  patch(panel, born);
}

/** Return true if a panel is only a place that htmx will fill. */
const fetches = (panel) => panel.hasAttribute('hx-get');

function create(node, born) {
  const copy = document.importNode(node, true);
  if (copy.nodeType === Node.ELEMENT_NODE) born(copy);
  return copy;
}

/** Return what identifies a node among its siblings. */
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

/** Change classes one by one: scripts add their own. */
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
    live.replaceChildren(...is.map((node) => create(node, born)));
    return;
  }
  const left = new Map(); // key → places of old nodes, the first one last
  for (let place = was.length - end - 1; place >= start; place -= 1) {
    const key = keyOf(was[place]);
    if (left.has(key)) left.get(key).push(place);
    else left.set(key, [place]);
  }
  const wanted = is.slice(start, is.length - end).map((node) => {
    const place = left.get(keyOf(node))?.pop();
    if (place === undefined) return create(node, born);
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

/** Move a node; if the browser can, without losing its focus and scrolling. */
function put(parent, node, next) {
  if (node.isConnected && parent.moveBefore) parent.moveBefore(node, next);
  else parent.insertBefore(node, next);
}
