// Regenerates everything that is generated from Kubernetes' Go code and from the Container Storage Interface. Needs Go; scripts/README.md says more.
//
//   npm run generate                           all of it
//   npm run generate -- vectors                one generator, or several
//   npm run generate -- --kubernetes v1.37.0   all of it, for another version

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  generators,
  manifestPath,
  readManifest,
  sha256OfFile,
  sha256OfSources,
  upstreamOf,
} from './generate/manifest.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function main(args) {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: { kubernetes: { type: 'string' } },
  });
  const unknown = names.filter((name) => !generators.includes(name));
  if (unknown.length > 0) {
    console.error(
      `no generator is called ${unknown.join(', ')}; the generators are ${generators.join(', ')}`,
    );
    process.exit(2);
  }
  if (values.kubernetes !== undefined) pinKubernetes(values.kubernetes);
  const manifest = readManifest(root);
  for (const name of names.length > 0 ? names : generators) {
    console.error(`generating ${name} ...`);
    const paths = run(name);
    format(paths.filter((path) => /\.(ts|json)$/.test(path)));
    manifest[name] = {
      upstream: upstreamOf(root, name),
      sources: sha256OfSources(root, name),
      files: Object.fromEntries(paths.sort().map((path) => [path, sha256OfFile(root, path)])),
    };
  }
  const sorted = Object.fromEntries(generators.map((name) => [name, manifest[name]]));
  writeFileSync(`${root}/${manifestPath}`, `${JSON.stringify(sorted, undefined, 2)}\n`);
  format([manifestPath]);
}

/**
 * Requires a version of Kubernetes. The module requires its staging repositories as v0.0.0 and replaces them by folders,
 * which only works inside of it; we replace them by their releases, v0.37.0 for v1.37.0.
 */
function pinKubernetes(version) {
  const { GoMod } = JSON.parse(go('mod', 'download', '-json', `k8s.io/kubernetes@${version}`));
  const { Go, Require, Replace } = JSON.parse(go('mod', 'edit', '-json', GoMod));
  const staging = Replace.filter(({ New }) => New.Path.startsWith('./staging/')).map(({ Old }) => Old.Path);
  const release = version.replace(/^v1\./, 'v0.');
  const old = JSON.parse(go('mod', 'edit', '-json')).Replace ?? [];
  go(
    'mod',
    'edit',
    `-go=${Go}`,
    ...old.filter(({ Old }) => !staging.includes(Old.Path)).map(({ Old }) => `-dropreplace=${Old.Path}`),
    ...staging.map((path) => `-replace=${path}=${path}@${release}`),
    ...Require.filter(({ Path }) => !staging.includes(Path)).map(
      (each) => `-require=${each.Path}@${each.Version}`,
    ),
    `-require=k8s.io/kubernetes@${version}`,
  );
  go('mod', 'tidy');
}

/** Runs a generator, which prints the paths of the files that it wrote. */
function run(name) {
  return goIn(name, 'run', '.', root).trim().split('\n');
}

function go(...args) {
  return goIn('.', ...args);
}

function goIn(folder, ...args) {
  return execFileSync('go', args, {
    cwd: `${root}/scripts/generate/${folder}`,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function format(paths) {
  if (paths.length === 0) return;
  execFileSync('node_modules/.bin/biome', ['check', '--write', ...paths], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

main(process.argv.slice(2));
