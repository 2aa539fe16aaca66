import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What keeps the checkout from being released, each with what to do. The files that name the version must name that of package.json. */
export function releaseProblems(project) {
  const read = (path) => readFileSync(join(project, path), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  return [...versionProblems(read, version), ...gitProblems(project, version)];
}

/** Texts that contain the version, by file. */
export function versionTexts(version) {
  return [
    ['package-lock.json', `"version": "${version}"`],
    ['deploy/chart/Chart.yaml', `\nversion: ${version}\n`],
    ['deploy/chart/Chart.yaml', `\nappVersion: ${version}\n`],
    ['deploy/krew/stowage.yaml', `\n  version: v${version}\n`],
    ['deploy/Containerfile', `stowage:${version} `],
    ['docs/installation.md', `stowage:${version}`],
    ['CHANGELOG.md', `\n## [${version}] - `],
  ];
}

function versionProblems(read, version) {
  return versionTexts(version)
    .filter(([path, text]) => !read(path).includes(text))
    .map(
      ([path, text]) => `${path}: must contain "${text.trim()}", because package.json has version ${version}`,
    );
}

function gitProblems(project, version) {
  const git = (...args) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim();
  const changed =
    git('status', '--porcelain') === '' ? [] : ['git status: commit or remove what is not committed'];
  const tag = `v${version}`;
  const isTagged = git('tag', '--points-at', 'HEAD').split('\n').includes(tag);
  return isTagged
    ? changed
    : [...changed, `git tag: the commit must have the tag ${tag}: git tag --sign ${tag}`];
}
