// A workbench in a frame of a room, or of the page for writing a lesson. That page itself reports a lost line.

const { inRoom: role } = window.frameElement?.dataset ?? {};

export const inRoom = role !== undefined;

document.documentElement.classList.toggle('in-room', inRoom);
document.documentElement.classList.toggle('is-written', role === 'write');

if (inRoom) {
  // A link would take the frame away from the sandbox that the room knows.
  document.addEventListener('click', ({ target }) => {
    const link = target.closest?.('a[href]');
    if (link && new URL(link.href, document.baseURI).pathname !== location.pathname) link.target ||= '_blank';
  }, true);
  // The frame is inert while the room is paused: its buttons must not look as if they did something.
  const { frameElement: frame } = window;
  const pause = () => document.documentElement.classList.toggle('is-paused', frame.inert);
  new MutationObserver(pause).observe(frame, { attributes: true, attributeFilter: ['inert'] });
  pause();
}
