// The heat map of large clusters: one cell per node, drawn by Plotly over the free fields of the zones. The drawing moves
// into the new panel of an update. It is drawn again only while it is in view, and if something has changed.

import { drawAlways, grey, numbers, plotly, token } from './charts.js';
import { names, runs } from './runs.js';

const byId = (id) => document.getElementById(id);
const LARGEST = 22; // side of a cell in pixels, including its gap
const SMALLEST = 6;
const SMALLEST_TO_TOUCH = 10;
const KINDS = ['none', 'ok', 'no', 'hard', 'out'];
const MARKS = ['leaving', 'start', 'nominated', 'best', 'pinned', 'chosen', 'lit', 'cursor']; // later ones are painted over the others
/** Kind of cell → the path of its sign in the square from 0 to 1, as in templates/fragments/cluster_heat.html. */
const SIGNS = {
  no: [['M', 0.28, 0.28], ['L', 0.72, 0.72], ['M', 0.72, 0.28], ['L', 0.28, 0.72]],
  hard: [['M', 0.34, 0.34], ['L', 0.66, 0.34], ['L', 0.66, 0.66], ['L', 0.34, 0.66], ['Z']],
  out: [['M', 0.28, 0.72], ['L', 0.72, 0.28]],
};
const app = byId('app');
const div = document.createElement('div'); // what Plotly draws in
div.className = 'heat-plot';
const marks = { cursor: [], lit: [], chosen: [], pinned: [] }; // kind → nodes; the server does not know these marks
let read = { text: '', map: null };
let size = null; // { side, across: cells in a row of each zone, width: of each zone }
let drawn = '';
let here = ''; // the node at which the keys are
let newest = ''; // the marks last brought into view

/** Return the server's data of the map on the page, null if there is none. */
function theMap() {
  const text = byId('heat-data')?.textContent ?? '';
  if (text !== read.text) read = { text, map: text ? unpack(JSON.parse(text)) : null };
  return read.map;
}

function unpack(map) {
  const at = new Map();
  const zones = map.zones.map((zone, z) => {
    const nodes = names(zone.names);
    nodes.forEach((name, i) => at.set(name, { z, i }));
    return { title: zone.title, nodes, places: runs(zone.places), said: runs(zone.said), values: zone.values === undefined ? null : runs(zone.values) };
  });
  return { ...map, zones, at };
}

const rooms = () => [...document.querySelectorAll('#scroll-cluster .heat-room')];

/** Return the largest cells that keep all zones in view; the smallest ones if none do. */
function fit(map) {
  const scroll = byId('scroll-cluster');
  const boxes = rooms().map((room) => ({ width: room.clientWidth, top: room.offsetTop, height: room.offsetHeight }));
  const lines = Map.groupBy(boxes.map((box, z) => ({ ...box, z })), (box) => box.top);
  const taken = [...lines.values()].reduce((sum, line) => sum + Math.max(...line.map((box) => box.height)), 0);
  const content = byId('heat-map').offsetHeight;
  const free = scroll.clientHeight - (content - taken);
  const smallest = matchMedia('(pointer: coarse)').matches ? SMALLEST_TO_TOUCH : SMALLEST;
  const rowsOf = (z, side) => Math.ceil(map.zones[z].nodes.length / Math.max(1, Math.floor(boxes[z].width / side)));
  let side = LARGEST;
  while (side > smallest) {
    const high = [...lines.values()].reduce((sum, line) => sum + side * Math.max(...line.map(({ z }) => rowsOf(z, side))), 0);
    if (high <= free) break;
    side -= 1;
  }
  return { side, across: boxes.map((box) => Math.max(1, Math.floor(box.width / side))) };
}

function reserve(map) {
  rooms().forEach((room, z) => { room.style.height = `${Math.ceil(map.zones[z].nodes.length / size.across[z]) * size.side}px`; });
}

function boxOf(map, { z, i }, boxes) {
  const { side, across } = size;
  return { x: boxes[z].left + (i % across[z]) * side, y: boxes[z].top + Math.floor(i / across[z]) * side };
}

const corners = () => rooms().map((room) => ({ left: room.offsetLeft, top: room.offsetTop }));

/** Return the look of a cell: that of its sign in the legend, so the stylesheet defines it once. */
function look(kind) {
  const sign = document.querySelector(`#panel-cluster .hk.is-${kind}`);
  if (!sign) return null;
  const path = sign.querySelector('path');
  const { stroke, fill } = path ? getComputedStyle(path) : {};
  return { cell: getComputedStyle(sign.querySelector('rect')).fill, stroke, fill };
}

