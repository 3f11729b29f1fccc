// Pictures as SVG or PNG: a chart as Plotly draws it, the map of the cluster as the browser shows it.

import { plotly, token } from './charts.js';
import { drawn } from './drawing.js';
import { save } from './files.js';

const SCALE = 2; // pixels of a PNG for each pixel of the page
const MOST = 16000; // pixels that a side of a canvas may have
const WIDTH = 720;
const HEIGHT = 360;

const byId = (id) => document.getElementById(id);

/** Draw a chart with its title, the names of its lines, and a background. */
async function chart(figure) {
  const Plotly = await plotly(byId('app').dataset.plotly);
  const { data, layout } = figure.querySelector('.plot');
  const title = figure.querySelector('figcaption h3').textContent.trim().replace(/\s+/g, ' ');
  const whole = {
    ...layout, title: { text: title, font: { size: 14, color: token('--ink') } }, showlegend: data.length > 1, legend: { orientation: 'h', y: -0.15, font: { color: token('--ink2') } },
    paper_bgcolor: token('--surface'), plot_bgcolor: token('--surface'), margin: { l: 64, r: 24, t: 48, b: 40 },
  };
  const uri = await Plotly.toImage({ data, layout: whole }, { format: 'svg', width: WIDTH, height: HEIGHT });
  return { text: decodeURIComponent(uri.slice(uri.indexOf(',') + 1)), width: WIDTH, height: HEIGHT };
}

/** Draw an SVG on a canvas, from a data: address, which the page's policy allows. */
async function png({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(SCALE, MOST / Math.max(width, height));
  const canvas = Object.assign(document.createElement('canvas'), { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, 'image/png'); });
}

async function take(button) {
  const figure = button.closest('figure');
  const picture = figure ? await chart(figure) : drawn(byId('scroll-cluster'));
  const form = button.dataset.picture;
  const blob = form === 'png' ? await png(picture) : new Blob([picture.text], { type: 'image/svg+xml' });
  save(blob, `${figure ? figure.id.replace('mt-', '') : 'cluster'}.${form}`);
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-picture]');
  if (button) take(button);
});
