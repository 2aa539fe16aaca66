/** The first names and the number of the others: `n1, n2 and 996 more`. */
export function namesText(names: readonly string[], count: number, max: number): string {
  if (count <= max + 1 && names.length === count) return names.join(', ');
  const more = (count - max).toLocaleString('en-US');
  return `${names.slice(0, max).join(', ')} and ${more} more`;
}
