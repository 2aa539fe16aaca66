/** Map operations that indexes share. */

export function setOrDelete<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** For a map of sets. Invariant: no set in the map is empty. */
export function addTo<K, V>(map: Map<K, Set<V>>, key: K, member: V): void {
  const members = map.get(key);
  if (members === undefined) map.set(key, new Set([member]));
  else members.add(member);
}

export function removeFrom<K, V>(map: Map<K, Set<V>>, key: K, member: V): void {
  const members = map.get(key);
  if (members?.delete(member) === true && members.size === 0) map.delete(key);
}
