// Importing a cluster: a file is chosen, dropped or pasted; its progress is shown, then the wait for the sandbox.

import { copy } from './clipboard.js';
import { say } from './words.js';

const door = document.getElementById('door');
const page = document.querySelector('form[data-wait]');

/** Call `show` with the seconds so far, every second. */
function count(show) {
  const start = performance.now();
  const tick = () => show(Math.round((performance.now() - start) / 1000));
  tick();
  return setInterval(tick, 1000);
}

function doorOf(form) {
  const file = form.querySelector('input[type="file"]');
  const text = form.querySelector('textarea');
  const note = form.querySelector('.door-note');
  const bar = form.querySelector('progress');
  const button = form.querySelector('button');
  const most = Number(form.dataset.most);
  let timer = 0;

  const tell = (words, wrong = false) => {
    note.textContent = words;
    note.classList.toggle('is-no', wrong);
    text.setAttribute('aria-invalid', String(wrong));
  };
  const end = () => {
    clearInterval(timer);
    bar.hidden = true;
    button.disabled = false;
  };
  const send = (content, name) => {
    if (content.size > most) {
      tell(say('script.file-too-large', { name, size: content.size, most }), true);
      return;
    }
    const body = new FormData();
    body.append('file', content, name);
    const request = new XMLHttpRequest();
    request.open('POST', form.action);
    request.setRequestHeader('Accept', 'text/plain');
    request.upload.onprogress = ({ loaded, total }) => { bar.value = total ? loaded / total : 0; };
    request.upload.onload = () => {
      bar.removeAttribute('value');
      timer = count((seconds) => tell(say('script.file-arrived', { name, seconds })));
    };
    request.onload = () => {
      end();
      if (request.status === 201) location.assign(new URL(request.responseText.trim()).pathname);
      else tell(request.getResponseHeader('Content-Type')?.startsWith('text/plain') ? request.responseText.trim() : say('script.nothing-created', { status: request.status }), true);
    };
    request.onerror = () => { end(); tell(say('script.broken-connection'), true); };
    bar.value = 0;
    bar.hidden = false;
    button.disabled = true;
    tell(say('script.file-sending', { name }));
    request.send(body);
  };
  const over = (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    form.toggleAttribute('data-over', event.type === 'dragover');
  };

  text.addEventListener('input', () => { file.value = ''; }); // The last input counts.
  file.addEventListener('change', () => { if (file.files[0]) send(file.files[0], file.files[0].name); });
  form.addEventListener('dragover', over);
  form.addEventListener('dragleave', ({ relatedTarget }) => { if (!form.contains(relatedTarget)) form.removeAttribute('data-over'); });
  form.addEventListener('drop', (event) => {
    over(event);
    const [dropped] = event.dataTransfer.files;
    if (dropped) send(dropped, dropped.name);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (file.files[0]) send(file.files[0], file.files[0].name);
    else if (text.value.trim()) send(new Blob([text.value]), 'pasted.yaml');
    else tell(say('script.file-missing'), true);
  });
}

if (door) {
  doorOf(door);
  const button = document.getElementById('copy');
  button.hidden = false;
  button.addEventListener('click', () => copy(document.getElementById('kubectl').textContent, button));
}

if (page) {
  const note = page.querySelector('.imp-wait');
  let timer = 0;
  page.addEventListener('submit', ({ submitter }) => {
    note.hidden = false;
    const words = submitter?.formMethod === 'get' ? say('script.file-again') : page.dataset.wait;
    timer = count((seconds) => { note.textContent = say('script.file-waiting', { what: words, seconds }); });
  });
  // The browser's Back button shows the page as it was left.
  addEventListener('pageshow', () => { clearInterval(timer); note.hidden = true; });
}
