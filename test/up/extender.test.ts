import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callInProcess } from './in-process.ts';
import { StowageProcess, sharedServer, temporaryFolder } from './stowage-process.ts';

const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

const calls: readonly (readonly [name: string, flags: readonly string[], said: string])[] = [
  [
    'an address that is none',
    ['--listen', 'here'],
    '--listen: "here" must be ADDRESS:PORT, such as 127.0.0.1:8900',
  ],
  [
    'a port that is none',
    ['--listen', ':70000'],
    '--listen: ":70000" must be ADDRESS:PORT, such as 127.0.0.1:8900',
  ],
  [
    'a time that is none',
    ['--hold-seconds', 'long'],
    '--hold-seconds: "long" must be a number from 0 to 3600',
  ],
  ['half a certificate', ['--tls-cert', 'a.crt'], '--tls-cert and --tls-key: give both or neither'],
  [
    'two minds',
    ['--insecure', '--client-ca', 'a'],
    '--insecure: must not be combined with --tls-cert, --tls-key or --client-ca',
  ],
  ['no directory', ['--data', ''], '--data: give a directory'],
];

const server = sharedServer();

/** Logged at the start by an extender that accepts every caller. */
const warning =
  /without --client-ca, everyone who can reach https?:\/\/127\.0\.0\.1:\d+ can make the extender reserve capacity: /;

describe('stowage extender', () => {
  test.each(calls)('rejects %s', async (_, flags, said) => {
    const { status, stderr } = await callInProcess('extender', ...flags);
    expect([status, stderr]).toEqual([2, `stowage: ${said}; see stowage extender --help\n`]);
  });

  test('names the file that it cannot read', async () => {
    const { status, stderr } = await callInProcess('extender', '--client-ca', '/none/ca.crt');
    expect([status, stderr]).toEqual([
      1,
      "stowage: --client-ca: cannot read /none/ca.crt: ENOENT: no such file or directory, open '/none/ca.crt'\n",
    ]);
  });

  test('names the certificate that it cannot use, before anything else', async () => {
    const file = join(temporaryFolder(), 'ca.crt');
    writeFileSync(file, 'garbage\n');
    const { status, stderr } = await callInProcess('extender', '--client-ca', file, '--kubeconfig', '/none');
    expect([status, stderr]).toEqual([
      1,
      `stowage: --client-ca: ${file} holds no certificate; give the certificate, in PEM, of the authority that signs ` +
        "kube-scheduler's client certificate\n",
    ]);
  });

  test('reports that it cannot store its certificate', async () => {
    const { status, stderr } = await callInProcess('extender', '--data', '/dev/null/extender');
    expect([status, stderr]).toEqual([
      1,
      'stowage: --data: /dev/null/extender cannot keep the certificate: part of its path is not a directory; ' +
        'choose another directory, or give --tls-cert and --tls-key\n',
    ]);
  });

  test.skipIf(!hasIPv6)(
    'listens on all addresses by default, and prints one that can be called',
    async () => {
      const flags = ['--kubeconfig', server().kubeconfig, '--listen', ':0', '--insecure'];
      const extender = new StowageProcess(['extender', ...flags]);
      onTestFinished(() => extender.kill());
      await extender.answers();
      const [, port = ''] =
        /^export STOWAGE_EXTENDER=http:\/\/localhost:(\d+)\n$/.exec(extender.stdout) ?? [];
      for (const host of ['127.0.0.1', '[::1]'])
        expect(await (await fetch(`http://${host}:${port}/healthz`)).text()).toBe('ok\n');
    },
  );

  test('answers next to stowage up, and prints its address and certificate', async () => {
    const folder = temporaryFolder();
    const flags = ['--kubeconfig', server().kubeconfig, '--listen', '127.0.0.1:0'];
    const extender = new StowageProcess(['extender', ...flags, '--data', join(folder, 'extender')]);
    onTestFinished(() => extender.kill());
    await extender.answers();
    expect(extender.stdout).toMatch(/^export STOWAGE_EXTENDER=https:\/\/127\.0\.0\.1:\d+\n$/);
    expect(extender.stderr).toContain(', answering by the rules about volumes\n');
    expect(extender.stderr).toContain(`tlsConfig.caFile to ${join(folder, 'extender/tls.crt')}\n`);
    expect(extender.stderr).toMatch(warning);
    const plain = new StowageProcess(['extender', ...flags, '--insecure', '--all-rules']);
    onTestFinished(() => plain.kill());
    await plain.answers();
    const [, url = ''] = /=(.+)\n/.exec(plain.stdout) ?? [];
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
    expect(plain.stderr).toMatch(warning);
    const body = JSON.stringify({ PodName: 'p' });
    expect((await fetch(`${url}/bind`, { method: 'POST', body })).status).toBe(403);
    expect(await extender.stop()).toEqual({ status: 0, signal: null });
  });

  test('does not warn about its callers if they need a certificate', async () => {
    const folder = temporaryFolder();
    const { kubeconfig } = server();
    // Any certificate will do: no caller connects.
    const flags = ['--client-ca', join(dirname(kubeconfig), 'tls.crt'), '--data', join(folder, 'extender')];
    const extender = new StowageProcess(
      ['extender', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', ...flags],
      folder,
    );
    onTestFinished(() => extender.kill());
    await extender.answers();
    expect(await extender.stop()).toEqual({ status: 0, signal: null });
    expect(extender.stderr).toContain('; binds for callers with a certificate\n');
    expect(extender.stderr).not.toMatch(warning);
  });
});
