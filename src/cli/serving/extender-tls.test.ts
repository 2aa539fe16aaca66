import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ada, authorityCert, localhost, otherHost } from '../../cluster/kubernetes/testing/certificates.ts';
import { CliError } from '../errors/cli-error.ts';
import { ownCertificatePath, type TlsFlags, tlsOf } from './extender-tls.ts';

const half = authorityCert.slice(0, 300);
const locked = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
}).privateKey;

const files: Readonly<Record<string, string>> = {
  'ca.crt': authorityCert,
  'two.crt': `of the cluster:\n${authorityCert}of tests:\n${localhost.cert}\n`,
  'garbage.crt': 'garbage\n',
  'empty.crt': '',
  'half.crt': half,
  'broken.crt': `${authorityCert}${half}`,
  'tls.crt': localhost.cert,
  'tls.key': localhost.key,
  'other.key': otherHost.key,
  'locked.key': locked,
};

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

type Named = Partial<Record<'clientCa' | 'tlsCert' | 'tlsKey' | 'data', string>>;

function flagsIn(folder: string, named: Named): TlsFlags {
  const paths = Object.entries(named).map(([flag, name]) => [flag, join(folder, name)]);
  return { data: join(folder, 'data'), tlsHost: [], ...Object.fromEntries(paths) };
}

async function refusal(folder: string, named: Named): Promise<string> {
  const error: unknown = await tlsOf(flagsIn(folder, named), undefined).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CliError);
  const { message, exitCode } = error as CliError;
  expect(exitCode).toBe(1);
  return message.replaceAll(`${folder}/`, '');
}

const authorityRemedy =
  "; give the certificate, in PEM, of the authority that signs kube-scheduler's client certificate";

const refused: readonly (readonly [name: string, named: Named, said: string | RegExp])[] = [
  ['garbage', { clientCa: 'garbage.crt' }, `--client-ca: garbage.crt holds no certificate${authorityRemedy}`],
  ['nothing', { clientCa: 'empty.crt' }, `--client-ca: empty.crt holds no certificate${authorityRemedy}`],
  ['a key', { clientCa: 'tls.key' }, `--client-ca: tls.key holds no certificate${authorityRemedy}`],
  [
    'half a certificate',
    { clientCa: 'half.crt' },
    /^--client-ca: half\.crt holds a certificate that cannot be read: /,
  ],
  [
    'one and a half',
    { clientCa: 'broken.crt' },
    /^--client-ca: broken\.crt holds a certificate that cannot be read: /,
  ],
  [
    'a certificate that is none',
    { tlsCert: 'garbage.crt', tlsKey: 'tls.key' },
    /^--tls-cert: garbage\.crt holds no certificate that can be read: .+; give one in PEM/,
  ],
  [
    'a key that is none',
    { tlsCert: 'tls.crt', tlsKey: 'garbage.crt' },
    /^--tls-key: garbage\.crt holds no private key that can be read: .+; give that of tls\.crt, in PEM/,
  ],
  [
    'a key under a passphrase',
    { tlsCert: 'tls.crt', tlsKey: 'locked.key' },
    /^--tls-key: locked\.key holds no private key that can be read: .+ and without a passphrase$/,
  ],
  [
    'the key of another',
    { tlsCert: 'tls.crt', tlsKey: 'other.key' },
    '--tls-key: other.key is not the key of tls.crt; give the two that belong together',
  ],
  [
    'a chain that breaks off',
    { tlsCert: 'broken-chain.crt', tlsKey: 'tls.key' },
    /^--tls-cert: broken-chain\.crt cannot be used: .+; give another certificate$/,
  ],
  [
    'a file for a directory',
    { data: 'tls.crt' },
    '--data: tls.crt cannot keep the certificate: it is not a directory; choose another directory, or give --tls-cert and --tls-key',
  ],
  [
    'a directory below a file',
    { data: 'tls.crt/data' },
    '--data: tls.crt/data cannot keep the certificate: part of its path is not a directory; ' +
      'choose another directory, or give --tls-cert and --tls-key',
  ],
];

describe('what cannot be used is refused at once, with the flag, the file and the remedy:', () => {
  test.each(refused)('%s', async (_, named, said) => {
    const folder = folderOf();
    writeFileSync(join(folder, 'broken-chain.crt'), `${localhost.cert}${half}\n-----END CERTIFICATE-----\n`);
    const message = await refusal(folder, named);
    if (typeof said === 'string') expect(message).toBe(said);
    else expect(message).toMatch(said);
  });
});

test.each(['ca.crt', 'two.crt'])('authorities are taken as they are given: %s', async (name) => {
  const given = { clientCa: name, tlsCert: 'tls.crt', tlsKey: 'tls.key' };
  expect(await tlsOf(flagsIn(folderOf(), given), undefined)).toEqual({
    certificate: localhost.cert,
    key: localhost.key,
    clientAuthority: files[name],
  });
});

describe('the certificate that it makes for itself', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

  test('can be read by all users, its key only by the owner', async () => {
    const folder = folderOf();
    const flags = flagsIn(folder, { data: 'new/data' });
    await tlsOf(flags, '127.0.0.1');
    const paths = [flags.data, ownCertificatePath(flags), join(flags.data, 'tls.key')];
    expect(paths.map(modeOf)).toEqual(['755', '644', '600']);
  });

  test('is kept, and can be read from now on; a directory that was there stays as it is', async () => {
    const folder = folderOf();
    const flags = flagsIn(folder, { data: 'kept' });
    mkdirSync(flags.data, { mode: 0o700 });
    const first = await tlsOf(flags, undefined);
    chmodSync(ownCertificatePath(flags), 0o600);
    expect(await tlsOf(flags, undefined)).toEqual(first);
    expect([flags.data, ownCertificatePath(flags)].map(modeOf)).toEqual(['700', '644']);
  });

  test('is ignored by git where the directory is new; another directory gets no .gitignore', async () => {
    const folder = folderOf();
    const [created, present] = [flagsIn(folder, { data: 'new' }), flagsIn(folder, { data: 'present' })];
    mkdirSync(present.data);
    await tlsOf(created, undefined);
    await tlsOf(present, undefined);
    expect(readFileSync(join(created.data, '.gitignore'), 'utf8')).toBe('*\n');
    expect(existsSync(join(present.data, '.gitignore'))).toBe(false);
  });
});

test('with a given certificate no directory is created', async () => {
  const folder = folderOf();
  writeFileSync(join(folder, 'ada.crt'), ada.cert);
  writeFileSync(join(folder, 'ada.key'), ada.key);
  const flags = flagsIn(folder, { tlsCert: 'ada.crt', tlsKey: 'ada.key' });
  await tlsOf(flags, undefined);
  expect(() => statSync(flags.data)).toThrow('ENOENT');
});
