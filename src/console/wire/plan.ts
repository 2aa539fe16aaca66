/** What `stowage plan` says; nothing has been done. The question is in the words of its flags. */
export interface PlanAnswer {
  readonly summary: string;
  /** The changes, as sentences. */
  readonly changes: readonly string[];
  readonly moves: readonly {
    readonly pod: string;
    readonly from: string | undefined;
    readonly to: string;
    readonly cause: string;
  }[];
  readonly stranded: readonly PlanProblem[];
  /** Pods that keep their node, with a volume that cannot leave a drained drive. */
  readonly stuck: readonly PlanProblem[];
  readonly lost: readonly PlanGone[];
  readonly removed: readonly PlanGone[];
  readonly stays: readonly PlanGone[];
  readonly copies: readonly {
    readonly volume: string;
    readonly claim: string;
    readonly bytes: number;
    readonly from: string;
    readonly to: string | undefined;
  }[];
  /** The sum of the copies. */
  readonly copiedBytes: number;
  readonly notes: readonly { readonly text: string }[];
}

export interface PlanProblem {
  readonly pod: string;
  readonly from: string | undefined;
  readonly cause: string;
  readonly message: string;
}

export interface PlanGone {
  readonly pod: string;
  readonly node: string | undefined;
}

/** What the flags of `stowage plan` ask; each list has one entry for each use of the flag. */
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
