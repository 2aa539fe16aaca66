import { floorDivide } from '../../../kube/go/calendar.ts';
import { CelError } from '../values/values.ts';

/** The number of seconds that a zone (`+02:00`, `Europe/Berlin`) is ahead of UTC at a moment. */
export function zoneOffsetSeconds(zone: string, epochNanos: bigint): number | CelError {
  if (zone === '' || zone === 'UTC') return 0;
  const colon = zone.indexOf(':');
  if (colon >= 0) return fixedOffset(zone, colon);
  return namedOffset(zone, Number(floorDivide(epochNanos, 1_000_000_000n)));
}

function fixedOffset(zone: string, colon: number): number | CelError {
  const hours = zone.slice(0, colon);
  const minutes = zone.slice(colon + 1);
  for (const text of [hours, minutes]) {
    if (!/^[+-]?\d+$/.test(text))
      return new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const sign = hours.startsWith('-') ? -1 : 1;
  return Number(hours) * 3600 + sign * Number(minutes) * 60;
}

function namedOffset(zone: string, epochSeconds: number): number | CelError {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch {
    return new CelError(`unknown time zone ${zone}`);
  }
  const parts = new Map(format.formatToParts(epochSeconds * 1000).map(({ type, value }) => [type, value]));
  const read = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name) ?? 0);
  const local = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  );
  return Math.round(local / 1000 - epochSeconds);
}
