import { dnsSubdomainProblems } from '../../../apiserver/validation/names.ts';
import { parseGoDuration } from '../../../kube/go/duration.ts';
import { parseQuantity, quantityToSafeBytes } from '../../../kube/quantities/quantity.ts';
import type { BackingImageSpec } from '../../../kube/stowage/backing-image.ts';
import { usage } from '../../errors/cli-error.ts';
import type { DisksFlags } from '../with-disks.ts';

/** Flags of every command that makes an image. */
export interface NewImageFlags extends DisksFlags {
  readonly copies?: string;
  readonly nodeSelector?: readonly string[];
  readonly diskSelector?: readonly string[];
}

const copiesMax = 100;

/** Parses the flags that all kinds of images share. */
export function placementIn({ copies, nodeSelector, diskSelector }: NewImageFlags): BackingImageSpec {
  const minNumberOfCopies = copies === undefined ? undefined : Number(copies);
  if (copies !== undefined && (!/^[1-9]\d{0,2}$/.test(copies) || Number(copies) > copiesMax))
    throw usage(`--copies: "${copies}" must be a number from 1 to ${copiesMax}`);
  return {
    ...(minNumberOfCopies !== undefined && { minNumberOfCopies }),
    ...(nodeSelector !== undefined && { nodeSelector }),
    ...(diskSelector !== undefined && { diskSelector }),
  };
}

/** Checked before anything is read or written, because the name also becomes part of an address. */
export function requireImageName(name: string): void {
  const [problem] = dnsSubdomainProblems(name);
  if (problem !== undefined) throw usage(`image "${name}": ${problem}`);
}

/** Undefined without the flag. */
export function checksumIn(text: string | undefined): string | undefined {
  if (text === undefined || /^[0-9a-f]{128}$/.test(text)) return text;
  throw usage('--checksum: must be SHA-512 in 128 hexadecimal digits in lower case, as sha512sum prints it');
}

export function urlIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw usage(`--url: "${text}" must begin with http:// or https://`);
}

export function sizeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseQuantity(text);
  const bytes = parsed.ok ? quantityToSafeBytes(parsed.quantity) : undefined;
  if (bytes !== undefined && bytes > 0) return bytes;
  throw usage(`--expected-size: "${text}" must be a quantity above 0, such as 3Gi`);
}

/** Milliseconds. */
export function durationIn(flag: string, text: string | undefined, defaultMs: number): number {
  if (text === undefined) return defaultMs;
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds !== undefined && nanoseconds > 0n) return Number(nanoseconds / 1_000_000n);
  throw usage(`${flag}: "${text}" must be a duration above 0, such as 90s or 10m`);
}
