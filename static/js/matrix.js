// The cells of the filter and score tables: arrow keys move between them, Enter explains one. Table, node and column identify
// a cell, so that it gets the focus again after an update.

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const CELL = '.mx.cells tbody tr[data-node] > *';

/** Return what a cell is about, null outside of the tables. */
export function cellOf(element) {
  const cell = element?.closest?.(CELL);
  if (!cell) return null;
  const table = cell.closest('table');
  const plugin = table.tHead.rows[0].cells[cell.cellIndex]?.dataset.plugin ?? '';
  return { panel: cell.closest('.panel').id, node: cell.parentElement.dataset.node, column: cell.cellIndex, plugin };
}

export function focusCell({ panel, node, column }) {
  const row = document.querySelector(`#${panel} .mx.cells tbody tr[data-node="${CSS.escape(node)}"]`);
  focus(row?.cells[column]);
}

const focus = (cell) => { (cell?.querySelector('button') ?? cell)?.focus({ preventScroll: false }); };

let shown = '';

function reveal() {
  const why = [...document.querySelectorAll('.mx .why')].find((row) => row.offsetParent);
  const opened = why ? `${why.closest('.panel').id} ${why.textContent}` : '';
  if (why && opened !== shown) why.scrollIntoView({ block: 'nearest' });
  shown = opened;
}

export function cells(root) {
  document.body.addEventListener('htmx:wsAfterMessage', reveal);
  root.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = event.target.closest(CELL);
    if (!cell) return;
    if (event.target === cell && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      cell.click();
      return;
    }
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = [...cell.closest('tbody').querySelectorAll('tr[data-node]')];
    const row = rows[rows.indexOf(cell.parentElement) + step[0]];
    if (row) focus(row.cells[Math.min(cell.cellIndex + step[1], row.cells.length - 1)]);
  });
}
