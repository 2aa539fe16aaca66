import type { FileStamp } from './host-files.ts';

/** The object that the data in a directory belongs to, as its JSON file records it. */
export interface DataIdentity {
  /** The name of the Replica or BackingImage. */
  readonly name: string;
  /** The uid of the same object: an object that was deleted and created again under the same name is another one. */
  readonly uid: string;
  /** The Volume of a replica. */
  readonly volume?: string;
  /** Bytes that the data has, or will have; left out while that is unknown. */
  readonly size?: number;
  /** The SHA-512 of an image in hexadecimal digits, once it was checked; for a replica, that of the image that it began with. */
  readonly sha512?: string;
  /** Identifies the version of a downloaded file at its URL (an ETag, or a date). */
  readonly validator?: string;
  /** Bytes of a running transfer that are certainly on the disk: a crash of the machine may leave holes behind them. */
  readonly receivedBytes?: number;
  /** The checksum of a replica's contents (`contents-hash.ts`) when it was last stopped. */
  readonly contentsSHA512?: string;
  /** The length that the data had then. */
  readonly contentsBytes?: number;
  /** When the data had been modified then, in nanoseconds since 1970. With another time or length, the checksum is out of date. */
  readonly contentsModifiedNs?: string;
}

const textFields = ['volume', 'sha512', 'validator', 'contentsSHA512', 'contentsModifiedNs'] as const;
const byteFields = ['size', 'receivedBytes', 'contentsBytes'] as const;
const fields = ['name', 'uid', ...textFields, ...byteFields] as const;

/** An identity with the checksum of the contents that have this stamp. */
export function withContents(identity: DataIdentity, contents: string, stamp: FileStamp): DataIdentity {
  const { bytes: contentsBytes, modifiedNs: contentsModifiedNs } = stamp;
  return { ...identity, contentsSHA512: contents, contentsBytes, contentsModifiedNs };
}

/** Whether the recorded checksum is that of data with this stamp: it was not written to since. */
export function hasContentsOf(identity: DataIdentity, { bytes, modifiedNs }: FileStamp): boolean {
  const { contentsSHA512, contentsBytes, contentsModifiedNs } = identity;
  return contentsSHA512 !== undefined && contentsBytes === bytes && contentsModifiedNs === modifiedNs;
}

export function identityText(identity: DataIdentity): string {
  const kept = Object.fromEntries(fields.map((field) => [field, identity[field]]));
  return `${JSON.stringify(kept, undefined, 2)}\n`;
}

/** Throws if the text is not what `identityText` returns. */
export function parseIdentity(text: string): DataIdentity {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('it is not an object');
  const record = value as Record<string, unknown>;
  const { name, uid } = record;
  if (typeof name !== 'string' || typeof uid !== 'string') throw new Error('name and uid must be texts');
  const optional = [
    ...textFields.map((field) => [field, checked(record, field, isText, 'a text')] as const),
    ...byteFields.map((field) => [field, checked(record, field, isByteCount, 'a number of bytes')] as const),
  ].filter(([, found]) => found !== undefined);
  return { name, uid, ...Object.fromEntries(optional) };
}

function checked(
  record: Readonly<Record<string, unknown>>,
  field: string,
  isRight: (value: unknown) => boolean,
  what: string,
): unknown {
  const value = record[field];
  if (value !== undefined && !isRight(value)) throw new Error(`${field} must be ${what}`);
  return value;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isByteCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
