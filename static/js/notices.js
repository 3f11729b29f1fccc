// While a modal dialog is open, the rest of the page cannot be read or clicked: what there is to say is said in the dialog.

/** Keep the notices where they can be read and dismissed. */
export function noticesInSight() {
  const notices = document.getElementById('notices');
  const home = notices.parentElement;
  const settle = () => {
    const box = document.querySelector('dialog:modal') ?? home;
    if (notices.parentElement !== box) box.append(notices);
  };
  new MutationObserver(settle).observe(document.body, { subtree: true, attributeFilter: ['open'] });
}
