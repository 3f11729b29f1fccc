// “Expect this”: its key, and the number of red expectations.

const byId = (id) => document.getElementById(id);

/** Press the button in the open cell, else open the list of expectations for the chosen object. */
export function expectThis() {
  const cell = [...document.querySelectorAll('.why .expect')].find((button) => button.checkVisibility());
  if (cell) return cell.click();
  const list = byId('insp-expects');
  if (!list?.checkVisibility()) return;
  list.open = true;
  list.querySelector('.expect').focus();
}

/** Show the number on the tab. The panel of the sentence, which is always on the page, has it. */
export function settleRed() {
  const tab = byId('tab-expectations');
  const red = byId('panel-sentence').dataset.red;
  if (red === '0') delete tab.dataset.red;
  else tab.dataset.red = red;
}
