// Reads the short texts of sandbox/panels/drawing/runs.py as lists.

/** `5 1+3x4 -` is 5, 1, 4, 7, 10, null. */
export function runs(text, between = ' ') {
  return text.split(between).filter(Boolean).flatMap((item) => {
    const [, first, step, count] = item.match(/^(-|\d+)(?:\+(\d+))?(?:x(\d+))?$/);
    return Array.from({ length: Number(count ?? 1) }, (_, i) => (first === '-' ? null : Number(first) + i * Number(step ?? 0)));
  });
}

/** `n-[2:1+1x3] web` is n-01, n-02, n-03, web. */
export function names(text) {
  return text.split(' ').filter(Boolean).flatMap((item) => {
    const [, prefix, width, numbers] = item.match(/^(.*)\[(\d+):(.*)\]$/) ?? [];
    return width ? runs(numbers, ',').map((number) => prefix + String(number).padStart(Number(width), '0')) : [item];
  });
}
