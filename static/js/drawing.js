// A part of the page as a separate SVG: the browser's layout as rectangles, texts and the page's own SVGs. It has no
// foreignObject, which only browsers can open, and loads nothing, so that a canvas accepts it.

const NS = 'http://www.w3.org/2000/svg';
const KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'fill-opacity', 'stroke-opacity', 'text-anchor', 'dominant-baseline', 'font-family', 'font-size', 'font-weight', 'visibility'];
const SIDES = ['Top', 'Right', 'Bottom', 'Left'];
const STOPS = /((?:rgba?|color|oklab|oklch)\([^()]*\)|transparent) (-?[\d.]+)px/g;
const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
const MARGIN = 8;
const known = new Map();

/** Return a colour in a form that every program reads; '' if it is transparent. */
function colour(text) {
  if (!known.has(text)) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    known.set(text, alpha ? { fill: `rgb(${red},${green},${blue})`, alpha: Math.round(alpha / 2.55) / 100 } : '');
  }
  return known.get(text);
}

function create(name, attributes, into) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  into?.append(element);
  return element;
}

class Drawing {
  constructor(root) {
    const box = root.getBoundingClientRect();
    this.left = box.left - root.scrollLeft;
    this.top = box.top - root.scrollTop;
    this.width = Math.max(root.scrollWidth, box.width);
    this.height = 0; // of what is drawn, without empty room below
    this.svg = create('svg', { xmlns: NS });
    this.defs = create('defs', {}, this.svg);
    this.number = 0;
    const paper = colour(getComputedStyle(root).backgroundColor) || colour(getComputedStyle(document.body).backgroundColor);
    create('rect', { width: '100%', height: '100%', fill: paper.fill }, this.svg);
    for (const child of root.childNodes) this.walk(child, this.svg);
    this.height += MARGIN;
    for (const side of ['width', 'height']) this.svg.setAttribute(side, Math.ceil(this[side]));
    this.svg.setAttribute('viewBox', `0 0 ${Math.ceil(this.width)} ${Math.ceil(this.height)}`);
  }

  walk(node, into) {
    if (node.nodeType === Node.TEXT_NODE) return this.text(node, into);
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    if (style.display === 'none' || style.visibility === 'hidden' || style.clipPath.startsWith('inset(50%')) return;
    if (node instanceof SVGSVGElement) return this.picture(node, box, into);
    const group = style.opacity === '1' ? into : create('g', { opacity: style.opacity }, into);
    this.box(box, style, group);
    if (node.matches('.tile')) this.bars(box, style, group);
    const inner = style.overflowX === 'visible' ? group : this.clipped(box, group);
    for (const child of node.childNodes) this.walk(child, inner);
  }

  place(box) {
    this.height = Math.max(this.height, box.bottom - this.top);
    return { x: box.left - this.left, y: box.top - this.top, width: box.width, height: box.height };
  }

  id() {
    this.number += 1;
    return `d${this.number}`;
  }

  clipped(box, into) {
    const id = this.id();
    create('rect', this.place(box), create('clipPath', { id }, this.defs));
    return create('g', { 'clip-path': `url(#${id})` }, into);
  }

  box(box, style, into) {
    const sides = SIDES.map((side) => ({ wide: parseFloat(style[`border${side}Width`]), stroke: style[`border${side}Style`] === 'none' ? '' : colour(style[`border${side}Color`]) }));
    const fills = [colour(style.backgroundColor), this.hatch(style.backgroundImage)].filter(Boolean);
    if (!box.width || !box.height || (!fills.length && !sides.some(({ wide, stroke }) => wide && stroke))) return;
    const place = this.place(box);
    const round = parseFloat(style.borderTopLeftRadius) || 0;
    const rx = style.borderTopLeftRadius.endsWith('%') ? box.width / 2 : round;
    for (const { fill, alpha } of fills) create('rect', { ...place, rx, fill, ...(alpha < 1 ? { 'fill-opacity': alpha } : {}) }, into);
    const dash = ['dashed', 'dotted'].includes(style.borderTopStyle) ? { 'stroke-dasharray': '3 2' } : {};
    if (sides.every(({ wide, stroke }) => wide && stroke && wide === sides[0].wide && stroke === sides[0].stroke)) {
      const half = sides[0].wide / 2;
      create('rect', { x: place.x + half, y: place.y + half, width: place.width - 2 * half, height: place.height - 2 * half, rx, fill: 'none', stroke: sides[0].stroke.fill, 'stroke-width': sides[0].wide, ...dash }, into);
      return;
    }
    sides.forEach(({ wide, stroke }, side) => {
      if (!wide || !stroke) return;
      const flat = side % 2 === 0;
      const x = side === 1 ? place.x + place.width - wide : place.x;
      const y = side === 2 ? place.y + place.height - wide : place.y;
      create('rect', { x, y, width: flat ? place.width : wide, height: flat ? wide : place.height, fill: stroke.fill }, into);
    });
  }

