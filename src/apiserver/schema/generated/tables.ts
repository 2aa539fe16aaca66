// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate

/** The prefix of the names of published schemas, by group version. */
export const openApiPrefixes: Readonly<Record<string, string>> = {
  'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1.',
  'core/v1': 'io.k8s.api.core.v1.',
  'apps/v1': 'io.k8s.api.apps.v1.',
  'authentication.k8s.io/v1': 'io.k8s.api.authentication.v1.',
  'authorization.k8s.io/v1': 'io.k8s.api.authorization.v1.',
  'autoscaling/v1': 'io.k8s.api.autoscaling.v1.',
  'batch/v1': 'io.k8s.api.batch.v1.',
  'coordination.k8s.io/v1': 'io.k8s.api.coordination.v1.',
  'discovery.k8s.io/v1': 'io.k8s.api.discovery.v1.',
  'events.k8s.io/v1': 'io.k8s.api.events.v1.',
  'node.k8s.io/v1': 'io.k8s.api.node.v1.',
  'policy/v1': 'io.k8s.api.policy.v1.',
  'rbac.authorization.k8s.io/v1': 'io.k8s.api.rbac.v1.',
  'resource.k8s.io/v1': 'io.k8s.api.resource.v1.',
  'scheduling.k8s.io/v1': 'io.k8s.api.scheduling.v1.',
  'storage.k8s.io/v1': 'io.k8s.api.storage.v1.',
  'apiextensions.k8s.io/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.',
};

