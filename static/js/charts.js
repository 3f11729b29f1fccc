// Plotly, which is large and so loaded when first needed, the page's colours for it, and when to draw again.

import { load } from './script.js';

export async function plotly(url) {
  await load(url);
  return window.Plotly;
}

export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Return the three numbers of a colour that tokens.css registers. */
export const numbers = (name) => token(name).match(/\d+/g).map(Number);

/** Return the colour of a share of ink on the surface. */
export const grey = (share, ink, surface) => `rgb(${ink.map((part, i) => Math.round(part * share + surface[i] * (1 - share))).join(',')})`;

/** Call `show` now and after every change of the page, or of the workbench's tabs. Return a function that calls it soon. */
export function drawAlways(show) {
  let frame = 0;
  const soon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => setTimeout(() => show().catch((error) => console.warn(error.message))));
  };
  document.body.addEventListener('htmx:wsAfterMessage', soon);
  document.addEventListener('look-changed', soon);
  addEventListener('resize', soon);
  const bench = document.getElementById('bench');
  if (bench) new MutationObserver(soon).observe(bench, { attributeFilter: ['data-tab', 'data-panel', 'class', 'style'] });
  soon();
  return soon;
}
