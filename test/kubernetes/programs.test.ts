import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kubernetesRelease, programNames, type Recipe, recipeOf } from './programs.ts';

const ofKubernetes = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'];

function recipes(env: NodeJS.ProcessEnv): readonly Recipe[] {
  return programNames.map((name) => recipeOf(name, kubernetesRelease(env)));
}

describe('the Kubernetes release', () => {
  test.each([
    { env: {}, release: '1.36', module: 'kubernetes' },
    { env: { STOWAGE_KUBERNETES: '' }, release: '1.36', module: 'kubernetes' },
    { env: { STOWAGE_KUBERNETES: '1.36' }, release: '1.36', module: 'kubernetes' },
    { env: { STOWAGE_KUBERNETES: '1.35' }, release: '1.35', module: 'kubernetes-1.35' },
    { env: { STOWAGE_KUBERNETES: '1.34' }, release: '1.34', module: 'kubernetes-1.34' },
    { env: { KUBEBUILDER_ASSETS: '/opt/kubebuilder' }, release: '1.36', module: 'kubernetes' },
  ])(
    'with $env is $release, with one pinned patch version, and the programs report it',
    ({ env, release, module }) => {
      const ours = recipes(env).filter(({ name }) => ofKubernetes.includes(name));
      expect(ours.map(({ moduleFolder }) => basename(moduleFolder))).toEqual(Array(4).fill(module));
      for (const { moduleFolder, flags } of ours) {
        const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
        const [, patch] = /^require k8s\.io\/kubernetes v(.+)$/m.exec(goMod) ?? [];
        expect(patch).toMatch(new RegExp(`^${release}\\.\\d+$`));
        const staged = [...goMod.matchAll(/ => k8s\.io\/[a-z-]+ v0(.+)$/gm)].map(([, version]) => version);
        expect(new Set(staged)).toEqual(new Set([patch?.slice(1)]));
        expect(flags.join(' ')).toContain(`gitVersion=v${patch} `);
      }
    },
  );

  test("determines only Kubernetes' own programs", () => {
    const [usual, older] = [recipes({}), recipes({ STOWAGE_KUBERNETES: '1.34' })];
    const differing = programNames.filter((_, at) => usual[at]!.fingerprint !== older[at]!.fingerprint);
    expect(differing).toEqual(ofKubernetes);
  });

  test.each([
    { env: { STOWAGE_KUBERNETES: '1.33' }, message: 'STOWAGE_KUBERNETES=1.33: unknown release' },
    { env: { STOWAGE_KUBERNETES: 'v1.35' }, message: 'must be one of 1.34, 1.35, 1.36, or unset' },
    { env: { STOWAGE_KUBERNETES: '1.35.8' }, message: 'must be one of 1.34, 1.35, 1.36, or unset' },
    {
      env: { STOWAGE_KUBERNETES: 'toString' },
      message: 'STOWAGE_KUBERNETES=toString: unknown release',
    },
    {
      env: { STOWAGE_KUBERNETES: '1.35', KUBEBUILDER_ASSETS: '/opt/kubebuilder' },
      message: 'both set: unset one',
    },
  ])('is rejected if it is ambiguous or unknown: $env', ({ env, message }) => {
    expect(() => kubernetesRelease(env)).toThrow(message);
  });
});
