// The small charts of the metrics panel. A drawn chart moves into the new panel of an update. It is drawn again only while
// it is in view, and if its numbers, its size or the colours have changed.

import { drawAlways, plotly, token } from './charts.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const app = byId('app');
const HEIGHT = 96; // sizes here are for the usual size of type
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
const drawn = new Map(); // chart id → { div, key }

const two = (number) => String(number).padStart(2, '0');
const clock = (seconds) => `${two(Math.floor(seconds / 60))}:${two(Math.floor(seconds % 60))}`;

/** Return the look of a line: that of its swatch in the table, so the stylesheet defines it once. */
function look(figure, name) {
  const style = getComputedStyle(figure.querySelector(`.ln.${name} path`));
  return { color: style.stroke, dash: style.strokeDasharray === 'none' ? 'solid' : style.strokeDasharray.replaceAll(' ', ''), width: 1.5, shape: 'hv' };
}

function lines(figure, chart) {
  return chart.lines.map((line) => ({
    type: 'scatter', mode: chart.end ? 'lines' : 'lines+markers', marker: { size: 6, color: look(figure, line.look).color }, name: line.name, line: look(figure, line.look), connectgaps: false, cliponaxis: false,
    x: [...line.x, chart.end], y: [...line.y, line.y.at(-1)],
    text: [...line.x, chart.end].map(clock), hovertemplate: `${say('script.chart-point', { value: `%{y}${chart.unit}`, time: '%{text}' })}<extra>%{fullData.name}</extra>`,
  }));
}

function bars(chart) {
  return [{ type: 'bar', x: chart.bars, y: chart.counts, marker: { color: token('--ink2') }, hovertemplate: `${say('script.chart-bar', { pods: '%{y}' })}<extra>${say('script.chart-attempts', { attempts: '%{x}' })}</extra>` }];
}

function layout(chart, width, size) {
  const top = Math.max(1, chart.top);
  const end = Math.max(1, chart.end ?? 1);
  const step = STEPS.find((step) => end / step <= 5) ?? Math.ceil(end / 5 / 3600) * 3600;
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
  const axis = { fixedrange: true, zeroline: false, color: token('--ink3'), linecolor: token('--line2'), showline: true };
  return {
    width, height: HEIGHT * size, showlegend: false, margin: { l: 36 * size, r: 10, t: 6, b: 18 * size },
    paper_bgcolor: 'transparent', plot_bgcolor: 'transparent', hovermode: 'closest', bargap: 0.35,
    font: { family: getComputedStyle(document.body).fontFamily, size: 10 * size }, hoverlabel: { font: { size: 11 * size } },
    xaxis: chart.bars
      ? { ...axis, type: 'category', ticks: '' }
      : { ...axis, range: [0, end * 1.01], tickvals: ticks, ticktext: ticks.map(clock), showgrid: false, ticks: 'outside', ticklen: 3, tickcolor: token('--line2') },
    yaxis: { ...axis, range: [0, top * 1.08], tickvals: [0, top], ticktext: ['0', `${top.toLocaleString('en')}${chart.unit}`], showline: false, gridcolor: token('--line') },
  };
}

/** Put the element that was drawn before in place of the empty one. Return it with the key of its drawing. */
function settle(place) {
  const known = drawn.get(place.dataset.chart);
  if (!known) drawn.set(place.dataset.chart, { div: place, key: '' });
  else if (known.div !== place) place.replaceWith(known.div);
  return drawn.get(place.dataset.chart);
}

function isInView(div) {
  const box = div.getBoundingClientRect();
  const view = byId('scroll-metrics').getBoundingClientRect();
  return box.bottom > view.top && box.top < view.bottom;
}

async function draw(chart, known, Plotly) {
  const { div } = known;
  const width = div.clientWidth;
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const key = JSON.stringify([chart, width, size, token('--ink')]);
  if (known.key === key) return;
  known.key = key;
  const traces = chart.bars ? bars(chart) : lines(div.closest('figure'), chart);
  await Plotly.react(div, traces, layout(chart, width, size), { displayModeBar: false, responsive: false });
  await new Promise(requestAnimationFrame); // Ten charts at once would block the page.
}

async function show() {
  const source = byId('metrics-data');
  const data = source && JSON.parse(source.textContent);
  if (!data || byId('bench').dataset.tab !== 'metrics' || !source.closest('section').offsetWidth) return;
  const Plotly = await plotly(app.dataset.plotly);
  if (!source.isConnected) return;
  const charts = [...document.querySelectorAll('#panel-metrics .plot')].map(settle);
  byId('scroll-metrics').onscroll = soon;
  for (const known of charts) {
    if (!source.isConnected) return;
    if (isInView(known.div)) await draw(data[known.div.dataset.chart], known, Plotly);
  }
}

const soon = drawAlways(show);
