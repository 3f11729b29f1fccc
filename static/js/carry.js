// A link that contains a scenario: compressed, after the "#", which no browser sends.

import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const LONGEST = 8000; // characters of a link that mail, chats and browsers accept
const button = byId('carry-make');
const usual = byId('carry-note')?.textContent;

function encode(bytes) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

async function pack(text) {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return encode(new Uint8Array(await new Response(packed).arrayBuffer()));
}

async function create() {
  const at = new URL(byId('share-moment').value).searchParams.get('at');
  const query = new URLSearchParams({ compact: '1', ...(at && { at }) });
  const answer = await fetch(`${byId('app').dataset.base}export/scenario/?${query}`).catch(() => null);
  if (!answer?.ok) return { note: say('script.link-failed') };
  const link = new URL(button.dataset.page, location.href);
  link.hash = `s=${await pack(await answer.text())}`;
  if (link.href.length <= LONGEST) return { link: link.href, note: say('script.link-length', { length: link.href.length }) };
  return { note: say('script.link-too-long', { length: link.href.length, most: LONGEST }) };
}

button?.addEventListener('click', async () => {
  button.disabled = true;
  const { link = '', note } = await create();
  byId('share-carry').value = link;
  byId('carry-note').textContent = note;
  button.disabled = false;
});
byId('dialog-share')?.addEventListener('close', () => {
  byId('share-carry').value = '';
  byId('carry-note').textContent = usual;
});
