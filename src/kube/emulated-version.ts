/** The Kubernetes version that the embedded API server and its simulated nodes emulate. Clients compare it with their own. */
export const kubernetesVersion = { major: '1', minor: '36', patch: '3' } as const;

export const emulatedVersion = `v${kubernetesVersion.major}.${kubernetesVersion.minor}.${kubernetesVersion.patch}+stowage`;
