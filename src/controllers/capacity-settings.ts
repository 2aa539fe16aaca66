/** Where and how the capacity of CSI drivers is published. */
export interface CapacitySettings {
  /** The kind of object for classes; `<ephemeral>` is always a DriverCapacity, because a CSIStorageCapacity needs a class. */
  readonly form: CapacityForm;
  /** The polling interval for a driver without known changes. */
  readonly pollIntervalMs: number;
  /** Also the capacity for inline volumes, which have no class. */
  readonly forEphemeral: boolean;
  /** Also for classes that bind immediately; schedulers do not need their capacity. */
  readonly forImmediateBinding: boolean;
  /** Only topology keys with this prefix make up segments; all by default. */
  readonly topologyPrefix?: string | undefined;
  /** The maximum number of concurrent GetCapacity calls to a driver. */
  readonly threads: number;
  /** The namespace of CSIStorageCapacity objects. */
  readonly namespace: string;
  /** The pod that this process runs in, and how many controllers above it the owner of the objects is: 0 is the pod itself. */
  readonly owner?: { readonly podName: string; readonly level: number } | undefined;
}

export const capacityForms = ['CSIStorageCapacity', 'DriverCapacity'] as const;
export type CapacityForm = (typeof capacityForms)[number];

export const capacityDefaults: CapacitySettings = {
  form: 'CSIStorageCapacity',
  pollIntervalMs: 60_000,
  forEphemeral: false,
  forImmediateBinding: false,
  threads: 4,
  namespace: 'kube-system',
};
