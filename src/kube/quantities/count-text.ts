/** A count with its noun: `1 pod`, `1,200 pods`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** A count with separators: `1,200`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
