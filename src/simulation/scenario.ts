/**
 * One run of the simulation as data: what people, machines and the network do, and when. Everything else follows from the seed, so
 * that the same scenario gives the same run, step by step, on every machine.
 *
 * Actions name objects that may not exist when their time comes; then they do nothing. So any part of a scenario is a scenario
 * again, which is what lets a failing one be minimized.
 */
export interface Scenario {
  /** What it is about, and so which controllers take part. Default: pods. */
  readonly subject?: SimulationSubject;
  /** Seeds all randomness of the run: ids, jitter, latencies. */
  readonly seed: string;
  /** The processes that have two replicas, which elect a leader. The others have one. */
  readonly replicated: readonly string[];
  /** The longest time that a request, or its response, is on its way. */
  readonly latencyMaxMs: number;
  /** Whether the volumes of the driver have to be attached to their node. Default: no. */
  readonly attaches?: boolean;
  /** Sorted by time. */
  readonly actions: readonly TimedAction[];
}

/** Pods with their volumes, pods with volumes on drives, or disks with replicas and backing images. */
export const simulationSubjects = ['pods', 'drives', 'disks'] as const;
export type SimulationSubject = (typeof simulationSubjects)[number];

export interface TimedAction {
  /** Since the start of the run. */
  readonly atMs: number;
  /** The name of an action of some part of the simulation. */
  readonly action: string;
  readonly parameters: ActionParameters;
}

export type ActionParameters = Readonly<Record<string, string | number | boolean>>;

export function parameterTexts(parameters: ActionParameters): readonly string[] {
  return Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
}

/** Seconds with three digits. */
export function timeText(ms: number): string {
  return (ms / 1000).toFixed(3);
}