  /** Draw the bars of a tile: what the pods request, and on top what the pod would add. */
  bars(box, style, into) {
    const { x, y, width, height } = this.place(box);
    const { fill: stripes } = this.hatch(style.backgroundImage.split(/, (?=[a-z-]+gradient)/)[0]) ?? { fill: 'none' };
    [['--c', '--ca', '--co'], ['--m', '--ma', '--mo']].forEach(([full, more, over], column) => {
      const beyond = Math.min(height - 2, ((height - 2) * Number(style.getPropertyValue(over))) / 100);
      let foot = y + height - 1;
      for (const [share, ink] of [[full, '--level'], [more, '--need']]) {
        const high = Math.min(foot - y - 1, ((height - 2) * Number(style.getPropertyValue(share))) / 100);
        const { fill, alpha } = colour(style.getPropertyValue(ink));
        if (high > 0) create('rect', { x: x + 1 + (column * (width - 2)) / 2, y: foot - high, width: (width - 2) / 2, height: high, fill, 'fill-opacity': alpha }, into);
        foot -= Math.max(0, high);
      }
      if (beyond > 0) create('rect', { x: x + 1 + (column * (width - 2)) / 2, y: y + 1, width: (width - 2) / 2, height: beyond, fill: stripes }, into);
    });
  }

  /** Return stripes as a pattern, null if there are none. */
  hatch(image) {
    if (!image.startsWith('repeating-linear-gradient') || image.lastIndexOf('gradient(') > 'repeating-linear-gradient('.length) return null;
    const stops = [...image.matchAll(STOPS)].map(([, text, at]) => ({ at: Number(at), ...(colour(text) || { fill: '' }) }));
    const period = stops.at(-1)?.at;
    if (!period) return null;
    const id = this.id();
    const angle = parseFloat(image.match(/\(([\d.]+)deg/)?.[1] ?? 180) - 90;
    const pattern = create('pattern', { id, width: period, height: period, patternUnits: 'userSpaceOnUse', patternTransform: `rotate(${angle})` }, this.defs);
    for (let i = 0; i + 1 < stops.length; i += 2) {
      if (stops[i].fill) create('rect', { x: stops[i].at, width: stops[i + 1].at - stops[i].at, height: period, fill: stops[i].fill, 'fill-opacity': stops[i].alpha }, pattern);
    }
    return { fill: `url(#${id})`, alpha: 1 };
  }

  /** Draw a text word by word, with the browser's line breaks. */
  text(node, into) {
    const style = getComputedStyle(node.parentElement);
    const ink = colour(style.color);
    if (!ink || !node.data.trim()) return;
    pen.font = style.font;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText('x');
    const range = document.createRange();
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      const line = /line-through/.test(style.textDecorationLine) ? { 'text-decoration': 'line-through' } : {};
      const y = box.top - this.top + (box.height - up - down) / 2 + up;
      const element = create('text', { x: box.left - this.left, y, fill: ink.fill, 'font-family': style.fontFamily, 'font-size': style.fontSize, 'font-weight': style.fontWeight, textLength: box.width, lengthAdjust: 'spacingAndGlyphs', ...line }, into);
      element.textContent = word;
    }
  }

  /** Copy an SVG of the page with its styles and its signs. */
  picture(source, box, into) {
    if (!box.width || !box.height) return;
    const copy = source.cloneNode(true);
    const parts = [...source.querySelectorAll('*')];
    [...copy.querySelectorAll('*')].forEach((part, i) => this.styled(parts[i], part));
    this.styled(source, copy);
    for (const use of copy.querySelectorAll('use')) {
      const symbol = document.querySelector(use.getAttribute('href'));
      if (!symbol) continue;
      copy.setAttribute('viewBox', symbol.getAttribute('viewBox'));
      use.replaceWith(...[...symbol.childNodes].map((child) => child.cloneNode(true)));
    }
    for (const [name, value] of Object.entries(this.place(box))) copy.setAttribute(name, value);
    into.append(copy);
  }

  styled(source, copy) {
    const style = getComputedStyle(source);
    for (const name of ['class', 'id', 'aria-hidden', 'style']) if (name !== 'id' || !source.closest('defs')) copy.removeAttribute(name);
    for (const name of KEPT) {
      const value = style.getPropertyValue(name);
      const pattern = value.match(/url\(["']?[^#]*#([^"')]+)/)?.[1];
      if (pattern) this.define(pattern);
      const paint = (name === 'fill' || name === 'stroke') && value !== 'none' && !pattern && colour(value);
      if (pattern) copy.setAttribute(name, `url(#${pattern})`);
      else if (paint) copy.setAttribute(name, paint.fill);
      else if (value && value !== 'normal') copy.setAttribute(name, (name === 'fill' || name === 'stroke') && value !== 'none' ? 'none' : value);
    }
    for (const name of ['x', 'y', 'width', 'height', 'rx']) {
      const value = style.getPropertyValue(name);
      if (copy.hasAttribute(name) && copy.getAttribute(name).endsWith('%') && value.endsWith('px')) copy.setAttribute(name, value);
    }
  }

  define(id) {
    const source = document.getElementById(id);
    if (!source || this.defs.querySelector(`#${CSS.escape(id)}`)) return;
    const copy = source.cloneNode(true);
    this.defs.append(copy);
    const parts = [...source.querySelectorAll('*')];
    [...copy.querySelectorAll('*')].forEach((part, i) => this.styled(parts[i], part));
  }
}

/** Return the SVG of an element, including what is scrolled out of view, as text, and its size in pixels. */
export function drawn(root) {
  const { svg, width, height } = new Drawing(root);
  return { text: new XMLSerializer().serializeToString(svg), width, height };
}
