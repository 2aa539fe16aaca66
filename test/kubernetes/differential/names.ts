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

/** Ways to run containers: one that costs something itself, and one that not every node knows. */
export const runtimes = {
  heavy: { handler: 'heavy', overhead: { podFixed: { cpu: '500m', memory: '256Mi' } } },
  picky: {
    handler: 'picky',
    overhead: { podFixed: { memory: '1Gi', 'ephemeral-storage': '1Gi' } },
    scheduling: {
      nodeSelector: { 'example.com/rack': '1' },
      tolerations: [{ key: 'old', operator: 'Exists' }],
    },
  },
} as const;

export const gpu = 'example.com/gpu';
export const rare = 'example.com/rare';
/** The one declared feature that a pod can need by default in Kubernetes 1.36. */
export const feature = 'RestartAllContainersOnContainerExits';
