/** Few names, so that random objects refer to each other. */

export const teams: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: { team: 'a' },
  blue: { team: 'b' },
};

export const priorities = {
  low: { value: -10 },
  high: { value: 1000 },
  polite: { value: 1000, preemptionPolicy: 'Never' },
} as const;

/** Runtime classes: one with an overhead, and one that not every node supports. */
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
/** The only declared feature that a pod can need by default in Kubernetes 1.36. */
export const feature = 'RestartAllContainersOnContainerExits';