/** All types, a block each; type-table.ts explains the form. */
export const tables = `apiextensions.k8s.io/v1.CustomResourceColumnDefinition
name 1 string ! default=""
type 2 string ! default=""
format 3 string ?
description 4 string ?
priority 5 int32 ?
jsonPath 6 string ! default=""

apiextensions.k8s.io/v1.CustomResourceConversion
strategy 1 string=v1.ConversionStrategyType ! default=""
webhook 2 @apiextensions.k8s.io/v1.WebhookConversion *?

apiextensions.k8s.io/v1.CustomResourceDefinition kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @apiextensions.k8s.io/v1.CustomResourceDefinitionSpec ! default={}
status 3 @apiextensions.k8s.io/v1.CustomResourceDefinitionStatus ? default={}

apiextensions.k8s.io/v1.CustomResourceDefinitionCondition
type 1 string=v1.CustomResourceDefinitionConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastTransitionTime 3 time ?
reason 4 string ?
message 5 string ?
observedGeneration 6 int64 ?

apiextensions.k8s.io/v1.CustomResourceDefinitionNames
plural 1 string ! default=""
singular 2 string ?
shortNames 3 []string ? list=atomic
kind 4 string ! default=""
listKind 5 string ?
categories 6 []string ? list=atomic

apiextensions.k8s.io/v1.CustomResourceDefinitionSpec
group 1 string ! default=""
names 3 @apiextensions.k8s.io/v1.CustomResourceDefinitionNames ! default={}
scope 4 string=v1.ResourceScope ! default=""
versions 7 []@apiextensions.k8s.io/v1.CustomResourceDefinitionVersion ! list=atomic
conversion 9 @apiextensions.k8s.io/v1.CustomResourceConversion *?
preserveUnknownFields 10 bool ?

apiextensions.k8s.io/v1.CustomResourceDefinitionStatus
conditions 1 []@apiextensions.k8s.io/v1.CustomResourceDefinitionCondition list=map:type
acceptedNames 2 @apiextensions.k8s.io/v1.CustomResourceDefinitionNames default={}
storedVersions 3 []string list=atomic
observedGeneration 4 int64 ?

apiextensions.k8s.io/v1.CustomResourceDefinitionVersion
name 1 string ! default=""
served 2 bool ! default=false
storage 3 bool ! default=false
deprecated 7 bool ?
deprecationWarning 8 string *?
schema 4 @apiextensions.k8s.io/v1.CustomResourceValidation *?
subresources 5 @apiextensions.k8s.io/v1.CustomResourceSubresources *?
additionalPrinterColumns 6 []@apiextensions.k8s.io/v1.CustomResourceColumnDefinition ? list=atomic
selectableFields 9 []@apiextensions.k8s.io/v1.SelectableField ? list=atomic

apiextensions.k8s.io/v1.CustomResourceSubresourceScale
specReplicasPath 1 string ! default=""
statusReplicasPath 2 string ! default=""
labelSelectorPath 3 string *?

apiextensions.k8s.io/v1.CustomResourceSubresourceStatus

apiextensions.k8s.io/v1.CustomResourceSubresources
status 1 @apiextensions.k8s.io/v1.CustomResourceSubresourceStatus *?
scale 2 @apiextensions.k8s.io/v1.CustomResourceSubresourceScale *?

apiextensions.k8s.io/v1.CustomResourceValidation
openAPIV3Schema 1 @apiextensions.k8s.io/v1.JSONSchemaProps *?

apiextensions.k8s.io/v1.ExternalDocumentation
description 1 string ?
url 2 string ?

apiextensions.k8s.io/v1.JSONSchemaProps
id 1 string ?
$schema 2 string=v1.JSONSchemaURL ?
$ref 3 string *?
description 4 string ?
type 5 string ?
format 6 string ?
title 7 string ?
default 8 json *?
maximum 9 float64 *?
exclusiveMaximum 10 bool ?
minimum 11 float64 *?
exclusiveMinimum 12 bool ?
maxLength 13 int64 *?
minLength 14 int64 *?
pattern 15 string ?
maxItems 16 int64 *?
minItems 17 int64 *?
uniqueItems 18 bool ?
multipleOf 19 float64 *?
enum 20 []json ? list=atomic
maxProperties 21 int64 *?
minProperties 22 int64 *?
required 23 []string ? list=atomic
items 24 schemaOrList *?
allOf 25 []@apiextensions.k8s.io/v1.JSONSchemaProps ? list=atomic
oneOf 26 []@apiextensions.k8s.io/v1.JSONSchemaProps ? list=atomic
anyOf 27 []@apiextensions.k8s.io/v1.JSONSchemaProps ? list=atomic
not 28 @apiextensions.k8s.io/v1.JSONSchemaProps *?
properties 29 {}@apiextensions.k8s.io/v1.JSONSchemaProps ?
additionalProperties 30 schemaOrBool *?
patternProperties 31 {}@apiextensions.k8s.io/v1.JSONSchemaProps ?
dependencies 32 {v1.JSONSchemaDependencies}schemaOrNames ?
additionalItems 33 schemaOrBool *?
definitions 34 {v1.JSONSchemaDefinitions}@apiextensions.k8s.io/v1.JSONSchemaProps ?
externalDocs 35 @apiextensions.k8s.io/v1.ExternalDocumentation *?
example 36 json *?
nullable 37 bool ?
x-kubernetes-preserve-unknown-fields 38 bool *?
x-kubernetes-embedded-resource 39 bool ?
x-kubernetes-int-or-string 40 bool ?
x-kubernetes-list-map-keys 41 []string ? list=atomic
x-kubernetes-list-type 42 string *?
x-kubernetes-map-type 43 string *?
x-kubernetes-validations 44 [v1.ValidationRules]@apiextensions.k8s.io/v1.ValidationRule ? patch=merge key=rule list=map:rule

apiextensions.k8s.io/v1.SelectableField
jsonPath 1 string ! default=""

apiextensions.k8s.io/v1.ServiceReference
namespace 1 string ! default=""
name 2 string ! default=""
path 3 string *?
port 4 int32 *?

apiextensions.k8s.io/v1.ValidationRule
rule 1 string ! default=""
message 2 string ?
messageExpression 3 string ?
reason 4 string=v1.FieldValueErrorReason *?
fieldPath 5 string ?
optionalOldSelf 6 bool *?

apiextensions.k8s.io/v1.WebhookClientConfig
url 3 string *?
service 1 @apiextensions.k8s.io/v1.ServiceReference *?
caBundle 2 bytes ?

apiextensions.k8s.io/v1.WebhookConversion
clientConfig 2 @apiextensions.k8s.io/v1.WebhookClientConfig *?
conversionReviewVersions 3 []string ! list=atomic

apps/v1.ControllerRevision kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
data 2 rawExtension ?
revision 3 int64 ! default=0

apps/v1.DaemonSet kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @apps/v1.DaemonSetSpec ? default={}
status 3 @apps/v1.DaemonSetStatus ? default={}

apps/v1.DaemonSetCondition
type 1 string=v1.DaemonSetConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastTransitionTime 3 time ?
reason 4 string ?
message 5 string ?

apps/v1.DaemonSetSpec
selector 1 @meta/v1.LabelSelector *!
template 2 @core/v1.PodTemplateSpec ! default={}
updateStrategy 3 @apps/v1.DaemonSetUpdateStrategy ? default={}
minReadySeconds 4 int32 ?
revisionHistoryLimit 6 int32 *?

apps/v1.DaemonSetStatus
currentNumberScheduled 1 int32 ! default=0
numberMisscheduled 2 int32 ! default=0
desiredNumberScheduled 3 int32 ! default=0
numberReady 4 int32 ! default=0
observedGeneration 5 int64 ?
updatedNumberScheduled 6 int32 ?
numberAvailable 7 int32 ?
numberUnavailable 8 int32 ?
collisionCount 9 int32 *?
conditions 10 []@apps/v1.DaemonSetCondition ? patch=merge key=type list=map:type

apps/v1.DaemonSetUpdateStrategy
type 1 string=v1.DaemonSetUpdateStrategyType ?
rollingUpdate 2 @apps/v1.RollingUpdateDaemonSet *?

apps/v1.Deployment kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @apps/v1.DeploymentSpec ? default={}
status 3 @apps/v1.DeploymentStatus ? default={}

apps/v1.DeploymentCondition
type 1 string=v1.DeploymentConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastUpdateTime 6 time ?
lastTransitionTime 7 time ?
reason 4 string ?
message 5 string ?

apps/v1.DeploymentSpec
replicas 1 int32 *?
selector 2 @meta/v1.LabelSelector *!
template 3 @core/v1.PodTemplateSpec ! default={}
strategy 4 @apps/v1.DeploymentStrategy ? patch=retainKeys default={}
minReadySeconds 5 int32 ?
revisionHistoryLimit 6 int32 *?
paused 7 bool ?
progressDeadlineSeconds 9 int32 *?

apps/v1.DeploymentStatus
observedGeneration 1 int64 ?
replicas 2 int32 ?
updatedReplicas 3 int32 ?
readyReplicas 7 int32 ?
availableReplicas 4 int32 ?
unavailableReplicas 5 int32 ?
terminatingReplicas 9 int32 *?
conditions 6 []@apps/v1.DeploymentCondition ? patch=merge key=type list=map:type
collisionCount 8 int32 *?

apps/v1.DeploymentStrategy
type 1 string=v1.DeploymentStrategyType ?
rollingUpdate 2 @apps/v1.RollingUpdateDeployment *?

apps/v1.ReplicaSet kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @apps/v1.ReplicaSetSpec ? default={}
status 3 @apps/v1.ReplicaSetStatus ? default={}

apps/v1.ReplicaSetCondition
type 1 string=v1.ReplicaSetConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastTransitionTime 3 time ?
reason 4 string ?
message 5 string ?

apps/v1.ReplicaSetSpec
replicas 1 int32 *?
minReadySeconds 4 int32 ?
selector 2 @meta/v1.LabelSelector *!
template 3 @core/v1.PodTemplateSpec ? default={}

apps/v1.ReplicaSetStatus
replicas 1 int32 ! default=0
fullyLabeledReplicas 2 int32 ?
readyReplicas 4 int32 ?
availableReplicas 5 int32 ?
terminatingReplicas 7 int32 *?
observedGeneration 3 int64 ?
conditions 6 []@apps/v1.ReplicaSetCondition ? patch=merge key=type list=map:type

apps/v1.RollingUpdateDaemonSet
maxUnavailable 1 intOrString *?
maxSurge 2 intOrString *?

apps/v1.RollingUpdateDeployment
maxUnavailable 1 intOrString *?
maxSurge 2 intOrString *?

apps/v1.RollingUpdateStatefulSetStrategy
partition 1 int32 *?
maxUnavailable 2 intOrString *?

apps/v1.StatefulSet kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @apps/v1.StatefulSetSpec ? default={}
status 3 @apps/v1.StatefulSetStatus ? default={}

apps/v1.StatefulSetCondition
type 1 string=v1.StatefulSetConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastTransitionTime 3 time ?
reason 4 string ?
message 5 string ?

apps/v1.StatefulSetOrdinals
start 1 int32 default=0

apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy
whenDeleted 1 string=v1.PersistentVolumeClaimRetentionPolicyType ?
whenScaled 2 string=v1.PersistentVolumeClaimRetentionPolicyType ?

apps/v1.StatefulSetSpec
replicas 1 int32 *?
selector 2 @meta/v1.LabelSelector *!
template 3 @core/v1.PodTemplateSpec ! default={}
volumeClaimTemplates 4 []@core/v1.PersistentVolumeClaim ? list=atomic
serviceName 5 string default=""
podManagementPolicy 6 string=v1.PodManagementPolicyType ?
updateStrategy 7 @apps/v1.StatefulSetUpdateStrategy ? default={}
revisionHistoryLimit 8 int32 *?
minReadySeconds 9 int32 ?
persistentVolumeClaimRetentionPolicy 10 @apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy *?
ordinals 11 @apps/v1.StatefulSetOrdinals *?

apps/v1.StatefulSetStatus
observedGeneration 1 int64 ?
replicas 2 int32 ! default=0
readyReplicas 3 int32 ?
currentReplicas 4 int32 ?
updatedReplicas 5 int32 ?
currentRevision 6 string ?
updateRevision 7 string ?
collisionCount 9 int32 *?
conditions 10 []@apps/v1.StatefulSetCondition ? patch=merge key=type list=map:type
availableReplicas 11 int32 default=0

apps/v1.StatefulSetUpdateStrategy
type 1 string=v1.StatefulSetUpdateStrategyType ?
rollingUpdate 2 @apps/v1.RollingUpdateStatefulSetStrategy *?

authentication.k8s.io/v1.BoundObjectReference
kind 1 string ?
apiVersion 2 string ?
name 3 string ?
uid 4 string=types.UID ?

authentication.k8s.io/v1.SelfSubjectReview kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
status 2 @authentication.k8s.io/v1.SelfSubjectReviewStatus ? default={}

authentication.k8s.io/v1.SelfSubjectReviewStatus
userInfo 1 @authentication.k8s.io/v1.UserInfo ? default={}

authentication.k8s.io/v1.TokenRequest kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @authentication.k8s.io/v1.TokenRequestSpec default={}
status 3 @authentication.k8s.io/v1.TokenRequestStatus ? default={}

authentication.k8s.io/v1.TokenRequestSpec
audiences 1 []string list=atomic
expirationSeconds 4 int64 *
boundObjectRef 3 @authentication.k8s.io/v1.BoundObjectReference *

authentication.k8s.io/v1.TokenRequestStatus
token 1 string default=""
expirationTimestamp 2 time

authentication.k8s.io/v1.TokenReview kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @authentication.k8s.io/v1.TokenReviewSpec ! default={}
status 3 @authentication.k8s.io/v1.TokenReviewStatus ? default={}

authentication.k8s.io/v1.TokenReviewSpec
token 1 string ?!
audiences 2 []string ? list=atomic

authentication.k8s.io/v1.TokenReviewStatus
authenticated 1 bool ?
user 2 @authentication.k8s.io/v1.UserInfo ? default={}
audiences 4 []string ? list=atomic
error 3 string ?

authentication.k8s.io/v1.UserInfo
username 1 string ?
uid 2 string ?
groups 3 []string ? list=atomic
extra 4 {}[v1.ExtraValue]string ?

authorization.k8s.io/v1.FieldSelectorAttributes
rawSelector 1 string ?
requirements 2 []@meta/v1.FieldSelectorRequirement ? list=atomic

authorization.k8s.io/v1.LabelSelectorAttributes
rawSelector 1 string ?
requirements 2 []@meta/v1.LabelSelectorRequirement ? list=atomic

authorization.k8s.io/v1.LocalSubjectAccessReview kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @authorization.k8s.io/v1.SubjectAccessReviewSpec ! default={}
status 3 @authorization.k8s.io/v1.SubjectAccessReviewStatus ? default={}

authorization.k8s.io/v1.NonResourceAttributes
path 1 string ?
verb 2 string ?

authorization.k8s.io/v1.NonResourceRule
verbs 1 []string ! list=atomic
nonResourceURLs 2 []string ? list=atomic

authorization.k8s.io/v1.ResourceAttributes
namespace 1 string ?
verb 2 string ?
group 3 string ?
version 4 string ?
resource 5 string ?
subresource 6 string ?
name 7 string ?
fieldSelector 8 @authorization.k8s.io/v1.FieldSelectorAttributes *?
labelSelector 9 @authorization.k8s.io/v1.LabelSelectorAttributes *?

authorization.k8s.io/v1.ResourceRule
verbs 1 []string ! list=atomic
apiGroups 2 []string ? list=atomic
resources 3 []string ? list=atomic
resourceNames 4 []string ? list=atomic

authorization.k8s.io/v1.SelfSubjectAccessReview kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @authorization.k8s.io/v1.SelfSubjectAccessReviewSpec ! default={}
status 3 @authorization.k8s.io/v1.SubjectAccessReviewStatus ? default={}

authorization.k8s.io/v1.SelfSubjectAccessReviewSpec
resourceAttributes 1 @authorization.k8s.io/v1.ResourceAttributes *?
nonResourceAttributes 2 @authorization.k8s.io/v1.NonResourceAttributes *?

authorization.k8s.io/v1.SelfSubjectRulesReview kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @authorization.k8s.io/v1.SelfSubjectRulesReviewSpec ! default={}
status 3 @authorization.k8s.io/v1.SubjectRulesReviewStatus ? default={}

authorization.k8s.io/v1.SelfSubjectRulesReviewSpec
namespace 1 string ?

authorization.k8s.io/v1.SubjectAccessReview kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @authorization.k8s.io/v1.SubjectAccessReviewSpec ! default={}
status 3 @authorization.k8s.io/v1.SubjectAccessReviewStatus ? default={}

authorization.k8s.io/v1.SubjectAccessReviewSpec
resourceAttributes 1 @authorization.k8s.io/v1.ResourceAttributes *?
nonResourceAttributes 2 @authorization.k8s.io/v1.NonResourceAttributes *?
user 3 string ?
groups 4 []string ? list=atomic
extra 5 {}[v1.ExtraValue]string ?
uid 6 string ?

authorization.k8s.io/v1.SubjectAccessReviewStatus
allowed 1 bool ! default=false
denied 4 bool ?
reason 2 string ?
evaluationError 3 string ?

authorization.k8s.io/v1.SubjectRulesReviewStatus
resourceRules 1 []@authorization.k8s.io/v1.ResourceRule ! list=atomic
nonResourceRules 2 []@authorization.k8s.io/v1.NonResourceRule ! list=atomic
incomplete 3 bool ! default=false
evaluationError 4 string ?

autoscaling/v1.Scale kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @autoscaling/v1.ScaleSpec ? default={}
status 3 @autoscaling/v1.ScaleStatus ? default={}

autoscaling/v1.ScaleSpec
replicas 1 int32 ? default=0

autoscaling/v1.ScaleStatus
replicas 1 int32 ! default=0
selector 2 string ?

batch/v1.CronJob kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @batch/v1.CronJobSpec ?! default={}
status 3 @batch/v1.CronJobStatus ? default={}

batch/v1.CronJobSpec
schedule 1 string ! default=""
timeZone 8 string *?
startingDeadlineSeconds 2 int64 *?
concurrencyPolicy 3 string=v1.ConcurrencyPolicy ?
suspend 4 bool *?
jobTemplate 5 @batch/v1.JobTemplateSpec ! default={}
successfulJobsHistoryLimit 6 int32 *?
failedJobsHistoryLimit 7 int32 *?

batch/v1.CronJobStatus
active 1 []@core/v1.ObjectReference ? list=atomic
lastScheduleTime 4 time *?
lastSuccessfulTime 5 time *?

batch/v1.Job kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @batch/v1.JobSpec ? default={}
status 3 @batch/v1.JobStatus ? default={}

batch/v1.JobCondition
type 1 string=v1.JobConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastProbeTime 3 time ?
lastTransitionTime 4 time ?
reason 5 string ?
message 6 string ?

batch/v1.JobSpec
parallelism 1 int32 *?
completions 2 int32 *?
activeDeadlineSeconds 3 int64 *?
podFailurePolicy 11 @batch/v1.PodFailurePolicy *?
successPolicy 16 @batch/v1.SuccessPolicy *?
backoffLimit 7 int32 *?
backoffLimitPerIndex 12 int32 *?
maxFailedIndexes 13 int32 *?
selector 4 @meta/v1.LabelSelector *?
manualSelector 5 bool *?
template 6 @core/v1.PodTemplateSpec ! default={}
ttlSecondsAfterFinished 8 int32 *?
completionMode 9 string=v1.CompletionMode *?
suspend 10 bool *?
podReplacementPolicy 14 string=v1.PodReplacementPolicy *?
managedBy 15 string *?

batch/v1.JobStatus
conditions 1 []@batch/v1.JobCondition ? patch=merge key=type list=atomic
startTime 2 time *?
completionTime 3 time *?
active 4 int32 ?
succeeded 5 int32 ?
failed 6 int32 ?
terminating 11 int32 *?
completedIndexes 7 string ?
failedIndexes 10 string *?
uncountedTerminatedPods 8 @batch/v1.UncountedTerminatedPods *?
ready 9 int32 *?

batch/v1.JobTemplateSpec
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @batch/v1.JobSpec ? default={}

batch/v1.PodFailurePolicy
rules 1 []@batch/v1.PodFailurePolicyRule ! list=atomic

batch/v1.PodFailurePolicyOnExitCodesRequirement
containerName 1 string *?
operator 2 string=v1.PodFailurePolicyOnExitCodesOperator ! default=""
values 3 []int32 ! list=set

batch/v1.PodFailurePolicyOnPodConditionsPattern
type 1 string=v1.PodConditionType ! default=""
status 2 string=v1.ConditionStatus default=""

batch/v1.PodFailurePolicyRule
action 1 string=v1.PodFailurePolicyAction ! default=""
onExitCodes 2 @batch/v1.PodFailurePolicyOnExitCodesRequirement *?
onPodConditions 3 []@batch/v1.PodFailurePolicyOnPodConditionsPattern ? list=atomic

batch/v1.SuccessPolicy
rules 1 []@batch/v1.SuccessPolicyRule ! list=atomic

batch/v1.SuccessPolicyRule
succeededIndexes 1 string *?
succeededCount 2 int32 *?

batch/v1.UncountedTerminatedPods
succeeded 1 []string=types.UID ? list=set
failed 2 []string=types.UID ? list=set

coordination.k8s.io/v1.Lease kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @coordination.k8s.io/v1.LeaseSpec ? default={}

coordination.k8s.io/v1.LeaseSpec
holderIdentity 1 string *?
leaseDurationSeconds 2 int32 *?
acquireTime 3 microTime *?
renewTime 4 microTime *?
leaseTransitions 5 int32 *?
strategy 6 string=v1.CoordinatedLeaseStrategy *?
preferredHolder 7 string *?

core/v1.AWSElasticBlockStoreVolumeSource
volumeID 1 string ! default=""
fsType 2 string ?
partition 3 int32 ?
readOnly 4 bool ?

core/v1.Affinity
nodeAffinity 1 @core/v1.NodeAffinity *?
podAffinity 2 @core/v1.PodAffinity *?
podAntiAffinity 3 @core/v1.PodAntiAffinity *?

core/v1.AppArmorProfile
type 1 string=v1.AppArmorProfileType ! default=""
localhostProfile 2 string *?

core/v1.AttachedVolume
name 1 string=v1.UniqueVolumeName ! default=""
devicePath 2 string ! default=""

core/v1.AzureDiskVolumeSource
diskName 1 string ! default=""
diskURI 2 string ! default=""
cachingMode 3 string=v1.AzureDataDiskCachingMode *? default="ReadWrite"
fsType 4 string *? default="ext4"
readOnly 5 bool *? default=false
kind 6 string=v1.AzureDataDiskKind *? default="Shared"

core/v1.AzureFilePersistentVolumeSource
secretName 1 string ! default=""
shareName 2 string ! default=""
readOnly 3 bool ?
secretNamespace 4 string *

core/v1.AzureFileVolumeSource
secretName 1 string ! default=""
shareName 2 string ! default=""
readOnly 3 bool ?

core/v1.Binding kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
target 2 @core/v1.ObjectReference ! default={}

core/v1.CSIPersistentVolumeSource
driver 1 string ! default=""
volumeHandle 2 string ! default=""
readOnly 3 bool ?
fsType 4 string ?
volumeAttributes 5 {}string ?
controllerPublishSecretRef 6 @core/v1.SecretReference *?
nodeStageSecretRef 7 @core/v1.SecretReference *?
nodePublishSecretRef 8 @core/v1.SecretReference *?
controllerExpandSecretRef 9 @core/v1.SecretReference *?
nodeExpandSecretRef 10 @core/v1.SecretReference *?

core/v1.CSIVolumeSource
driver 1 string ! default=""
readOnly 2 bool *?
fsType 3 string *?
volumeAttributes 4 {}string ?
nodePublishSecretRef 5 @core/v1.LocalObjectReference *?

core/v1.Capabilities
add 1 []string=v1.Capability ? list=atomic
drop 2 []string=v1.Capability ? list=atomic

core/v1.CephFSPersistentVolumeSource
monitors 1 []string ! list=atomic
path 2 string ?
user 3 string ?
secretFile 4 string ?
secretRef 5 @core/v1.SecretReference *?
readOnly 6 bool ?

core/v1.CephFSVolumeSource
monitors 1 []string ! list=atomic
path 2 string ?
user 3 string ?
secretFile 4 string ?
secretRef 5 @core/v1.LocalObjectReference *?
readOnly 6 bool ?

core/v1.CinderPersistentVolumeSource
volumeID 1 string ! default=""
fsType 2 string ?
readOnly 3 bool ?
secretRef 4 @core/v1.SecretReference *?

core/v1.CinderVolumeSource
volumeID 1 string ! default=""
fsType 2 string ?
readOnly 3 bool ?
secretRef 4 @core/v1.LocalObjectReference *?

core/v1.ClientIPConfig
timeoutSeconds 1 int32 *?

core/v1.ClusterTrustBundleProjection
name 1 string *?
signerName 2 string *?
labelSelector 3 @meta/v1.LabelSelector *?
optional 5 bool *?
path 4 string ! default=""

core/v1.ComponentCondition
type 1 string=v1.ComponentConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
message 3 string ?
error 4 string ?

core/v1.ComponentStatus kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
conditions 2 []@core/v1.ComponentCondition ? patch=merge key=type list=map:type

core/v1.ConfigMap kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
immutable 4 bool *?
data 2 {}string ?
binaryData 3 {}bytes ?

core/v1.ConfigMapEnvSource
~ 1 @core/v1.LocalObjectReference
optional 2 bool *?

core/v1.ConfigMapKeySelector atomic
~ 1 @core/v1.LocalObjectReference
key 2 string ! default=""
optional 3 bool *?

core/v1.ConfigMapNodeConfigSource
namespace 1 string ! default=""
name 2 string ! default=""
uid 3 string=types.UID ?
resourceVersion 4 string ?
kubeletConfigKey 5 string ! default=""

core/v1.ConfigMapProjection
~ 1 @core/v1.LocalObjectReference
items 2 []@core/v1.KeyToPath ? list=atomic
optional 4 bool *?

core/v1.ConfigMapVolumeSource
~ 1 @core/v1.LocalObjectReference
items 2 []@core/v1.KeyToPath ? list=atomic
defaultMode 3 int32 *?
optional 4 bool *?

core/v1.Container
name 1 string ! default=""
image 2 string ?
command 3 []string ? list=atomic
args 4 []string ? list=atomic
workingDir 5 string ?
ports 6 []@core/v1.ContainerPort ? patch=merge key=containerPort list=map:containerPort,protocol
envFrom 19 []@core/v1.EnvFromSource ? list=atomic
env 7 []@core/v1.EnvVar ? patch=merge key=name list=map:name
resources 8 @core/v1.ResourceRequirements ? default={}
resizePolicy 23 []@core/v1.ContainerResizePolicy ? list=atomic
restartPolicy 24 string=v1.ContainerRestartPolicy *?
restartPolicyRules 25 []@core/v1.ContainerRestartRule ? list=atomic
volumeMounts 9 []@core/v1.VolumeMount ? patch=merge key=mountPath list=map:mountPath
volumeDevices 21 []@core/v1.VolumeDevice ? patch=merge key=devicePath list=map:devicePath
livenessProbe 10 @core/v1.Probe *?
readinessProbe 11 @core/v1.Probe *?
startupProbe 22 @core/v1.Probe *?
lifecycle 12 @core/v1.Lifecycle *?
terminationMessagePath 13 string ?
terminationMessagePolicy 20 string=v1.TerminationMessagePolicy ?
imagePullPolicy 14 string=v1.PullPolicy ?
securityContext 15 @core/v1.SecurityContext *?
stdin 16 bool ?
stdinOnce 17 bool ?
tty 18 bool ?

core/v1.ContainerExtendedResourceRequest
containerName 1 string ! default=""
resourceName 2 string ! default=""
requestName 3 string ! default=""

core/v1.ContainerImage
names 1 []string list=atomic
sizeBytes 2 int64 ?

core/v1.ContainerPort
name 1 string ?
hostPort 2 int32 ?
containerPort 3 int32 ! default=0
protocol 4 string=v1.Protocol ? default="TCP"
hostIP 5 string ?

core/v1.ContainerResizePolicy
resourceName 1 string=v1.ResourceName ! default=""
restartPolicy 2 string=v1.ResourceResizeRestartPolicy ! default=""

core/v1.ContainerRestartRule
action 1 string=v1.ContainerRestartRuleAction ?!
exitCodes 2 @core/v1.ContainerRestartRuleOnExitCodes *?

core/v1.ContainerRestartRuleOnExitCodes
operator 1 string=v1.ContainerRestartRuleOnExitCodesOperator ?!
values 2 []int32 ? list=set

core/v1.ContainerState
waiting 1 @core/v1.ContainerStateWaiting *?
running 2 @core/v1.ContainerStateRunning *?
terminated 3 @core/v1.ContainerStateTerminated *?

core/v1.ContainerStateRunning
startedAt 1 time ?

core/v1.ContainerStateTerminated
exitCode 1 int32 ! default=0
signal 2 int32 ?
reason 3 string ?
message 4 string ?
startedAt 5 time ?
finishedAt 6 time ?
containerID 7 string ?

core/v1.ContainerStateWaiting
reason 1 string ?
message 2 string ?

core/v1.ContainerStatus
name 1 string ! default=""
state 2 @core/v1.ContainerState ? default={}
lastState 3 @core/v1.ContainerState ? default={}
ready 4 bool ! default=false
restartCount 5 int32 ! default=0
image 6 string ! default=""
imageID 7 string ! default=""
containerID 8 string ?
started 9 bool *?
allocatedResources 10 {v1.ResourceList}quantity ?
resources 11 @core/v1.ResourceRequirements *?
volumeMounts 12 []@core/v1.VolumeMountStatus ? patch=merge key=mountPath list=map:mountPath
user 13 @core/v1.ContainerUser *?
allocatedResourcesStatus 14 []@core/v1.ResourceStatus ? patch=merge key=name list=map:name
stopSignal 15 string=v1.Signal *?

core/v1.ContainerUser
linux 1 @core/v1.LinuxContainerUser *?

core/v1.DaemonEndpoint
Port 1 int32 ! default=0

core/v1.DownwardAPIProjection
items 1 []@core/v1.DownwardAPIVolumeFile ? list=atomic

core/v1.DownwardAPIVolumeFile
path 1 string ! default=""
fieldRef 2 @core/v1.ObjectFieldSelector *?
resourceFieldRef 3 @core/v1.ResourceFieldSelector *?
mode 4 int32 *?

core/v1.DownwardAPIVolumeSource
items 1 []@core/v1.DownwardAPIVolumeFile ? list=atomic
defaultMode 2 int32 *?

core/v1.EmptyDirVolumeSource
medium 1 string=v1.StorageMedium ?
sizeLimit 2 quantity *?

core/v1.EndpointAddress atomic
ip 1 string ! default=""
hostname 3 string ?
nodeName 4 string *?
targetRef 2 @core/v1.ObjectReference *?

core/v1.EndpointPort atomic
name 1 string ?
port 2 int32 ! default=0
protocol 3 string=v1.Protocol ?
appProtocol 4 string *?

core/v1.EndpointSubset
addresses 1 []@core/v1.EndpointAddress ? list=atomic
notReadyAddresses 2 []@core/v1.EndpointAddress ? list=atomic
ports 3 []@core/v1.EndpointPort ? list=atomic

core/v1.Endpoints kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
subsets 2 []@core/v1.EndpointSubset ? list=atomic

core/v1.EnvFromSource
prefix 1 string ?
configMapRef 2 @core/v1.ConfigMapEnvSource *?
secretRef 3 @core/v1.SecretEnvSource *?

core/v1.EnvVar
name 1 string ! default=""
value 2 string ?
valueFrom 3 @core/v1.EnvVarSource *?

core/v1.EnvVarSource
fieldRef 1 @core/v1.ObjectFieldSelector *?
resourceFieldRef 2 @core/v1.ResourceFieldSelector *?
configMapKeyRef 3 @core/v1.ConfigMapKeySelector *?
secretKeyRef 4 @core/v1.SecretKeySelector *?
fileKeyRef 5 @core/v1.FileKeySelector *?

core/v1.EphemeralContainer
~ 1 @core/v1.EphemeralContainerCommon
targetContainerName 2 string ?

core/v1.EphemeralContainerCommon
name 1 string ! default=""
image 2 string ?
command 3 []string ? list=atomic
args 4 []string ? list=atomic
workingDir 5 string ?
ports 6 []@core/v1.ContainerPort ? patch=merge key=containerPort list=map:containerPort,protocol
envFrom 19 []@core/v1.EnvFromSource ? list=atomic
env 7 []@core/v1.EnvVar ? patch=merge key=name list=map:name
resources 8 @core/v1.ResourceRequirements ? default={}
resizePolicy 23 []@core/v1.ContainerResizePolicy ? list=atomic
restartPolicy 24 string=v1.ContainerRestartPolicy *?
restartPolicyRules 25 []@core/v1.ContainerRestartRule ? list=atomic
volumeMounts 9 []@core/v1.VolumeMount ? patch=merge key=mountPath list=map:mountPath
volumeDevices 21 []@core/v1.VolumeDevice ? patch=merge key=devicePath list=map:devicePath
livenessProbe 10 @core/v1.Probe *?
readinessProbe 11 @core/v1.Probe *?
startupProbe 22 @core/v1.Probe *?
lifecycle 12 @core/v1.Lifecycle *?
terminationMessagePath 13 string ?
terminationMessagePolicy 20 string=v1.TerminationMessagePolicy ?
imagePullPolicy 14 string=v1.PullPolicy ?
securityContext 15 @core/v1.SecurityContext *?
stdin 16 bool ?
stdinOnce 17 bool ?
tty 18 bool ?

core/v1.EphemeralVolumeSource
volumeClaimTemplate 1 @core/v1.PersistentVolumeClaimTemplate *?

core/v1.Event kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ! default={}
involvedObject 2 @core/v1.ObjectReference ! default={}
reason 3 string ?
message 4 string ?
source 5 @core/v1.EventSource ? default={}
firstTimestamp 6 time ?
lastTimestamp 7 time ?
count 8 int32 ?
type 9 string ?
eventTime 10 microTime ?
series 11 @core/v1.EventSeries *?
action 12 string ?
related 13 @core/v1.ObjectReference *?
reportingComponent 14 string default=""
reportingInstance 15 string default=""

core/v1.EventSeries
count 1 int32 ?
lastObservedTime 2 microTime ?

core/v1.EventSource
component 1 string ?
host 2 string ?

core/v1.ExecAction
command 1 []string ? list=atomic

core/v1.FCVolumeSource
targetWWNs 1 []string ? list=atomic
lun 2 int32 *?
fsType 3 string ?
readOnly 4 bool ?
wwids 5 []string ? list=atomic

core/v1.FileKeySelector atomic
volumeName 1 string ! default=""
path 2 string ! default=""
key 3 string ! default=""
optional 4 bool *? default=false

core/v1.FlexPersistentVolumeSource
driver 1 string ! default=""
fsType 2 string ?
secretRef 3 @core/v1.SecretReference *?
readOnly 4 bool ?
options 5 {}string ?

core/v1.FlexVolumeSource
driver 1 string ! default=""
fsType 2 string ?
secretRef 3 @core/v1.LocalObjectReference *?
readOnly 4 bool ?
options 5 {}string ?

core/v1.FlockerVolumeSource
datasetName 1 string ?
datasetUUID 2 string ?

core/v1.GCEPersistentDiskVolumeSource
pdName 1 string ! default=""
fsType 2 string ?
partition 3 int32 ?
readOnly 4 bool ?

core/v1.GRPCAction
port 1 int32 ! default=0
service 2 string * default=""

core/v1.GitRepoVolumeSource
repository 1 string ! default=""
revision 2 string ?
directory 3 string ?

core/v1.GlusterfsPersistentVolumeSource
endpoints 1 string ! default=""
path 2 string ! default=""
readOnly 3 bool ?
endpointsNamespace 4 string *?

core/v1.GlusterfsVolumeSource
endpoints 1 string ! default=""
path 2 string ! default=""
readOnly 3 bool ?

core/v1.HTTPGetAction
path 1 string ?
port 2 intOrString !
host 3 string ?
scheme 4 string=v1.URIScheme ?
httpHeaders 5 []@core/v1.HTTPHeader ? list=atomic

core/v1.HTTPHeader
name 1 string ! default=""
value 2 string ! default=""

core/v1.HostAlias
ip 1 string ! default=""
hostnames 2 []string ? list=atomic

core/v1.HostIP
ip 1 string ! default=""

core/v1.HostPathVolumeSource
path 1 string ! default=""
type 2 string=v1.HostPathType *?

core/v1.ISCSIPersistentVolumeSource
targetPortal 1 string ! default=""
iqn 2 string ! default=""
lun 3 int32 ! default=0
iscsiInterface 4 string ? default="default"
fsType 5 string ?
readOnly 6 bool ?
portals 7 []string ? list=atomic
chapAuthDiscovery 8 bool ?
chapAuthSession 11 bool ?
secretRef 10 @core/v1.SecretReference *?
initiatorName 12 string *?

core/v1.ISCSIVolumeSource
targetPortal 1 string ! default=""
iqn 2 string ! default=""
lun 3 int32 ! default=0
iscsiInterface 4 string ? default="default"
fsType 5 string ?
readOnly 6 bool ?
portals 7 []string ? list=atomic
chapAuthDiscovery 8 bool ?
chapAuthSession 11 bool ?
secretRef 10 @core/v1.LocalObjectReference *?
initiatorName 12 string *?

core/v1.ImageVolumeSource
reference 1 string ?
pullPolicy 2 string=v1.PullPolicy ?

core/v1.ImageVolumeStatus
imageRef 1 string ?!

core/v1.KeyToPath
key 1 string ! default=""
path 2 string ! default=""
mode 3 int32 *?

core/v1.Lifecycle
postStart 1 @core/v1.LifecycleHandler *?
preStop 2 @core/v1.LifecycleHandler *?
stopSignal 3 string=v1.Signal *?

core/v1.LifecycleHandler
exec 1 @core/v1.ExecAction *?
httpGet 2 @core/v1.HTTPGetAction *?
tcpSocket 3 @core/v1.TCPSocketAction *?
sleep 4 @core/v1.SleepAction *?

core/v1.LimitRange kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.LimitRangeSpec ? default={}

core/v1.LimitRangeItem
type 1 string=v1.LimitType ! default=""
max 2 {v1.ResourceList}quantity ?
min 3 {v1.ResourceList}quantity ?
default 4 {v1.ResourceList}quantity ?
defaultRequest 5 {v1.ResourceList}quantity ?
maxLimitRequestRatio 6 {v1.ResourceList}quantity ?

core/v1.LimitRangeSpec
limits 1 []@core/v1.LimitRangeItem ! list=atomic

core/v1.LinuxContainerUser
uid 1 int64 ! default=0
gid 2 int64 ! default=0
supplementalGroups 3 []int64 ? list=atomic

core/v1.LoadBalancerIngress
ip 1 string ?
hostname 2 string ?
ipMode 3 string=v1.LoadBalancerIPMode *?
ports 4 []@core/v1.PortStatus ? list=atomic

core/v1.LoadBalancerStatus
ingress 1 []@core/v1.LoadBalancerIngress ? list=atomic

core/v1.LocalObjectReference atomic
name 1 string ? default=""

core/v1.LocalVolumeSource
path 1 string ! default=""
fsType 2 string *?

core/v1.ModifyVolumeStatus
targetVolumeAttributesClassName 1 string ?
status 2 string=v1.PersistentVolumeClaimModifyVolumeStatus ! default=""

core/v1.NFSVolumeSource
server 1 string ! default=""
path 2 string ! default=""
readOnly 3 bool ?

core/v1.Namespace kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.NamespaceSpec ? default={}
status 3 @core/v1.NamespaceStatus ? default={}

core/v1.NamespaceCondition
type 1 string=v1.NamespaceConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastTransitionTime 4 time ?
reason 5 string ?
message 6 string ?

core/v1.NamespaceSpec
finalizers 1 []string=v1.FinalizerName ? list=atomic

core/v1.NamespaceStatus
phase 1 string=v1.NamespacePhase ?
conditions 2 []@core/v1.NamespaceCondition ? patch=merge key=type list=map:type

core/v1.Node kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.NodeSpec ? default={}
status 3 @core/v1.NodeStatus ? default={}

core/v1.NodeAddress
type 1 string=v1.NodeAddressType ! default=""
address 2 string ! default=""

core/v1.NodeAffinity
requiredDuringSchedulingIgnoredDuringExecution 1 @core/v1.NodeSelector *?
preferredDuringSchedulingIgnoredDuringExecution 2 []@core/v1.PreferredSchedulingTerm ? list=atomic

core/v1.NodeAllocatableResourceClaimStatus
resourceClaimName 1 string ! default=""
containers 2 []string ? list=set
resources 3 {,v1.ResourceName}quantity !

core/v1.NodeCondition
type 1 string=v1.NodeConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastHeartbeatTime 3 time ?
lastTransitionTime 4 time ?
reason 5 string ?
message 6 string ?

core/v1.NodeConfigSource
configMap 2 @core/v1.ConfigMapNodeConfigSource *?

core/v1.NodeConfigStatus
assigned 1 @core/v1.NodeConfigSource *?
active 2 @core/v1.NodeConfigSource *?
lastKnownGood 3 @core/v1.NodeConfigSource *?
error 4 string ?

core/v1.NodeDaemonEndpoints
kubeletEndpoint 1 @core/v1.DaemonEndpoint ? default={}

core/v1.NodeFeatures
supplementalGroupsPolicy 1 bool *?

core/v1.NodeRuntimeHandler
name 1 string default=""
features 2 @core/v1.NodeRuntimeHandlerFeatures *?

core/v1.NodeRuntimeHandlerFeatures
recursiveReadOnlyMounts 1 bool *?
userNamespaces 2 bool *?

core/v1.NodeSelector atomic
nodeSelectorTerms 1 []@core/v1.NodeSelectorTerm ! list=atomic

core/v1.NodeSelectorRequirement
key 1 string ! default=""
operator 2 string=v1.NodeSelectorOperator ! default=""
values 3 []string ? list=atomic

core/v1.NodeSelectorTerm atomic
matchExpressions 1 []@core/v1.NodeSelectorRequirement ? list=atomic
matchFields 2 []@core/v1.NodeSelectorRequirement ? list=atomic

core/v1.NodeSpec
podCIDR 1 string ?
podCIDRs 7 []string ? patch=merge list=set
providerID 3 string ?
unschedulable 4 bool ?
taints 5 []@core/v1.Taint ? list=atomic
configSource 6 @core/v1.NodeConfigSource *?
externalID 2 string ?

core/v1.NodeStatus
capacity 1 {v1.ResourceList}quantity ?
allocatable 2 {v1.ResourceList}quantity ?
phase 3 string=v1.NodePhase ?
conditions 4 []@core/v1.NodeCondition ? patch=merge key=type list=map:type
addresses 5 []@core/v1.NodeAddress ? patch=merge key=type list=map:type
daemonEndpoints 6 @core/v1.NodeDaemonEndpoints ? default={}
nodeInfo 7 @core/v1.NodeSystemInfo ? default={}
images 8 []@core/v1.ContainerImage ? list=atomic
volumesInUse 9 []string=v1.UniqueVolumeName ? list=atomic
volumesAttached 10 []@core/v1.AttachedVolume ? list=atomic
config 11 @core/v1.NodeConfigStatus *?
runtimeHandlers 12 []@core/v1.NodeRuntimeHandler ? list=atomic
features 13 @core/v1.NodeFeatures *?
declaredFeatures 14 []string ? list=atomic

core/v1.NodeSwapStatus
capacity 1 int64 *?

core/v1.NodeSystemInfo
machineID 1 string ! default=""
systemUUID 2 string ! default=""
bootID 3 string ! default=""
kernelVersion 4 string ! default=""
osImage 5 string ! default=""
containerRuntimeVersion 6 string ! default=""
kubeletVersion 7 string ! default=""
kubeProxyVersion 8 string ! default=""
operatingSystem 9 string ! default=""
architecture 10 string ! default=""
swap 11 @core/v1.NodeSwapStatus *?

core/v1.ObjectFieldSelector atomic
apiVersion 1 string ?
fieldPath 2 string ! default=""

core/v1.ObjectReference atomic
kind 1 string ?
namespace 2 string ?
name 3 string ?
uid 4 string=types.UID ?
apiVersion 5 string ?
resourceVersion 6 string ?
fieldPath 7 string ?

core/v1.PersistentVolume kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.PersistentVolumeSpec ? default={}
status 3 @core/v1.PersistentVolumeStatus ? default={}

core/v1.PersistentVolumeClaim kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.PersistentVolumeClaimSpec ? default={}
status 3 @core/v1.PersistentVolumeClaimStatus ? default={}

core/v1.PersistentVolumeClaimCondition
type 1 string=v1.PersistentVolumeClaimConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastProbeTime 3 time ?
lastTransitionTime 4 time ?
reason 5 string ?
message 6 string ?

core/v1.PersistentVolumeClaimSpec
accessModes 1 []string=v1.PersistentVolumeAccessMode ? list=atomic
selector 4 @meta/v1.LabelSelector *?
resources 2 @core/v1.VolumeResourceRequirements ? default={}
volumeName 3 string ?
storageClassName 5 string *?
volumeMode 6 string=v1.PersistentVolumeMode *?
dataSource 7 @core/v1.TypedLocalObjectReference *?
dataSourceRef 8 @core/v1.TypedObjectReference *?
volumeAttributesClassName 9 string *?

core/v1.PersistentVolumeClaimStatus
phase 1 string=v1.PersistentVolumeClaimPhase ?
accessModes 2 []string=v1.PersistentVolumeAccessMode ? list=atomic
capacity 3 {v1.ResourceList}quantity ?
conditions 4 []@core/v1.PersistentVolumeClaimCondition ? patch=merge key=type list=map:type
allocatedResources 5 {v1.ResourceList}quantity ?
allocatedResourceStatuses 7 {,v1.ResourceName}string=v1.ClaimResourceStatus ? map=granular
currentVolumeAttributesClassName 8 string *?
modifyVolumeStatus 9 @core/v1.ModifyVolumeStatus *?

core/v1.PersistentVolumeClaimTemplate
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.PersistentVolumeClaimSpec ! default={}

core/v1.PersistentVolumeClaimVolumeSource
claimName 1 string ! default=""
readOnly 2 bool ?

core/v1.PersistentVolumeSource
gcePersistentDisk 1 @core/v1.GCEPersistentDiskVolumeSource *?
awsElasticBlockStore 2 @core/v1.AWSElasticBlockStoreVolumeSource *?
hostPath 3 @core/v1.HostPathVolumeSource *?
glusterfs 4 @core/v1.GlusterfsPersistentVolumeSource *?
nfs 5 @core/v1.NFSVolumeSource *?
rbd 6 @core/v1.RBDPersistentVolumeSource *?
iscsi 7 @core/v1.ISCSIPersistentVolumeSource *?
cinder 8 @core/v1.CinderPersistentVolumeSource *?
cephfs 9 @core/v1.CephFSPersistentVolumeSource *?
fc 10 @core/v1.FCVolumeSource *?
flocker 11 @core/v1.FlockerVolumeSource *?
flexVolume 12 @core/v1.FlexPersistentVolumeSource *?
azureFile 13 @core/v1.AzureFilePersistentVolumeSource *?
vsphereVolume 14 @core/v1.VsphereVirtualDiskVolumeSource *?
quobyte 15 @core/v1.QuobyteVolumeSource *?
azureDisk 16 @core/v1.AzureDiskVolumeSource *?
photonPersistentDisk 17 @core/v1.PhotonPersistentDiskVolumeSource *?
portworxVolume 18 @core/v1.PortworxVolumeSource *?
scaleIO 19 @core/v1.ScaleIOPersistentVolumeSource *?
local 20 @core/v1.LocalVolumeSource *?
storageos 21 @core/v1.StorageOSPersistentVolumeSource *?
csi 22 @core/v1.CSIPersistentVolumeSource *?

core/v1.PersistentVolumeSpec
capacity 1 {v1.ResourceList}quantity ?
~ 2 @core/v1.PersistentVolumeSource
accessModes 3 []string=v1.PersistentVolumeAccessMode ? list=atomic
claimRef 4 @core/v1.ObjectReference *? map=granular
persistentVolumeReclaimPolicy 5 string=v1.PersistentVolumeReclaimPolicy ?
storageClassName 6 string ?
mountOptions 7 []string ? list=atomic
volumeMode 8 string=v1.PersistentVolumeMode *?
nodeAffinity 9 @core/v1.VolumeNodeAffinity *?
volumeAttributesClassName 10 string *?

core/v1.PersistentVolumeStatus
phase 1 string=v1.PersistentVolumePhase ?
message 2 string ?
reason 3 string ?
lastPhaseTransitionTime 4 time *?

core/v1.PhotonPersistentDiskVolumeSource
pdID 1 string ! default=""
fsType 2 string ?

core/v1.Pod kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.PodSpec ? default={}
status 3 @core/v1.PodStatus ? default={}

core/v1.PodAffinity
requiredDuringSchedulingIgnoredDuringExecution 1 []@core/v1.PodAffinityTerm ? list=atomic
preferredDuringSchedulingIgnoredDuringExecution 2 []@core/v1.WeightedPodAffinityTerm ? list=atomic

core/v1.PodAffinityTerm
labelSelector 1 @meta/v1.LabelSelector *?
namespaces 2 []string ? list=atomic
topologyKey 3 string ! default=""
namespaceSelector 4 @meta/v1.LabelSelector *?
matchLabelKeys 5 []string ? list=atomic
mismatchLabelKeys 6 []string ? list=atomic

core/v1.PodAntiAffinity
requiredDuringSchedulingIgnoredDuringExecution 1 []@core/v1.PodAffinityTerm ? list=atomic
preferredDuringSchedulingIgnoredDuringExecution 2 []@core/v1.WeightedPodAffinityTerm ? list=atomic

core/v1.PodCertificateProjection
signerName 1 string ?!
keyType 2 string ?!
maxExpirationSeconds 3 int32 *?
credentialBundlePath 4 string ?
keyPath 5 string ?
certificateChainPath 6 string ?
userAnnotations 7 {}string ?

core/v1.PodCondition
type 1 string=v1.PodConditionType ! default=""
observedGeneration 7 int64 ?
status 2 string=v1.ConditionStatus ! default=""
lastProbeTime 3 time ?
lastTransitionTime 4 time ?
reason 5 string ?
message 6 string ?

core/v1.PodDNSConfig
nameservers 1 []string ? list=atomic
searches 2 []string ? list=atomic
options 3 []@core/v1.PodDNSConfigOption ? list=atomic

core/v1.PodDNSConfigOption
name 1 string ?
value 2 string *?

core/v1.PodExtendedResourceClaimStatus
requestMappings 1 []@core/v1.ContainerExtendedResourceRequest ! list=atomic
resourceClaimName 2 string ! default=""

core/v1.PodIP
ip 1 string ! default=""

core/v1.PodOS
name 1 string=v1.OSName ! default=""

core/v1.PodReadinessGate
conditionType 1 string=v1.PodConditionType ! default=""

core/v1.PodResourceClaim
name 1 string ! default=""
resourceClaimName 3 string *?
resourceClaimTemplateName 4 string *?

core/v1.PodResourceClaimStatus
name 1 string ! default=""
resourceClaimName 2 string *?

core/v1.PodSchedulingGate
name 1 string ! default=""

core/v1.PodSchedulingGroup
podGroupName 1 string *?

core/v1.PodSecurityContext
seLinuxOptions 1 @core/v1.SELinuxOptions *?
windowsOptions 8 @core/v1.WindowsSecurityContextOptions *?
runAsUser 2 int64 *?
runAsGroup 6 int64 *?
runAsNonRoot 3 bool *?
supplementalGroups 4 []int64 ? list=atomic
supplementalGroupsPolicy 12 string=v1.SupplementalGroupsPolicy *?
fsGroup 5 int64 *?
sysctls 7 []@core/v1.Sysctl ? list=atomic
fsGroupChangePolicy 9 string=v1.PodFSGroupChangePolicy *?
seccompProfile 10 @core/v1.SeccompProfile *?
appArmorProfile 11 @core/v1.AppArmorProfile *?
seLinuxChangePolicy 13 string=v1.PodSELinuxChangePolicy *?

core/v1.PodSpec
volumes 1 []@core/v1.Volume ? patch=merge,retainKeys key=name list=map:name
initContainers 20 []@core/v1.Container ? patch=merge key=name list=map:name
containers 2 []@core/v1.Container ! patch=merge key=name list=map:name
ephemeralContainers 34 []@core/v1.EphemeralContainer ? patch=merge key=name list=map:name
restartPolicy 3 string=v1.RestartPolicy ?
terminationGracePeriodSeconds 4 int64 *?
activeDeadlineSeconds 5 int64 *?
dnsPolicy 6 string=v1.DNSPolicy ?
nodeSelector 7 {}string ? map=atomic
serviceAccountName 8 string ?
serviceAccount 9 string ?
automountServiceAccountToken 21 bool *?
nodeName 10 string ?
hostNetwork 11 bool ?
hostPID 12 bool ?
hostIPC 13 bool ?
shareProcessNamespace 27 bool *?
securityContext 14 @core/v1.PodSecurityContext *?
imagePullSecrets 15 []@core/v1.LocalObjectReference ? patch=merge key=name list=map:name
hostname 16 string ?
subdomain 17 string ?
affinity 18 @core/v1.Affinity *?
schedulerName 19 string ?
tolerations 22 []@core/v1.Toleration ? list=atomic
hostAliases 23 []@core/v1.HostAlias ? patch=merge key=ip list=map:ip
priorityClassName 24 string ?
priority 25 int32 *?
dnsConfig 26 @core/v1.PodDNSConfig *?
readinessGates 28 []@core/v1.PodReadinessGate ? list=atomic
runtimeClassName 29 string *?
enableServiceLinks 30 bool *?
preemptionPolicy 31 string=v1.PreemptionPolicy *?
overhead 32 {v1.ResourceList}quantity ?
topologySpreadConstraints 33 []@core/v1.TopologySpreadConstraint ? patch=merge key=topologyKey list=map:topologyKey,whenUnsatisfiable
setHostnameAsFQDN 35 bool *?
os 36 @core/v1.PodOS *?
hostUsers 37 bool *?
schedulingGates 38 []@core/v1.PodSchedulingGate ? patch=merge key=name list=map:name
resourceClaims 39 []@core/v1.PodResourceClaim ? patch=merge,retainKeys key=name list=map:name
resources 40 @core/v1.ResourceRequirements *?
hostnameOverride 41 string *?
schedulingGroup 43 @core/v1.PodSchedulingGroup *?

core/v1.PodStatus
observedGeneration 17 int64 ?
phase 1 string=v1.PodPhase ?
conditions 2 []@core/v1.PodCondition ? patch=merge key=type list=map:type
message 3 string ?
reason 4 string ?
nominatedNodeName 11 string ?
hostIP 5 string ?
hostIPs 16 []@core/v1.HostIP ? patch=merge key=ip list=atomic
podIP 6 string ?
podIPs 12 []@core/v1.PodIP ? patch=merge key=ip list=map:ip
startTime 7 time *?
initContainerStatuses 10 []@core/v1.ContainerStatus ? list=atomic
containerStatuses 8 []@core/v1.ContainerStatus ? list=atomic
qosClass 9 string=v1.PodQOSClass ?
ephemeralContainerStatuses 13 []@core/v1.ContainerStatus ? list=atomic
resize 14 string=v1.PodResizeStatus ?
resourceClaimStatuses 15 []@core/v1.PodResourceClaimStatus ? patch=merge,retainKeys key=name list=map:name
extendedResourceClaimStatus 18 @core/v1.PodExtendedResourceClaimStatus *?
allocatedResources 19 {v1.ResourceList}quantity ?
resources 20 @core/v1.ResourceRequirements *?
nodeAllocatableResourceClaimStatuses 21 []@core/v1.NodeAllocatableResourceClaimStatus ? list=atomic

core/v1.PodTemplate kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
template 2 @core/v1.PodTemplateSpec ? default={}

core/v1.PodTemplateSpec
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.PodSpec ? default={}

core/v1.PortStatus
port 1 int32 ! default=0
protocol 2 string=v1.Protocol ! default=""
error 3 string *?

core/v1.PortworxVolumeSource
volumeID 1 string ! default=""
fsType 2 string ?
readOnly 3 bool ?

core/v1.PreferredSchedulingTerm
weight 1 int32 ! default=0
preference 2 @core/v1.NodeSelectorTerm ! default={}

core/v1.Probe
~ 1 @core/v1.ProbeHandler
initialDelaySeconds 2 int32 ?
timeoutSeconds 3 int32 ?
periodSeconds 4 int32 ?
successThreshold 5 int32 ?
failureThreshold 6 int32 ?
terminationGracePeriodSeconds 7 int64 *?

core/v1.ProbeHandler
exec 1 @core/v1.ExecAction *?
httpGet 2 @core/v1.HTTPGetAction *?
tcpSocket 3 @core/v1.TCPSocketAction *?
grpc 4 @core/v1.GRPCAction *?

core/v1.ProjectedVolumeSource
sources 1 []@core/v1.VolumeProjection list=atomic
defaultMode 2 int32 *?

core/v1.QuobyteVolumeSource
registry 1 string ! default=""
volume 2 string ! default=""
readOnly 3 bool ?
user 4 string ?
group 5 string ?
tenant 6 string ?

core/v1.RBDPersistentVolumeSource
monitors 1 []string ! list=atomic
image 2 string ! default=""
fsType 3 string ?
pool 4 string ? default="rbd"
user 5 string ? default="admin"
keyring 6 string ? default="/etc/ceph/keyring"
secretRef 7 @core/v1.SecretReference *?
readOnly 8 bool ?

core/v1.RBDVolumeSource
monitors 1 []string ! list=atomic
image 2 string ! default=""
fsType 3 string ?
pool 4 string ? default="rbd"
user 5 string ? default="admin"
keyring 6 string ? default="/etc/ceph/keyring"
secretRef 7 @core/v1.LocalObjectReference *?
readOnly 8 bool ?

core/v1.ReplicationController kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.ReplicationControllerSpec ? default={}
status 3 @core/v1.ReplicationControllerStatus ? default={}

core/v1.ReplicationControllerCondition
type 1 string=v1.ReplicationControllerConditionType ! default=""
status 2 string=v1.ConditionStatus ! default=""
lastTransitionTime 3 time ?
reason 4 string ?
message 5 string ?

core/v1.ReplicationControllerSpec
replicas 1 int32 *? default=1
minReadySeconds 4 int32 ? default=0
selector 2 {}string ? map=atomic
template 3 @core/v1.PodTemplateSpec *?

core/v1.ReplicationControllerStatus
replicas 1 int32 ! default=0
fullyLabeledReplicas 2 int32 ?
readyReplicas 4 int32 ?
availableReplicas 5 int32 ?
observedGeneration 3 int64 ?
conditions 6 []@core/v1.ReplicationControllerCondition ? patch=merge key=type list=map:type

core/v1.ResourceClaim
name 1 string ! default=""
request 2 string ?

core/v1.ResourceFieldSelector atomic
containerName 1 string ?
resource 2 string ! default=""
divisor 3 quantity ?

core/v1.ResourceHealth
resourceID 1 string=v1.ResourceID ! default=""
health 2 string=v1.ResourceHealthStatus ?
message 6 string *?

core/v1.ResourceQuota kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.ResourceQuotaSpec ? default={}
status 3 @core/v1.ResourceQuotaStatus ? default={}

core/v1.ResourceQuotaSpec
hard 1 {v1.ResourceList}quantity ?
scopes 2 []string=v1.ResourceQuotaScope ? list=atomic
scopeSelector 3 @core/v1.ScopeSelector *?

core/v1.ResourceQuotaStatus
hard 1 {v1.ResourceList}quantity ?
used 2 {v1.ResourceList}quantity ?

core/v1.ResourceRequirements
limits 1 {v1.ResourceList}quantity ?
requests 2 {v1.ResourceList}quantity ?
claims 3 []@core/v1.ResourceClaim ? list=map:name

core/v1.ResourceStatus
name 1 string=v1.ResourceName ! default=""
resources 2 []@core/v1.ResourceHealth ? list=map:resourceID

core/v1.SELinuxOptions
user 1 string ?
role 2 string ?
type 3 string ?
level 4 string ?

core/v1.ScaleIOPersistentVolumeSource
gateway 1 string ! default=""
system 2 string ! default=""
secretRef 3 @core/v1.SecretReference *!
sslEnabled 4 bool ?
protectionDomain 5 string ?
storagePool 6 string ?
storageMode 7 string ? default="ThinProvisioned"
volumeName 8 string ?
fsType 9 string ? default="xfs"
readOnly 10 bool ?

core/v1.ScaleIOVolumeSource
gateway 1 string ! default=""
system 2 string ! default=""
secretRef 3 @core/v1.LocalObjectReference *!
sslEnabled 4 bool ?
protectionDomain 5 string ?
storagePool 6 string ?
storageMode 7 string ? default="ThinProvisioned"
volumeName 8 string ?
fsType 9 string ? default="xfs"
readOnly 10 bool ?

core/v1.ScopeSelector atomic
matchExpressions 1 []@core/v1.ScopedResourceSelectorRequirement ? list=atomic

core/v1.ScopedResourceSelectorRequirement
scopeName 1 string=v1.ResourceQuotaScope ! default=""
operator 2 string=v1.ScopeSelectorOperator ! default=""
values 3 []string ? list=atomic

core/v1.SeccompProfile
type 1 string=v1.SeccompProfileType ! default=""
localhostProfile 2 string *?

core/v1.Secret kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
immutable 5 bool *?
data 2 {}bytes ?
stringData 4 {}string ?
type 3 string=v1.SecretType ?

core/v1.SecretEnvSource
~ 1 @core/v1.LocalObjectReference
optional 2 bool *?

core/v1.SecretKeySelector atomic
~ 1 @core/v1.LocalObjectReference
key 2 string ! default=""
optional 3 bool *?

core/v1.SecretProjection
~ 1 @core/v1.LocalObjectReference
items 2 []@core/v1.KeyToPath ? list=atomic
optional 4 bool *?

core/v1.SecretReference atomic
name 1 string ?
namespace 2 string ?

core/v1.SecretVolumeSource
secretName 1 string ?
items 2 []@core/v1.KeyToPath ? list=atomic
defaultMode 3 int32 *?
optional 4 bool *?

core/v1.SecurityContext
capabilities 1 @core/v1.Capabilities *?
privileged 2 bool *?
seLinuxOptions 3 @core/v1.SELinuxOptions *?
windowsOptions 10 @core/v1.WindowsSecurityContextOptions *?
runAsUser 4 int64 *?
runAsGroup 8 int64 *?
runAsNonRoot 5 bool *?
readOnlyRootFilesystem 6 bool *?
allowPrivilegeEscalation 7 bool *?
procMount 9 string=v1.ProcMountType *?
seccompProfile 11 @core/v1.SeccompProfile *?
appArmorProfile 12 @core/v1.AppArmorProfile *?

core/v1.Service kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @core/v1.ServiceSpec ? default={}
status 3 @core/v1.ServiceStatus ? default={}

core/v1.ServiceAccount kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
secrets 2 []@core/v1.ObjectReference ? patch=merge key=name list=map:name
imagePullSecrets 3 []@core/v1.LocalObjectReference ? list=atomic
automountServiceAccountToken 4 bool *?

core/v1.ServiceAccountTokenProjection
audience 1 string ?
expirationSeconds 2 int64 *?
path 3 string ! default=""

core/v1.ServicePort
name 1 string ?
protocol 2 string=v1.Protocol ? default="TCP"
appProtocol 6 string *?
port 3 int32 ! default=0
targetPort 4 intOrString ?
nodePort 5 int32 ?

core/v1.ServiceSpec
ports 1 []@core/v1.ServicePort ? patch=merge key=port list=map:port,protocol
selector 2 {}string ? map=atomic
clusterIP 3 string ?
clusterIPs 18 []string ? list=atomic
type 4 string=v1.ServiceType ?
externalIPs 5 []string ? list=atomic
sessionAffinity 7 string=v1.ServiceAffinity ?
loadBalancerIP 8 string ?
loadBalancerSourceRanges 9 []string ? list=atomic
externalName 10 string ?
externalTrafficPolicy 11 string=v1.ServiceExternalTrafficPolicy ?
healthCheckNodePort 12 int32 ?
publishNotReadyAddresses 13 bool ?
sessionAffinityConfig 14 @core/v1.SessionAffinityConfig *?
ipFamilies 19 []string=v1.IPFamily ? list=atomic
ipFamilyPolicy 17 string=v1.IPFamilyPolicy *?
allocateLoadBalancerNodePorts 20 bool *?
loadBalancerClass 21 string *?
internalTrafficPolicy 22 string=v1.ServiceInternalTrafficPolicy *?
trafficDistribution 23 string *?

core/v1.ServiceStatus
loadBalancer 1 @core/v1.LoadBalancerStatus ? default={}
conditions 2 []@meta/v1.Condition ? patch=merge key=type list=map:type

core/v1.SessionAffinityConfig
clientIP 1 @core/v1.ClientIPConfig *?

core/v1.SleepAction
seconds 1 int64 ! default=0

core/v1.StorageOSPersistentVolumeSource
volumeName 1 string ?
volumeNamespace 2 string ?
fsType 3 string ?
readOnly 4 bool ?
secretRef 5 @core/v1.ObjectReference *?

core/v1.StorageOSVolumeSource
volumeName 1 string ?
volumeNamespace 2 string ?
fsType 3 string ?
readOnly 4 bool ?
secretRef 5 @core/v1.LocalObjectReference *?

core/v1.Sysctl
name 1 string ! default=""
value 2 string ! default=""

core/v1.TCPSocketAction
port 1 intOrString !
host 2 string ?

core/v1.Taint
key 1 string ! default=""
value 2 string ?
effect 3 string=v1.TaintEffect ! default=""
timeAdded 4 time *?

core/v1.Toleration
key 1 string ?
operator 2 string=v1.TolerationOperator ?
value 3 string ?
effect 4 string=v1.TaintEffect ?
tolerationSeconds 5 int64 *?

core/v1.TopologySelectorLabelRequirement
key 1 string ! default=""
values 2 []string ! list=atomic

core/v1.TopologySelectorTerm atomic
matchLabelExpressions 1 []@core/v1.TopologySelectorLabelRequirement ? list=atomic

core/v1.TopologySpreadConstraint
maxSkew 1 int32 ! default=0
topologyKey 2 string ! default=""
whenUnsatisfiable 3 string=v1.UnsatisfiableConstraintAction ! default=""
labelSelector 4 @meta/v1.LabelSelector *?
minDomains 5 int32 *?
nodeAffinityPolicy 6 string=v1.NodeInclusionPolicy *?
nodeTaintsPolicy 7 string=v1.NodeInclusionPolicy *?
matchLabelKeys 8 []string ? list=atomic

core/v1.TypedLocalObjectReference atomic
apiGroup 1 string *
kind 2 string ! default=""
name 3 string ! default=""

core/v1.TypedObjectReference
apiGroup 1 string *
kind 2 string ! default=""
name 3 string ! default=""
namespace 4 string *?

core/v1.Volume
name 1 string ! default=""
~ 2 @core/v1.VolumeSource

core/v1.VolumeDevice
name 1 string ! default=""
devicePath 2 string ! default=""

core/v1.VolumeMount
name 1 string ! default=""
readOnly 2 bool ?
recursiveReadOnly 7 string=v1.RecursiveReadOnlyMode *?
mountPath 3 string ! default=""
subPath 4 string ?
mountPropagation 5 string=v1.MountPropagationMode *?
subPathExpr 6 string ?

core/v1.VolumeMountStatus
name 1 string ! default=""
mountPath 2 string ! default=""
readOnly 3 bool ?
recursiveReadOnly 4 string=v1.RecursiveReadOnlyMode *?
volumeStatus 5 @core/v1.VolumeStatus *?

core/v1.VolumeNodeAffinity
required 1 @core/v1.NodeSelector *?

core/v1.VolumeProjection
secret 1 @core/v1.SecretProjection *?
downwardAPI 2 @core/v1.DownwardAPIProjection *?
configMap 3 @core/v1.ConfigMapProjection *?
serviceAccountToken 4 @core/v1.ServiceAccountTokenProjection *?
clusterTrustBundle 5 @core/v1.ClusterTrustBundleProjection *?
podCertificate 6 @core/v1.PodCertificateProjection *?

core/v1.VolumeResourceRequirements
limits 1 {v1.ResourceList}quantity ?
requests 2 {v1.ResourceList}quantity ?

core/v1.VolumeSource
hostPath 1 @core/v1.HostPathVolumeSource *?
emptyDir 2 @core/v1.EmptyDirVolumeSource *?
gcePersistentDisk 3 @core/v1.GCEPersistentDiskVolumeSource *?
awsElasticBlockStore 4 @core/v1.AWSElasticBlockStoreVolumeSource *?
gitRepo 5 @core/v1.GitRepoVolumeSource *?
secret 6 @core/v1.SecretVolumeSource *?
nfs 7 @core/v1.NFSVolumeSource *?
iscsi 8 @core/v1.ISCSIVolumeSource *?
glusterfs 9 @core/v1.GlusterfsVolumeSource *?
persistentVolumeClaim 10 @core/v1.PersistentVolumeClaimVolumeSource *?
rbd 11 @core/v1.RBDVolumeSource *?
flexVolume 12 @core/v1.FlexVolumeSource *?
cinder 13 @core/v1.CinderVolumeSource *?
cephfs 14 @core/v1.CephFSVolumeSource *?
flocker 15 @core/v1.FlockerVolumeSource *?
downwardAPI 16 @core/v1.DownwardAPIVolumeSource *?
fc 17 @core/v1.FCVolumeSource *?
azureFile 18 @core/v1.AzureFileVolumeSource *?
configMap 19 @core/v1.ConfigMapVolumeSource *?
vsphereVolume 20 @core/v1.VsphereVirtualDiskVolumeSource *?
quobyte 21 @core/v1.QuobyteVolumeSource *?
azureDisk 22 @core/v1.AzureDiskVolumeSource *?
photonPersistentDisk 23 @core/v1.PhotonPersistentDiskVolumeSource *?
projected 26 @core/v1.ProjectedVolumeSource *?
portworxVolume 24 @core/v1.PortworxVolumeSource *?
scaleIO 25 @core/v1.ScaleIOVolumeSource *?
storageos 27 @core/v1.StorageOSVolumeSource *?
csi 28 @core/v1.CSIVolumeSource *?
ephemeral 29 @core/v1.EphemeralVolumeSource *?
image 30 @core/v1.ImageVolumeSource *?

core/v1.VolumeStatus
image 1 @core/v1.ImageVolumeStatus *?

core/v1.VsphereVirtualDiskVolumeSource
volumePath 1 string ! default=""
fsType 2 string ?
storagePolicyName 3 string ?
storagePolicyID 4 string ?

core/v1.WeightedPodAffinityTerm
weight 1 int32 ! default=0
podAffinityTerm 2 @core/v1.PodAffinityTerm ! default={}

core/v1.WindowsSecurityContextOptions
gmsaCredentialSpecName 1 string *?
gmsaCredentialSpec 2 string *?
runAsUserName 3 string *?
hostProcess 4 bool *?

discovery.k8s.io/v1.Endpoint
addresses 1 []string ! list=set
conditions 2 @discovery.k8s.io/v1.EndpointConditions ? default={}
hostname 3 string *?
targetRef 4 @core/v1.ObjectReference *?
deprecatedTopology 5 {}string ?
nodeName 6 string *?
zone 7 string *?
hints 8 @discovery.k8s.io/v1.EndpointHints *?

discovery.k8s.io/v1.EndpointConditions
ready 1 bool *?
serving 2 bool *?
terminating 3 bool *?

discovery.k8s.io/v1.EndpointHints
forZones 1 []@discovery.k8s.io/v1.ForZone ? list=atomic
forNodes 2 []@discovery.k8s.io/v1.ForNode ? list=atomic

discovery.k8s.io/v1.EndpointPort atomic
name 1 string *?
protocol 2 string=v1.Protocol *?
port 3 int32 *?
appProtocol 4 string *?

discovery.k8s.io/v1.EndpointSlice kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
addressType 4 string=v1.AddressType ! default=""
endpoints 2 []@discovery.k8s.io/v1.Endpoint list=atomic
ports 3 []@discovery.k8s.io/v1.EndpointPort list=atomic

discovery.k8s.io/v1.ForNode
name 1 string ! default=""

discovery.k8s.io/v1.ForZone
name 1 string ! default=""

events.k8s.io/v1.Event kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta default={}
eventTime 2 microTime !
series 3 @events.k8s.io/v1.EventSeries *?
reportingController 4 string ?
reportingInstance 5 string ?
action 6 string ?
reason 7 string ?
regarding 8 @core/v1.ObjectReference ? default={}
related 9 @core/v1.ObjectReference *?
note 10 string ?
type 11 string ?
deprecatedSource 12 @core/v1.EventSource ? default={}
deprecatedFirstTimestamp 13 time ?
deprecatedLastTimestamp 14 time ?
deprecatedCount 15 int32 ?

events.k8s.io/v1.EventSeries
count 1 int32 ! default=0
lastObservedTime 2 microTime !

meta/v1.Condition
type 1 string ! default=""
status 2 string=v1.ConditionStatus ! default=""
observedGeneration 3 int64 ?
lastTransitionTime 4 time !
reason 5 string ! default=""
message 6 string ! default=""

meta/v1.CreateOptions kind
~ 0 @meta/v1.TypeMeta
dryRun 1 []string ?
fieldManager 3 string ?
fieldValidation 4 string ?

meta/v1.DeleteOptions kind
~ 0 @meta/v1.TypeMeta
gracePeriodSeconds 1 int64 *?
preconditions 2 @meta/v1.Preconditions *?
orphanDependents 3 bool *?
propagationPolicy 4 string=v1.DeletionPropagation *?
dryRun 5 []string ? list=atomic
ignoreStoreReadErrorWithClusterBreakingPotential 6 bool *?

meta/v1.FieldSelectorRequirement
key 1 string ! default=""
operator 2 string=v1.FieldSelectorOperator ! default=""
values 3 []string ? list=atomic

meta/v1.GetOptions kind
~ 0 @meta/v1.TypeMeta
resourceVersion 1 string ?

meta/v1.LabelSelector atomic
matchLabels 1 {}string ?
matchExpressions 2 []@meta/v1.LabelSelectorRequirement ? list=atomic

meta/v1.LabelSelectorRequirement
key 1 string ! default=""
operator 2 string=v1.LabelSelectorOperator ! default=""
values 3 []string ? list=atomic

meta/v1.ListMeta
selfLink 1 string ?
resourceVersion 2 string ?
continue 3 string ?
remainingItemCount 4 int64 *?
shardInfo 5 @meta/v1.ShardInfo *?

meta/v1.ListOptions kind
~ 0 @meta/v1.TypeMeta
labelSelector 1 string ?
fieldSelector 2 string ?
watch 3 bool ?
allowWatchBookmarks 9 bool ?
resourceVersion 4 string ?
resourceVersionMatch 10 string=v1.ResourceVersionMatch ?
timeoutSeconds 5 int64 *?
limit 7 int64 ?
continue 8 string ?
sendInitialEvents 11 bool *?
shardSelector 15 string ?

meta/v1.ManagedFieldsEntry
manager 1 string ?
operation 2 string=v1.ManagedFieldsOperationType ?
apiVersion 3 string ?
time 4 time *?
fieldsType 6 string ?
fieldsV1 7 fieldsV1 *?
subresource 8 string ?

meta/v1.ObjectMeta
name 1 string ?
generateName 2 string ?
namespace 3 string ?
selfLink 4 string ?
uid 5 string=types.UID ?
resourceVersion 6 string ?
generation 7 int64 ?
creationTimestamp 8 time ?0
deletionTimestamp 9 time *?
deletionGracePeriodSeconds 10 int64 *?
labels 11 {}string ?
annotations 12 {}string ?
ownerReferences 13 []@meta/v1.OwnerReference ? patch=merge key=uid list=map:uid
finalizers 14 []string ? patch=merge list=set
managedFields 17 []@meta/v1.ManagedFieldsEntry ? list=atomic

meta/v1.OwnerReference atomic
apiVersion 5 string ! default=""
kind 1 string ! default=""
name 3 string ! default=""
uid 4 string=types.UID ! default=""
controller 6 bool *?
blockOwnerDeletion 7 bool *?

meta/v1.PartialObjectMetadata kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ?

meta/v1.PatchOptions kind
~ 0 @meta/v1.TypeMeta
dryRun 1 []string ?
force 2 bool *?
fieldManager 3 string ?
fieldValidation 4 string ?

meta/v1.Preconditions
uid 1 string=types.UID *?
resourceVersion 2 string *?

meta/v1.ShardInfo
selector 1 string ! default=""

meta/v1.Status kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ListMeta ? default={}
status 2 string ?
message 3 string ?
reason 4 string=v1.StatusReason ?
details 5 @meta/v1.StatusDetails *?
code 6 int32 ?

meta/v1.StatusCause
reason 1 string=v1.CauseType ?
message 2 string ?
field 3 string ?

meta/v1.StatusDetails
name 1 string ?
group 2 string ?
kind 3 string ?
uid 6 string=types.UID ?
causes 4 []@meta/v1.StatusCause ? list=atomic
retryAfterSeconds 5 int32 ?

meta/v1.TypeMeta
kind 1 string ?
apiVersion 2 string ?

meta/v1.UpdateOptions kind
~ 0 @meta/v1.TypeMeta
dryRun 1 []string ?
fieldManager 2 string ?
fieldValidation 3 string ?

node.k8s.io/v1.Overhead
podFixed 1 {v1.ResourceList}quantity ?

node.k8s.io/v1.RuntimeClass kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
handler 2 string ! default=""
overhead 3 @node.k8s.io/v1.Overhead *?
scheduling 4 @node.k8s.io/v1.Scheduling *?

node.k8s.io/v1.Scheduling
nodeSelector 1 {}string ? map=atomic
tolerations 2 []@core/v1.Toleration ? list=atomic

policy/v1.Eviction kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
deleteOptions 2 @meta/v1.DeleteOptions *?

policy/v1.PodDisruptionBudget kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @policy/v1.PodDisruptionBudgetSpec ? default={}
status 3 @policy/v1.PodDisruptionBudgetStatus ? default={}

policy/v1.PodDisruptionBudgetSpec
minAvailable 1 intOrString *?
selector 2 @meta/v1.LabelSelector *? patch=replace
maxUnavailable 3 intOrString *?
unhealthyPodEvictionPolicy 4 string=v1.UnhealthyPodEvictionPolicyType *?

policy/v1.PodDisruptionBudgetStatus
observedGeneration 1 int64 ?
disruptedPods 2 {}time ?
disruptionsAllowed 3 int32 default=0
currentHealthy 4 int32 default=0
desiredHealthy 5 int32 default=0
expectedPods 6 int32 default=0
conditions 7 []@meta/v1.Condition ? patch=merge key=type list=map:type

rbac.authorization.k8s.io/v1.AggregationRule
clusterRoleSelectors 1 []@meta/v1.LabelSelector ? list=atomic

rbac.authorization.k8s.io/v1.ClusterRole kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
rules 2 []@rbac.authorization.k8s.io/v1.PolicyRule list=atomic
aggregationRule 3 @rbac.authorization.k8s.io/v1.AggregationRule *?

rbac.authorization.k8s.io/v1.ClusterRoleBinding kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
subjects 2 []@rbac.authorization.k8s.io/v1.Subject ? list=atomic
roleRef 3 @rbac.authorization.k8s.io/v1.RoleRef ! default={}

rbac.authorization.k8s.io/v1.PolicyRule
verbs 1 []string ! list=atomic
apiGroups 2 []string ? list=atomic
resources 3 []string ? list=atomic
resourceNames 4 []string ? list=atomic
nonResourceURLs 5 []string ? list=atomic

rbac.authorization.k8s.io/v1.Role kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
rules 2 []@rbac.authorization.k8s.io/v1.PolicyRule list=atomic

rbac.authorization.k8s.io/v1.RoleBinding kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
subjects 2 []@rbac.authorization.k8s.io/v1.Subject ? list=atomic
roleRef 3 @rbac.authorization.k8s.io/v1.RoleRef ! default={}

rbac.authorization.k8s.io/v1.RoleRef atomic
apiGroup 1 string default=""
kind 2 string ! default=""
name 3 string ! default=""

rbac.authorization.k8s.io/v1.Subject atomic
kind 1 string ! default=""
apiGroup 2 string ?
name 3 string ! default=""
namespace 4 string ?

resource.k8s.io/v1.AllocatedDeviceStatus
driver 1 string ! default=""
pool 2 string ! default=""
device 3 string ! default=""
shareID 7 string *?
conditions 4 []@meta/v1.Condition list=map:type
data 5 rawExtension *?
networkData 6 @resource.k8s.io/v1.NetworkDeviceData *?

resource.k8s.io/v1.AllocationResult
devices 1 @resource.k8s.io/v1.DeviceAllocationResult ? default={}
nodeSelector 3 @core/v1.NodeSelector *?
allocationTimestamp 5 time *?

resource.k8s.io/v1.CELDeviceSelector
expression 1 string ! default=""

resource.k8s.io/v1.CapacityRequestPolicy
default 1 quantity *
validValues 3 []quantity ? list=atomic
validRange 4 @resource.k8s.io/v1.CapacityRequestPolicyRange *?

resource.k8s.io/v1.CapacityRequestPolicyRange
min 1 quantity *?!
max 2 quantity *?
step 3 quantity *?

resource.k8s.io/v1.CapacityRequirements
requests 1 {,v1.QualifiedName}quantity ?

resource.k8s.io/v1.Counter
value 1 quantity !

resource.k8s.io/v1.CounterSet
name 1 string ! default=""
counters 2 {}@resource.k8s.io/v1.Counter ?!

resource.k8s.io/v1.Device
name 1 string ! default=""
attributes 2 {,v1.QualifiedName}@resource.k8s.io/v1.DeviceAttribute ?
capacity 3 {,v1.QualifiedName}@resource.k8s.io/v1.DeviceCapacity ?
consumesCounters 4 []@resource.k8s.io/v1.DeviceCounterConsumption ? list=atomic
nodeName 5 string *?
nodeSelector 6 @core/v1.NodeSelector *?
allNodes 7 bool *?
taints 8 []@resource.k8s.io/v1.DeviceTaint ? list=atomic
bindsToNode 9 bool *?
bindingConditions 10 []string ? list=atomic
bindingFailureConditions 11 []string ? list=atomic
allowMultipleAllocations 12 bool *?
nodeAllocatableResourceMappings 13 {,v1.ResourceName}@resource.k8s.io/v1.NodeAllocatableResourceMapping ?

resource.k8s.io/v1.DeviceAllocationConfiguration
source 1 string=v1.AllocationConfigSource ! default=""
requests 2 []string ? list=atomic
~ 3 @resource.k8s.io/v1.DeviceConfiguration

resource.k8s.io/v1.DeviceAllocationResult
results 1 []@resource.k8s.io/v1.DeviceRequestAllocationResult ? list=atomic
config 2 []@resource.k8s.io/v1.DeviceAllocationConfiguration ? list=atomic

resource.k8s.io/v1.DeviceAttribute
int 2 int64 *?
bool 3 bool *?
string 4 string *?
version 5 string *?
ints 6 []int64 ? list=atomic
bools 7 []bool ? list=atomic
strings 8 []string ? list=atomic
versions 9 []string ? list=atomic

resource.k8s.io/v1.DeviceCapacity
value 1 quantity !
requestPolicy 2 @resource.k8s.io/v1.CapacityRequestPolicy *?

resource.k8s.io/v1.DeviceClaim
requests 1 []@resource.k8s.io/v1.DeviceRequest list=atomic
constraints 2 []@resource.k8s.io/v1.DeviceConstraint ? list=atomic
config 3 []@resource.k8s.io/v1.DeviceClaimConfiguration ? list=atomic

resource.k8s.io/v1.DeviceClaimConfiguration
requests 1 []string ? list=atomic
~ 2 @resource.k8s.io/v1.DeviceConfiguration

resource.k8s.io/v1.DeviceClass kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @resource.k8s.io/v1.DeviceClassSpec ! default={}

resource.k8s.io/v1.DeviceClassConfiguration
~ 1 @resource.k8s.io/v1.DeviceConfiguration

resource.k8s.io/v1.DeviceClassSpec
selectors 1 []@resource.k8s.io/v1.DeviceSelector ? list=atomic
config 2 []@resource.k8s.io/v1.DeviceClassConfiguration ? list=atomic
extendedResourceName 4 string *?

resource.k8s.io/v1.DeviceConfiguration
opaque 1 @resource.k8s.io/v1.OpaqueDeviceConfiguration *?

resource.k8s.io/v1.DeviceConstraint
requests 1 []string ? list=atomic
matchAttribute 2 string=v1.FullyQualifiedName *?
distinctAttribute 3 string=v1.FullyQualifiedName *?

resource.k8s.io/v1.DeviceCounterConsumption
counterSet 1 string ! default=""
counters 2 {}@resource.k8s.io/v1.Counter ?!

resource.k8s.io/v1.DeviceRequest
name 1 string ! default=""
exactly 2 @resource.k8s.io/v1.ExactDeviceRequest *?
firstAvailable 3 []@resource.k8s.io/v1.DeviceSubRequest ? list=atomic

resource.k8s.io/v1.DeviceRequestAllocationResult
request 1 string ! default=""
driver 2 string ! default=""
pool 3 string ! default=""
device 4 string ! default=""
adminAccess 5 bool *?
tolerations 6 []@resource.k8s.io/v1.DeviceToleration ? list=atomic
bindingConditions 7 []string ? list=atomic
bindingFailureConditions 8 []string ? list=atomic
shareID 9 string=types.UID *?
consumedCapacity 10 {,v1.QualifiedName}quantity ?

resource.k8s.io/v1.DeviceSelector
cel 1 @resource.k8s.io/v1.CELDeviceSelector *?

resource.k8s.io/v1.DeviceSubRequest
name 1 string ! default=""
deviceClassName 2 string ! default=""
selectors 3 []@resource.k8s.io/v1.DeviceSelector ? list=atomic
allocationMode 4 string=v1.DeviceAllocationMode ?
count 5 int64 ?
tolerations 6 []@resource.k8s.io/v1.DeviceToleration ? list=atomic
capacity 7 @resource.k8s.io/v1.CapacityRequirements *?

resource.k8s.io/v1.DeviceTaint
key 1 string ! default=""
value 2 string ?
effect 3 string=v1.DeviceTaintEffect ! default=""
timeAdded 4 time *?

resource.k8s.io/v1.DeviceToleration
key 1 string ?
operator 2 string=v1.DeviceTolerationOperator ? default="Equal"
value 3 string ?
effect 4 string=v1.DeviceTaintEffect ?
tolerationSeconds 5 int64 *?

resource.k8s.io/v1.ExactDeviceRequest
deviceClassName 1 string ! default=""
selectors 2 []@resource.k8s.io/v1.DeviceSelector ? list=atomic
allocationMode 3 string=v1.DeviceAllocationMode ?
count 4 int64 ?
adminAccess 5 bool *?
tolerations 6 []@resource.k8s.io/v1.DeviceToleration ? list=atomic
capacity 7 @resource.k8s.io/v1.CapacityRequirements *?

resource.k8s.io/v1.NetworkDeviceData
interfaceName 1 string ?
ips 2 []string ? list=atomic
hardwareAddress 3 string ?

resource.k8s.io/v1.NodeAllocatableResourceMapping
capacityKey 1 string=v1.QualifiedName *?
allocationMultiplier 2 quantity *?

resource.k8s.io/v1.OpaqueDeviceConfiguration
driver 1 string ! default=""
parameters 2 rawExtension !

resource.k8s.io/v1.ResourceClaim kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @resource.k8s.io/v1.ResourceClaimSpec ! default={}
status 3 @resource.k8s.io/v1.ResourceClaimStatus ? default={}

resource.k8s.io/v1.ResourceClaimConsumerReference
apiGroup 1 string ?
resource 3 string ! default=""
name 4 string ! default=""
uid 5 string=types.UID ! default=""

resource.k8s.io/v1.ResourceClaimSpec
devices 1 @resource.k8s.io/v1.DeviceClaim default={}

resource.k8s.io/v1.ResourceClaimStatus
allocation 1 @resource.k8s.io/v1.AllocationResult *?
reservedFor 2 []@resource.k8s.io/v1.ResourceClaimConsumerReference ? patch=merge key=uid list=map:uid
devices 4 []@resource.k8s.io/v1.AllocatedDeviceStatus ? list=map:driver,device,pool,shareID

resource.k8s.io/v1.ResourceClaimTemplate kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @resource.k8s.io/v1.ResourceClaimTemplateSpec ! default={}

resource.k8s.io/v1.ResourceClaimTemplateSpec
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @resource.k8s.io/v1.ResourceClaimSpec ! default={}

resource.k8s.io/v1.ResourcePool
name 1 string ! default=""
generation 2 int64 ! default=0
resourceSliceCount 3 int64 ! default=0

resource.k8s.io/v1.ResourceSlice kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @resource.k8s.io/v1.ResourceSliceSpec ! default={}

resource.k8s.io/v1.ResourceSliceSpec
driver 1 string ! default=""
pool 2 @resource.k8s.io/v1.ResourcePool ! default={}
nodeName 3 string *?
nodeSelector 4 @core/v1.NodeSelector *?
allNodes 5 bool *?
devices 6 []@resource.k8s.io/v1.Device ? list=atomic
perDeviceNodeSelection 7 bool *?
sharedCounters 8 []@resource.k8s.io/v1.CounterSet ? list=atomic

scheduling.k8s.io/v1.PriorityClass kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
value 2 int32 default=0
globalDefault 3 bool ?
description 4 string ?
preemptionPolicy 5 string=v1.PreemptionPolicy *?

storage.k8s.io/v1.CSIDriver kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @storage.k8s.io/v1.CSIDriverSpec ! default={}

storage.k8s.io/v1.CSIDriverSpec
attachRequired 1 bool *?
podInfoOnMount 2 bool *?
volumeLifecycleModes 3 []string=v1.VolumeLifecycleMode ? list=set
storageCapacity 4 bool *?
fsGroupPolicy 5 string=v1.FSGroupPolicy *?
tokenRequests 6 []@storage.k8s.io/v1.TokenRequest ? list=atomic
requiresRepublish 7 bool *?
seLinuxMount 8 bool *?
nodeAllocatableUpdatePeriodSeconds 9 int64 *?
serviceAccountTokenInSecrets 10 bool *?
preventPodSchedulingIfMissing 11 bool *?

storage.k8s.io/v1.CSINode kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @storage.k8s.io/v1.CSINodeSpec ! default={}

storage.k8s.io/v1.CSINodeDriver
name 1 string ! default=""
nodeID 2 string ! default=""
topologyKeys 3 []string list=atomic
allocatable 4 @storage.k8s.io/v1.VolumeNodeResources *?

storage.k8s.io/v1.CSINodeSpec
drivers 1 []@storage.k8s.io/v1.CSINodeDriver ! patch=merge key=name list=map:name

storage.k8s.io/v1.CSIStorageCapacity kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
nodeTopology 2 @meta/v1.LabelSelector *?
storageClassName 3 string ! default=""
capacity 4 quantity *?
maximumVolumeSize 5 quantity *?

storage.k8s.io/v1.StorageClass kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
provisioner 2 string ! default=""
parameters 3 {}string ?
reclaimPolicy 4 string=v1.PersistentVolumeReclaimPolicy *?
mountOptions 5 []string ? list=atomic
allowVolumeExpansion 6 bool *?
volumeBindingMode 7 string=v1.VolumeBindingMode *?
allowedTopologies 8 []@core/v1.TopologySelectorTerm ? list=atomic

storage.k8s.io/v1.TokenRequest
audience 1 string ! default=""
expirationSeconds 2 int64 *?

storage.k8s.io/v1.VolumeAttachment kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
spec 2 @storage.k8s.io/v1.VolumeAttachmentSpec ! default={}
status 3 @storage.k8s.io/v1.VolumeAttachmentStatus ? default={}

storage.k8s.io/v1.VolumeAttachmentSource
persistentVolumeName 1 string *?
inlineVolumeSpec 2 @core/v1.PersistentVolumeSpec *?

storage.k8s.io/v1.VolumeAttachmentSpec
attacher 1 string ! default=""
source 2 @storage.k8s.io/v1.VolumeAttachmentSource ! default={}
nodeName 3 string ! default=""

storage.k8s.io/v1.VolumeAttachmentStatus
attached 1 bool ! default=false
attachmentMetadata 2 {}string ?
attachError 3 @storage.k8s.io/v1.VolumeError *?
detachError 4 @storage.k8s.io/v1.VolumeError *?

storage.k8s.io/v1.VolumeAttributesClass kind
~ 0 @meta/v1.TypeMeta
metadata 1 @meta/v1.ObjectMeta ? default={}
driverName 2 string ! default=""
parameters 3 {}string ?

storage.k8s.io/v1.VolumeError
time 1 time ?
message 2 string ?
errorCode 3 int32 *?

storage.k8s.io/v1.VolumeNodeResources
count 1 int32 *?`;
