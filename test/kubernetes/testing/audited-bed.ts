import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { TestBed } from '../test-bed.ts';
import { startTestBed } from '../vitest-beds.ts';

const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

export interface AuditedBed {
  readonly bed: TestBed;
  /** For other files of the test. */
  readonly folder: string;
  readonly auditLog: string;
}

/** A test bed whose API server writes down every request, with the given controllers of Kubernetes. */
export async function startAuditedBed(controllers: readonly string[] = []): Promise<AuditedBed> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const policyFile = join(folder, 'policy.json');
  const auditLog = join(folder, 'audit.log');
  writeFileSync(policyFile, JSON.stringify(policy));
  const extraFlags = {
    'authorization-mode': 'RBAC,Node',
    'audit-policy-file': policyFile,
    'audit-log-path': auditLog,
  };
  const bed = await startTestBed({
    apiServer: { extraFlags },
    ...(controllers.length === 0 ? {} : { controllerManager: { controllers } }),
  });
  return { bed, folder, auditLog };
}

/** Rejects if kubectl fails. */
export async function applied(bed: TestBed, args: readonly string[], input = ''): Promise<string> {
  const { stdout, stderr, code } = await bed.kubectl(args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}
