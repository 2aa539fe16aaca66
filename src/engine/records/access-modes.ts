import { textOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';

/** Access modes as bits, so that "offers every requested mode" is one AND. */
const bits: Readonly<Record<string, number>> = {
  ReadWriteOnce: 1,
  ReadOnlyMany: 2,
  ReadWriteMany: 4,
  ReadWriteOncePod: 8,
};

/** An unknown mode. A claim that requests it matches no volume; in a volume it is ignored. */
const unknownModeBit = 16;

export function accessModeBits(modes: readonly string[] | undefined): number {
  return nonNullItems(modes).reduce((mask, mode) => mask | (modeBit(mode) ?? unknownModeBit), 0);
}

export function offersModes(offered: number, requested: number): boolean {
  return (offered & ~unknownModeBit & requested) === requested;
}

export function modeCount(modes: number): number {
  let count = 0;
  for (let rest = modes; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

export function unknownModeProblems(modes: readonly string[] | undefined, field: string): string[] {
  return nonNullItems(modes)
    .filter((mode) => modeBit(mode) === undefined)
    .map((mode) => `${field}: "${textOf(mode)}" is not an access mode; use ${Object.keys(bits).join(', ')}`);
}

function modeBit(mode: unknown): number | undefined {
  return typeof mode === 'string' && Object.hasOwn(bits, mode) ? bits[mode] : undefined;
}
