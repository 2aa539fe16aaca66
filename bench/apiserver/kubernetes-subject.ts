import { providePrograms } from '../../test/kubernetes/binaries.ts';
import { TestBed } from '../../test/kubernetes/test-bed.ts';
import { connectionOf } from './kubeconfig-connection.ts';
import { memoryOf } from './process-memory.ts';
import type { MeasuredServer } from './subject.ts';

/**
 * kube-apiserver with etcd, which flushes every write as our server does. Undefined if the programs are not available; the first call
 * builds them, which takes minutes.
 */
export async function startKubernetes(progress: (text: string) => void): Promise<MeasuredServer | undefined> {
  const names = ['etcd', 'kube-apiserver'] as const;
  const programs = await providePrograms({ env: process.env, report: progress, names });
  if (programs.etcd === undefined || programs['kube-apiserver'] === undefined) {
    progress('kube-apiserver: not compared: neither the program nor Go is available');
    return undefined;
  }
  const begun = performance.now();
  const bed = await TestBed.start({ programs, isDurable: true });
  const startMs = performance.now() - begun;
  return {
    name: 'kube-apiserver + etcd',
    ...connectionOf(bed.kubeconfig),
    startMs,
    memory: () => memoryOf(names.map((name) => bed.pidOf(name) ?? 0)),
    close: () => bed[Symbol.asyncDispose](),
  };
}
