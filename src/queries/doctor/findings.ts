/** Sorted as they are shown. */
export const severities = ['error', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

export interface FindingText {
  readonly severity: Severity;
  /** The consequence for pods and volumes. */
  readonly meaning: string;
  readonly remedy: string;
}

/** Everything that `stowage doctor` can find. The codes are stable; docs/doctor.md is made from this catalogue. */
export const findingTexts = {
  UnsupportedVersion: {
    severity: 'error',
    meaning: 'Stowage does not support this version of Kubernetes',
    remedy: 'use Kubernetes 1.34 to 1.36',
  },
  UntestedVersion: {
    severity: 'warning',
    meaning:
      'this version of Kubernetes is newer than those that Stowage is tested with; most things work as before',
    remedy: 'try it on a cluster that does not matter, or use Kubernetes 1.34 to 1.36',
  },
  FeatureGate: {
    severity: 'info',
    meaning: 'a feature gate of the API server changes what Stowage can do',
    remedy: 'change the gate in the flags of kube-apiserver, or do without the feature',
  },
  ComponentGatesDiffer: {
    severity: 'warning',
    meaning: 'components of Stowage with different feature gates follow different rules',
    remedy: 'start all of them with the same --feature-gates',
  },
  ClockSkew: {
    severity: 'warning',
    meaning:
      'times are compared across machines: the age of capacity reports, Leases, tokens and certificates',
    remedy: 'synchronize the clocks (chrony, systemd-timesyncd), then run stowage doctor again',
  },
  DefinitionsMissing: {
    severity: 'error',
    meaning: 'components that use this kind of stowage.dev do not work',
    remedy: 'kubectl apply --server-side -f deploy/crds',
  },
  DefinitionOutdated: {
    severity: 'error',
    meaning: 'the definition is not the one of this version: fields or rules may be missing',
    remedy: 'kubectl apply --server-side --force-conflicts -f deploy/crds of the installed version',
  },
  DefinitionNotEstablished: {
    severity: 'error',
    meaning: 'the API server does not serve the kind',
    remedy: 'kubectl describe crd NAME says why; a name may collide with that of another kind',
  },
  NotInstalled: {
    severity: 'info',
    meaning: 'nothing of Stowage runs in this cluster',
    remedy: 'docs/installation.md says how to install it',
  },
  DriverWithoutCapacity: {
    severity: 'warning',
    meaning:
      'the scheduler does not know how much room the driver has: pods may go to nodes where their volumes do not fit',
    remedy:
      'set spec.storageCapacity: true of the CSIDriver and let its provisioner publish capacity (--enable-capacity), or run the controller capacity of Stowage beside the driver',
  },
  DriverNotRegistered: {
    severity: 'warning',
    meaning: 'no node has the driver, so no pod with its volumes can start',
    remedy: "check the driver's DaemonSet, and the log of its registrar",
  },
  ClassBindsImmediately: {
    severity: 'warning',
    meaning: 'volumes are made before it is known where the pod can run, and may be where it can not',
    remedy:
      'create a class with volumeBindingMode: WaitForFirstConsumer (the field of a class cannot be changed), and use it for new claims',
  },
  VolumeWithoutNodeAffinity: {
    severity: 'error',
    meaning:
      'the scheduler takes the volume for one that every node reaches, and pods fail to start or find other data',
    remedy: 'set spec.nodeAffinity of the PersistentVolume to the nodes that reach it',
  },
  CallerLacksRights: {
    severity: 'info',
    meaning: 'you could not install Stowage with these credentials',
    remedy:
      'let an administrator of the cluster install it, or use other credentials with --kubeconfig or --context',
  },
  ComponentLacksRights: {
    severity: 'error',
    meaning: 'the component fails when it needs the right',
    remedy:
      'apply the roles of the installed version again: helm upgrade, or kubectl apply -f for the files in deploy that you use',
  },
  ComponentNotReady: {
    severity: 'error',
    meaning: 'a pod of Stowage does not do its work',
    remedy: 'kubectl describe pod NAME, and kubectl logs NAME --previous',
  },
  LeaderGone: {
    severity: 'error',
    meaning: 'the process that ran the controller no longer renews its Lease, and no other has taken over',
    remedy: 'check that its pods run, can reach the API server, and may update the Lease',
  },
  NoLeader: {
    severity: 'warning',
    meaning: 'the controller was stopped, and no other process runs it',
    remedy: 'start it, or delete the Lease if the controller is not wanted any more',
  },
  LeaseMissing: {
    severity: 'error',
    meaning: 'pods of the component are ready, but none of them leads: the controller does nothing',
    remedy:
      'kubectl logs of the pod says why it cannot create the Lease; mostly it lacks rights on leases in kube-system: apply the roles of the installed version again, with helm upgrade, or kubectl apply -f for the files in deploy that you use',
  },
  ComponentVersionsDiffer: {
    severity: 'info',
    meaning: 'components or this program are of different versions; that is normal during an upgrade only',
    remedy: 'complete the upgrade, and use the program of the installed version',
  },
  CapacityExpired: {
    severity: 'warning',
    meaning: 'the capacity reports of the pool are no longer used: no new volume goes there',
    remedy: 'check the publisher of the driver; its log says why it does not measure',
  },
  CapacityStale: {
    severity: 'warning',
    meaning:
      'the capacity reports are old: volumes may be refused where there is room, or promised where there is none',
    remedy: 'check the publisher of the driver; its log says why it does not measure',
  },
  CapacityMissing: {
    severity: 'error',
    meaning:
      'the driver says that it publishes capacity, and nothing is published for the class: no pod with a new volume of it fits',
    remedy: 'check the publisher of the driver, or set spec.storageCapacity: false if there is none',
  },
  DriveNotReady: {
    severity: 'error',
    meaning: 'no new volume goes to the drive, and pods with volumes on it may fail',
    remedy:
      'stowage drives list -o wide; docs/runbook.md#drive-lost says how to bring it back or to give it up',
  },
  DriveLedgerDiffers: {
    severity: 'warning',
    meaning:
      'the ledger and the volumes or directories of the drive do not agree: bytes may be lost to new volumes',
    remedy: 'docs/runbook.md#ledger-and-disk-disagree says how to find out which of them is right',
  },
  DriveOverCommitted: {
    severity: 'error',
    meaning: 'volumes have been promised more bytes than the drive has',
    remedy: 'move volumes away with stowage drives move SOURCE TARGET; docs/runbook.md#over-committed-disk',
  },
  DriveNodeGone: {
    severity: 'error',
    meaning: 'the node of the drive does not exist: its volumes cannot be used',
    remedy: 'bring the node back under its name, or give its drives up with stowage drives forget NODE',
  },
  StorageNodeNotReady: {
    severity: 'error',
    meaning: 'the disk agent of the node does not report: nothing new goes to its disks',
    remedy: 'check the disk agent on the node; docs/runbook.md#disk-not-ready',
  },
  DiskNotReady: {
    severity: 'error',
    meaning: 'nothing new goes to the disk, and the replicas on it may be lost',
    remedy: 'stowage disks describe NODE/DISK; docs/runbook.md#disk-not-ready',
  },
  VolumeFaulted: {
    severity: 'error',
    meaning: 'no replica of the volume is healthy: its data can not be used, or is lost',
    remedy: 'stowage disks describe volume/NAME; docs/runbook.md#volume-faulted',
  },
  VolumeDegraded: {
    severity: 'warning',
    meaning:
      'fewer replicas of the volume are healthy than wanted; others are made after five minutes if a disk has room',
    remedy: 'stowage disks describe volume/NAME; docs/runbook.md#volume-faulted',
  },
  DiskOverCommitted: {
    severity: 'warning',
    meaning:
      'more bytes are scheduled than the limit of the disk: what is scheduled stays, nothing else is granted',
    remedy: 'add a disk, or evict replicas; docs/runbook.md#over-committed-disk',
  },
  DiskOrphanedData: {
    severity: 'info',
    meaning: 'there is data on the disk whose owner does not exist; it takes room',
    remedy: 'look at it on the node, and delete it if it is not needed; docs/runbook.md#orphaned-data',
  },
  SchedulerNotRunning: {
    severity: 'error',
    meaning: 'pods wait for a scheduler that does not run',
    remedy: 'start it, or correct spec.schedulerName of the pods',
  },
  TwoSchedulers: {
    severity: 'error',
    meaning: 'two schedulers place pods of the same name: each can take the room that the other has promised',
    remedy: 'give one of them another name with --scheduler-name, or stop it',
  },
} as const satisfies Readonly<Record<string, FindingText>>;

export type FindingCode = keyof typeof findingTexts;
