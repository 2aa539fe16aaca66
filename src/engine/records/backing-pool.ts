import type { StorageClass } from '../../kube/api/storage.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';

/** The disks that several classes of one driver share. */
export interface BackingPool {
  readonly name: string;
  /** The bytes of the disks that one requested byte uses, in thousandths; undefined: as the published capacity reports say. */
  readonly factorMilli: number | undefined;
}

const factorPattern = /^[0-9]{1,4}(\.[0-9]{1,3})?$/;

/** Reads the annotations of a class; undefined if it names no backing pool. An invalid factor counts as absent. */
export function backingPoolOf({ metadata }: StorageClass, problems: string[] = []): BackingPool | undefined {
  const name = textOf(metadata?.annotations?.[labels.backingPool]).trim();
  const text = metadata?.annotations?.[annotations.backingFactor];
  if (name === '') {
    if (text !== undefined)
      problems.push(
        `${fieldOf(annotations.backingFactor)}: has no effect without ${labels.backingPool}; add that annotation`,
      );
    return undefined;
  }
  if (text === undefined) return { name, factorMilli: undefined };
  const factorMilli = factorPattern.test(textOf(text)) ? Math.round(Number(text) * 1000) : 0;
  if (factorMilli > 0) return { name, factorMilli };
  problems.push(
    `${fieldOf(annotations.backingFactor)}: must be a decimal number above 0 and below 10000 with at most three decimals, such as 2 or 1.5; until then the ratio of the published reports counts`,
  );
  return { name, factorMilli: undefined };
}

function fieldOf(annotation: string): string {
  return `metadata.annotations[${annotation}]`;
}
