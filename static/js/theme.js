// Dark or light and the size of type, before the first paint. Kept in this browser only.
(() => {
  const root = document.documentElement;
  const query = new URLSearchParams(location.search);
  const read = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const write = (key, value) => { try { localStorage.setItem(key, value); } catch { return; } };
  const theme = query.get('theme') || read('theme');
  const size = query.get('size') || read('size');
  if (theme === 'dark' || theme === 'light') root.dataset.theme = theme;
  if (size === 'projector') root.dataset.size = size;

  const actions = {
    theme() {
      const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = dark ? 'light' : 'dark';
      write('theme', root.dataset.theme);
    },
    size(button) {
      const large = root.dataset.size !== 'projector';
      root.dataset.size = large ? 'projector' : 'normal';
      button.setAttribute('aria-pressed', String(large));
      write('size', root.dataset.size);
    },
  };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-do="theme"], [data-do="size"]');
    if (!button) return;
    actions[button.dataset.do](button);
    document.dispatchEvent(new CustomEvent('look-changed'));
  });
})();
