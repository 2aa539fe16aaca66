import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkDirectoryModes } from './data-directory-modes.ts';
import { startApiServer } from './index.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'stowage-modes-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test('a directory that every user may write to is refused; for the group there is a warning', () => {
  const data = folder();
  expect(checkDirectoryModes(data)).toEqual([]);
  chmodSync(data, 0o777);
  expect(() => checkDirectoryModes(data)).toThrow(
    `${data} is open to every user of this machine (mode 777): chmod go-w ${data}`,
  );
  chmodSync(data, 0o775);
  expect(checkDirectoryModes(data)).toEqual([
    `${data} is open to the users of its group (mode 775): chmod go-w ${data}`,
  ]);
  chmodSync(data, 0o755);
  expect(checkDirectoryModes(data)).toEqual([]);
});

test('credentials that every user may read are refused; for the group there is a warning', () => {
  const data = folder();
  const token = join(data, 'token');
  writeFileSync(token, 'x', { mode: 0o600 });
  expect(checkDirectoryModes(data)).toEqual([]);
  chmodSync(token, 0o644);
  expect(() => checkDirectoryModes(data)).toThrow(
    `${token} is open to every user of this machine (mode 644): chmod 600 ${token}, or delete it to get a new one`,
  );
  chmodSync(token, 0o640);
  expect(checkDirectoryModes(data)).toHaveLength(1);
});

test('a directory that does not exist is accepted', () => {
  expect(checkDirectoryModes(join(folder(), 'absent'))).toEqual([]);
});

describe('the API server as a library', () => {
  test('does not start in a directory that every user may write to, and writes nothing there', async () => {
    const dataDirectory = folder();
    chmodSync(dataDirectory, 0o777);
    await expect(startApiServer({ dataDirectory })).rejects.toThrow(
      `${dataDirectory} is open to every user of this machine (mode 777): chmod go-w ${dataDirectory}`,
    );
    expect(existsSync(join(dataDirectory, 'token'))).toBe(false);
  });

  test('does not start again with a token that every user may read', async () => {
    const dataDirectory = folder();
    await (await startApiServer({ dataDirectory })).close();
    const token = join(dataDirectory, 'token');
    chmodSync(token, 0o644);
    await expect(startApiServer({ dataDirectory })).rejects.toThrow(
      `${token} is open to every user of this machine (mode 644)`,
    );
  });

  test('starts in a directory that its group may write to, and reports a warning', async () => {
    const dataDirectory = folder();
    chmodSync(dataDirectory, 0o770);
    const reports: unknown[] = [];
    await using _ = await startApiServer({ dataDirectory, onError: (error) => reports.push(error) });
    const text = `${dataDirectory} is open to the users of its group (mode 770): chmod go-w ${dataDirectory}`;
    expect(reports).toEqual([new Error(text)]);
  });
});
