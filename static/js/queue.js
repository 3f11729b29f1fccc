// Links a move in the queue to the mark of its cause in the timeline.

const byId = (id) => document.getElementById(id);

document.addEventListener('click', ({ target }) => {
  const move = target.closest('button.lnk[data-command]');
  if (move) jump(move.dataset.command);
});

const markOf = (command) => document.querySelector(`[data-commands~="${CSS.escape(command)}"]`);

function jump(command) {
  const mark = markOf(command);
  if (!mark) return;
  const rail = byId('scroll-time');
  rail.scrollLeft = mark.offsetLeft - rail.clientWidth / 2;
  light(mark);
}

let lit = null;
function light(mark) {
  lit?.classList.remove('is-linked');
  lit = mark;
  lit?.classList.add('is-linked');
}

for (const name of ['pointerover', 'focusin']) {
  byId('app').addEventListener(name, (event) => {
    const command = event.target.closest?.('[data-command]')?.dataset.command;
    light(command ? markOf(command) : null);
  });
}
