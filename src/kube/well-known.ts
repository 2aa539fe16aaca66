/** Names that Kubernetes, its provisioners and Stowage share. No check finds a typo, so each name is written only here. */
export const annotations = {
  /** On a claim: binding is complete. Only the presence counts, not the value. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  /** On a PV or claim: a controller wrote the binding. Absent means that a person did, and we must not undo it. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** On a claim: the scheduler's signal to the provisioner; the value is a node name. */
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** On a claim: which external provisioner has to act. */
  storageProvisioner: 'volume.kubernetes.io/storage-provisioner',
  betaStorageProvisioner: 'volume.beta.kubernetes.io/storage-provisioner',
  /** On a PV: it was provisioned dynamically, by this provisioner. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  /** On a PV or claim of an in-tree plugin: the CSI driver that manages it now. */
  migratedTo: 'pv.kubernetes.io/migrated-to',
  /** On a PV or claim: the class name before `spec.storageClassName` existed. It still has precedence over the spec. */
  betaStorageClass: 'volume.beta.kubernetes.io/storage-class',
  isDefaultClass: 'storageclass.kubernetes.io/is-default-class',
  betaIsDefaultClass: 'storageclass.beta.kubernetes.io/is-default-class',
  /** On a CSINode: comma-separated in-tree plugins that this node serves through CSI. */
  migratedPlugins: 'storage.alpha.kubernetes.io/migrated-plugins',
  /** On a PV being expanded: its capacity before the expansion. */
  preResizeCapacity: 'volume.alpha.kubernetes.io/pre-resize-capacity',

  /** On a PV or claim: preferred nodes, as JSON of preferred scheduling terms. */
  preferredNodeAffinity: 'stowage.dev/preferred-node-affinity',
  /** On a StorageClass, Namespace or claim: `spread` prefers nodes whose pool keeps most free capacity, `pack` those whose pool keeps least. */
  placement: 'stowage.dev/placement',
  /** On a StorageClass or claim: the part of a drive that new volumes leave free for expansions, such as `20%`. */
  growthReserve: 'stowage.dev/growth-reserve',
  /** On a StorageClass or claim: volumes of one owner are on different `drives`, `nodes` or `zones`; several are separated by commas. */
  volumeAntiAffinity: 'stowage.dev/volume-anti-affinity',
  /**
   * On a claim: when a scheduler cancelled a {@link selectedNode} that it had sent without a response. The write gives the claim another version,
   * so that the server refuses the earlier write if it arrives late. The next selected node removes it.
   */
  selectionGivenUp: 'stowage.dev/selection-given-up',
  /**
   * On a claim, beside {@link selectedNode}: the topology segments with nodes that fit the pod, as JSON; see `fitting-topology.ts`. The provisioner
   * creates the volume in one of them.
   */
  fittingTopology: 'stowage.dev/fitting-topology',
  /** On a claim: the pool that the scheduler reserved for it. */
  pool: 'stowage.dev/pool',
  /** On a claim: the Drive that the scheduler chose for its volume. CreateVolume takes it while the volume fits on it. */
  drive: 'stowage.dev/drive',
  /** On a CSIStorageCapacity: when its capacity was measured, RFC 3339 with fractions, by the clock of the publisher. */
  measuredAt: 'stowage.dev/measured-at',
  /** On a CSIStorageCapacity: the size of the smallest volume that the driver creates, a quantity such as `1Gi`. Smaller claims take as much. */
  minimumVolumeSize: 'stowage.dev/minimum-volume-size',
  /** On a CSIStorageCapacity: the Lease that its publisher renews, as `NAMESPACE/NAME`; see `publisher-heartbeat.ts`. */
  publisherLease: 'stowage.dev/publisher-lease',
  /** On a CSIStorageCapacity: why its publisher cannot measure it. Absent: the capacity is up to date while the publisher runs. */
  capacityProblem: 'stowage.dev/capacity-problem',
  /** On a CSIStorageCapacity: the difference between its capacity and the known volumes, as JSON; see `drift-record.ts`. */
  drift: 'stowage.dev/drift',
  /** On a CSIStorageCapacity or DriverCapacity of a publisher that is responsible for one node: the name of the node. */
  publisherNode: 'stowage.dev/publisher-node',
  /** On a StorageClass with a backing pool: the bytes of the disks that one requested byte uses, such as `2` for a mirror. */
  backingFactor: 'stowage.dev/backing-factor',
  /** On a DriverCapacity: the topology segment of its pools, as JSON of its labels. */
  segment: 'stowage.dev/segment',
  /** On a PV: the node whose driver created the volume, where each node has its own driver and its own process (`--node-deployment`). */
  creatorNode: 'stowage.dev/creator-node',
  /** On a PV: when the driver had created the volume, RFC 3339 with fractions, by the clock of the provisioner. */
  volumeCreatedAt: 'stowage.dev/volume-created-at',
  /** On a PV: when the driver had last expanded the volume, RFC 3339 with fractions, by the clock of the expander. */
  volumeExpandedAt: 'stowage.dev/volume-expanded-at',
  /** On a PV: the size of the volume before that expansion. */
  volumeExpandedFrom: 'stowage.dev/volume-expanded-from',
  /**
   * On a claim: its volume is or was mounted, or is about to be, as `NODE/UID OF THE POD`. It is written before the pod can write the
   * first byte, and never removed: a binding whose claim has it can't be undone.
   */
  mounted: 'stowage.dev/mounted',
  /**
   * On a VolumeAttachment: the version that a node agent found when it started, and then kept for a pod. Writing it makes another version, so
   * that a deletion which an earlier agent has sent no longer takes effect.
   */
  inheritedVersion: 'stowage.dev/inherited-version',
  /** On a claim: its binding is being undone. Nothing may mount it. Written only onto a version without {@link mounted}. */
  rollback: 'stowage.dev/rollback',
  /** On a pod that was created with a node: with `true`, the scheduler binds its delayed claims for that node. */
  bindClaims: 'stowage.dev/bind-claims',
  /**
   * On a node: with `true`, the node agent simulates its kubelet whatever its lease says; with `false`, it never does. On a node's
   * lease: the node agent holds it, not a kubelet.
   */
  simulated: 'stowage.dev/simulated',
  /** On a CSINode: comma-separated drivers whose entries the node agent wrote for node plugins. */
  csiNodePlugins: 'stowage.dev/csi-node-plugins',
  /** On a pod of a simulated node that does not always restart: after how many seconds its containers end. Absent: they keep running. */
  runSeconds: 'stowage.dev/run-seconds',
  /** On the same pods: the exit code of their containers. Absent: 0. */
  exitCode: 'stowage.dev/exit-code',
  /** On a pod of a simulated node: how many seconds its containers take to end when it is deleted. Absent: they end immediately. */
  terminationSeconds: 'stowage.dev/termination-seconds',
  /** On a node of the demo: the capacity of the disks that the demo's driver manages, such as `100Gi`. */
  demoPool: 'demo.stowage.dev/pool',
  /** On the Lease of a component of ours: its version, such as `0.1.0`. */
  version: 'stowage.dev/version',
  /** On the Lease of a component of ours: its feature gates, such as `VolumeScheduling=true`. */
  featureGates: 'stowage.dev/feature-gates',
  /** On the Lease of a scheduler: comma-separated values of `spec.schedulerName` whose pods it places. */
  schedulerNames: 'stowage.dev/scheduler-names',
  /** On the Lease of a scheduler: the profile that its rules start from, `stowage` or `upstream`. */
  profile: 'stowage.dev/profile',
  /** On the Lease of a scheduler: the fields of its profile that differ from {@link profile}, as a JSON object. */
  profileChanges: 'stowage.dev/profile-changes',
} as const;

