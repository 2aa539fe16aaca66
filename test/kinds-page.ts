import type { JsonSchema } from '../src/apiserver/structural/json-schema.ts';

export interface DescribedKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly schema: JsonSchema;
  /** Of `examples/kinds`, as it is. */
  readonly example: string;
}

/** `docs/kinds.md`: what holds for all, then each kind from its definition. */
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
    '| field | what |',
    '|---|---|',
    ...rowsOf(schema, ''),
    '',
    'The API server refuses what breaks one of these:',
    '',
    ...rulesOf(schema, '').map((rule) => `- ${rule}`),
    '',
    '```yaml',
    `${example.trimEnd()}`,
    '```',
    '',
  ].join('\n');
}

/** Of every object; Kubernetes tells about them. */
const ofEveryObject = new Set(['apiVersion', 'kind', 'metadata']);

/** Conditions once, for all kinds; a selector of nodes by Kubernetes. */
const isToldElsewhere = new Set(['conditions', 'nodeTopology']);

function rowsOf(schema: JsonSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !(path === '' && ofEveryObject.has(name)))
    .flatMap(([name, property]) => {
      const here = `${path}${name}`;
      const isRequired = schema.required?.includes(name) === true;
      const inner = isToldElsewhere.has(name) ? [] : innerRows(property, here);
      const own = isTold(property) ? [`| \`${here}\`${isRequired ? ' *' : ''} | ${tellOf(property)} |`] : [];
      return [...own, ...inner];
    });
}

function innerRows(schema: JsonSchema, here: string): string[] {
  const { items, additionalProperties } = schema;
  if (items !== undefined) return rowsOf(items, `${here}[].`);
  if (typeof additionalProperties === 'object') return rowsOf(additionalProperties, `${here}.*.`);
  return rowsOf(schema, `${here}.`);
}

/** What only holds others together has a line of its own where it says more than they do. */
function isTold({ properties, description }: JsonSchema): boolean {
  return properties === undefined || description !== undefined;
}

function tellOf(schema: JsonSchema): string {
  const { description = '', enum: values, default: fallback } = schema;
  const among = values === undefined ? [] : [`One of ${values.map((each) => `\`${each}\``).join(', ')}.`];
  const otherwise =
    fallback === undefined ? [] : [`Left out: \`${JSON.stringify(fallback).replaceAll('"', '')}\`.`];
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

