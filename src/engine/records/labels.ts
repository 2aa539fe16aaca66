interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

export function haveSameLabels(a: Labelled, b: Labelled): boolean {
  const keys = Object.keys(a.labels);
  return keys.length === Object.keys(b.labels).length && keys.every((key) => a.labels[key] === b.labels[key]);
}
