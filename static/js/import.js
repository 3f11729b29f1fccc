// Bringing a cluster: a file that is chosen, dropped or pasted, how far it has come, and the wait for what is made of it.

import { say } from './words.js';

const door = document.getElementById('door');
const page = document.querySelector('form[data-wait]');

function seconds(show) {
  const start = performance.now();
  const tick = () => show(Math.round((performance.now() - start) / 1000));
  tick();
  return setInterval(tick, 1000);
}

function doorOf(form) {
  const file = form.querySelector('input[type="file"]');
  const text = form.querySelector('textarea');
  const told = form.querySelector('.door-told');
  const bar = form.querySelector('progress');
  const button = form.querySelector('button');
  const most = Number(form.dataset.most);
  let timer = 0;

  const tell = (words, wrong = false) => {
    told.textContent = words;
    told.classList.toggle('is-no', wrong);
    form.querySelector('textarea').setAttribute('aria-invalid', String(Boolean(wrong)));
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
      timer = seconds((count) => tell(say('script.file-arrived', { name, seconds: count })));
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

  text.addEventListener('input', () => { file.value = ''; }); // What is sent is what was given last.
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

function copyOf(button, line) {
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', () => navigator.clipboard.writeText(line.textContent).then(() => { button.textContent = say('script.copied'); }, () => { button.textContent = say('script.not-copied'); }));
}

if (door) {
  doorOf(door);
  copyOf(document.getElementById('copy'), document.getElementById('kubectl'));
}

if (page) {
  const told = page.querySelector('.imp-wait');
  let timer = 0;
  page.addEventListener('submit', ({ submitter }) => {
    told.hidden = false;
    const words = submitter?.formMethod === 'get' ? say('script.file-again') : page.dataset.wait;
    timer = seconds((count) => { told.textContent = say('script.file-waiting', { what: words, seconds: count }); });
  });
  // Who comes back by the browser's own button finds the page as it was left.
  addEventListener('pageshow', () => { clearInterval(timer); told.hidden = true; });
}
