import { usage } from '../errors/cli-error.ts';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The API's limits. */
const secondsMin = 600;
const secondsMax = 2 ** 32;

/** `90m`, `24h`, `1d12h`, in seconds. */
export function lifetimeSeconds(text: string): number {
  if (!/^(?:\d+[smhd])+$/.test(text)) {
    throw usage(`--duration: "${text}" must be a duration, such as 24h, 90m or 1d12h`);
  }
  const seconds = [...text.matchAll(/(\d+)([smhd])/g)]
    .map(([, count, unit = '']) => Number(count) * (unitSeconds[unit] ?? 0))
    .reduce((sum, part) => sum + part, 0);
  if (seconds < secondsMin) throw usage(`--duration: ${text} is too short; the minimum is 10m`);
  if (seconds > secondsMax) throw usage(`--duration: ${text} is too long; the maximum is 2^32 seconds`);
  return seconds;
}
