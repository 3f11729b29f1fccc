// The graph of pod affinity: the pod, the domains that a rule concerns, and the pods there. Dagre, which is loaded when the
// graph is first in view, places the boxes. The lists below the graph say the same for screen readers and narrow screens.

import { drawAlways } from './charts.js';
import { load } from './script.js';

const SVG = 'http://www.w3.org/2000/svg';
const byId = (id) => document.getElementById(id);
const app = byId('app');
const LONGEST = 34; // characters of a label
const LINE = 15; // sizes here are for the usual size of type
const drawn = { key: '', picture: null };

const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** Names differ at their end: a long one loses its beginning. */
const cut = (text) => (text.length > LONGEST ? `…${text.slice(1 - LONGEST)}` : text);

function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function measure(size) {
  const context = document.createElement('canvas').getContext('2d');
  context.font = `${11 * size}px ${getComputedStyle(document.body).fontFamily}`;
  return (text) => context.measureText(text).width;
}

function placed({ nodes, edges }, size) {
  const width = measure(size);
  const graph = new window.dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 10 * size, ranksep: 70 * size, marginx: 4, marginy: 4 });
  for (const node of nodes) {
    const lines = [cut(node.label), node.more].filter(Boolean);
    graph.setNode(node.id, { ...node, lines, width: Math.max(...lines.map(width)) + 18 * size, height: (lines.length * LINE + 8) * size });
  }
  edges.forEach((edge, place) => graph.setEdge(edge.from, edge.to, { ...edge, width: 14 * size, height: 10 * size, labelpos: 'c' }, String(place)));
  window.dagre.layout(graph);
  return graph;
}

function box(node, size) {
  const { x, y, width, height, lines } = node;
  const texts = lines.map((line, place) => element(
    'text', { class: place ? 'ag-more' : 'ag-t', x, y: y + ((place - (lines.length - 1) / 2) * LINE + 4) * size, 'text-anchor': 'middle' }, line,
  ));
  const rect = element('rect', { x: x - width / 2, y: y - height / 2, width, height, rx: 4 });
  const said = node.said ? ` is-${node.said}` : '';
  const colour = node.app ? ` app-${node.app}` : '';
  return element('g', { class: `ag-n ag-${node.kind}${said}${colour}`, 'data-pod': node.pod }, element('title', {}, node.label), rect, ...texts);
}

function arrow(edge, size) {
  const points = edge.back ? [...edge.points].reverse() : edge.points;
  const d = points.map(({ x, y }, place) => `${place ? 'L' : 'M'}${x} ${y}`).join('');
  const line = element('path', { d, 'marker-end': edge.said ? `url(#ag-${edge.said})` : undefined });
  const classes = `ag-e${edge.said ? ` is-${edge.said}` : ''}${edge.strong ? ' is-strong' : ''}`;
  const label = edge.label ? [element('text', { x: edge.x, y: edge.y - 3 * size, 'text-anchor': 'middle' }, edge.label)] : [];
  return element('g', { class: classes }, line, ...label);
}

const head = (said) => element(
  'marker', { id: `ag-${said}`, class: `ag-h is-${said}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
  element('path', { d: 'M0 0L8 4L0 8Z' }),
);

function picture(text, size) {
  const graph = placed(JSON.parse(text), size);
  const { width, height } = graph.graph();
  return element(
    'svg', { class: 'ag', width, height, viewBox: `0 0 ${width} ${height}`, 'data-own': '' },
    element('defs', {}, head('yes'), head('no')),
    ...graph.edges().map((edge) => arrow(graph.edge(edge), size)),
    ...graph.nodes().map((id) => box(graph.node(id), size)),
  );
}

async function show() {
  const place = byId('affinity-graph');
  if (!place?.offsetWidth) return;
  await load(app.dataset.dagre);
  if (!place.isConnected) return;
  const size = rem();
  const key = `${size} ${place.dataset.graph}`;
  if (drawn.key !== key) Object.assign(drawn, { key, picture: picture(place.dataset.graph, size) });
  if (drawn.picture.parentNode !== place) place.replaceChildren(drawn.picture);
}

drawAlways(show);
