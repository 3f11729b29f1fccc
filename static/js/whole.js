// A long sentence is cut, so that nothing below it moves from stage to stage. A button unfolds it until the next one.

const box = () => document.getElementById('panel-sentence');
let whole = ''; // key of the stage whose sentence somebody unfolded

function mark(now, unfolded) {
  now.classList.toggle('is-whole', unfolded);
  document.getElementById('now-rest').setAttribute('aria-expanded', String(unfolded));
}

/** After an update, or in another size: fold a new sentence, and offer the rest of one that does not fit. */
export function settleSentence() {
  const now = box();
  const unfolded = whole !== '' && whole === now.dataset.key;
  mark(now, unfolded);
  if (unfolded) return;
  whole = '';
  now.classList.remove('has-rest'); // The button itself takes room from the sentence.
  const { scrollHeight, clientHeight } = document.getElementById('sentence-text');
  now.classList.toggle('has-rest', scrollHeight > clientHeight + 2);
}

document.addEventListener('click', ({ target }) => {
  if (!target.closest?.('#now-rest')) return;
  const now = box();
  whole = now.matches('.is-whole') ? '' : now.dataset.key;
  mark(now, whole !== '');
});
