import { isLabelKey, isLabelValue } from '../../kube/selectors/label-syntax.ts';
import type { DriveKind } from './drive-requirements.ts';

/** The parameters of a StorageClass of `drives.stowage.dev`. */
export interface DriveClass extends DriveKind {
  /** Volumes of claims with one owner go on different drives. */
  readonly spreadsByOwner: boolean;
}

export type InlineDriveKindResult =
  | { readonly ok: true; readonly value: DriveKind }
  | { readonly ok: false; readonly problem: string };

export type DriveClassResult =
  | { readonly ok: true; readonly value: DriveClass }
  /** A sentence that names the parameter and the remedy. */
  | { readonly ok: false; readonly problem: string };

const accessTiers: readonly string[] = ['Default', 'Hot', 'Warm', 'Cold'];

/** Parameters that a provisioner adds for each claim; they say nothing about the class. */
const reservedPrefixes: readonly string[] = ['csi.storage.k8s.io/', 'stowage.dev/'];

const fstypeKey = 'csi.storage.k8s.io/fstype';

/** Reads class parameters. A parameter that is unknown is a problem: a typing mistake must not place volumes anywhere. */
export function readDriveClass(parameters: Readonly<Record<string, string>>): DriveClassResult {
  const { accessTier, driveLabels = '', spreadBy, ...others } = parameters;
  const unknown = Object.keys(others).filter(
    (key) => !reservedPrefixes.some((prefix) => key.startsWith(prefix)),
  );
  if (unknown.length > 0)
    return problem(
      `parameter ${unknown[0]} is unknown; use accessTier, driveLabels, spreadBy or ${fstypeKey}`,
    );
  const fstype = fstypeProblem(others[fstypeKey]);
  if (fstype !== undefined) return problem(`parameter ${fstypeKey}: ${fstype}`);
  const tier = tierOf(accessTier);
  if (accessTier !== undefined && tier === undefined)
    return problem(`parameter accessTier: ${quoted(accessTier)} must be one of ${accessTiers.join(', ')}`);
  const labels = labelsOf(driveLabels);
  if (typeof labels === 'string') return problem(`parameter driveLabels: ${labels}`);
  if (spreadBy !== undefined && spreadBy !== 'claim-owner')
    return problem(`parameter spreadBy: ${quoted(spreadBy)} must be claim-owner`);
  return { ok: true, value: { tier, labels, spreadsByOwner: spreadBy === 'claim-owner' } };
}

/** Reads the attributes of an inline volume: `accessTier` and `driveLabels` as in a class. Volumes of pods have no claims whose owner could spread them. */
export function readInlineDriveKind(attributes: Readonly<Record<string, string>>): InlineDriveKindResult {
  if (attributes.spreadBy !== undefined)
    return { ok: false, problem: 'spreadBy is for the volumes of claims; remove it' };
  const read = readDriveClass(attributes);
  if (!read.ok) return { ok: false, problem: read.problem.replace(/^parameter /, '') };
  const { tier, labels } = read.value;
  return { ok: true, value: { tier, labels } };
}

/** Returns the error in a filesystem type; undefined and empty mean the default. */
export function fstypeProblem(fstype: string | undefined): string | undefined {
  if (fstype === undefined || fstype === '' || fstype === 'xfs') return undefined;
  return `drives have the filesystem xfs, not ${quoted(fstype)}`;
}

/** Case does not matter, as in DirectPV. */
function tierOf(text: string | undefined): string | undefined {
  return accessTiers.find((tier) => tier.toLowerCase() === text?.toLowerCase());
}

/** `key=value,key=value`; a problem is a sentence. */
function labelsOf(text: string): Readonly<Record<string, string>> | string {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const labels: [string, string][] = [];
  for (const pair of pairs) {
    const [key = '', value, ...rest] = pair.split('=').map((part) => part.trim());
    if (value === undefined || rest.length > 0 || !isLabelKey(key) || !isLabelValue(value))
      return `${quoted(pair.trim())} must be a label, such as rack=r1`;
    if (labels.some(([other]) => other === key)) return `the label ${key} is there twice`;
    labels.push([key, value]);
  }
  return Object.fromEntries(labels);
}

function problem(text: string): DriveClassResult {
  return { ok: false, problem: text };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
