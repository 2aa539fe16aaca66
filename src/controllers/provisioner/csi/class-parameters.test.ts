import { describe, expect, test } from 'vitest';
import { readClassParameters } from './class-parameters.ts';
import { secretReferences } from './secret-references.ts';

const reserved = (key: string) => `csi.storage.k8s.io/${key}`;
const variable = (name: string) => `\${${name}}`;
const claim = {
  metadata: { namespace: 'team', name: 'data', annotations: { vault: 'v1', 'example.com/key': 'k1' } },
};

/** The reference for one use, as `NAMESPACE/NAME`; or the problem. */
function resolved(name: string, namespace: string): string {
  const templates = new Map([['provisioner', { name, namespace }] as const]);
  try {
    const found = secretReferences(templates, claim, 'pvc-1').get('provisioner');
    return `${found?.namespace}/${found?.name}`;
  } catch (error) {
    return (error as Error).message;
  }
}

test('reserved keys do not reach the driver', () => {
  const parameters = readClassParameters({
    tier: 'fast',
    [reserved('fstype')]: 'xfs',
    [reserved('provisioner-secret-name')]: 'a',
    [reserved('provisioner-secret-namespace')]: 'b',
    csiNodeStageSecretName: 'c',
    csiNodeStageSecretNamespace: 'd',
  });
  expect(parameters).toEqual({
    kind: 'read',
    forDriver: { tier: 'fast' },
    fsType: 'xfs',
    secrets: new Map([
      ['provisioner', { name: 'a', namespace: 'b' }],
      ['node-stage', { name: 'c', namespace: 'd' }],
    ]),
  });
});

test.each<[Record<string, string>, string]>([
  [{ [reserved('unknown')]: 'x' }, 'unknown parameter key "csi.storage.k8s.io/unknown"'],
  [{ [reserved('pvc/name')]: 'x' }, 'unknown parameter key'],
  [{ [reserved('node-stage-secret-name')]: 'x' }, 'must give both'],
  [{ [reserved('node-stage-secret-name')]: 'x', [reserved('node-stage-secret-namespace')]: '' }, 'both'],
  [{ fstype: 'xfs', [reserved('fstype')]: 'ext4' }, 'leave one of them'],
  [
    {
      [reserved('provisioner-secret-name')]: 'a',
      [reserved('provisioner-secret-namespace')]: 'b',
      csiProvisionerSecretName: 'c',
    },
    'twice',
  ],
])('%j is refused', (given, problem) => {
  expect(readClassParameters(given)).toMatchObject({
    kind: 'refused',
    next: 'change',
    message: expect.stringContaining(problem),
  });
});

test.each<[string, string, string]>([
  ['plain', 'ns', 'ns/plain'],
  [`${variable('pvc.name')}-x`, variable('pvc.namespace'), 'team/data-x'],
  [variable('pv.name'), variable('pv.name'), 'pvc-1/pvc-1'],
  [variable("pvc.annotations['example.com/key']"), 'ns', 'ns/k1'],
])('%s in %s is %s', (name, namespace, expected) => {
  expect(resolved(name, namespace)).toBe(expected);
});

test.each<[string, string, string]>([
  [variable('pvc.uid'), 'ns', 'unknown variable'],
  [variable("pvc.annotations['missing']"), 'ns', 'unknown variable'],
  ['x', variable('pvc.name'), 'the namespace of the Secret for provisioner has the unknown variable'],
  ['x', variable("pvc.annotations['vault']"), 'unknown variable'],
  ['../kube-system/secrets/x', 'ns', 'is not a Secret for provisioner'],
])('%s in %s is refused', (name, namespace, problem) => {
  expect(resolved(name, namespace)).toContain(problem);
});

describe('a hostile template', () => {
  test('is read once: no regular expression looks for the end of each variable', () => {
    const original = RegExp.prototype.exec;
    const patterns = new Set<string>();
    RegExp.prototype.exec = function (text) {
      if (text.length > 1_000) patterns.add(this.source);
      return original.call(this, text);
    };
    try {
      expect(resolved('${'.repeat(50_000), 'ns')).toContain('is not a Secret for provisioner');
    } finally {
      RegExp.prototype.exec = original;
    }
    expect([...patterns].filter((pattern) => !pattern.startsWith('^'))).toEqual([]);
  });

  test('does not repeat a long value without end', () => {
    const value = 'x'.repeat(200_000);
    const claim = { metadata: { namespace: 'team', name: 'data', annotations: { long: value } } };
    const name = variable("pvc.annotations['long']").repeat(8_000);
    const templates = new Map([['provisioner', { name, namespace: 'ns' }]] as const);
    let message = '';
    try {
      secretReferences(templates, claim, 'pvc-1');
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/^"ns\/x+…" is not a Secret for provisioner/);
    expect(message.length).toBeLessThan(1_000);
  });
});
