{{/* The name of the release, or the override; all objects of the chart have it as prefix. */}}
{{- define "stowage.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "stowage.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* Of a component: dict "root" $ "component" NAME. They never change, because selectors cannot. */}}
{{- define "stowage.selectorLabels" -}}
app.kubernetes.io/name: stowage
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "stowage.labels" -}}
{{ include "stowage.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The metadata of a pod template: dict "root" $ "component" NAME "settings" VALUES "scrape" BOOL "checksum" TEXT. */}}
{{- define "stowage.podMetadata" -}}
labels:
  {{- include "stowage.selectorLabels" . | nindent 2 }}
  {{- with .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .settings.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $scrape := and .scrape .root.Values.monitoring.scrapeAnnotations }}
{{- if or $scrape .checksum .settings.podAnnotations }}
annotations:
  {{- if .checksum }}
  stowage.dev/configuration: {{ .checksum | sha256sum | trunc 16 | quote }}
  {{- end }}
  {{- if $scrape }}
  prometheus.io/scrape: "true"
  prometheus.io/port: "9808"
  prometheus.io/path: /metrics
  {{- end }}
  {{- with .settings.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Where a pod may run: dict "root" $ "settings" VALUES "defaultPriority" NAME. */}}
{{- define "stowage.placement" -}}
# It must not wait for itself, nor for pods that wait for it.
schedulerName: default-scheduler
{{- $own := include "stowage.ownPriorityClass" . }}
{{- with .settings.priorityClassName | default $own | default .defaultPriority }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The class that the chart creates; empty if it creates none. */}}
{{- define "stowage.ownPriorityClass" -}}
{{- if .root.Values.priorityClasses.create -}}
{{ include "stowage.fullname" .root }}-{{ ternary "node" "control" (eq .defaultPriority "system-node-critical") }}
{{- end -}}
{{- end }}

{{/* What the pod security level restricted asks for. */}}
{{- define "stowage.restrictedPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "stowage.restrictedContainer" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "stowage.logArgs" -}}
- --log-format={{ .Values.log.format }}
- --log-level={{ .Values.log.level }}
{{- end }}

{{/* The port of /healthz, /readyz and /metrics, and its probes. */}}
{{- define "stowage.ops" -}}
ports:
  - { name: ops, containerPort: 9808 }
{{ include "stowage.probes" (dict "port" "ops") }}
{{- end }}

{{/* Probes of a port with /healthz and /readyz: dict "port" NAME, and "scheme" "HTTPS" if it is not HTTP. */}}
{{- define "stowage.probes" -}}
{{- $at := printf "port: %s" .port }}
{{- with .scheme }}{{ $at = printf "%s, scheme: %s" $at . }}{{ end -}}
# On a busy node a start may take longer than the kubelet waits for an answer of a running process.
startupProbe:
  httpGet: { path: /healthz, {{ $at }} }
  timeoutSeconds: 5
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, {{ $at }} }
  # A process that is busy with a large cluster may answer late.
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, {{ $at }} }
  timeoutSeconds: 5
{{- end }}

{{- define "stowage.bindClusterRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .name }}
  labels:
    {{- include "stowage.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- define "stowage.bindRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "stowage.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- define "stowage.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .account }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "stowage.labels" . | nindent 4 }}
  {{- with .root.Values.serviceAccountAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* One process leads, by Leases, which are in kube-system wherever the chart is installed. */}}
{{- define "stowage.leaseRole" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: kube-system
  labels:
    {{- include "stowage.labels" . | nindent 4 }}
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ join ", " .leases }}]
    verbs: [get, update]
{{- with .watched }}
  # That of a PV binder of ours would say whether it leaves delayed claims to us.
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ . }}]
    verbs: [list, watch]
{{- end }}
{{- if .publisherLeases }}
  # Heartbeats of publishers of capacity, by their label.
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [list, watch]
{{- end }}
{{- if .agentLeases }}
  # Heartbeats of disk agents.
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [list]
{{- end }}
---
{{ include "stowage.bindRole" (merge (dict "namespace" "kube-system") .) }}
{{- end }}

{{/* The process of each node, which has its own Lease: dict "policy" NAME "account" NAME "prefix" OF-THE-LEASES "what" PROCESS. */}}
{{- define "stowage.nodeLeasePolicy" -}}
# The Lease of the {{ .what }} of a node says that it runs. Each writes only that of its own node, and no other Lease in kube-system.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .policy }}
  labels:
    {{- include "stowage.labels" . | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [coordination.k8s.io]
        apiVersions: ["*"]
        operations: [CREATE, UPDATE]
        resources: [leases]
  matchConditions:
    - name: {{ .what }}s-only
      expression: request.userInfo.username == 'system:serviceaccount:{{ .root.Release.Namespace }}:{{ .account }}'
  variables:
    # The node that a pod's token was made for; tokens of other accounts have none.
    - name: node
      expression: >-
        has(request.userInfo.extra) && 'authentication.kubernetes.io/node-name' in request.userInfo.extra
        ? request.userInfo.extra['authentication.kubernetes.io/node-name'][0] : ''
  validations:
    - expression: >-
        object.metadata.name.startsWith('{{ .prefix }}')
        && (variables.node == '' || object.metadata.name == '{{ .prefix }}' + variables.node)
      messageExpression: >-
        'the {{ .what }} on node ' + variables.node + ' may write the Lease {{ .prefix }}' + variables.node + ' only'
      reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .policy }}
  labels:
    {{- include "stowage.labels" . | nindent 4 }}
spec:
  policyName: {{ .policy }}
  validationActions: [Deny]
{{- end }}

{{/* Rules of the controllers provisioner, capacity, expander and attacher, for a CSI driver: dict "controllers" LIST, and what the driver may have: "snapshots" BOOL "mutableParameters" BOOL. */}}
{{- define "stowage.volumeRules" -}}
# What all of them read.
- apiGroups: [""]
  resources: [nodes, persistentvolumeclaims, persistentvolumes, pods]
  verbs: [list, watch]
- apiGroups: [storage.k8s.io]
  resources: [csidrivers, csinodes, storageclasses, volumeattachments]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [nodes]
  verbs: [get]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [get]
# Provisioner: claims get their volumes, and released volumes are deleted.
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, create, patch, delete]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, patch]
{{- if has "expander" .controllers }}
# Expander: the sizes and mutable parameters of volumes, and what claims report about them.
- apiGroups: [""]
  resources: [persistentvolumeclaims/status]
  verbs: [patch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattributesclasses]
  verbs: [list, watch]
{{- end }}
{{- if .mutableParameters }}
# Claims with volumeAttributesClassName.
- apiGroups: [storage.k8s.io]
  resources: [volumeattributesclasses]
  verbs: [get]
{{- end }}
{{- if has "attacher" .controllers }}
# Attacher.
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments]
  verbs: [get, patch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments/status]
  verbs: [patch]
{{- end }}
# Capacity: published figures.
- apiGroups: [storage.k8s.io]
  resources: [csistoragecapacities]
  verbs: [list, watch, create, patch, delete]
# Asked for only where the kind is there (deploy/crds).
- apiGroups: [stowage.dev]
  resources: [drivercapacities]
  verbs: [list, watch]
{{- if .snapshots }}
# Provisioner, if the driver has snapshots: finalizers that a crash has left on them are looked for.
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshots]
  verbs: [list]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* The variables from which the publisher finds the owner of its objects. */}}
{{- define "stowage.podEnvironment" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
{{- end }}
