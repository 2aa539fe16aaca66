/** The id of the promise of an inline volume. No key of a claim has a colon. */
export function inlineVolumeId(podKey: string, volumeName: string): string {
  return `${podKey}:${volumeName}`;
}

/** The pod and the name of the inline volume; undefined for the promise of a claim. */
export function inlineVolumeOf(
  id: string,
): { readonly podKey: string; readonly volumeName: string } | undefined {
  const at = id.indexOf(':');
  return at < 0 ? undefined : { podKey: id.slice(0, at), volumeName: id.slice(at + 1) };
}

/** The id of the promise for an expansion that the driver has not done yet. No key of a claim has a `#`. */
export function expansionId(claimKey: string): string {
  return `${claimKey}#expansion`;
}

/** The id of the promise for the bytes of an expansion that the driver has done, until the pool's capacity report includes them. */
export function expandedId(claimKey: string): string {
  return `${claimKey}#expanded`;
}

/** The key of the claim whose volume grows; undefined if the promise is not about an expansion. */
export function expansionOf(id: string): { readonly claimKey: string; readonly isDone: boolean } | undefined {
  const at = id.indexOf('#');
  return at < 0 ? undefined : { claimKey: id.slice(0, at), isDone: id.endsWith('#expanded') };
}

/** No claim has this id, so a new claim of the same name has its own promise. */
export function deletedClaimId(claimKey: string, claimUid: string): string {
  return `${claimKey} ${claimUid}`;
}
