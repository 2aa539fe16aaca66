/**
 * Controllers of kube-controller-manager that lack something on our server, with their log messages: kinds that it does not serve, and a
 * record that kube-apiserver keeps about a kind of token that our server never had. None of them manages storage, workloads, garbage
 * collection or namespaces.
 */
export const unservedControllers: Readonly<Record<string, RegExp>> = {
  'certificatesigningrequest-approving-controller': /failed to list \*v1\.CertificateSigningRequest/,
  'certificatesigningrequest-cleaner-controller': /failed to list \*v1\.CertificateSigningRequest/,
  'certificatesigningrequest-signing-controller': /failed to list \*v1\.CertificateSigningRequest/,
  'horizontal-pod-autoscaler-controller': /failed to list \*v2\.HorizontalPodAutoscaler/,
  'service-cidr-controller': /failed to list \*v1\.(ServiceCIDR|IPAddress)/,
  'validatingadmissionpolicy-status-controller': /failed to list \*v1\.ValidatingAdmissionPolicy/,
  'legacy-serviceaccount-token-cleaner-controller': /kube-apiserver-legacy-service-account-token-tracking/,
};

/** The value of `--controllers`: all controllers whose kinds our server has. */
export const servedControllers: readonly string[] = [
  '*',
  ...Object.keys(unservedControllers).map((controller) => `-${controller}`),
];
