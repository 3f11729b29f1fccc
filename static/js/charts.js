// Plotly, and the page's colours for it. It is large: it is loaded when first needed.

import { load } from './script.js';

export async function plotly(url) {
  await load(url);
  return window.Plotly;
}

/** A colour that tokens.css registers, as its three numbers. */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).match(/\d+/g).map(Number);
}

/** So much ink on the surface. */
export function grey(share, ink, surface) {
  return `rgb(${ink.map((part, i) => Math.round(part * share + surface[i] * (1 - share))).join(',')})`;
}
