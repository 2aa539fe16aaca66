import { usage } from '../cli-error.ts';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** What the API gives at least, and at most. */
const secondsMin = 600;
const secondsMax = 2 ** 32;

/** `90m`, `24h`, `1d12h`, in seconds. */
export function lifetimeSeconds(text: string): number {
  if (!/^(?:\d+[smhd])+$/.test(text)) {
    throw usage(`--duration: "${text}" is no duration; write it as 24h, 90m or 1d12h`);
  }
  const seconds = [...text.matchAll(/(\d+)([smhd])/g)]
    .map(([, count, unit = '']) => Number(count) * (unitSeconds[unit] ?? 0))
    .reduce((sum, part) => sum + part, 0);
  if (seconds < secondsMin) throw usage(`--duration: ${text} is too short; tokens last 10m at least`);
  if (seconds > secondsMax) throw usage(`--duration: ${text} is too long; tokens last 2^32 seconds at most`);
  return seconds;
}
