/** A label as one map key: `key=value`. */
export function labelPair(key: string, value: string): string {
  return `${key}=${value}`;
}

export function labelPairs(labels: Readonly<Record<string, string>>): string[] {
  return Object.keys(labels).map((key) => labelPair(key, labels[key]!));
}
