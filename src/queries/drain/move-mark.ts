import type { Drive } from '../../kube/stowage/drive.ts';

/**
 * On a Drive that `stowage move` has cordoned as a target: the drive that is emptied, and the volumes that come from there. It is written together with the
 * cordon, so that a later call knows where volumes go, and which objects to uncordon.
 */
export const moveTargetKey = 'stowage.dev/move-target';

export interface MoveMark {
  /** The name of the drive that is emptied. */
  readonly from: string;
  readonly volumes: readonly string[];
}

/** Undefined if there is none. People may have edited it: then it counts as absent, and a person has to take the cordon back. */
export function moveMarkOf({ metadata }: Pick<Drive, 'metadata'>): MoveMark | undefined {
  try {
    const parsed: unknown = JSON.parse(metadata?.annotations?.[moveTargetKey] ?? 'null');
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { from, volumes } = parsed as Partial<MoveMark>;
    if (typeof from !== 'string' || !Array.isArray(volumes)) return undefined;
    return { from, volumes: volumes.filter((name): name is string => typeof name === 'string') };
  } catch {
    return undefined;
  }
}

export function moveMarkText({ from, volumes }: MoveMark): string {
  return JSON.stringify({ from, volumes: volumes.toSorted() });
}
