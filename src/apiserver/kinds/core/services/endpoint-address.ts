import { ipFamilyOf } from '../../../../kube/ip-address.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';

/** Refuses addresses that other hosts cannot reach. */
export function checkReachableIp(errors: FieldErrors, field: string, ip: string): void {
  const family = ipFamilyOf(ip);
  if (family === undefined) {
    errors.invalid(field, ip, 'must be a valid IP address');
    return;
  }
  for (const { isInRange, detail } of specialRanges(ip)) if (isInRange) errors.invalid(field, ip, detail);
}

interface SpecialRange {
  readonly isInRange: boolean;
  readonly detail: string;
}

function specialRanges(ip: string): readonly SpecialRange[] {
  const text = ip.toLowerCase();
  const octets = text.includes(':') ? [] : text.split('.').map(Number);
  const [a, b, c] = octets;
  const group = text.includes(':') ? Number.parseInt(text.split(':')[0] || '0', 16) : undefined;
  return [
    {
      isInRange: octets.every((octet) => octet === 0) && (octets.length > 0 || isIpv6Number(text, 0)),
      detail: `may not be unspecified (${ip})`,
    },
    {
      isInRange: a === 127 || isIpv6Number(text, 1),
      detail: 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
    },
    {
      isInRange: (a === 169 && b === 254) || (group !== undefined && (group & 0xffc0) === 0xfe80),
      detail: 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    },
    {
      isInRange: (a === 224 && b === 0 && c === 0) || (group !== undefined && (group & 0xff0f) === 0xff02),
      detail: 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    },
  ];
}

/** Whether the text is `::1`, or a longer notation of such a small number. */
function isIpv6Number(text: string, number: number): boolean {
  if (!text.includes(':')) return false;
  const groups = text.split(':').filter((group) => group !== '');
  const last = text.endsWith(':') ? 0 : Number.parseInt(groups.at(-1) ?? '0', 16);
  const others = text.endsWith(':') ? groups : groups.slice(0, -1);
  return last === number && others.every((group) => Number.parseInt(group, 16) === 0);
}
