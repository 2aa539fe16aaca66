import { formatGoFloat } from '../../../kube/go/numbers.ts';
import { formatRfc3339 } from '../../../kube/go/rfc3339.ts';
import {
  CelDuration,
  CelTimestamp,
  isList,
  isMap,
  itemsOf,
  Optional,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts';

/** A value in the notation of the recorded vectors. */
export function showValue(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return `double(${formatGoFloat(value)})`;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b[${Buffer.from(value).toString('hex')}]`;
  if (value instanceof CelTimestamp) return `timestamp(${formatRfc3339(new CelTimestamp(value.epochNanos))})`;
  if (value instanceof CelDuration) return `duration(${value.nanos})`;
  if (value instanceof Optional) return value.value === undefined ? 'none' : `of(${showValue(value.value)})`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  if (isList(value)) return `[${itemsOf(value).map(showValue).join(', ')}]`;
  if (isMap(value)) {
    const entries = value.keys().map((key) => `${showValue(key)}: ${showValue(value.find(key) ?? null)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  const name = typeNameOf(value);
  return name.startsWith('net.') ? `${name}:${String(value)}` : name;
}