\`stowage.dev/v1alpha1\` has seven kinds, defined by the files in \`deploy/crds\`. The embedded cluster has them from the start; on
a real one they are installed once:

<!-- try: skip, needs a cluster -->

\`\`\`sh
kubectl apply --server-side -f deploy/crds
kubectl wait --for=condition=Established crd --all
kubectl api-resources --categories=stowage
kubectl get stowage
\`\`\`

| kind | what | who keeps it |
|---|---|---|
| \`Drive\` | a formatted local drive and the ledger of the volumes on it | the drive's node, and whoever puts volumes on it |
| \`DriverCapacity\` | the pools of a CSI driver | the driver's publishers |
| \`DiskSchedule\` | who asks for how much of a disk, and what came of it | those who ask (spec), the DiskSchedule controller (status) |
| \`StorageNode\` | the disks of a node | people (spec), the node (status) |
| \`Volume\` | a volume of several replicas | people (spec), the Volume controller (status) |
| \`Replica\` | one copy of a volume's data | the Volume controller (spec), the Replica controller (status) |
| \`BackingImage\` | an image that volumes begin with | people and the BackingImage controller (spec), the latter (status) |

Today the scheduler reads \`DriverCapacity\`; the others are there for the drives and disks that come next. None of them lives in a namespace:
two objects for one disk, in two namespaces, would promise it twice. Install them before \`stowage run\` starts or while it runs: as long as
\`DriverCapacity\` is not there, it looks for it about once a minute.

## What holds for all

**Sizes are whole bytes**, from 0 to 2^53 - 1 (8 PiB), because they are added up: the API server itself checks the sums, one size has one
spelling, and no program that reads JSON numbers loses a digit. The one exception is the \`capacity\` of a \`DriverCapacity\`, which drivers
publish and nobody adds up: it is a quantity such as \`10Gi\`, as in a CSIStorageCapacity.

**A ledger is in the object that owns the bytes.** What is free is the limit less the sum of the entries, and whoever decides computes it.
Entries have keys (\`spec.volumes\` of a Drive by \`name\`, \`spec.replicas\` of a DiskSchedule by key), so that every writer applies its own
and knows no others:

\`\`\`yaml
# kubectl apply --server-side --field-manager=my-volume -f -
apiVersion: stowage.dev/v1alpha1
kind: Drive
metadata: { name: n1-b7f6c1de }
spec:
  volumes:
    - { name: my-volume, sizeBytes: 10737418240 }
\`\`\`

Applied by two writers at the same time, both are stored if both fit. If only one does, the other is refused, with the numbers. Applied again
without the entry, its bytes are given back. A limit that falls under the sum takes nothing away: what is there stays, and nothing new comes.
\`freeBytes\` of a Drive and \`storageScheduled\` of a DiskSchedule are written down for people who look; the API server refuses figures that
do not add up.

**Unknown is not zero.** A capacity that nobody knows is left out, and a disk that does not answer keeps the figures that it had.

**Deletion**: a Drive has the finalizer \`stowage.dev/drive-protection\` while it has volumes, a DiskSchedule \`stowage.dev/disk-schedule\` while
it has entries.

| conditions of | type | what |
|---|---|---|
| Drive | \`Mounted\` | the node has the filesystem mounted |
| DriverCapacity | \`Fresh\` | its publisher has looked lately |
| DiskSchedule | \`Ready\`, \`Schedulable\` | the disk answers; something more can be granted (\`OverCommitted\`, \`SchedulingDisabled\`) |
| StorageNode, and each of its disks | \`Ready\` | it answers |
| Volume | \`DiskAllocation\` | every replica has been granted its bytes |
| Replica, BackingImage | \`Ready\` | it can be used |

A condition has \`type\`, \`status\` (\`True\`, \`False\`, \`Unknown\`), \`reason\`, \`message\`, \`lastTransitionTime\` and \`observedGeneration\`.

The status of an object is written apart from the rest: to try an example below, apply its file from \`examples/kinds\` twice, the second time
with \`--subresource=status\`.

## A new version of a kind

Within a version fields are only added, and never change their meaning. A new version stands beside the old one; objects are the same in both, as
nothing converts them, so it may add fields and tighten rules, but renames nothing. The move, kind by kind:

1. Apply the definition that has both versions, the new one with \`storage: true\`. Both are served; what is written from now on is stored
   in the new one, and \`status.storedVersions\` of the definition names both.
2. Rewrite what is stored. Every object is replaced by itself, with its resourceVersion: one that somebody else wrote in between is refused, and
   is in the new version already.
3. Say that nothing is stored in the old version any more.
4. Apply the definition without the old version. Until step 3 the API server refuses that.

<!-- try: skip, needs a cluster, and a version that there is not yet -->

\`\`\`sh
kubectl apply --server-side -f deploy/crds
kubectl get drives.v1beta1.stowage.dev -o json | kubectl replace --validate=false -f -
kubectl patch crd drives.stowage.dev --subresource=status --type=merge -p '{"status":{"storedVersions":["v1beta1"]}}'
kubectl apply --server-side -f deploy/crds
\`\`\`

The embedded cluster does all of this by itself: whenever it starts, it brings the definitions to what came with the program.

## Removing them

With a definition go all objects of its kind, once their finalizers are gone.

<!-- try: skip, needs a cluster -->

\`\`\`sh
kubectl delete -f deploy/crds --ignore-not-found
\`\`\`

## Each kind

\`*\` marks what an object must have. \`[]\` stands for each item of a list, \`.*\` for each key of a map.
`;
