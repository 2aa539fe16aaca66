import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../kube/stowage/volume.ts';
import { claimsOfVolumes } from '../../queries/disks/claims-of-volumes.ts';
import type { DiskObjects } from '../../queries/disks/disk-objects.ts';
import { diskLabel, type KnownDisk, knownDisks } from '../../queries/disks/known-disks.ts';
import { CliError, usage } from '../errors/cli-error.ts';

/** The object that an argument of `disks describe` and `disks evict` names. */
export type DisksTarget =
  | { readonly kind: 'disk'; readonly disk: KnownDisk }
  | { readonly kind: 'node'; readonly node: StorageNode }
  | { readonly kind: 'volume'; readonly volume: DiskVolume }
  | { readonly kind: 'image'; readonly image: BackingImage };

type TargetKind = DisksTarget['kind'];

/** The prefixes before the slash; `kubectl get -o name` prints the long forms. */
const prefixes: Readonly<Record<string, TargetKind>> = {
  disk: 'disk',
  diskschedule: 'disk',
  'diskschedule.stowage.dev': 'disk',
  node: 'node',
  storagenode: 'node',
  'storagenode.stowage.dev': 'node',
  volume: 'volume',
  'volume.stowage.dev': 'volume',
  image: 'image',
  backingimage: 'image',
  'backingimage.stowage.dev': 'image',
  claim: 'volume',
  persistentvolumeclaim: 'volume',
};

const ofClaims: ReadonlySet<string> = new Set(['claim', 'persistentvolumeclaim']);

/** Fewer digits of a UUID are likely to match another one. */
const uuidDigitsMin = 4;
const namesShownMax = 8;

/** The one object that the argument names, among those of the given kinds. */
export function targetNamed(
  argument: string,
  objects: DiskObjects,
  kinds: readonly TargetKind[] = ['disk', 'node', 'volume', 'image'],
): DisksTarget {
  const candidates = targetsOf(objects).filter(({ kind }) => kinds.includes(kind));
  const [prefix, ...rest] = argument.split('/');
  const kind = Object.hasOwn(prefixes, prefix!) && rest.length > 0 ? prefixes[prefix!] : undefined;
  const name = ofClaims.has(prefix!) ? volumeOfClaim(rest.join('/'), objects) : rest.join('/');
  const found =
    kind === undefined
      ? candidates.filter((one) => isNamed(one, argument))
      : candidates.filter((one) => one.kind === kind && isNamed(one, name));
  // A node may be called like a kind: node `disk` with a disk `a`.
  const all = found.length > 0 ? found : candidates.filter((one) => isNamed(one, argument));
  const [first] = all;
  if (first === undefined)
    throw new CliError(`${notFoundText(argument, kind, kinds)}; ${knownText(candidates, kind)}`);
  if (all.length === 1) return first;
  const exact = all.filter((one) => isExactly(one, kind === undefined ? argument : rest.join('/')));
  if (exact.length === 1) return exact[0]!;
  throw usage(`"${argument}" is ambiguous; it must be one of ${truncated(all.map(targetText))}`);
}

/** As the commands take it: `disk/NODE/NAME`, `node/NAME`, `volume/NAME`, `image/NAME`. */
export function targetText(target: DisksTarget): string {
  switch (target.kind) {
    case 'disk':
      return `disk/${diskLabel(target.disk)}`;
    case 'node':
      return `node/${target.node.metadata?.name}`;
    case 'volume':
      return `volume/${target.volume.metadata?.name}`;
    case 'image':
      return `image/${target.image.metadata?.name}`;
  }
}

/** Claims by `NAMESPACE/NAME`. */
function volumeOfClaim(claim: string, objects: DiskObjects): string {
  for (const [volume, owner] of claimsOfVolumes(objects)) if (owner === claim) return volume;
  return '';
}

function targetsOf(objects: DiskObjects): readonly DisksTarget[] {
  return [
    ...knownDisks(objects).map((disk) => ({ kind: 'disk', disk }) as const),
    ...objects.nodes.map((node) => ({ kind: 'node', node }) as const),
    ...(objects.volumes ?? []).map((volume) => ({ kind: 'volume', volume }) as const),
    ...(objects.images ?? []).map((image) => ({ kind: 'image', image }) as const),
  ];
}

function isNamed(target: DisksTarget, name: string): boolean {
  if (target.kind !== 'disk') return nameOf(target) === name;
  const { disk } = target;
  if (name === disk.name || name === diskLabel(disk)) return true;
  return name.length >= uuidDigitsMin && disk.uuid?.startsWith(name) === true;
}

/** A whole UUID or `NODE/DISK`, where the beginning of a UUID or the name alone is ambiguous. */
function isExactly(target: DisksTarget, name: string): boolean {
  return target.kind === 'disk' && (target.disk.uuid === name || diskLabel(target.disk) === name);
}

function nameOf(target: Exclude<DisksTarget, { readonly kind: 'disk' }>): string | undefined {
  const object =
    target.kind === 'node' ? target.node : target.kind === 'volume' ? target.volume : target.image;
  return object.metadata?.name;
}

function notFoundText(argument: string, kind: TargetKind | undefined, kinds: readonly TargetKind[]): string {
  if (kind !== undefined && !kinds.includes(kind)) return `"${argument}" must name a ${kinds.join(' or a ')}`;
  return kind === undefined
    ? `there is no ${alternatives(kinds)} named ${argument}`
    : `there is no ${argument}`;
}

function alternatives(kinds: readonly TargetKind[]): string {
  return kinds.length === 1 ? kinds[0]! : `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`;
}

function knownText(candidates: readonly DisksTarget[], kind: TargetKind | undefined): string {
  const own = candidates.filter((one) => kind === undefined || one.kind === kind);
  const shown = own.length > 0 ? own : candidates;
  return shown.length === 0 ? 'the cluster has no disks' : `there are ${truncated(shown.map(targetText))}`;
}

function truncated(names: readonly string[]): string {
  const more = names.length - namesShownMax;
  return `${names.slice(0, namesShownMax).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
