// Find what is wrong with a page in its present state: each rule of the table yields the places that break it.
// A function for `page.evaluate`. It takes the rows of exceptions, { rule, where: a selector }. It returns the findings,
// { rule, path, says }, and the numbers of the exceptions used.
(exceptions) => {
  const MINIMUM = 24; // CSS pixels of a target, WCAG 2.5.8
  const FEWEST_LETTERS = 8; // least visible letters of a name cut with an ellipsis
  const SHARE_OF_MAIN = 0.5;
  const CONTROLS = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [role="tab"], [role="button"], [role="option"]';
  const MAIN = '.floor, .desk, .room-m, .both-f, .em-main'; // the main part of pages as high as the window
  const shade = document.createElement('style');
  shade.textContent = '*, *::before, *::after { pointer-events: auto !important; }'; // otherwise elementsFromPoint misses some
  document.head.append(shade);

  const styles = new Map();
  const styleOf = (el) => styles.get(el) ?? (styles.set(el, getComputedStyle(el)), styles.get(el));
  const modal = [...document.querySelectorAll('dialog:modal')].at(-1);
  const root = modal ?? document.body;

  // --- positions --------------------------------------------------------------------------------------------------------

  const upFrom = (el) => {
    const { position } = styleOf(el);
    if (el === modal || position === 'fixed') return null;
    if (position !== 'absolute') return el.parentElement;
    let up = el.parentElement;
    while (up && styleOf(up).position === 'static') up = up.parentElement;
    return up;
  };
  const edges = ({ left, top, right, bottom }) => ({ left, top, right, bottom });
  const width = (box) => box.right - box.left;
  const height = (box) => box.bottom - box.top;
  const within = (box, other) => ({
    left: Math.max(box.left, other.left), top: Math.max(box.top, other.top),
    right: Math.min(box.right, other.right), bottom: Math.min(box.bottom, other.bottom),
  });
  const shows = (box) => width(box) > 0.5 && height(box) > 0.5;

  /** Return the visible part of a box inside all that clips it, from `first` upwards, and what clips each side. */
  function clip(box, first) {
    let left = edges(box);
    const by = { x: null, y: null };
    for (let up = first; up && up !== document.documentElement && up !== document.body; up = upFrom(up)) {
      const style = styleOf(up);
      if (style.display === 'inline' || (style.overflowX === 'visible' && style.overflowY === 'visible')) continue;
      const room = up.getBoundingClientRect();
      const inner = { left: room.left + up.clientLeft, top: room.top + up.clientTop, right: room.left + up.clientLeft + up.clientWidth, bottom: room.top + up.clientTop + up.clientHeight };
      if (style.overflowX !== 'visible' && (inner.left > left.left + 1 || inner.right < left.right - 1)) by.x ??= up;
      if (style.overflowY !== 'visible' && (inner.top > left.top + 1 || inner.bottom < left.bottom - 1)) by.y ??= up;
      left = within(left, {
        left: style.overflowX === 'visible' ? -1e6 : inner.left, right: style.overflowX === 'visible' ? 1e6 : inner.right,
        top: style.overflowY === 'visible' ? -1e6 : inner.top, bottom: style.overflowY === 'visible' ? 1e6 : inner.bottom,
      });
    }
    return { left, by };
  }
  const scrolls = (el, axis) => ['auto', 'scroll'].includes(styleOf(el)[axis === 'x' ? 'overflowX' : 'overflowY']);
  const hidden = (el) => !el.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })
    || el.closest('.vh, [inert]') || styleOf(el).clipPath !== 'none';

  /** List each line of each text, with its visible part. */
  const texts = [];
  const range = document.createRange();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const el = node.parentElement;
    if (!node.data.trim() || ['SCRIPT', 'STYLE', 'TEMPLATE', 'OPTION', 'OPTGROUP', 'TITLE', 'DESC'].includes(el.tagName) || hidden(el)) continue;
    if (el.closest('.ace_editor, .js-plotly-plot, datalist')) continue; // third-party parts
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.width < 1 || rect.height < 1) continue;
      const cut = clip(rect, el);
      if (!(cut.by.x?.clientWidth <= 1)) texts.push({ node, el, box: edges(rect), ...cut }); // else only for screen readers
    }
  }
  const controls = [...root.querySelectorAll(CONTROLS)].filter((el) => !hidden(el) && styleOf(el).opacity !== '0' && !el.closest('.ace_editor, .js-plotly-plot'))
    .map((el) => {
      const label = el.matches('input, select, textarea') ? el.closest('label') : null;
      const own = el.getBoundingClientRect();
      const room = label?.getBoundingClientRect() ?? own;
      const box = { left: Math.min(own.left, room.left), top: Math.min(own.top, room.top), right: Math.max(own.right, room.right), bottom: Math.max(own.bottom, room.bottom) };
      const inView = clip(box, upFrom(el)).left;
      return { el, own: edges(own), box, inView, ...clip(own, upFrom(el)) };
    }).filter((one) => shows(one.own));

  /** Return, for each element, whether it is visible at a point, and not behind an opaque layer. */
  function inFront(x, y, ...elements) {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return elements.map(() => true);
    const hits = new Set();
    for (const el of document.elementsFromPoint(x, y)) {
      hits.add(el);
      const { backgroundColor, opacity } = styleOf(el);
      if (rgba(backgroundColor)[3] === 1 && opacity === '1') break;
    }
    return elements.map((el) => hits.has(el));
  }

  // --- colours ------------------------------------------------------------------------------------------------------------

  const pencil = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const colours = new Map();
  function rgba(text) {
    if (!colours.has(text)) {
      pencil.clearRect(0, 0, 1, 1);
      pencil.fillStyle = text;
      pencil.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pencil.getImageData(0, 0, 1, 1).data;
      colours.set(text, [r, g, b, a / 255]);
    }
    return colours.get(text);
  }
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

  /** Return the contrast ratio of a text and its background; null on a picture. */
  function contrast(el) {
    let opacity = 1;
    const layers = [];
    for (let up = el; up; up = up.parentElement) {
      const style = styleOf(up);
      if (style.backgroundImage !== 'none' || up instanceof SVGElement) return null;
      opacity *= Number(style.opacity);
      layers.push(rgba(style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    let below = rgba('Canvas');
    for (const layer of layers.reverse()) below = over(layer, below);
    const ink = rgba(styleOf(el).color);
    const [light, dark] = [luminance(over([...ink.slice(0, 3), ink[3] * opacity], below)), luminance(below)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  // --- the rules ------------------------------------------------------------------------------------------------------------

  /** What moves a target relative to those outside of it. */
  const scroller = (el) => { let up = upFrom(el); while (up && !(scrolls(up, 'y') && up.scrollHeight > up.clientHeight)) up = upFrom(up); return up; };
  const sample = (text) => { const one = text.trim().replace(/\s+/g, ' '); return one.length > 40 ? `${one.slice(0, 39)}…` : one; };
  const elided = (el) => styleOf(el).textOverflow === 'ellipsis' || styleOf(el).webkitLineClamp !== 'none';
  const block = (el) => { let up = el; while (styleOf(up).display === 'inline') up = up.parentElement; return up; };
  const centre = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  const inline = (el) => ['inline', 'inline-block'].includes(styleOf(el).display);
  const words = (el) => [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && /\p{L}{2}/u.test(node.data));
  /** Return true if it is inside a line of text: such a target has the size of the line. */
  const inSentence = (el) => inline(el) && (words(el.parentElement) || (inline(el.parentElement) && words(el.parentElement.parentElement)));

  /** Yield pairs of boxes that overlap by more than `x` and `y` pixels. */
  function* overlaps(boxes, x, y) {
    const sorted = boxes.toSorted((one, other) => one.at.top - other.at.top);
    for (let i = 0; i < sorted.length; i++) {
      for (let j = i + 1; j < sorted.length && sorted[j].at.top < sorted[i].at.bottom - y; j++) {
        const common = within(sorted[i].at, sorted[j].at);
        if (width(common) > x && height(common) > y) yield [sorted[i], sorted[j], common];
      }
    }
  }
  /** Return the box of the letters: a line's box is taller. */
  const letters = ({ left }) => ({ ...left, top: left.top + 0.2 * height(left), bottom: left.bottom - 0.2 * height(left) });
  const shown = texts.filter(({ left }) => shows(left));

  const RULES = {
    *sideways() {
      const { scrollWidth } = document.scrollingElement;
      if (scrollWidth > innerWidth) yield [document.scrollingElement, `${scrollWidth} px in ${innerWidth}`];
    },
    *cut() {
      for (const { node, el, box, left, by } of texts) {
        if (by.x && !scrolls(by.x, 'x') && !elided(by.x) && width(box) - Math.max(0, width(left)) > 2) yield [el, `${sample(node.data)}: ${Math.round(width(left))} of ${Math.round(width(box))} px`];
        else if (by.y && !scrolls(by.y, 'y') && !elided(by.y) && height(box) - Math.max(0, height(left)) > 0.25 * height(box)) yield [el, `${sample(node.data)}: ${Math.round(height(left))} of ${Math.round(height(box))} px high`];
      }
    },
    *short() {
      for (const { node, el, box, by } of texts) {
        if (!by.x || !elided(by.x) || scrolls(by.x, 'x') || node.data.trim().length <= FEWEST_LETTERS) continue;
        const letter = width(box) / node.data.trim().length;
        const room = Math.min(width(box), by.x.clientWidth) / letter - 1;
        if (Math.round(room) < FEWEST_LETTERS) yield [el, `${sample(node.data)}: ${Math.max(0, Math.floor(room))} letters`];
        else if (!el.closest('[title]') && !by.x.querySelector('[title]')) yield [el, `${sample(node.data)}: no tooltip has the full text`];
      }
    },
    *headings() {
      for (const heading of root.querySelectorAll('h1, h2, h3, h4')) {
        if (hidden(heading) || !shows(heading.getBoundingClientRect())) continue;
        const lost = texts.find(({ el, box, by, left }) => heading.contains(el) && ((by.x && !scrolls(by.x, 'x') && width(box) - width(left) > 2) || (by.y && !scrolls(by.y, 'y') && height(box) - height(left) > 3)));
        if (lost) yield [heading, sample(heading.textContent)];
      }
      for (const heading of root.querySelectorAll('thead th')) { // a heading wider than its column is under the next one
        if (!hidden(heading) && shows(heading.getBoundingClientRect()) && heading.scrollWidth > heading.clientWidth + 2) yield [heading, sample(heading.textContent)];
      }
    },
    *texts() {
      for (const [one, other, common] of overlaps(shown.map((text) => ({ ...text, at: letters(text) })), 2, 2)) {
        if (one.node === other.node) continue;
        if (inFront(...centre(common), one.el, other.el).every(Boolean)) yield [one.el, `${sample(one.node.data)} over ${sample(other.node.data)}`];
      }
    },
    *together() {
      const lines = shown.map((text) => ({ ...text, at: { ...text.left, left: text.left.left - 1, right: text.left.right + 1 } }));
      for (const [one, other] of overlaps(lines, 0, 4)) {
        const [first, second] = [one, other].sort((a, b) => a.left.left - b.left.left);
        const gap = second.left.left - first.left.right;
        if (gap < -1 || gap > 2 || block(first.el) === block(second.el)) continue;
        const meet = first.node.data.at(-1) + second.node.data[0];
        const edge = [block(first.el), block(second.el)].some((el) => parseFloat(styleOf(el).borderInlineStartWidth) + parseFloat(styleOf(el).borderInlineEndWidth) > 0);
        if (/^[\p{L}\p{N}…]{2}$/u.test(meet) && !edge && inFront(...centre(first.left), first.el)[0] && inFront(...centre(second.left), second.el)[0]) yield [first.el, `${sample(first.node.data)}|${sample(second.node.data)}`];
      }
    },
    *controls() {
      const visible = controls.filter(({ left }) => shows(left)).map((one) => ({ ...one, at: one.left }));
      for (const [one, other, common] of overlaps(visible, 3, 3)) {
        if (one.el.contains(other.el) || other.el.contains(one.el) || one.el.closest('label')?.contains(other.el)) continue;
        if (inFront(...centre(common), one.el, other.el).every(Boolean)) yield [one.el, `over ${path(other.el)}`];
      }
    },
    *reach() {
      for (const { el, own, left, by } of controls) {
        const part = Math.max(0, width(left)) / width(own);
        if (by.x && part < 0.9) yield [el, `${Math.round(part * 100)} % of “${sample(el.innerText || el.getAttribute('aria-label') || '')}” is in view${scrolls(by.x, 'x') ? ' before one scrolls sideways' : ''}`];
        else if (by.y && !scrolls(by.y, 'y') && height(left) < 0.9 * height(own)) yield [el, `“${sample(el.innerText || el.getAttribute('aria-label') || '')}” is cut below`];
        else if (!by.x && !by.y && (own.right <= 0 || own.left >= innerWidth)) yield [el, 'off the screen'];
      }
    },
    *targets() {
      const all = controls.filter(({ el, left, box }) => shows(left) && shows(box) && !inSentence(el));
      const inSight = ({ el, left }) => inFront(...centre(left), el)[0]; // the most expensive check, so it comes last
      const small = all.filter(({ box, inView }) => (width(box) < MINIMUM - 0.5 || height(box) < MINIMUM - 0.5) && height(inView) > 0.9 * height(box) && width(inView) > 0.9 * width(box));
      /** Return true if a circle of the least size around a small target meets the other one, or its circle. */
      const close = (one, other) => {
        const [x, y] = centre(one.box);
        const [otherX, otherY] = centre(other.box);
        if (small.includes(other)) return Math.hypot(x - otherX, y - otherY) < MINIMUM - 0.5;
        const dx = Math.max(other.inView.left - x, 0, x - other.inView.right);
        const dy = Math.max(other.inView.top - y, 0, y - other.inView.bottom);
        return Math.hypot(dx, dy) < MINIMUM / 2 - 0.5;
      };
      for (const one of small) {
        const near = all.find((other) => other !== one && close(one, other) && !other.el.contains(one.el) && !one.el.contains(other.el)
          && scroller(other.el) === scroller(one.el) && inSight(other));
        if (near && inSight(one)) yield [one.el, `${Math.round(width(one.box))}×${Math.round(height(one.box))} px beside ${path(near.el)}`];
      }
    },
    *contrast() {
      const measured = new Set();
      for (const { node, el } of shown) {
        if (measured.has(el) || el.closest(':disabled, [aria-disabled="true"]')) continue;
        measured.add(el);
        const { fontSize, fontWeight } = styleOf(el);
        const size = parseFloat(fontSize);
        const needed = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5;
        const ratio = contrast(el);
        if (ratio !== null && ratio < needed - 0.005) yield [el, `${sample(node.data)}: ${ratio.toFixed(2)}`];
      }
    },
    *main() {
      const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
      const parts = [...root.querySelectorAll(MAIN)].map((el) => within(el.getBoundingClientRect(), screen)).filter(shows);
      if (modal || window !== top || !document.querySelector(MAIN)) return;
      const share = Math.max(0, ...parts.map((box) => width(box) * height(box))) / (innerWidth * innerHeight);
      if (share < SHARE_OF_MAIN) yield [document.querySelector(MAIN), `${Math.round(share * 100)} % of the window`];
    },
  };

  /** Return a readable path to an element. */
  function path(el) {
    const parts = [];
    for (let up = el; up && up !== document.body && parts.length < 4; up = up.parentElement) {
      const named = up.id && !/[:/]|\d/.test(up.id);
      const classes = [...up.classList].filter((name) => !/^(is-|app-\d|cols-)/.test(name)).slice(0, 2).map((name) => `.${name}`).join('');
      parts.unshift(named ? `#${up.id}` : `${up.localName}${classes}`);
      if (named) break;
    }
    return parts.join(' > ') || el.localName;
  }

  const problems = [];
  const used = new Set();
  try {
    for (const [rule, find] of Object.entries(RULES)) {
      for (const [el, says] of find()) {
        const row = exceptions.findIndex((one) => one.rule === rule && el.closest(one.where));
        if (row >= 0) used.add(row);
        else problems.push({ rule, path: path(el), says });
      }
    }
  } finally {
    shade.remove();
  }
  return { problems, used: [...used] };
}
