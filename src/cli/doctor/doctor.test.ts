import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { packageFile } from '../../io/files/package-files.ts';
import type { Pod } from '../../kube/api/core.ts';
import { examine } from '../../queries/doctor/examine.ts';
import type { ClusterFacts } from '../../queries/doctor/facts.ts';
import { findingTexts } from '../../queries/doctor/findings.ts';
import { plainTerminal } from '../output/terminal.ts';
import { doctorNames, renderDoctor } from './render.ts';
import { exitCodeFor } from './run.ts';
import { at, condition, factsOf, nowMs, unreadFacts } from './testing/cluster-facts.ts';
import { doctorCases as cases, ownKinds } from './testing/doctor-cases.ts';

const golden = (name: string) => `./testing/golden/${name}`;

function codesOf(facts: ClusterFacts): readonly string[] {
  return examine(facts).findings.map(({ code, severity, object }) => `${severity} ${code} ${object.name}`);
}

/** Reads the pod templates of the Deployments and DaemonSets in our manifests. */
function podTemplates(): readonly Pod[] {
  const folder = packageFile('deploy/');
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return files
    .flatMap((name) => parseAllDocuments(readFileSync(new URL(name, folder), 'utf8')))
    .map((document) => document.toJS() as { readonly spec?: { readonly template?: Pod } } | null)
    .flatMap((object) => object?.spec?.template ?? []);
}

describe('the doctor', () => {
  test.each(cases)('finds what is wrong with $name', ({ facts, finds }) => {
    expect(codesOf(facts)).toEqual(finds);
  });

  test('has a case for every code of its catalogue', () => {
    const found = cases.flatMap(({ facts }) => examine(facts).findings.map(({ code }) => code));
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(findingTexts).toSorted());
  });

  test('finds nothing in a cluster with everything in order', () => {
    expect(codesOf(factsOf({ definitions: ownKinds }, { ownDefinitions: ownKinds }))).toEqual([]);
  });

  test('knows the Leases of every component in deploy', () => {
    const lastTransitionTime = at(nowMs - 10 * 60_000);
    const status = { conditions: [{ ...condition('Ready', 'True'), lastTransitionTime }] };
    const ownPods = podTemplates().map((template) => ({ ...template, status }));
    expect(codesOf(factsOf({ ownPods })).toSorted()).toEqual([
      'error LeaseMissing stowage-capacity-drives',
      'error LeaseMissing stowage-disks-disks',
      'error LeaseMissing stowage-drives',
      'error LeaseMissing stowage-expander-disks',
      'error LeaseMissing stowage-expander-drives',
      'error LeaseMissing stowage-provisioner-disks',
      'error LeaseMissing stowage-provisioner-drives',
      'error LeaseMissing stowage-scheduler',
    ]);
  });

  test('reports every check that it could not make, and makes those that need no right', () => {
    const { findings, unchecked, checkCount } = examine(unreadFacts());
    expect(findings).toEqual([]);
    expect(checkCount).toBe(1);
    expect(new Set(unchecked.map(({ why }) => why))).toEqual(new Set(['no right']));
  });
});

describe('its output', () => {
  const [report] = [examine(cases.find(({ name }) => name === 'drives in a bad state')!.facts)];

  test('is a table, what to do, and what was not checked', async () => {
    const limited = {
      ...report!,
      unchecked: [{ check: 'the state of disks', why: 'no right to list diskschedules.stowage.dev' }],
    };
    const text = renderDoctor(limited, { terminal: plainTerminal, isWide: false });
    await expect(text).toMatchFileSnapshot(golden('drives.txt'));
    const calm = renderDoctor(examine(factsOf()), {
      terminal: { ...plainTerminal, width: 80 },
      isWide: false,
    });
    expect(calm).toMatch(/^https:\/\/cluster \(v1\.36\.3\): \d+ checks, nothing found\n/);
    expect(doctorNames(report!)).toContain('drive/lost\n');
  });

  test('sets the exit status by severity', () => {
    expect(exitCodeFor(report!, 'error')).toBe(3);
    expect(exitCodeFor(report!, 'never')).toBe(0);
    const warned = {
      ...report!,
      findings: report!.findings.filter(({ severity }) => severity === 'warning'),
    };
    expect([
      exitCodeFor(warned, 'error'),
      exitCodeFor(warned, 'warning'),
      exitCodeFor(warned, 'info'),
    ]).toEqual([0, 3, 3]);
  });
});
