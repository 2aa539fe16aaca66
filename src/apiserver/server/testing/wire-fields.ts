import { WireReader } from '../../schema/wire-reader.ts';

/** The values at a path of field numbers in a message, in order. */
export function fieldsAt(message: Buffer, ...path: readonly number[]): readonly Buffer[] {
  const [number, ...rest] = path;
  if (number === undefined) return [message];
  const found: Buffer[] = [];
  const reader = new WireReader(message);
  while (!reader.isAtEnd) {
    if (reader.field('message') !== number) reader.skip(reader.wireType);
    else found.push(...fieldsAt(reader.bytes(), ...rest));
  }
  return found;
}

export function textAt(message: Buffer, ...path: readonly number[]): string | undefined {
  return fieldsAt(message, ...path)[0]?.toString();
}

/** The value of the entry with the given name; entries have the name in field 1 and the value in field 2. */
export function entryAt(message: Buffer, name: string, ...path: readonly number[]): Buffer {
  const entry = fieldsAt(message, ...path).find((each) => textAt(each, 1) === name);
  const value = entry === undefined ? undefined : fieldsAt(entry, 2)[0];
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value;
}
