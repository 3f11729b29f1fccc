// A workbench in a frame of a room. The room itself reports a lost line.

export const inRoom = Boolean(window.frameElement?.matches('[data-in-room]'));

document.documentElement.classList.toggle('in-room', inRoom);

// A link would take the frame away from the sandbox that the room knows.
if (inRoom) {
  document.addEventListener('click', ({ target }) => {
    const link = target.closest?.('a[href]');
    if (link && new URL(link.href, document.baseURI).pathname !== location.pathname) link.target ||= '_blank';
  }, true);
}
