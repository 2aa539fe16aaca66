import { describe, expect, test } from 'vitest';
import { boundClaim, claim, csiDriver, storageClass } from '../../engine/testing/objects.ts';
import { explainPod } from '../../queries/explain/explain-pod.ts';
import { explainTarget } from '../../queries/explain/explain-target.ts';
import { missingKindNotes } from '../../queries/explain/missing-kinds.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { plainTerminal } from '../output/terminal.ts';
import { renderPod } from './render-pod.ts';
import { exitCodeOf, kindAndName } from './run.ts';

const pod = podWith('p', '1', ['data']);
const oneNode = { Node: [nodeWith('n1', '4')], Pod: [pod] };

function headlineOf(view: ClusterView): readonly [summary: string, exitCode: number] {
  const explanation = explainPod(view, pod, { nowMs: 0 });
  return [explanation.summary, exitCodeOf(explanation)];
}

describe('the headline names the first cause', () => {
  test('a class that does not exist', () => {
    const view = viewOf({ ...oneNode, PersistentVolumeClaim: [claim('data', '1Gi', { className: 'nope' })] });
    const explanation = explainPod(view, pod, { nowMs: 0 });
    expect(explanation.summary).toBe(
      'Pod default/p cannot run anywhere: claim default/data asks for StorageClass nope, which does not exist.',
    );
    expect(explanation.podReasons[0]?.remedy).toBe(
      'create StorageClass nope, or recreate the claim with a class that exists',
    );
    // The details must not say that the class "does not wait for the scheduler" either.
    expect(explanation.podReasons[0]?.sentence).toBe(
      'the claim asks for StorageClass nope, which does not exist',
    );
  });

  test('a class that binds at once, and its provisioner', () => {
    const provisioned = { provisioner: 'csi.example.com', volumeBindingMode: 'Immediate' } as const;
    const view = viewOf({
      ...oneNode,
      PersistentVolumeClaim: [claim('data', '1Gi', { className: 'fast' })],
      StorageClass: [storageClass('fast', provisioned)],
    });
    expect(headlineOf(view)[0]).toMatch(
      /^Pod default\/p cannot run anywhere: claim default\/data asks for class fast, which binds at once: provisioner csi\.example\.com/,
    );
  });
});

describe('what the files lack is no fact about the cluster', () => {
  const files = { isFromFiles: true };

  test.each<[string, ClusterView, string]>([
    [
      'claims',
      viewOf(oneNode, files),
      'the files contain no PersistentVolumeClaim, and it uses the claims default/data; add the output of kubectl get pvc -A -o yaml',
    ],
    [
      'classes',
      viewOf({ ...oneNode, PersistentVolumeClaim: [claim('data', '1Gi')] }, files),
      'the files contain no StorageClass, and its claims ask for class local; add the output of kubectl get storageclasses -o yaml',
    ],
    [
      'volumes',
      viewOf({ ...oneNode, PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v')] }, files),
      'the files contain no PersistentVolume, and its claims are bound to v; add the output of kubectl get pv -o yaml',
    ],
    [
      'claims that may not be read',
      viewOf(oneNode, {
        unseen: [
          { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', onlyNamespace: undefined },
        ],
      }),
      'persistentvolumeclaims could not be read, and it uses the claims default/data; the right to list persistentvolumeclaims is needed',
    ],
  ])('%s', (_, view, cause) => {
    expect(headlineOf(view)).toEqual([`Pod default/p is pending; the cause is unknown: ${cause}.`, 1]);
  });

  test('in the section about claims, either', () => {
    const text = renderPod(explainPod(viewOf(oneNode, files), pod, { nowMs: 0 }), {
      terminal: plainTerminal,
      isWide: false,
    });
    expect(text).toContain('CLAIMS\n  default/data (could not be read)\n');
  });

  test('one claim of several', () => {
    const view = viewOf({ ...oneNode, PersistentVolumeClaim: [claim('other', '1Gi')] }, files);
    expect(headlineOf(view)).toEqual([
      'Pod default/p cannot run anywhere: claim default/data is not in the files, or does not exist.',
      3,
    ]);
  });

  test('a kind that the cluster probably does not have is not asked for', () => {
    const snapshot = new ClusterSnapshot();
    snapshot.add('PersistentVolumeClaim', claim('data', '1Gi'));
    const asksFor = (kind: string) =>
      missingKindNotes(snapshot, [pod]).some(({ text }) => text.startsWith(`there is no ${kind} in`));
    expect([asksFor('CSINode'), asksFor('StorageClass')]).toEqual([true, true]);
    snapshot.add('CSIDriver', csiDriver('csi.example.com'));
    expect([asksFor('CSINode'), asksFor('StorageClass')]).toEqual([false, true]);
  });
});

describe('a name without a kind', () => {
  test.each<[string, string | undefined, readonly [string, string]]>([
    ['too-big', undefined, ['pod', 'too-big']],
    ['demo/too-big', undefined, ['pod', 'demo/too-big']],
    ['pod/too-big', undefined, ['pod', 'too-big']],
    ['pvc/data', undefined, ['pvc', 'data']],
    ['node/n1', undefined, ['node', 'n1']],
    ['claim', 'data', ['claim', 'data']],
  ])('%s %s', (kind, name, expected) => {
    expect(kindAndName(kind, name)).toEqual(expected);
  });

  test('is still missing after a kind', () => {
    expect(() => kindAndName('pod', undefined)).toThrow('"pod" is a kind, and the name is missing');
  });

  test('may be that of a claim', () => {
    const view = viewOf({ ...oneNode, PersistentVolumeClaim: [claim('data', '1Gi')] });
    const target = { kind: 'pod', namespace: 'default', name: 'data' } as const;
    expect(() => explainTarget(view, target, { nowMs: 0, where: 'the test' })).toThrow(
      'there is a claim of that name: stowage explain claim default/data',
    );
  });
});
