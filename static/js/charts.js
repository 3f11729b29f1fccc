// Plotly, and the page's colours for it. It is large: it is loaded when first needed.

import { load } from './script.js';

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
