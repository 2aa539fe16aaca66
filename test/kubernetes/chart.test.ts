/** What Helm makes of the chart, without installing it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { packageVersion } from '../../src/io/files/package-version.ts';
import { projectRoot } from '../project-root.ts';
import { runCommand } from './node/commands.ts';
import { type ChartValues, chartFolder, helm, rendered } from './testing/helm.ts';
import { plainManifest, plainManifests } from './testing/plain-manifests.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

const everything = {
  commonLabels: { team: 'storage' },
  extender: { enabled: true, allRules: true, bind: true },
  console: { enabled: true },
  csi: {
    enabled: true,
    snapshots: true,
    driverCapacities: true,
    driverContainers: [{ name: 'driver', image: 'driver:1' }],
    secrets: [{ namespace: 'default', names: ['driver-password'] }],
  },
  drives: { enabled: true },
  disks: { enabled: true, allocationOnly: true },
  networkPolicies: { metricsFrom: [{ namespaceSelector: {} }], egress: [{ ports: [{ port: 443 }] }] },
  priorityClasses: { create: true },
  monitoring: {
    podMonitor: { enabled: true },
    dashboards: { enabled: true },
    rules: { enabled: true },
  },
} satisfies ChartValues;

/** Several combinations, so that both branches of every condition are rendered. */
const valueSets: Readonly<Record<string, ChartValues>> = {
  'the defaults': {},
  everything,
  'sidecars, and a driver on each node': {
    ...everything,
    drives: { enabled: true, sidecars: { enabled: true }, ledgerProtection: false },
    csi: { enabled: true, workload: 'daemonset', socketHostPath: '/var/lib/kubelet/plugins/x' },
    monitoring: {},
    networkPolicies: { enabled: false },
  },
  'one replica without election, given certificates, a digest, other names': {
    fullnameOverride: 'other',
    image: { repository: 'registry.example.com/stowage', digest: `sha256:${'a'.repeat(64)}` },
    scheduler: { replicas: 1, leaderElection: false, configuration: { bindTimeoutSeconds: 60 } },
    extender: { enabled: true, tls: { existingSecret: 'given' } },
    console: {
      enabled: true,
      write: true,
      hosts: ['console.example.com'],
      tls: { existingSecret: 'given' },
    },
    disks: { enabled: true, ledgerProtection: false, agent: { enabled: false } },
    drives: {
      enabled: true,
      storageClasses: [
        { name: 'hot', default: true, parameters: { accessTier: 'Hot' }, mountOptions: ['nosuid'] },
      ],
    },
  },
};

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

