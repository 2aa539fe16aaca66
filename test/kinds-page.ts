import type { JsonSchema } from '../src/apiserver/schema/json-schema.ts';

export interface DescribedKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly schema: JsonSchema;
  /** A file of `examples/kinds`, unchanged. */
  readonly example: string;
}

/** `docs/kinds.md`: the rules for all kinds, then each kind from its definition. */
export function kindsPage(kinds: readonly DescribedKind[]): string {
  return [introduction, ...kinds.map(section)].join('\n');
}

function section({ kind, plural, shortNames, schema, example }: DescribedKind): string {
  return [
    `### ${kind}`,
    '',
    schema.description,
    '',
    `\`kubectl get ${plural}.stowage.dev\`, or \`kubectl get ${shortNames.join(', ')}\`.`,
    '',
    '| field | meaning |',
    '|---|---|',
    ...rowsOf(schema, ''),
    '',
    'The API server enforces these rules:',
    '',
    ...rulesOf(schema, '').map((rule) => `- ${rule}`),
    '',
    '```yaml',
    `${example.trimEnd()}`,
    '```',
    '',
  ].join('\n');
}

/** Fields of every object, which Kubernetes documents. */
const ofEveryObject = new Set(['apiVersion', 'kind', 'metadata']);

/** Conditions are described once for all kinds, and node selectors by Kubernetes. */
const isDescribedElsewhere = new Set(['conditions', 'nodeTopology']);

function rowsOf(schema: JsonSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !(path === '' && ofEveryObject.has(name)))
    .flatMap(([name, property]) => {
      const here = `${path}${name}`;
      const isRequired = schema.required?.includes(name) === true;
      const inner = isDescribedElsewhere.has(name) ? [] : innerRows(property, here);
      const own = hasOwnRow(property)
        ? [`| \`${here}\`${isRequired ? ' *' : ''} | ${descriptionOf(property)} |`]
        : [];
      return [...own, ...inner];
    });
}

function innerRows(schema: JsonSchema, here: string): string[] {
  const { items, additionalProperties } = schema;
  if (items !== undefined) return rowsOf(items, `${here}[].`);
  if (typeof additionalProperties === 'object') return rowsOf(additionalProperties, `${here}.*.`);
  return rowsOf(schema, `${here}.`);
}

/** A field that only groups others has a row of its own if it has a description. */
function hasOwnRow({ properties, description }: JsonSchema): boolean {
  return properties === undefined || description !== undefined;
}

function descriptionOf(schema: JsonSchema): string {
  const { description = '', enum: values, default: fallback } = schema;
  const among = values === undefined ? [] : [`One of ${values.map((each) => `\`${each}\``).join(', ')}.`];
  const otherwise =
    fallback === undefined ? [] : [`Default: \`${JSON.stringify(fallback).replaceAll('"', '')}\`.`];
  return [description, ...among, ...otherwise].join(' ').replaceAll('|', '\\|').replaceAll('<', '\\<').trim();
}

function rulesOf(schema: JsonSchema, path: string): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message, fieldPath = '' }) => {
    const where = `${path}${fieldPath}`.replace(/^\./, '');
    return `\`${where}\`: ${message}`;
  });
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    rulesOf(property, `${path}.${name}`),
  );
  const { items, additionalProperties } = schema;
  const each = items === undefined ? [] : rulesOf(items, `${path}[]`);
  const all = typeof additionalProperties === 'object' ? rulesOf(additionalProperties, `${path}.*`) : [];
  return [...own, ...inner, ...each, ...all];
}

