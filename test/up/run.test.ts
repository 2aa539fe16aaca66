import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { delay, StowageProcess, sharedServer } from './stowage-process.ts';

function start(...args: readonly string[]): StowageProcess {
  const stowage = new StowageProcess(['run', ...args]);
  onTestFinished(() => stowage.kill());
  return stowage;
}

async function untilPrinted(stowage: StowageProcess, text: string): Promise<void> {
  while (!stowage.stderr.includes(text)) await delay(10);
}

const server = sharedServer();
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/stowage-scheduler';

describe('stowage run', () => {
  test('leads, and releases its Lease when it is stopped', async () => {
    const up = server();
    const run = start('--kubeconfig', up.kubeconfig, '--scheduler-name', 'a', '--scheduler-name', 'b');
    await untilPrinted(run, 'scheduler: this process leads');
    expect(run.stderr).toContain(`running scheduler on ${up.access.url} (`);
    expect(run.stderr).toContain('for pods of a, b (profile stowage); one leader for each');
    const client = new ApiClient(up.access);
    expect((await client.call('GET', lease)).body).toMatchObject({
      metadata: { annotations: { 'stowage.dev/feature-gates': 'VolumeScheduling=true' } },
      spec: { leaseDurationSeconds: 15 },
    });
    expect(await run.stop()).toEqual({ status: 0, signal: null });
    expect((await client.call('GET', lease)).body).toMatchObject({ spec: { leaseDurationSeconds: 1 } });
  });

  test('runs immediately without leader election', async () => {
    const up = server();
    const run = start('--kubeconfig', up.kubeconfig, '--leader-elect=false');
    await untilPrinted(run, 'for pods of stowage (profile stowage); without leader election');
    expect(await run.stop()).toEqual({ status: 0, signal: null });
  });

  test('serves probes and metrics on the given address', async () => {
    const up = server();
    const run = start('--kubeconfig', up.kubeconfig, '--http-address', '127.0.0.1:0', '--leader-elect=false');
    await untilPrinted(run, '/metrics are on http://127.0.0.1:');
    const [, url] = /metrics are on (http:\S+)/.exec(run.stderr) ?? [];
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    while ((await fetch(`${url}/readyz`)).status !== 200) await delay(10);
    const page = await (await fetch(`${url}/metrics`)).text();
    expect(page).toContain('\nstowage_api_requests_total{verb="list",resource="pods",code="200"} 1\n');
    expect(page).toContain('\nstowage_scheduler_pending_pods{queue="active"} 0\n');
    expect(await run.stop()).toEqual({ status: 0, signal: null });
  });
});
