/**
 * Controllers of kube-controller-manager that miss something on our server, and the words in which they say so: of kinds that it does
 * not serve, and of a note that kube-apiserver keeps about a sort of token that our server never had. None of them looks after
 * storage, workloads, garbage or namespaces.
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

/** As `--controllers` takes them: all that our server has the kinds for. */
export const servedControllers: readonly string[] = [
  '*',
  ...Object.keys(unservedControllers).map((controller) => `-${controller}`),
];
