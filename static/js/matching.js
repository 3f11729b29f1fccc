/** Return a function that tells if an element has all the words of a text in it. */
export function matching(text) {
  const words = text.trim().toLowerCase().split(/\s+/);
  return ({ textContent }) => {
    const held = textContent.toLowerCase();
    return words.every((word) => held.includes(word));
  };
}
