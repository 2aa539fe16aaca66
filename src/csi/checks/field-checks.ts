import { isLabelKey, isLabelValue } from '../../kube/selectors/label-syntax.ts';
import type { CapacityRange, Topology } from '../generated/csi.ts';

/** A field of a message breaks a rule of CSI. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  /** As in csi.proto, such as `volume.volume_id`. */
  readonly field: string;
  readonly problem: string;

  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

/**
 * CSI limits strings to 128 bytes. Drivers exceed that for ids of volumes (a cloud's resource ids have 200 and more), and Kubernetes
 * accepts them, so only a length that no id has is rejected.
 */
const idBytesMax = 2048;

export function checkId(field: string, id: string): void {
  if (id === '') throw new InvalidField(field, 'must not be empty');
  checkLength(field, id, idBytesMax);
}

export function checkLength(field: string, text: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) throw new InvalidField(field, `has ${bytes} bytes; at most ${bytesMax} are allowed`);
}

export function checkNotNegative(field: string, value: bigint | number): void {
  if (value < 0) throw new InvalidField(field, `must not be negative, but is ${value}`);
}

/** Checks that the size in a reply is within the limits of the request. */
export function checkWithinRange(field: string, bytes: bigint, range: CapacityRange | undefined): void {
  const { requiredBytes = 0n, limitBytes = 0n } = range ?? {};
  if (bytes < requiredBytes) {
    throw new InvalidField(field, `is ${bytes}, below the required_bytes ${requiredBytes} of the request`);
  }
  if (limitBytes > 0n && bytes > limitBytes) {
    throw new InvalidField(field, `is ${bytes}, above the limit_bytes ${limitBytes} of the request`);
  }
}

/** Topology becomes node labels and node affinity, so its keys and values are those of labels, and case does not distinguish keys. */
export function checkTopology(field: string, topology: Topology | undefined): void {
  const seen = new Map<string, string>();
  for (const [key, value] of Object.entries(topology?.segments ?? {})) {
    const at = `${field}.segments[${JSON.stringify(key)}]`;
    if (!isLabelKey(key)) throw new InvalidField(at, 'the key is not a valid label key');
    if (value === '' || !isLabelValue(value)) {
      throw new InvalidField(at, `the value ${JSON.stringify(value)} is not a valid label value`);
    }
    const other = seen.get(key.toLowerCase());
    if (other !== undefined) throw new InvalidField(at, `the key differs from ${other} only in case`);
    seen.set(key.toLowerCase(), key);
  }
}
