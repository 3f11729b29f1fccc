/** The dialog `id` opens with the button `opener`, wherever an update puts it, and closes when `done` is announced. */
export function dialog(id, opener, done) {
  const box = document.getElementById(id);
  if (!box) return;
  document.addEventListener('click', ({ target }) => {
    if (target.closest(`#${opener}`)) box.showModal();
    else if (target.closest(`#${id} [data-do="close"]`)) box.close();
  });
  document.body.addEventListener(done, () => box.close());
  box.addEventListener('close', () => document.getElementById(opener)?.focus());
}
