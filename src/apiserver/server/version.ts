import { emulatedVersion, kubernetesVersion } from '../../kube/emulated-version.ts';

/** Fields about the Go build and the commit are empty. */
export function versionBody(): object {
  const { major, minor } = kubernetesVersion;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: emulatedVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: `${process.platform === 'win32' ? 'windows' : process.platform}/${architecture()}`,
  };
}

/** Go's name for the architecture. */
function architecture(): string {
  return { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch;
}
