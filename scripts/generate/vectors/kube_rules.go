package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

// refreshKubeRule answers a line of src/kube/testing: one of the rules that src/kube has from Kubernetes.
func refreshKubeRule(r *record) {
	switch rule := r.text("check"); rule {
	case "nodeSelector":
		refreshNodeSelector(r)
	case "labelSelector":
		refreshLabelSelector(r)
	case "toleration":
		refreshToleration(r)
	case "migration":
		refreshMigration(r)
	default:
		panic("no rule " + rule)
	}
}

func refreshNodeSelector(r *record) {
	r.keep("check", "selector", "nodeName", "labels")
	var selector corev1.NodeSelector
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: r.text("nodeName")}}
	r.into("selector", &selector)
	r.into("labels", &node.Labels)
	matches, _ := nodeaffinity.NewLazyErrorNodeSelector(&selector).Match(node)
	_, err := nodeaffinity.NewNodeSelector(&selector)
	r.set("matches", matches)
	r.set("bad", err != nil)
}

func refreshLabelSelector(r *record) {
	r.keep("check", "selector", "labels")
	var selector metav1.LabelSelector
	var set labels.Set
	r.into("selector", &selector)
	r.into("labels", &set)
	compiled, err := metav1.LabelSelectorAsSelector(&selector)
	r.set("matches", err == nil && compiled.Matches(set))
	r.set("bad", err != nil)
}

func refreshToleration(r *record) {
	r.keep("check", "toleration", "taint")
	var toleration corev1.Toleration
	var taint corev1.Taint
	r.into("toleration", &toleration)
	r.into("taint", &taint)
	r.set("tolerates", toleration.ToleratesTaint(klog.Background(), &taint, false))
	r.set("toleratesComparing", toleration.ToleratesTaint(klog.Background(), &taint, true))
}

type translatedDisk struct {
	Driver       string `json:"driver"`
	VolumeHandle string `json:"volumeHandle"`
}

type translatedVolume struct {
	translatedDisk
	NodeAffinity *corev1.VolumeNodeAffinity `json:"nodeAffinity"`
}

func refreshMigration(r *record) {
	r.keep("check", "volume", "inline")
	var volume corev1.PersistentVolume
	var inline corev1.Volume
	r.into("volume", &volume)
	r.into("inline", &inline)
	var translated *translatedVolume
	if pv, err := csitranslation.New().TranslateInTreePVToCSI(klog.Background(), &volume); err == nil {
		translated = &translatedVolume{diskOf(pv), pv.Spec.NodeAffinity}
	}
	var translatedInline *translatedDisk
	if pv, err := csitranslation.New().TranslateInTreeInlineVolumeToCSI(klog.Background(), &inline, "default"); err == nil {
		disk := diskOf(pv)
		translatedInline = &disk
	}
	r.set("translated", translated)
	r.set("translatedInline", translatedInline)
}

func diskOf(pv *corev1.PersistentVolume) translatedDisk {
	return translatedDisk{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle}
}
