/** The names to show, and how many more of the `count` there are: `a, b, c and 4 more`. */
export function truncatedList(shown: readonly string[], count: number): string {
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  return `${shown.join(', ')}${more}`;
}
