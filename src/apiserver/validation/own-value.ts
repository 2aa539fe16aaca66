/** What a map holds under a key that somebody else chose: `constructor` and the like are names as good as any. */
export function ownValue<V>(map: Readonly<Record<string, V>> | undefined, key: string): V | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
