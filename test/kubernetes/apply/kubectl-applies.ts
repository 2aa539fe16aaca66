/** A command that runs against two clusters, one after another; the output must be equal. */
export interface TypedApply {
  readonly line: string;
  readonly input?: string;
}

const map = (data: string, name = 'c') => `
apiVersion: v1
kind: ConfigMap
metadata: { name: ${name} }
data: ${data}
`;

const deployment = (spec: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: d, labels: { app: d } }
spec: ${spec}
`;

const selector = 'selector: { matchLabels: { app: d } }';
const whole = (container: string, more = '') =>
  deployment(`
  ${selector}
  ${more}
  template:
    metadata: { labels: { app: d } }
    spec:
      containers: [${container}]
`);

const applyServerSide = 'apply --server-side -f -';

export const kubectlApplies: readonly TypedApply[] = [
  { line: `${applyServerSide} --dry-run=server`, input: map('{ a: "1" }') },
  { line: applyServerSide, input: map('{ a: "1" }') },
  { line: applyServerSide, input: map('{ a: "1" }') },
  { line: 'diff --server-side -f -', input: map('{ a: "2", b: "1" }') },
  { line: `${applyServerSide} --field-manager=other`, input: map('{ a: "2" }') },
  { line: `${applyServerSide} --field-manager=other --force-conflicts`, input: map('{ a: "2" }') },
  { line: applyServerSide, input: map('{ b: "1" }') },
  { line: 'get configmap c -o yaml --show-managed-fields' },
  { line: 'apply -f -', input: map('{ x: "1", y: "1" }', 'moved') },
  { line: applyServerSide, input: map('{ x: "2", z: "1" }', 'moved') },
  { line: 'get configmap moved -o yaml --show-managed-fields' },
  { line: applyServerSide, input: map('{ z: "2" }', 'moved') },
  { line: 'apply view-last-applied configmap moved' },
  { line: 'get configmap moved -o yaml --show-managed-fields' },
  { line: 'apply -f -', input: map('{ z: "3" }', 'moved') },
  { line: 'get configmap moved -o yaml --show-managed-fields' },
  { line: applyServerSide, input: whole('{ name: a, image: "a:1" }', 'replicas: 2') },
  { line: 'scale deployment d --replicas=3' },
  { line: applyServerSide, input: whole('{ name: a, image: "a:1" }', 'replicas: 2') },
  { line: applyServerSide, input: whole('{ name: a, image: "a:1" }') },
  { line: 'set image deployment/d a=a:2' },
  { line: applyServerSide, input: whole('{ name: a, image: "a:3" }, { name: b, image: "b:1" }') },
  {
    line: `${applyServerSide} --force-conflicts`,
    input: whole('{ name: a, image: "a:3" }, { name: b, image: "b:1" }'),
  },
  { line: 'label deployment d app=other --overwrite' },
  { line: applyServerSide, input: whole('{ name: a, image: "a:3" }') },
  { line: applyServerSide, input: whole('{ name: a, image: "a:3" }, { name: a, image: "b:1" }') },
  { line: applyServerSide, input: whole('{ name: a, image: "a:3", imagge: x }') },
  { line: `${applyServerSide} --validate=false`, input: whole('{ name: a, image: "a:3", imagge: x }') },
  { line: applyServerSide, input: whole('{ name: a, image: "a:3" }', 'replicas: many') },
  { line: applyServerSide, input: whole('{ name: a, image: "a:3", image: "a:4" }') },
  {
    line: `${applyServerSide} --subresource=status --field-manager=watcher`,
    input:
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d }\nstatus: { observedGeneration: 1 }\n',
  },
  { line: `${applyServerSide} -o name`, input: `${map('{}', 'e')}---${map('{ a: "1" }', 'f')}` },
  { line: applyServerSide, input: map('{ a: "1" }', 'Not_valid') },
  { line: 'explain configmap.data' },
];
