/** `docs/commands.md`: an introduction for all commands, then the help of each. */
export function commandsPage(helps: readonly { readonly name: string; readonly text: string }[]): string {
  return [
    introduction,
    ...helps.map(({ name, text }) => `### stowage ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`),
  ].join('\n');
}

const introduction = `# Commands

A test checks that the text of each command equals the output of \`stowage COMMAND --help\`.

## Common flags and exit statuses

| flag | meaning |
|---|---|
| \`--kubeconfig FILE\`, \`--context NAME\` | the cluster; the default is \`KUBECONFIG\`, then \`~/.kube/config\`, then the service account of the pod. For \`up\`, the file to write |
| \`--from PATH\` | read files instead of a cluster: a file, a folder with \`.yaml\`, \`.yml\` and \`.json\` files, or \`-\`; may be repeated. With \`--kubeconfig\` or \`--context\`, the objects of the files are added to the cluster or replace its objects, in memory only: [what if](explain.md#what-if) |
| \`-n\`, \`--namespace NAME\` | a namespace |
| \`-o\`, \`--output FORMAT\` | \`table\`, \`wide\` (every row and column), \`json\`, \`yaml\`, or \`name\` (only names, one per line) |
| \`--log-format\`, \`--log-level\` | the log of long-running commands, on standard error |
| \`--verbose\` | logs more on standard error: each request with its status and duration, each decision, what was read, and the causes of an error with their stack traces |
| \`-h\`, \`--help\` | flags and examples |

Results go to standard output, everything else to standard error. Colours, bars and line wrapping are used only on terminals; \`NO_COLOR\` with
any value disables colours, and bars are ASCII if the locale is not UTF-8. \`explain\`, \`reservations\` and \`capacity\` write nothing and
need only the right to list. They report what they have no right to read under NOTES, or in \`notes\`.

| exit status | meaning |
|---|---|
| 0 | success; for \`explain\`: the pod has a node or would fit, the claim is bound |
| 1 | an error: the last line on standard error names the object and the remedy. Also if the user has no right to read anything that was requested, and if the namespace of \`-n\` does not exist; for \`simulate\`: an invariant was broken |
| 2 | wrong usage: an unknown command or flag, or an invalid value |
| 3 | \`explain\`: the pod does not fit, the claim is not bound; of many pods, one is pending for a cause. \`disks evict\`: something can't move, or has not moved in time |

A long-running command (\`up\`, \`run\`, \`extender\`) exits with 0 on SIGINT or SIGTERM. \`run\` and \`extender\` wait for an unavailable
server, and log each attempt; if the server rejects their credentials, they exit with 1.

Completion: \`source <(stowage completion bash)\`; for zsh and fish see below.

## Reservations

\`stowage reservations\` shows the reservations that a scheduler would find if it started now. It reads only stored objects.

\`\`\`text
VOLUMES
  CLAIM           VOLUME      SIZE   STATE       BY            REACHED FROM
  default/data    pv-bound    10Gi   Bound       controller    n1
  default/next    pv-flight   10Gi   InFlight    controller    n1

CLAIMS IN FLIGHT
  CLAIM            NODE   SIZE   POOL        STATE          WAITING
  default/making   n2     60Gi   storage/b   Provisioning        3m

PROMISED OF POOLS
  POOL        CLASS   REPORTED   PROMISED    FREE   TO
  storage/b   dyn         50Gi       60Gi   -10Gi   default/making 60Gi

NOMINATED PODS
  POD              NODE   PRIORITY   WAITING
  default/urgent   n1         1000       45s
\`\`\`

| state of a volume | meaning |
|---|---|
| \`Bound\` | volume and claim name each other |
| \`InFlight\` | the volume names the claim; the claim does not name the volume yet |
| \`Awaited\` | reserved for a claim that does not exist |
| \`Released\` | its claim is gone |
| \`Misplaced\` | its claim has another volume |
| \`RollingBack\` | the binding is being undone |
| \`Unknown\` | claims could not be read |

\`BY\` is the writer of the volume's claimRef: a \`controller\` (the PV controller or a scheduler), the \`provisioner\` that created the volume, or a
\`person\`, whose claimRef no controller removes. \`WAITING\` is the time since the node was selected; \`< 3h\` if the objects do not contain that
time, and only the age of the claim is known. Files of \`kubectl get\` contain it with \`--show-managed-fields\`.

\`-o name\` prints \`claim NAMESPACE/NAME\` and \`pod NAMESPACE/NAME\`, for \`xargs -L1 stowage explain\`.

| field of a \`ReservationsReport\` | content |
|---|---|
| \`apiVersion\`, \`kind\` | \`stowage.dev/reservations/v1\`, \`ReservationsReport\` |
| \`volumes[]\` | \`claim\`, \`volume\`, \`storageClass\`, \`size\`, \`phase\`, \`state\`, \`boundBy\`, \`reach\` |
| \`claims[]\` | \`claim\`, \`node\`, \`storageClass\`, \`size\`, \`poolHint\` (chosen by the scheduler), \`pool\` (that the claim is counted in), \`state\`, \`waitingSince\`, \`waitingSinceFrom\` (\`selected-node\`, \`creation\`), \`pods[]\` |
| \`pools[]\` | \`pool\`, \`source\`, \`driver\`, \`storageClass\`, \`reported\`, \`promised\`, \`free\`, \`claims[]\` (\`claim\`, \`size\`, \`node\`) |
| \`pods[]\` | \`pod\`, \`node\`, \`priority\`, \`schedulerName\`, \`waitingSince\` |
| \`notes[]\` | what could not be read (\`about\`, \`text\`) |

A \`reach\` has \`nodeCount\`, \`nodes\` (the first 50 by name) and \`selector\` (labels, \`every node\` or \`no node\`). Amounts are exact quantities;
tables round them down. Within a version, fields are only added, and never removed, renamed or given another meaning.

## Capacity

\`\`\`text
CLASSES
  CLASS   POOLS     TOTAL   USED      FREE   LARGEST   PROVISIONER
  dyn         2     150Gi   40Gi      50Gi      30Gi   csi.example.com
  nfs         0   unknown   12Gi   unknown   unknown   nfs.example.com (does not say how much there is)

POOLS
  CLASS   POOL             TOTAL   USED   PROMISED   FREE   LARGEST   TAKEN/FREE     REACHED FROM
  dyn     storage/zone-a   120Gi   40Gi       60Gi   20Gi      20Gi   ██████████░░   a1
  dyn     storage/zone-b    30Gi      0          0   30Gi      30Gi   ░░░░░░░░░░░░   b1

EXISTING VOLUMES
  CLASS   VOLUMES   TOTAL   UNCLAIMED   FREE   LARGEST   TAKEN/FREE     REACHED FROM
  local         2    30Gi           1   10Gi      10Gi   ████████░░░░   a1
  local         1     5Gi           1    5Gi       5Gi   ░░░░░░░░░░░░   b1
\`\`\`

- **Reported** (\`-o wide\`) is the remaining capacity that the driver reports, **promised** the part that claims in flight will use, **free** the
  difference, and **largest** the largest single volume that could be created now. Free is negative if more is promised than available.
- **Used** is the size of the volumes that were provisioned, and **total** is reported and used. Kubernetes does not record which pool a volume is
  in: it is the only pool of its class that all of its nodes reach. If several are possible, used is \`unknown\`. Total is \`unknown\` too if the driver
  reports its largest volume instead of its free capacity (every DriverCapacity), or pools share disks. Until the driver reports again, a new
  volume counts as used and as free.
- Pools are those of CSIStorageCapacity and DriverCapacity. Pools on the same disks share their promises, and count once for a class.
- Existing volumes are volumes that are not provisioned dynamically: local disks by node, others by the nodes that can reach them.
- A table shows the first 50 rows; \`-o wide\`, \`json\` and \`yaml\` have all.

| field of a \`CapacityReport\` | content |
|---|---|
| \`apiVersion\`, \`kind\` | \`stowage.dev/capacity/v1\`, \`CapacityReport\` |
| \`classes[]\` | \`storageClass\`, \`provisioner\`, \`isTracked\`, \`poolCount\`; \`used\`; if tracked \`reported\`, \`free\`, \`total\`, \`largestVolume\` |
| \`pools[]\` | \`pool\`, \`source\`, \`driver\`, \`storageClass\`, \`reach\`, \`reported\`, \`used\`, \`total\`, \`promised\`, \`free\`, \`largestVolume\`, \`isExpired\`, \`sharesWith[]\` |
| \`volumes[]\` | \`storageClass\`, \`reach\`, \`count\`, \`total\`, \`freeCount\`, \`free\`, \`largestFree\` |
| \`notes[]\` | as above. Unknown amounts are absent |

\`-o name\` prints the pools: \`csistoragecapacity/NAMESPACE/NAME\`, \`drivercapacity/POOL\`.

## Drives

[From bare disks to a running StatefulSet](drives-tutorial.md) shows the output of \`stowage drives\`. Reports have the apiVersion \`stowage.dev/drives/v1\`; sizes are whole bytes.

| kind | printed by | content |
|---|---|---|
| \`DevicesReport\` | \`discover\` | \`node\`, \`devices[]\`: \`id\`, \`device\`, \`sizeBytes\`, \`filesystem\`, \`make\`, \`serial\`, \`available\`, \`obstacle\` (\`TooSmall\`, \`ReadOnly\`, \`Partitioned\`, \`Held\`, \`Mounted\`, \`Swap\`, \`CDROM\`, \`Hidden\`, \`UsedByStowage\`, \`Data\`, \`Unreadable\`), \`description\` |
| \`InitReport\` | \`init\` | \`node\`, \`devices[]\`: \`device\`, \`drive\`, \`result\` (\`formatted\`, \`registered\`, \`already registered\`, \`refused\`, \`failed\`), \`error\` |
| \`DrivesReport\` | \`list\` | \`drives[]\`: \`drive\`, \`node\`, \`tier\`, \`state\`, \`isCordoned\`, \`device\`, \`make\`, \`filesystemUUID\`, \`labels\`, \`capacityBytes\`, \`usedBytes\`, \`promisedBytes\`, \`freeBytes\`, \`volumeCount\`, \`createdAt\`; \`notes[]\` |
| \`DriveVolumesReport\` | \`list volumes\`, \`info VOLUME\` | \`volumes[]\`: \`volume\`, \`sizeBytes\`, \`node\`, \`drive\`, \`device\`, \`driveState\`, \`isDriveCordoned\`, \`state\` (\`Active\`, \`Pending\`, \`Releasing\`, \`Lost\`, \`Leaked\`), \`claim\`, \`persistentVolume\`, \`pods[]\`; \`notes[]\` |
| \`DriveNodesReport\` | \`info\` | \`nodes[]\`: \`node\`, \`driveCount\`, \`states\` (drives by their state, such as \`Ready\` or \`Ready,SchedulingDisabled\`), \`readyCount\`, \`volumeCount\`, \`capacityBytes\`, \`usedBytes\`, \`promisedBytes\`, \`freeBytes\`; \`notes[]\` |

Amounts that are not known are absent. \`-o name\` prints \`drive.stowage.dev/NAME\`, which the other commands accept, or for \`discover\` the available devices.

## Disks

\`stowage disks list\` shows each disk with its limit and what is scheduled, pending and free; [Disks](disks.md) explains them. All reports have the
apiVersion \`stowage.dev/disks/v1\`.

| kind | of | content |
|---|---|---|
| \`DisksReport\` | \`list\` | \`disks[]\`: \`node\`, \`disk\`, \`uuid\`, \`state\` (\`Ready\`, \`Disabled\`, \`Evicting\`, \`OverCommitted\`, \`Removed\`, \`NotReady\`), \`message\`, \`path\`, \`zone\`, \`tags[]\`, \`nodeTags[]\`, \`limitBytes\`, \`scheduledBytes\`, \`pendingBytes\`, \`freeBytes\`, \`replicaCount\`, \`imageCount\`, \`pendingCount\`, \`rejectedCount\`; \`notes[]\` |
| \`DiskVolumesReport\` | \`list --volumes\` | \`volumes[]\`: \`volume\`, \`claim\`, \`sizeBytes\`, \`currentBytes\`, \`replicasWanted\`, \`replicasPlaced\`, \`replicasHealthy\`, \`state\` (\`Allocated\`, or the reason of the condition), \`message\`; \`notes[]\` |
| \`DiskDescription\` | \`describe\` of a disk | the fields of a disk, \`capacity\` (\`policy\`, \`policyFrom\`, \`overProvisioningPercentage\`, \`storageMaximumBytes\`, \`storageAvailableBytes\`, \`storageReservedBytes\`), \`entries[]\` (\`kind\`, \`name\`, \`volume\`, \`claim\`, \`requestedBytes\`, \`scheduledBytes\`, \`state\`, \`reason\`, \`missingBytes\`) |
| \`StorageNodeDescription\` | \`describe\` of a node | \`node\`, \`zone\`, \`region\`, \`state\`, \`message\`, \`allowScheduling\`, \`evictionRequested\`, \`tags[]\`, \`uploadURL\`, \`disks[]\`, \`evictions[]\` |
| \`DiskVolumeDescription\` | \`describe\` of a volume | the fields of a volume, selectors, \`antiAffinity\`, \`backingImage\`, \`backingImageMessage\`, \`replicas[]\` (\`replica\`, \`node\`, \`disk\`, \`diskUUID\`, \`zone\`, \`sizeBytes\`, \`scheduledBytes\`, \`fileBytes\`, \`state\`, \`message\`, \`missingBytes\`), \`refusedExpansion\` |
| \`BackingImageDescription\` | \`describe\` of an image | the fields of an image, \`checksum\`, selectors, \`copies[]\` (\`node\`, \`disk\`, \`diskUUID\`, \`state\`, \`progressPercent\`, \`scheduledBytes\`, \`evictionRequested\`, \`message\`), \`volumes[]\` |
| \`BackingImagesReport\` | \`image list\` | \`images[]\`: \`image\`, \`sizeBytes\`, \`expectedBytes\`, \`copiesWanted\`, \`copiesReady\`, \`progressPercent\`, \`state\`, \`message\`, \`source\`; \`notes[]\` |
| \`EvictionReport\` | \`evict\` | \`target\`, \`evictionRequested\`, \`remaining[]\` (\`kind\`, \`name\`, \`volume\`, \`node\`, \`disk\`, \`sizeBytes\`, \`state\`: \`Moving\`, \`Waiting\`, \`Leaving\` or \`Blocked\`, \`message\`) |

\`-o name\` prints \`disk/NODE/NAME\`, \`volume/NAME\` or \`image/NAME\`, which the other commands accept.

## Upgrade of zonal volumes

\`stowage upgrade-zonal-pvs -o json\` writes a \`ZonalUpgradeReport\` of \`stowage.dev/zonalupgrade/v1\`: \`dryRun\`, and \`volumes[]\` with \`name\`, \`action\`
(\`upgrade\`, \`leave\`, \`refuse\`, \`fail\`), \`detail\` and \`nodeAffinity\`. \`-o wide\` also lists the volumes that are left unchanged, \`-o name\` prints those that are
upgraded, or would be: \`persistentvolume/NAME\`.

## Simulation

\`stowage simulate -o json\` writes a \`SimulationReport\` of \`stowage.dev/simulation/v1\`; [docs/simulation.md](simulation.md) explains the runs.

| field of a \`SimulationReport\` | content |
|---|---|
| \`runs[]\` | \`seed\`, \`actions\`, \`faults\` (that took place), \`versions\` (of stored objects), \`elapsedSeconds\` (virtual), \`replicated[]\`, \`latencyMaxMs\`, \`violations[]\` (\`invariant\`, \`detail\`); \`trace[]\` with \`--trace\` |
| \`broken\` | the first run that broke an invariant: \`seed\`, \`violation\`, the end of its \`trace[]\`, \`traceLength\`, \`scenario\` (the smallest that was found; \`--from\` reads it), \`minimizedIn\` (\`runs\`, \`actionsBefore\`), \`replay\` (the command). Absent if every invariant held |

\`-o name\` prints the seeds that broke an invariant: \`seed/NUMBER\`.

## Each command
`;
