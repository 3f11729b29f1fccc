// “Expect this”: the key, and the count of what does not hold.

const byId = (id) => document.getElementById(id);

/** What the key does: the button of the cell that is open, else the list of what can be expected of what is chosen. */
export function expectThis() {
  const cell = [...document.querySelectorAll('.why .expect')].find((button) => button.checkVisibility());
  if (cell) return cell.click();
  const list = byId('insp-expects');
  if (!list?.checkVisibility()) return;
  list.open = true;
  list.querySelector('.expect').focus();
}

/** The tab tells how many are red; the sentence, which is always there, knows. */
export function settleRed() {
  const tab = byId('tab-expectations');
  const red = byId('panel-sentence').dataset.red;
  if (red === '0') delete tab.dataset.red;
  else tab.dataset.red = red;
}
