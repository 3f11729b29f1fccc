// The stacked score bars, drawn by Plotly over the table's last column. Plotly is large: it is loaded when first needed.

import { load } from './script.js';

const GREYS = [0.22, 0.92, 0.42, 0.72, 0.3, 1, 0.56, 0.12, 0.82];
let drawn = '';

export async function plotly(url) {
  await load(url);
  return window.Plotly;
}

/** A colour of the page as its three numbers. */
export function token(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** So much ink on the surface. */
export function grey(share, ink, surface) {
  return `rgb(${ink.map((part, i) => Math.round(part * share + surface[i] * (1 - share))).join(',')})`;
}

/** Where the bars go: the middle of each row, and the column that they cover. */
function places(scroll, table) {
  const column = table.querySelector('th.c-bar').getBoundingClientRect();
  const body = table.tBodies[0].getBoundingClientRect();
  const rows = [...table.querySelectorAll('tbody tr[data-node]')].map((row) => {
    const box = row.getBoundingClientRect();
    return { node: row.dataset.node, y: box.top + box.height / 2 - body.top };
  });
  const view = scroll.getBoundingClientRect();
  return { rows, width: column.width - 16, height: body.height, left: column.left - view.left + 4, body, view };
}

function hide(figure, bench) {
  figure.hidden = true;
  bench.classList.remove('has-chart');
}

/** Draw the scores that are on the page, or hide the chart where there is none or no room. */
export async function scores(bench, url) {
  const figure = document.getElementById('chart');
  const scroll = document.getElementById('scroll-scores');
  const source = document.getElementById('scores-data');
  const data = source && JSON.parse(source.textContent);
  const table = scroll?.querySelector('table');
  const wide = matchMedia('(min-width: 761px)').matches;
  if (!data || !wide || bench.dataset.tab !== 'scores' || !table.querySelector('th.c-bar')) return hide(figure, bench);
  const Plotly = await plotly(url);
  if (!table.isConnected) return;
  const at = places(scroll, table);
  const look = document.documentElement.dataset.theme ?? matchMedia('(prefers-color-scheme: dark)').matches;
  const now = JSON.stringify([data, at.rows, at.width, at.left, look]);
  const chart = document.getElementById('chart-scores');
  if (now === drawn && !figure.hidden) return follow(figure, scroll, chart, at);
  drawn = now;
  const ink = token('--ink');
  const surface = token('--surface');
  const traces = data.plugins.map((name, i) => ({
    type: 'bar', orientation: 'h', name, width: 15,
    x: at.rows.map((row) => data.rows[row.node]?.[i] ?? 0),
    y: at.rows.map((row) => row.y),
    customdata: at.rows.map((row) => row.node),
    marker: { color: grey(GREYS[i % GREYS.length], ink, surface), line: { color: grey(0.45, ink, surface), width: 0.75 } },
    hovertemplate: '%{customdata}: %{x}<extra>%{fullData.name}</extra>',
  }));
  const line = { type: 'line', x0: data.best, x1: data.best, y0: 0, y1: at.height, line: { color: `rgb(${token('--now-line')})`, width: 1 } };
  await Plotly.react(chart, traces, {
    barmode: 'stack', width: at.width, height: at.height, showlegend: false, shapes: [line],
    margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: 'transparent', plot_bgcolor: 'transparent',
    xaxis: { range: [0, data.most], visible: false, fixedrange: true },
    yaxis: { range: [at.height, 0], visible: false, fixedrange: true },
    hoverlabel: { font: { size: 11 } },
  }, { displayModeBar: false, responsive: false });
  follow(figure, scroll, chart, at);
  figure.hidden = false;
  bench.classList.add('has-chart');
}

/** The chart is outside the fragment that is swapped, so it follows the table's scrolling by itself. */
function follow(figure, scroll, chart, at) {
  const head = scroll.querySelector('thead').offsetHeight;
  const pane = figure.offsetParent ?? figure.parentElement;
  const top = at.view.top - pane.getBoundingClientRect().top + head;
  Object.assign(figure.style, { top: `${top}px`, left: `${at.left + at.view.left - pane.getBoundingClientRect().left}px`,
    width: `${at.width}px`, height: `${Math.max(0, scroll.clientHeight - head)}px` });
  const move = () => { chart.style.transform = `translateY(${-scroll.scrollTop}px)`; };
  scroll.onscroll = move;
  figure.onwheel = (event) => { scroll.scrollTop += event.deltaY; };
  move();
}
