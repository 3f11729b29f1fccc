// The dialog that finds a pod or a node by a part of its name, among those that the page shows.

const byId = (id) => document.getElementById(id);
const finder = byId('dialog-find');
const text = byId('find-text');
let choose = null; // what is to be done with the one that is found

function names() {
  const found = new Map();
  for (const el of document.querySelectorAll('.p-queue [data-pod], .p-cluster [data-pod]')) found.set(`pod ${el.dataset.pod}`, { pod: el.dataset.pod });
  for (const el of document.querySelectorAll('.p-cluster [data-node]')) found.set(`node ${el.dataset.node}`, { node: el.dataset.node });
  return found;
}

function list() {
  const wanted = text.value.trim().toLowerCase();
  const matching = [...names()].filter(([name]) => name.toLowerCase().includes(wanted)).slice(0, 30);
  byId('find-list').replaceChildren(...matching.map(([name, thing], index) => {
    const item = document.createElement('li');
    const button = document.createElement('button');
    const kind = document.createElement('small');
    kind.textContent = name.split(' ')[0];
    button.append((thing.pod ?? thing.node).replace(/^default\//, ''), kind);
    button.type = 'button';
    button.classList.toggle('is-first', index === 0);
    button.onclick = () => { finder.close(); choose({ pod: thing.pod ?? '', node: thing.node ?? '', plugin: '' }); };
    item.append(button);
    return item;
  }));
}

/** `then` gets what a person chooses, as the part of the view that it changes. */
export function find(then) {
  choose = then;
  text.value = '';
  list();
  finder.showModal();
  text.focus();
}

text.addEventListener('input', list);
finder.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  finder.querySelector('.find-l button')?.click();
});
