// The queue's pane: the dialog that breaks things, and the way from a move to the mark of what set it off.

const byId = (id) => document.getElementById(id);
const dialog = byId('dialog-break');

document.addEventListener('click', (event) => {
  const target = event.target;
  if (target.closest('#break')) dialog?.showModal();
  else if (target.closest('#dialog-break [data-do="close"]')) dialog.close();
  else if (target.closest('button.lnk[data-command]')) jump(target.closest('button').dataset.command);
});
document.body.addEventListener('fault-set', () => dialog?.close());
dialog?.addEventListener('close', () => byId('break')?.focus());

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
