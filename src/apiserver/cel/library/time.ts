import { type TimeParts, timePartsOf } from '../../../kube/go/calendar.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { type CelDuration, CelError, CelTimestamp, type Value } from '../values/values.ts';
import { zoneOffsetSeconds } from './time-zones.ts';

/** Parts of timestamps, in UTC or in a zone, and lengths of durations. */
export const timeLibrary: FunctionLibrary = {
  signatures: `
    .getDate timestamp_to_day_of_month_1_based (timestamp) -> int
    .getDate timestamp_to_day_of_month_1_based_with_tz (timestamp, string) -> int
    .getDayOfMonth timestamp_to_day_of_month (timestamp) -> int
    .getDayOfMonth timestamp_to_day_of_month_with_tz (timestamp, string) -> int
    .getDayOfWeek timestamp_to_day_of_week (timestamp) -> int
    .getDayOfWeek timestamp_to_day_of_week_with_tz (timestamp, string) -> int
    .getDayOfYear timestamp_to_day_of_year (timestamp) -> int
    .getDayOfYear timestamp_to_day_of_year_with_tz (timestamp, string) -> int
    .getFullYear timestamp_to_year (timestamp) -> int
    .getFullYear timestamp_to_year_with_tz (timestamp, string) -> int
    .getHours timestamp_to_hours (timestamp) -> int
    .getHours timestamp_to_hours_with_tz (timestamp, string) -> int
    .getHours duration_to_hours (duration) -> int
    .getMilliseconds timestamp_to_milliseconds (timestamp) -> int
    .getMilliseconds timestamp_to_milliseconds_with_tz (timestamp, string) -> int
    .getMilliseconds duration_to_milliseconds (duration) -> int
    .getMinutes timestamp_to_minutes (timestamp) -> int
    .getMinutes timestamp_to_minutes_with_tz (timestamp, string) -> int
    .getMinutes duration_to_minutes (duration) -> int
    .getMonth timestamp_to_month (timestamp) -> int
    .getMonth timestamp_to_month_with_tz (timestamp, string) -> int
    .getSeconds timestamp_to_seconds (timestamp) -> int
    .getSeconds timestamp_to_seconds_tz (timestamp, string) -> int
    .getSeconds duration_to_seconds (duration) -> int
  `,
  implementations: {
    getFullYear: part((time) => time.year),
    getMonth: part((time) => time.month - 1),
    getDayOfYear: part((time) => time.yearday),
    getDayOfMonth: part((time) => time.day - 1),
    getDate: part((time) => time.day),
    getDayOfWeek: part((time) => time.weekday),
    getHours: partOrLength((time) => time.hour, 3_600_000_000_000n),
    getMinutes: partOrLength((time) => time.minute, 60_000_000_000n),
    getSeconds: partOrLength((time) => time.second, 1_000_000_000n),
    getMilliseconds: partOrLength((time) => Math.floor(time.nanos / 1e6), 1_000_000n),
  },
};

type Read = (time: TimeParts) => number;

function part(read: Read): (time: Value, zone?: Value) => Value {
  return (time, zone) => {
    if (!(time instanceof CelTimestamp)) return new CelError('no such overload');
    const offset = zone === undefined ? 0 : zoneOffsetSeconds(String(zone), time.epochNanos);
    if (offset instanceof CelError) return offset;
    return BigInt(read(timePartsOf(time.epochNanos, offset)));
  };
}

function partOrLength(read: Read, unitNanos: bigint): (time: Value, zone?: Value) => Value {
  const readPart = part(read);
  return (time, zone) =>
    time instanceof CelTimestamp ? readPart(time, zone) : (time as CelDuration).nanos / unitNanos;
}
