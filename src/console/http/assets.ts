import { readFile } from 'node:fs/promises';
import { packageFile } from '../../io/files/package-files.ts';
import type { FullResponse } from '../../io/http/full-response.ts';
import { securityHeaders } from './console-responses.ts';

/** Made by `scripts/bundle-console.mjs`. */
const assets: Readonly<Record<string, string>> = {
  'main.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

const loaded = new Map<string, Promise<Buffer>>();

/** A file of the page; undefined if there is none of this name. Any client may read it, as it holds no data. */
export async function assetAnswer(name: string, version: string): Promise<FullResponse | undefined> {
  const type = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (type === undefined) return undefined;
  const body = await loadAsset(name);
  // Browsers ask again with the ETag, so that a new version is used immediately.
  const headers = {
    ...securityHeaders,
    'Cache-Control': 'no-cache',
    'Content-Type': type,
    ETag: `"${version}-${body.length}"`,
  };
  return { status: 200, headers, body: [body], isShared: true };
}

export async function pageHtml(): Promise<Buffer> {
  return await loadAsset('index.html');
}

async function loadAsset(name: string): Promise<Buffer> {
  const known = loaded.get(name) ?? readFile(packageFile(`dist/console/assets/${name}`));
  loaded.set(name, known);
  try {
    return await known;
  } catch (error) {
    loaded.delete(name);
    throw error;
  }
}
