/** What a random cluster is mostly about. With equal odds for everything, nearly every pod would be refused for its first requirement. */
export interface Theme {
  /** Percentages of pods that have each of these. */
  readonly volumes: number;
  readonly disks: number;
  readonly resources: number;
  readonly ports: number;
  readonly podAffinity: number;
  readonly spread: number;
  /** Constraints on nodes, and nodes with taints. */
  readonly nodes: number;
  readonly priorities: number;
}

const nothing: Theme = {
  volumes: 0,
  disks: 0,
  resources: 0,
  ports: 0,
  podAffinity: 0,
  spread: 0,
  nodes: 0,
  priorities: 0,
};

export const themes: readonly Theme[] = [
  { ...nothing, volumes: 100 },
  { ...nothing, volumes: 95, disks: 10, resources: 20, nodes: 15, priorities: 30 },
  { ...nothing, volumes: 80, disks: 40, priorities: 40 },
  { ...nothing, disks: 60, ports: 40, resources: 10, priorities: 50 },
  { ...nothing, resources: 95, nodes: 10, priorities: 70 },
  { ...nothing, resources: 70, volumes: 20, nodes: 60, priorities: 30 },
  { ...nothing, podAffinity: 85, nodes: 15, resources: 20, priorities: 40 },
  { ...nothing, spread: 85, podAffinity: 10, nodes: 25, resources: 20, priorities: 30 },
  {
    volumes: 50,
    disks: 10,
    resources: 50,
    ports: 15,
    podAffinity: 20,
    spread: 20,
    nodes: 25,
    priorities: 40,
  },
];
