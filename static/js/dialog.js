/** Open the dialog `id` with the button `opener`, and close it on the event `done`. Input is kept until it is sent or cancelled. */
export function dialog(id, opener, done) {
  const box = document.getElementById(id);
  if (!box) return;
  let begun = false;
  const end = () => { begun = false; box.close(); };
  document.addEventListener('click', ({ target }) => {
    if (target.closest(`#${opener}`)) box.showModal();
    else if (target.closest(`#${id} [data-do="close"]`)) end();
  });
  box.addEventListener('input', () => { begun = true; });
  document.addEventListener('htmx:confirm', (event) => { if (begun && event.target.id === opener) event.preventDefault(); }); // It would fetch a new form.
  document.body.addEventListener(done, end);
  box.addEventListener('close', () => document.getElementById(opener)?.focus());
}