function colours(map) {
  const ink = numbers('--ink');
  const surface = numbers('--surface');
  const empty = grey(0.04, ink, surface);
  if (map.zones.some((zone) => zone.values)) return [[0, empty], [0.01, empty], [0.01, grey(0.1, ink, surface)], [1, grey(0.8, ink, surface)]];
  const step = 1 / KINDS.length;
  return KINDS.flatMap((kind, k) => [[k * step, look(kind)?.cell ?? empty], [(k + 1) * step, look(kind)?.cell ?? empty]]);
}

/** Return the colour of a cell as a number from 0 to 1. */
function heatOf(map, zone, i) {
  if (!zone.values) return (KINDS.indexOf(map.said[zone.said[i]][0]) + 0.5) / KINDS.length;
  const value = zone.values[i];
  return value === null || value === undefined ? 0 : 0.02 + 0.98 * (map.high > map.low ? (value - map.low) / (map.high - map.low) : 1);
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function noteOf(map, zone, i) {
  const value = zone.values?.[i];
  const place = zone.places[i] === null ? '' : `, ${map.place} ${zone.places[i]}`;
  const number = map.title && value !== null && value !== undefined ? `${value}${map.unit} ${map.title}` : '';
  return [zone.nodes[i], `${zone.title}${place}`, number, map.said[zone.said[i]][1]].filter(Boolean);
}

function trace(map, zone, box, across) {
  const rows = Math.ceil(zone.nodes.length / across);
  const table = (cell) => Array.from({ length: rows }, (_, row) => Array.from({ length: across }, (_, column) => {
    const i = row * across + column;
    return i < zone.nodes.length ? cell(i) : null;
  }));
  const { side } = size;
  return {
    type: 'heatmap', name: zone.title, z: table((i) => heatOf(map, zone, i)), text: table((i) => noteOf(map, zone, i).map(escaped).join('<br>')),
    x0: box.left + side / 2, dx: side, y0: box.top + side / 2, dy: side, xgap: 1, ygap: 1,
    zmin: 0, zmax: 1, colorscale: colours(map), showscale: false, hoverongaps: false, hovertemplate: '%{text}<extra></extra>',
  };
}

/** Return the signs of all cells of one kind as one path: colour alone must not carry a meaning. */
function signs(map, kind, boxes) {
  const { side } = size;
  const inner = side - 1;
  const parts = [];
  map.zones.forEach((zone, z) => zone.said.forEach((said, i) => {
    if (map.said[said][0] !== kind) return;
    const { x, y } = boxOf(map, { z, i }, boxes);
    for (const [letter, ...at] of SIGNS[kind]) parts.push(letter === 'Z' ? 'Z' : `${letter}${(x + at[0] * inner).toFixed(1)},${(y + at[1] * inner).toFixed(1)}`);
  }));
  const { stroke, fill } = look(kind) ?? {};
  return parts.length && stroke ? [{ type: 'path', path: parts.join(''), line: { color: stroke, width: side > 12 ? 1.5 : 1 }, fillcolor: kind === 'hard' ? fill : 'transparent', layer: 'above' }] : [];
}

async function draw() {
  const plot = byId('heat-map');
  const map = theMap();
  if (!map || !plot?.offsetWidth) return; // folded, or not the open pane of a phone
  size = fit(map);
  reserve(map);
  paintMarks();
  const boxes = corners();
  const [width, height] = [plot.clientWidth, plot.clientHeight];
  const now = JSON.stringify([read.text, size, boxes, width, height, token('--ink')]);
  if (now === drawn && div.parentElement === plot) return;
  const Plotly = await plotly(app.dataset.plotly);
  if (!plot.isConnected) return;
  drawn = now;
  plot.append(div);
  const axis = { visible: false, fixedrange: true };
  await Plotly.react(div, map.zones.map((zone, z) => trace(map, zone, boxes[z], size.across[z])), {
    width, height, margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: 'transparent', plot_bgcolor: 'transparent', dragmode: false,
    xaxis: { ...axis, range: [0, width] }, yaxis: { ...axis, range: [height, 0] }, hovermode: 'closest',
    hoverlabel: { align: 'left', font: { size: 11, family: getComputedStyle(document.body).fontFamily } },
    shapes: map.signs ? Object.keys(SIGNS).flatMap((kind) => signs(map, kind, boxes)) : [],
  }, { displayModeBar: false, responsive: false });
}

function paintMarks() {
  const map = theMap();
  const layer = byId('heat-marks');
  if (!map || !layer || !size) return;
  const boxes = corners();
  layer.replaceChildren(...MARKS.flatMap((kind) => {
    const nodes = (map.marks[kind] ?? marks[kind]).filter((name) => map.at.has(name));
    if (!nodes.length) return [];
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('class', `hm is-${kind}`);
    path.dataset.marked = nodes.join(' ');
    path.setAttribute('d', nodes.map((name) => {
      const { x, y } = boxOf(map, map.at.get(name), boxes);
      return `M${x - 0.5},${y - 0.5}h${size.side}v${size.side}h${-size.side}z`;
    }).join(''));
    return [path];
  }));
}

function bring(name) {
  const map = theMap();
  const at = map?.at.get(name);
  const scroll = byId('scroll-cluster');
  if (!at || !size || !scroll.clientHeight) return;
  const { y } = boxOf(map, at, corners());
  if (y < scroll.scrollTop || y + size.side > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y - scroll.clientHeight / 2;
}

export function markNodes(chosen, pins) {
  const other = chosen && marks.chosen[0] !== chosen;
  marks.chosen = chosen ? [chosen] : [];
  marks.pinned = pins ? pins.split(' ') : [];
  paintMarks();
  if (!other) return;
  here = chosen;
  bring(chosen);
}

/** After an update: put the drawing into the new panel at its old size, before the next paint. */
export function settleMap() {
  const map = theMap();
  if (!map) return;
  if (size?.across.length === map.zones.length) {
    reserve(map);
    byId('heat-map').append(div);
    paintMarks();
  }
}

function bringNews() {
  const now = (theMap()?.marks.best ?? []).join(' ');
  if (now && now !== newest) bring(now.split(' ')[0]);
  newest = now;
}

function under({ clientX, clientY }) {
  const map = theMap();
  if (!map || !size) return undefined;
  const inside = byId('heat-map').getBoundingClientRect();
  const [x, y] = [clientX - inside.left, clientY - inside.top];
  for (const [z, box] of corners().entries()) {
    const [column, row] = [Math.floor((x - box.left) / size.side), Math.floor((y - box.top) / size.side)];
    if (column >= 0 && column < size.across[z] && row >= 0) {
      const name = map.zones[z].nodes[row * size.across[z] + column];
      if (name) return name;
    }
  }
  return undefined;
}

const choose = (node) => document.dispatchEvent(new CustomEvent('node-chosen', { detail: node }));

/** Key → the cell to which the cursor goes from node `i` of zone `z`. */
const GOES = {
  ArrowLeft: ({ z, i }) => ({ z, i: i - 1 }),
  ArrowRight: ({ z, i }) => ({ z, i: i + 1 }),
  ArrowUp: ({ z, i }) => ({ z, i: i - size.across[z] }),
  ArrowDown: ({ z, i }) => ({ z, i: i + size.across[z] }),
  PageUp: ({ z }) => ({ z: z - 1, i: 0 }),
  PageDown: ({ z }) => ({ z: z + 1, i: 0 }),
  Home: ({ z }) => ({ z, i: 0 }),
  End: ({ z }, map) => ({ z, i: map.zones[z].nodes.length - 1 }),
};

function put(name) {
  const map = theMap();
  const { z, i } = map.at.get(name);
  here = name;
  marks.cursor = [name];
  byId('heat-note').textContent = noteOf(map, map.zones[z], i).join(', ');
  paintMarks();
  bring(name);
}

/** Return where the keys start: where they were, else a chosen node, a best one, or the first. */
const first = (map) => [here, ...marks.chosen, ...map.marks.best, map.zones[0].nodes[0]].find((name) => map.at.has(name));

document.addEventListener('keydown', (event) => {
  if (event.target.id !== 'heat-map' || event.ctrlKey || event.metaKey || event.altKey) return;
  const map = theMap();
  if (!map || !size) return;
  const name = first(map);
  if (event.key === 'Enter' || event.key === ' ') choose(name);
  else if (!GOES[event.key]) return;
  else {
    const { z, i } = GOES[event.key](map.at.get(name), map);
    put(map.zones[z]?.nodes[i] ?? name);
  }
  event.preventDefault();
}, true);
document.addEventListener('focusin', ({ target }) => {
  const map = target.id === 'heat-map' && target.matches(':focus-visible') && theMap();
  if (map && size) put(first(map));
});
document.addEventListener('focusout', ({ target }) => {
  if (target.id !== 'heat-map') return;
  marks.cursor = [];
  byId('heat-note').textContent = '';
  paintMarks();
});
document.addEventListener('click', (event) => {
  const node = event.target.closest?.('#heat-map') && under(event);
  if (node) choose(node);
});
let pointed;
document.addEventListener('pointermove', (event) => {
  const inside = event.target.closest?.('#heat-map');
  const node = inside ? under(event) : undefined;
  if (node === pointed) return;
  pointed = node;
  if (inside) document.dispatchEvent(new CustomEvent('node-pointed', { detail: node }));
});
document.addEventListener('node-lit', ({ detail }) => {
  const before = marks.lit[0];
  marks.lit = detail ? [detail] : [];
  if (before !== detail) paintMarks();
});

drawAlways(() => draw().then(bringNews));