function objectsIn(text: string): readonly Rendered[] {
  return parseAllDocuments(text)
    .map((each) => each.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

/** The files of the tests by role, in the section about rights of README.md. */
function comparedRoles(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(join(projectRoot, 'test/kubernetes/README.md'), 'utf8');
  const [, section = ''] = /^## Rights\n([\s\S]*?)^## /m.exec(page) ?? [];
  const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.flatMap((row) => {
      const [, roles = '', tests = ''] = row.split('|');
      const files = namesIn(tests, /`([\w-]+\.test\.ts)`/g);
      return namesIn(roles, /`([\w-]+)`/g).map((role) => [role, files] as const);
    }),
  );
}

describe.skipIf(lacks('helm'))('the chart', () => {
  // `npx vitest run --config vitest.kubernetes.config.ts test/kubernetes/chart.test.ts -u` renders them again.
  test.each(Object.entries(plainManifests))(
    'deploy/%s is what it renders',
    async (file, { title, values }) => {
      const text = plainManifest(title, await rendered(values));
      await expect(text).toMatchFileSnapshot(join(projectRoot, 'deploy', file));
    },
  );

  test('passes helm lint', async () => {
    expect(await helm(['lint', '--strict', chartFolder])).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test('has only roles that a test compares with the audit log', async () => {
    const compared = comparedRoles();
    const texts = await Promise.all(
      ['everything', 'sidecars, and a driver on each node'].map((name) => rendered(valueSets[name]!)),
    );
    const roles = texts
      .flatMap(objectsIn)
      .filter(({ kind }) => /^(Cluster)?Role$/.test(kind))
      .map(({ metadata }) => metadata.name);
    expect([...new Set(roles)].toSorted()).toEqual([...compared.keys()].toSorted());
    for (const files of compared.values())
      for (const file of files)
        expect(readFileSync(join(projectRoot, 'test/kubernetes', file), 'utf8')).toContain('grantedRights(');
  });

  test('as the archive of a release, it is the same, with the definitions', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-chart-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    await runCommand(process.execPath, join(projectRoot, 'scripts/chart.mjs'), '--output', folder);
    const archive = join(folder, `stowage-${packageVersion()}.tgz`);
    const rendering = async (chart: string) => await helm(['template', 'stowage', chart, '--include-crds']);
    expect(await rendering(archive)).toBe(await rendering(chartFolder));
  });

  test('needs no foreign definitions by default, and has no object of our own kinds', async () => {
    const foreign = /^(v1|apps\/v1|policy\/v1|[a-z.]+\.k8s\.io\/v1)$/;
    for (const values of [{}, { ...everything, monitoring: {} }]) {
      const objects = objectsIn(await rendered(values));
      expect(objects.filter(({ apiVersion }) => !foreign.test(apiVersion))).toEqual([]);
    }
    const definitions = objectsIn(await rendered({}, '--include-crds')).filter(
      ({ kind }) => kind === 'CustomResourceDefinition',
    );
    expect(definitions.map(({ metadata }) => metadata.name)).toContain('drives.stowage.dev');
  });

  test.each(Object.entries(valueSets))(
    'with %s, no object has the name of another one, also in kube-system',
    async (_, values) => {
      const names = objectsIn(await rendered(values)).map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
      );
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    },
  );

  test.each(Object.entries(valueSets))(
    'with %s, no role has a wildcard, or Secrets that are not named',
    async (_, values) => {
      const rules = objectsIn(await rendered(values)).flatMap(({ rules = [] }) => rules);
      expect(rules.length).toBeGreaterThan(0);
      for (const { apiGroups, resources, verbs, resourceNames = [] } of rules) {
        expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
        if (resources.includes('secrets')) expect(resourceNames).not.toEqual([]);
      }
    },
  );

  test.each<readonly [string, ChartValues, readonly string[]]>([
    [
      'a misspelt value',
      { scheduler: { replica: 3 } },
      ["/scheduler'", "additional properties 'replica' not allowed"],
    ],
    [
      'a text for a number',
      { scheduler: { replicas: 'two' } },
      ["/scheduler/replicas'", 'got string, want integer'],
    ],
    [
      'a field of the configuration that another value sets',
      { scheduler: { configuration: { schedulerNames: ['batch'] } } },
      ["/scheduler/configuration/schedulerNames'", 'false schema'],
    ],
    [
      'two replicas without election',
      { scheduler: { leaderElection: false } },
      ["/scheduler/replicas'", 'maximum: got 2, want 1'],
    ],
    [
      'a relative path',
      { drives: { node: { kubeletPath: 'kubelet' } } },
      ["/drives/node/kubeletPath'", 'does not match'],
    ],
    ['Secrets without names', { csi: { secrets: [{ namespace: 'a' }] } }, ["missing property 'names'"]],
    ['an unknown controller', { csi: { controllers: ['scheduler'] } }, ["/csi/controllers/0'", "'attacher'"]],
  ])('refuses %s', async (_, values, parts) => {
    const refused = rendered(values);
    for (const part of parts) await expect(refused).rejects.toThrow(part);
  });
});

describe.skipIf(lacks('helm', ...serverPrograms))('what the chart renders', () => {
  const bed = sharedTestBed();

  beforeAll(async () => {
    for (const [kind, plural] of [
      ['PodMonitor', 'podmonitors'],
      ['PrometheusRule', 'prometheusrules'],
    ] as const) {
      const { code, stderr } = await bed().kubectl(['apply', '-f', '-'], definition(kind, plural));
      expect([code, stderr]).toEqual([0, '']);
    }
    const { code } = await bed().kubectl([
      'wait',
      '--for=condition=Established',
      'crd',
      '--all',
      '--timeout=300s',
    ]);
    expect(code).toBe(0);
  });

  test.each(Object.entries(valueSets))(
    'is accepted by the API server, without a warning: %s',
    async (_, values) => {
      const text = await rendered(values);
      const { stdout, stderr, code } = await bed().kubectl(
        ['apply', '--dry-run=server', '--validate=strict', '-f', '-'],
        text,
      );
      expect([stderr, code]).toEqual(['', 0]);
      expect(stdout.trim().split('\n')).toHaveLength(objectsIn(text).length);
    },
  );
});

/** Replaces the Prometheus operator's own. */
function definition(kind: string, plural: string): string {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      group: 'monitoring.coreos.com',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
}
