/*
 * Go's strings.Trim. A regular expression such as `/\/+$/` tries every run of the letter in the text, and takes time that
 * grows with the square of its length.
 */

/** Without the letter at both ends. */
export function trimmed(text: string, letter: string): string {
  let start = 0;
  while (start < text.length && text[start] === letter) start += 1;
  return trimmedEnd(text.slice(start), letter);
}

export function trimmedEnd(text: string, letter: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === letter) end -= 1;
  return text.slice(0, end);
}
