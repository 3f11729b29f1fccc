// The distribution of answers as a chart, from the list that says the same.

import { plotly } from './charts.js';

const SLIDE_MS = 300;

/** Draw `list` as bars, in a place before it that is kept. */
export async function barChart(list, url) {
  const Plotly = await plotly(url);
  if (!list.isConnected) return;
  let place = list.parentElement.querySelector('.bars-chart');
  if (!place) {
    place = document.createElement('div');
    place.className = 'bars-chart';
    place.setAttribute('aria-hidden', 'true');
    list.before(place);
  }
  const rows = [...list.children].map((row) => ({
    label: row.querySelector('.bars-l').textContent.trim(),
    count: Number(row.querySelector('meter').value),
    tone: row.classList.contains('is-yes') ? '--ok' : row.classList.contains('is-no') ? '--no' : '--sel',
  }));
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink').trim();
  const size = parseFloat(style.fontSize);
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  await Plotly.react(place, [{
    type: 'bar',
    orientation: 'h',
    y: rows.map(({ label }) => label),
    x: rows.map(({ count }) => count),
    text: rows.map(({ count }) => String(count)),
    textposition: 'outside',
    cliponaxis: false,
    hoverinfo: 'skip',
    marker: { color: rows.map(({ tone }) => style.getPropertyValue(tone).trim()) },
  }], {
    margin: { l: 8, r: 48, t: 0, b: 8 },
    height: rows.length * size * 2.6 + 24,
    paper_bgcolor: 'transparent',
    plot_bgcolor: 'transparent',
    font: { family: style.getPropertyValue('--sans'), size: size * 1.1, color: ink },
    xaxis: { visible: false, range: [0, Math.max(1, ...rows.map(({ count }) => count)) * 1.1], fixedrange: true },
    yaxis: { automargin: true, autorange: 'reversed', fixedrange: true, ticks: '' },
    bargap: 0.35,
    transition: { duration: calm ? 0 : SLIDE_MS },
  }, { displayModeBar: false, responsive: true, staticPlot: true });
}
