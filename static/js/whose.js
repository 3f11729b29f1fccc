/** Return the object that an element's part of a panel is about, as the server wrote it. */
export const whoseOf = (element) => element?.closest('[data-whose]')?.dataset.whose ?? '';

/** Return the element with this id if it is about the same object. */
export function sameThing(id, whose) {
  const element = id ? document.getElementById(id) : null;
  return element && whoseOf(element) === whose ? element : null;
}
