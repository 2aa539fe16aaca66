/** Few names, so that random objects have to do with each other. */

export const teams: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: { team: 'a' },
  blue: { team: 'b' },
};

export const priorities = {
  low: { value: -10 },
  high: { value: 1000 },
  polite: { value: 1000, preemptionPolicy: 'Never' },
} as const;

export const gpu = 'example.com/gpu';
