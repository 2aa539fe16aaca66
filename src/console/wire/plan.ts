/** The values of the flags of `stowage plan`; each list has one entry for each use of the flag. */
export interface PlanQuestion {
  readonly drain: readonly string[];
  readonly addNodes: string | undefined;
  readonly like: string | undefined;
  readonly addDrive: readonly string[];
  readonly replicas: readonly string[];
}

/** A change that the console carries out, if it was started with `--console-write`. */
export type ConsoleAction =
  | {
      readonly kind: 'cordon';
      readonly what: 'node' | 'drive';
      readonly name: string;
      readonly isOn: boolean;
    }
  | {
      /** Respects PodDisruptionBudgets. It is refused if the pod is on another node by now. */
      readonly kind: 'evict';
      readonly namespace: string;
      readonly name: string;
      readonly node: string;
    }
  | {
      readonly kind: 'scale';
      readonly what: 'StatefulSet' | 'Deployment';
      readonly namespace: string;
      readonly name: string;
      readonly replicas: number;
    };