export const labels = {
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
  betaZone: 'failure-domain.beta.kubernetes.io/zone',
  betaRegion: 'failure-domain.beta.kubernetes.io/region',
  hostname: 'kubernetes.io/hostname',

  /**
   * On a CSIStorageCapacity: objects with the same value share the same disks. A StorageClass has it as an annotation: volumes of classes of one driver
   * with the same value are on the same disks.
   */
  backingPool: 'stowage.dev/backing-pool',
  /** On a CSIStorageCapacity: the driver whose capacity it is, as external-provisioner writes it. */
  driverName: 'csi.storage.k8s.io/drivername',
  /** On a CSIStorageCapacity: its publisher. A publisher deletes only objects with its own value. */
  managedBy: 'csi.storage.k8s.io/managed-by',
  /** On a Lease by which others see that a component of ours runs: `disk-agent`, or `capacity` for a publisher. */
  component: 'stowage.dev/component',
} as const;

export const finalizers = {
  pvProtection: 'kubernetes.io/pv-protection',
  pvcProtection: 'kubernetes.io/pvc-protection',
  /** On an in-tree PV with reclaim policy Delete: the PV controller deletes the disk first. */
  pvController: 'kubernetes.io/pv-controller',
  /** The same by an external provisioner. */
  externalProvisioner: 'external-provisioner.volume.kubernetes.io/finalizer',
} as const;

/** The provisioner of classes whose volumes a person or an agent creates; an empty provisioner means the same. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/** The driver of volumes without storage behind them: the object alone defines their size. */
export const emptyDriver = 'zonal.stowage.dev';

/** The value that controllers write for marker annotations such as {@link annotations.boundByController}. */
export const markerValue = 'yes';

/** Separates the zones in the zone label of a volume that is in several zones. */
export const multiZoneSeparator = '__';
