import { isRecord } from '../wire.ts';
import { redactedText, removed, secretWords } from './redact-text.ts';

/**
 * An object without secrets. Fields in which users or drivers may write anything keep their keys and lose their values; every text is searched
 * for what looks like a secret. Names of Secrets stay, contents never are in these objects.
 */
export function redactedObject(object: unknown): unknown {
  return redacted(object, [], false);
}

/** Maps of settings whose meaning only a driver knows. */
const openMaps: ReadonlySet<string> = new Set([
  'volumeAttributes',
  'parameters',
  'mutableParameters',
  'options',
  'data',
  'stringData',
  'binaryData',
  'publishInfo',
  'attachmentMetadata',
]);
/** Fields of containers that may contain anything. */
const dropped: ReadonlySet<string> = new Set([
  'managedFields',
  'env',
  'envFrom',
  'args',
  'command',
  'lifecycle',
]);
/** Annotations that Kubernetes, CSI and Stowage write for each other; all others belong to someone else. */
const knownAnnotations =
  /^(?:stowage\.dev|demo\.stowage\.dev|pv\.kubernetes\.io|volume(?:\.beta|\.alpha)?\.kubernetes\.io|storageclass(?:\.beta)?\.kubernetes\.io|storage\.alpha\.kubernetes\.io|csi\.volume\.kubernetes\.io|node\.alpha\.kubernetes\.io|control-plane\.alpha\.kubernetes\.io)\//;
/** Keys of open maps whose values are sizes, types of filesystems, or names. */
const knownSettings =
  /^(?:stowage\.dev\/|csi\.storage\.k8s\.io\/|storage\.kubernetes\.io\/)|^(?:fsType|type)$/;
const secretKey = new RegExp(secretWords, 'i');
/** A reference names a Secret; the hash of a token is none, but is not needed either. */
const reference = /(?:name|namespace|ref|reference)$/i;

function redacted(value: unknown, path: readonly string[], isOurs: boolean): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, path, isOurs));
  if (!isRecord(value)) return value;
  const parent = path.at(-1) ?? '';
  const isOwnHere = isOurs || isOwn(value);
  const entries = Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
    if (dropped.has(key)) return [];
    if (mustHide(key, child, parent, isOwnHere)) return [[redactedText(key), removed]];
    return [[redactedText(key), redacted(child, [...path, key], isOwnHere)]];
  });
  return Object.fromEntries(entries);
}

function mustHide(key: string, value: unknown, parent: string, isOurs: boolean): boolean {
  if (parent === 'annotations') return !knownAnnotations.test(key);
  if (openMaps.has(parent)) return !isOurs && !knownSettings.test(key);
  const isText = typeof value === 'string' || Array.isArray(value);
  return isText && secretKey.test(key) && !reference.test(key);
}

/** Settings in classes and volumes of our own drivers are not secret. */
function isOwn({ provisioner, driverName, driver }: Readonly<Record<string, unknown>>): boolean {
  const name = provisioner ?? driverName ?? driver;
  return typeof name === 'string' && name.endsWith('.stowage.dev');
}
