import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type FindingText, findingTexts } from '../src/queries/doctor/findings.ts';
import { projectRoot } from './project-root.ts';

// `npx vitest run doctor-pages -u` updates both files.
test('docs/doctor.md lists every finding of stowage doctor', async () => {
  await expect(page()).toMatchFileSnapshot(join(projectRoot, 'docs/doctor.md'));
});

test('deploy/rights.ndjson has the rights of every role in the manifests', async () => {
  const lines = componentsOf(manifests()).map((component) => `${JSON.stringify(component)}\n`);
  const text = lines.join('');
  await expect(text).toMatchFileSnapshot(join(projectRoot, 'deploy/rights.ndjson'));
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

function manifests(): readonly Manifest[] {
  const files = readdirSync(join(projectRoot, 'deploy')).filter((name) => name.endsWith('.yaml'));
  return files
    .toSorted()
    .flatMap((name) => parseAllDocuments(readFileSync(join(projectRoot, 'deploy', name), 'utf8')))
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

/** The permissions of all roles that are bound to a service account, by service account. */
function componentsOf(objects: readonly Manifest[]) {
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  const bindings = objects.filter(({ roleRef }) => roleRef !== undefined);
  const accounts = bindings.flatMap(({ subjects = [] }) =>
    subjects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
  );
  return [...new Set(accounts)].toSorted().map((account) => {
    const own = objects.find(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === account);
    const component = own?.metadata.labels?.['app.kubernetes.io/component'] ?? '';
    const bound = bindings.filter(({ subjects = [] }) => subjects.some(({ name }) => name === account));
    const rules = bound.flatMap(({ roleRef, metadata }) =>
      roles
        .filter(
          (role) =>
            role.kind === roleRef?.kind &&
            role.metadata.name === roleRef.name &&
            role.metadata.namespace === (role.kind === 'Role' ? metadata.namespace : undefined),
        )
        .flatMap((role) => (role.rules ?? []).map((rule) => inNamespace(rule, metadata.namespace))),
    );
    return { account, component, rules };
  });
}

function inNamespace(rule: Rule, namespace: string | undefined) {
  return namespace === undefined ? rule : { ...rule, namespace };
}

function page(): string {
  const rows = Object.entries<FindingText>(findingTexts).map(
    ([code, { severity, meaning, remedy }]) => `| \`${code}\` | ${severity} | ${meaning} | ${remedy} |`,
  );
  return [
    '# Doctor',
    '',
    '`stowage doctor` examines a cluster before and after the installation. It only reads, and makes as many checks as your rights allow; what it',
    'could not check is listed with the missing right. It works on every cluster, also on that of `stowage up`.',
    '',
    '| exit status | meaning |',
    '|---|---|',
    '| 0 | no finding of the severity of `--fail-on` (`error` by default) or above |',
    '| 3 | there is one |',
    '| 1 | the cluster could not be read |',
    '| 2 | wrong usage |',
    '',
    'The codes are stable, and `-o json` and `-o yaml` contain them. The severities below are the usual ones; a finding may be less severe where it',
    'does less harm. The [runbook](runbook.md) describes what to do about the most common problems in detail. This page is made from the catalogue in',
    'the code.',
    '',
    '| code | severity | meaning | remedy |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
