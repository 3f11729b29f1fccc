/** Whose an element is: the object that the part of a panel around it is about, as the server wrote it there. */
export const whoseOf = (element) => element?.closest('[data-whose]')?.dataset.whose ?? '';

/** The element with this id, if it is about the same object. */
export function sameThing(id, whose) {
  const found = id ? document.getElementById(id) : null;
  return found && whoseOf(found) === whose ? found : null;
}