const introduction = `# Our own kinds

\`stowage.dev/v1alpha1\` has eight kinds, defined by the files in \`deploy/crds\`. The embedded cluster has them from the start; on
a real cluster, install them once:

<!-- try: skip, needs a cluster -->

\`\`\`sh
kubectl apply --server-side -f deploy/crds
kubectl wait --for=condition=Established crd --all
kubectl api-resources --categories=stowage
kubectl get stowage
\`\`\`

| kind | what it is | writers |
|---|---|---|
| \`DriverCapacity\` | the pools of a CSI driver | the driver's publishers |
| \`Drive\` | a formatted local drive and the ledger of the volumes on it | the drive's node, and the components that place volumes on it |
| \`DiskSchedule\` | the requests for a disk's bytes, and the verdicts | the requesters (spec), the DiskSchedule controller (status) |
| \`StorageNode\` | the disks of a node | administrators (spec), the node (status) |
| \`DiskSettings\` | how the limit of a disk is computed | administrators |
| \`Volume\` | a volume with several replicas | users (spec), the Volume controller (status) |
| \`Replica\` | one copy of a volume's data | the Volume controller (spec), the Replica controller (status) |
| \`BackingImage\` | an image that volumes start from | users and the BackingImage controller (spec), the controller (status) |

The scheduler reads \`DriverCapacity\` and \`Drive\`. On drives, the controller \`drives\` and \`stowage csi --services controller\` make volumes
([Local drives](drives.md)), and \`stowage csi\` on each node mounts them. The controller \`disks\` keeps a DiskSchedule for each
disk, gives the verdicts, and places the replicas of volumes and the copies of images. The controller \`disk-agent\` keeps both as files, on its own node.
All kinds are cluster-scoped: two objects for one disk, in two namespaces, would promise its bytes twice. Install them before \`stowage run\`
starts or while it runs: until \`DriverCapacity\` exists, it looks for the kind about once a minute.

## Rules for all kinds

**Sizes are whole bytes**, from 0 to 2^53 - 1 (8 PiB), because they are added up: the API server itself checks the sums, each size has one
spelling, and no program that reads JSON numbers loses a digit. The one exception is the \`capacity\` of a \`DriverCapacity\`, which drivers
publish and which is never added up: it is a quantity such as \`10Gi\`, as in a CSIStorageCapacity.

**A ledger is in the object that owns the bytes.** The free bytes are the limit less the sum of the entries, and every decision computes them again.
Entries have keys (\`spec.volumes\` of a Drive by \`name\`, \`spec.replicas\` of a DiskSchedule by key), so that every writer applies only its own:

\`\`\`yaml
# kubectl apply --server-side --field-manager=my-volume -f -
apiVersion: stowage.dev/v1alpha1
kind: Drive
metadata: { name: n1-b7f6c1de }
spec:
  volumes:
    - { name: my-volume, sizeBytes: 10737418240 }
\`\`\`

If two writers apply entries at the same time, both are stored if both fit. If only one fits, the other is rejected, with the numbers. Applying
again without the entry releases its bytes. If the limit falls below the sum, existing entries stay, and new ones are rejected. \`freeBytes\` of a
Drive and \`storageScheduled\` of a DiskSchedule are for display only; the API server rejects figures that do not add up.

**Unknown is not zero.** An unknown capacity is left out, and a disk that does not answer keeps its last figures.

**Deletion**: the embedded API server makes the CSIDriver of the same name the owner of a DriverCapacity, which is then deleted with the driver. On a real
cluster, publishers set the owner reference themselves. A Drive has the finalizer \`stowage.dev/drive-protection\` while it has volumes, also those whose data waits for deletion on a drive that is lost; \`stowage drives forget\` gives them up, and removes it.
A DiskSchedule has \`stowage.dev/disk-schedule\` while
it has entries, a BackingImage \`stowage.dev/backing-image\` while a Volume uses it, and until the bytes of all copies are released.

| conditions of | type | meaning |
|---|---|---|
| Drive | \`Mounted\`, \`LedgerMatches\`, \`DirectoriesMatch\` | the node has the filesystem mounted; every entry of the ledger is in use, and every volume has one; every directory has one (the last two are set once it was not so) |
| DriverCapacity | \`Fresh\` | its publisher has updated it recently |
| DiskSchedule | \`Ready\`, \`Schedulable\`, \`Evicted\` | the disk answers (\`DiskNotReady\`, \`DiskRemoved\`); more bytes can be granted (\`OverCommitted\`, \`SchedulingDisabled\`); the disk is to be emptied, and is empty (\`Moving\`, \`CannotMove\`) |
| StorageNode, and each of its disks | \`Ready\` | it answers |
| each disk of a StorageNode | \`OrphanedData\` | there is data on it whose owner does not exist (set once there was some) |
| Volume | \`DiskAllocation\` | every replica has its bytes (\`Pending\`, \`InsufficientStorage\`, \`ExpansionRejected\`, \`DiskRemoved\`) |
| Volume with an image | \`BackingImageReady\` | every replica has a copy on its disk, or had one when its file was made; otherwise the message says which one waits, and for what |
| Replica | \`Ready\` | it can be used |
| BackingImage | \`DiskAllocation\`, \`Ready\`, \`InUse\` | every copy has its bytes; a copy is ready; it is being deleted, and a Volume uses it |

A condition has \`type\`, \`status\` (\`True\`, \`False\`, \`Unknown\`), \`reason\`, \`message\`, \`lastTransitionTime\` and \`observedGeneration\`.

The status of an object is written separately: to try an example below, apply its file from \`examples/kinds\` twice, the second time with
\`--subresource=status\`.

## A new version of a kind

Within a version, fields are only added and never change their meaning. A new version is served beside the old one. Objects are the same in both,
because nothing converts them, so a new version may add fields and tighten rules, but renames nothing. To migrate a kind:

1. Apply the definition that has both versions, the new one with \`storage: true\`. Both are served; new writes are stored
   in the new one, and \`status.storedVersions\` of the definition names both.
2. Rewrite the stored objects. Every object is replaced by itself, with its resourceVersion: if another client has written it meanwhile, the
   replacement is rejected, and the object is in the new version already.
3. Record that nothing is stored in the old version any more.
4. Apply the definition without the old version. Before step 3 the API server rejects that.

<!-- try: skip, needs a cluster, and a version that there is not yet -->

\`\`\`sh
kubectl apply --server-side -f deploy/crds
kubectl get drives.v1beta1.stowage.dev -o json | kubectl replace --validate=false -f -
kubectl patch crd drives.stowage.dev --subresource=status --type=merge -p '{"status":{"storedVersions":["v1beta1"]}}'
kubectl apply --server-side -f deploy/crds
\`\`\`

The embedded cluster does this automatically: every start updates the definitions to those of the program.

## Removing them

Deleting a definition deletes all objects of its kind, once their finalizers are removed.

<!-- try: skip, needs a cluster -->

\`\`\`sh
kubectl delete -f deploy/crds --ignore-not-found
\`\`\`

## Each kind

\`*\` marks required fields. \`[]\` stands for each item of a list, \`.*\` for each key of a map.
`;
