// The snippets that put a sandbox into another page, and a preview. The link of the share dialog names what is in view.

const byId = (id) => document.getElementById(id);
const form = byId('embed-form');
const HEIGHT = 450;

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const momentInView = () => new URL(byId('share-moment').value).searchParams;

/** Return what an embed of panels shows, as the parameters of its address. */
function panels(data, live) {
  const chosen = { panels: data.getAll('panels').join(',') };
  const moment = momentInView();
  for (const name of ['pod', 'node', 'plugin', 'tab']) if (moment.has(name)) chosen[name] = moment.get(name);
  if (data.get('when') === 'at' && !live) chosen.at = moment.get('at');
  if (data.has('steps') || live) chosen.steps = '1';
  if (!chosen.at) chosen.live = '1';
  return chosen;
}

/** Return what an embed of a comparison shows, as the parameters of its address. */
function comparison(data) {
  const { later, ...chosen } = Object.fromEntries(new URLSearchParams(data.get('shows')));
  if (later || data.get('when') === 'at') chosen.at = momentInView().get('at');
  return chosen;
}

function make() {
  const data = new FormData(form);
  const compares = Boolean(data.get('shows'));
  const live = data.has('live') && !compares;
  const path = compares ? 'embed/differences/' : 'embed/';
  const address = new URL(path, live ? byId('share-edit').value : byId('share-view').value);
  const chosen = compares ? comparison(data) : panels(data, live);
  for (const [name, usual] of [['theme', 'auto'], ['size', 'normal']]) if (data.get(name) !== usual) chosen[name] = data.get(name);
  address.search = new URLSearchParams(chosen);
  for (const part of form.querySelectorAll('[data-panels]')) part.hidden = compares;
  const warning = byId('embed-warning');
  if (warning) warning.hidden = !live;
  const title = escape(document.title);
  byId('embed-iframe').value = `<iframe src="${escape(address.href)}" width="100%" height="${HEIGHT}" style="border:0" loading="lazy" title="${title}"></iframe>`;
  const attributes = Object.entries(chosen).map(([name, value]) => ['steps', 'live'].includes(name) ? name : `${name}="${escape(value)}"`).join(' ');
  const src = escape(compares ? address.href : address.href.split('?')[0]);
  byId('embed-element').value = `<script src="${location.origin}/embed.js" async></script>\n<scheduler-sandbox src="${src}" ${compares ? '' : `${attributes} `}title="${title}"></scheduler-sandbox>`;
  const preview = byId('embed-preview');
  const shown = new URL(path, byId('share-view').value); // a preview must not change anything
  shown.search = address.search;
  preview.hidden = false;
  if (preview.src !== shown.href) preview.src = shown.href;
}

function leave() {
  const preview = byId('embed-preview');
  preview.hidden = true;
  preview.removeAttribute('src');
}

if (form) {
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('change', make);
  byId('share-embed').addEventListener('toggle', ({ target }) => { if (target.open) make(); else leave(); });
  byId('dialog-share').addEventListener('close', () => { byId('share-embed').open = false; });
}
