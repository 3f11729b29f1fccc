// The leader panel: the dialog about the replicas of the scheduler.

const dialog = document.getElementById('dialog-replicas');

document.addEventListener('click', (event) => {
  if (event.target.closest('#replicas-set')) dialog?.showModal();
  else if (event.target.closest('#dialog-replicas [data-do="close"]')) dialog.close();
});
document.body.addEventListener('replicas-set', () => dialog?.close());
dialog?.addEventListener('close', () => document.getElementById('replicas-set')?.focus());
