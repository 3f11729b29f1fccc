// The charts of runs with many seeds. They are drawn again if their width or the colours have changed.

import { drawAlways, grey, numbers, plotly, token } from './charts.js';
import { say } from './words.js';

const HEIGHT = 128; // sizes here are for the usual size of type
const ROW = 20; // of one pod
let data = null;
const drawn = new Map(); // place of a chart → key of its drawing

const base = (width, height, size) => ({
  width, height, showlegend: false, paper_bgcolor: 'transparent', plot_bgcolor: 'transparent', hovermode: 'closest',
  font: { family: getComputedStyle(document.body).fontFamily, size: 10 * size, color: token('--ink3') }, hoverlabel: { font: { size: 11 * size } },
});
const axis = () => ({ fixedrange: true, zeroline: false, color: token('--ink3'), linecolor: token('--line2'), type: 'category', ticks: '' });

/** Return bars: those of this run are full, those of the other one hollow, as in the legend. */
function bars(place, width, size) {
  const chart = data.charts[place.dataset.chart];
  const looks = [{ color: token('--ink2') }, { color: token('--surface'), line: { color: token('--ink2'), width: 1.5 } }];
  const traces = chart.counts.map((counts, i) => ({ type: 'bar', x: chart.bars, y: counts, marker: looks[i], hovertemplate: `%{x}<extra>${say('script.chart-seeds', { seeds: '%{y}' })}</extra>` }));
  const top = Math.max(...chart.counts.flat());
  const layout = {
    ...base(width, HEIGHT * size, size), margin: { l: 28 * size, r: 4, t: 8, b: 34 * size }, bargap: 0.3, bargroupgap: 0.1,
    xaxis: { ...axis(), showline: true, tickangle: 'auto', nticks: 8 },
    yaxis: { fixedrange: true, zeroline: false, color: token('--ink3'), gridcolor: token('--line'), range: [0, top * 1.05], tickvals: [0, top] },
  };
  return [traces, layout];
}

/** Return cells, one per pod and place: the darker, the more seeds. */
function cells(place, width, size) {
  const { pods, places, sides, most: all, ink: ends } = data.heat;
  const [ink, surface] = [numbers('--ink'), numbers('--surface')];
  const short = (name, most) => (name.length > most ? `…${name.slice(1 - most)}` : name);
  const names = Math.min(width * 0.4, 9 * 16 * size);
  const isWide = (width - names) / places.length > 11 * size; // else their names would overlap
  const foot = isWide ? 88 : 12;
  const trace = {
    type: 'heatmap', x: places.map((_, i) => i), y: pods.map((_, i) => i), z: sides[place.dataset.heat], zmin: 0, zmax: all, showscale: false, xgap: 1, ygap: 1,
    colorscale: ends.map((share, end) => [end, grey(share / 100, ink, surface)]), // as the legend above the charts
    text: pods.map((pod, p) => places.map((name, n) => `${pod}<br>${name}`)),
    hovertemplate: `%{text}<extra>${say('script.chart-seeds', { seeds: '%{z}' })}</extra>`,
  };
  const ticks = (list, most) => ({ ...axis(), type: 'linear', showgrid: false, tickvals: list.map((_, i) => i), ticktext: list.map((name) => short(name, most)) });
  const layout = {
    ...base(width, (pods.length * ROW + foot) * size, size), margin: { l: names, r: 4, t: 4, b: foot * size },
    xaxis: { ...ticks(isWide ? places : [], 14), tickangle: -90 }, yaxis: { ...ticks(pods, Math.floor(names / (6 * size))), autorange: 'reversed' },
  };
  return [[trace], layout];
}

async function draw(place, Plotly) {
  const width = place.clientWidth;
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const key = [width, size, token('--ink')].join();
  if (drawn.get(place) === key) return;
  drawn.set(place, key);
  const [traces, layout] = (place.dataset.heat ? cells : bars)(place, width, size);
  await Plotly.react(place, traces, layout, { displayModeBar: false, responsive: false });
  await new Promise(requestAnimationFrame); // Many charts at once would block the page.
}

async function show() {
  const places = [...document.querySelectorAll('[data-chart], [data-heat]')];
  if (!places.length) return;
  const Plotly = await plotly(document.getElementById('answer').dataset.plotly);
  for (const place of places) await draw(place, Plotly);
}

function begin() {
  const held = document.getElementById('seeds-data');
  if (!held || data) return;
  data = JSON.parse(held.textContent);
  drawAlways(show);
}

begin();
document.addEventListener('htmx:afterSettle', begin); // the answer arrives in a page that waits for it
