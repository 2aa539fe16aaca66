/** `docs/commands.md`: an introduction for all commands, then the help of each. */
export function commandsPage(helps: readonly { readonly name: string; readonly text: string }[]): string {
  return [
    introduction,
    ...helps.map(({ name, text }) => `### stowage ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`),
  ].join('\n');
}

const introduction = `# Commands

The text of each command is what \`stowage COMMAND --help\` prints; a test keeps this page so.

## What holds for all

| flag | what |
|---|---|
| \`--kubeconfig FILE\`, \`--context NAME\` | the cluster; left out, \`KUBECONFIG\`, then \`~/.kube/config\`, then what a pod has of its own. For \`up\`, where the file is written |
| \`--from PATH\` | files instead of a cluster: a file, a folder of \`.yaml\`, \`.yml\` and \`.json\`, or \`-\`; may be repeated |
| \`-n\`, \`--namespace NAME\` | a namespace |
| \`-o\`, \`--output FORMAT\` | \`table\`, \`wide\` (every row and column), \`json\`, \`yaml\`, or \`name\` (nothing but names, one a line) |
| \`--log-format\`, \`--log-level\` | what the commands that go on running tell, on standard error |
| \`--verbose\` | tells more, on standard error: each request with its status and duration, each decision, what was read, and of an error its causes and where they came from |
| \`-h\`, \`--help\` | flags and examples |

Results go to standard output, everything else to standard error. Colour, bars and the width of lines are for terminals; \`NO_COLOR\` with
any value turns colour off, and bars are ASCII where the locale is not UTF-8. \`explain\`, \`reservations\` and \`capacity\` write nothing and
need no more than the right to list; what they may not see is said under NOTES, or in \`notes\`.

| exit status | when |
|---|---|
| 0 | done; for \`explain\`: the pod has its place or would fit, the claim is bound |
| 1 | an error: the last line on standard error names the object and the remedy. Also where nothing of what was asked for may be seen |
| 2 | a call that makes no sense: an unknown command or flag, a value that is none |
| 3 | \`explain\` only: the pod does not fit, the claim is not bound |

A command that goes on running (\`up\`, \`run\`, \`extender\`) ends with 0 on SIGINT or SIGTERM. \`run\` and \`extender\` wait for a server that
is away, and say so at each attempt; where it refuses their credentials they end with 1.

Completion: \`source <(stowage completion bash)\`; for zsh and fish see below.

## Who holds what

\`stowage reservations\` shows what a scheduler that starts now would find, from the stored objects alone.

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

| state of a volume | what |
|---|---|
| \`Bound\` | volume and claim name each other |
| \`InFlight\` | the volume names the claim; the claim does not name the volume yet |
| \`Awaited\` | kept for a claim that does not exist |
| \`Released\` | its claim is gone |
| \`Misplaced\` | its claim has another volume |
| \`RollingBack\` | the binding is being undone |
| \`Unknown\` | claims could not be seen |

\`BY\` is who wrote the volume's claimRef: a \`controller\` (the PV controller or a scheduler), the \`provisioner\` that made the volume, or a
\`person\`, whose word no controller undoes. \`WAITING\` counts from when the node was selected; \`< 3h\` where the objects do not say when that
was, and only the age of the claim is known. Files of \`kubectl get\` say it with \`--show-managed-fields\`.

\`-o name\` prints \`claim NAMESPACE/NAME\` and \`pod NAMESPACE/NAME\`, for \`xargs -L1 stowage explain\`.

| field of a \`ReservationsReport\` | what |
|---|---|
| \`apiVersion\`, \`kind\` | \`stowage.dev/reservations/v1\`, \`ReservationsReport\` |
| \`volumes[]\` | \`claim\`, \`volume\`, \`storageClass\`, \`size\`, \`phase\`, \`state\`, \`boundBy\`, \`reach\` |
| \`claims[]\` | \`claim\`, \`node\`, \`storageClass\`, \`size\`, \`poolHint\` (that the scheduler named), \`pool\` (that it counts against), \`state\`, \`waitingSince\`, \`waitingSinceFrom\` (\`selected-node\`, \`creation\`), \`pods[]\` |
| \`pools[]\` | \`pool\`, \`source\`, \`driver\`, \`storageClass\`, \`reported\`, \`promised\`, \`free\`, \`claims[]\` (\`claim\`, \`size\`, \`node\`) |
| \`pods[]\` | \`pod\`, \`node\`, \`priority\`, \`schedulerName\`, \`waitingSince\` |
| \`notes[]\` | what could not be looked at (\`about\`, \`text\`) |

A \`reach\` has \`nodeCount\`, \`nodes\` (the first 50 by name) and \`selector\` (labels, \`every node\` or \`no node\`). Amounts are exact quantities;
tables round them down. Within a version fields are added, never removed, renamed or given another meaning.

## How much room there is

\`\`\`text
CLASSES
  CLASS   POOLS   REPORTED   FREE   LARGEST   PROVISIONER
  dyn         2      110Gi   50Gi      30Gi   csi.example.com
  nfs         0          ?      ?         ?   nfs.example.com (does not say how much there is)

POOLS
  CLASS   POOL             REPORTED   PROMISED   FREE   LARGEST   PROMISED/FREE   REACHED FROM
  dyn     storage/zone-a       80Gi       60Gi   20Gi      20Gi   █████████░░░    a1
  dyn     storage/zone-b       30Gi          0   30Gi      30Gi   ░░░░░░░░░░░░    b1

EXISTING VOLUMES
  CLASS   VOLUMES   TOTAL   UNCLAIMED   FREE   LARGEST   TAKEN/FREE     REACHED FROM
  local         2    30Gi           1   10Gi      10Gi   ████████░░░░   a1
  local         1     5Gi           1    5Gi       5Gi   ░░░░░░░░░░░░   b1
\`\`\`

- **Reported** is what the driver says it has left, **promised** what of it claims in flight will take, **free** the difference, and
  **largest** the largest single volume that would be made now. Free is negative where more has been promised than there is.
- Pools are those of CSIStorageCapacity and DriverCapacity. Pools on the same disks share their promises, and count once for a class.
- Existing volumes are those that nobody provisions: local disks by node, others by where they can be reached from.
- A table shows the first 50 rows; \`-o wide\`, \`json\` and \`yaml\` have all.

| field of a \`CapacityReport\` | what |
|---|---|
| \`apiVersion\`, \`kind\` | \`stowage.dev/capacity/v1\`, \`CapacityReport\` |
| \`classes[]\` | \`storageClass\`, \`provisioner\`, \`isTracked\`, \`poolCount\`; where tracked \`reported\`, \`free\`, \`largestVolume\` |
| \`pools[]\` | \`pool\`, \`source\`, \`driver\`, \`storageClass\`, \`reach\`, \`reported\`, \`promised\`, \`free\`, \`largestVolume\`, \`isExpired\`, \`sharesWith[]\` |
| \`volumes[]\` | \`storageClass\`, \`reach\`, \`count\`, \`total\`, \`freeCount\`, \`free\`, \`largestFree\` |
| \`notes[]\` | as above |

\`-o name\` prints the pools: \`csistoragecapacity/NAMESPACE/NAME\`, \`drivercapacity/POOL\`.

## Zonal volumes that are upgraded

\`stowage upgrade-zonal-pvs -o json\` writes a \`ZonalUpgradeReport\` of \`stowage.dev/zonalupgrade/v1\`: \`dryRun\`, and \`volumes[]\` with \`name\`, \`action\`
(\`upgrade\`, \`leave\`, \`refuse\`, \`fail\`), \`detail\` and \`nodeAffinity\`. \`-o wide\` also lists the volumes that are left alone, \`-o name\` prints those that are
upgraded, or would be: \`persistentvolume/NAME\`.

## Each command
`;
