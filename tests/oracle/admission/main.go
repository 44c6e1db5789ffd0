// Command admission says what the real API server makes of objects: conversion between versions, defaulting,
// and the errors of creating them. One JSON question per line on stdin, one answer per line on stdout.
//
//	{"op": "convert", "object": {...}, "to": "resource.k8s.io/v1beta1"}  -> {"object": {...}}
//	{"op": "default", "object": {...}}                                   -> {"object": {...}}
//	{"op": "create", "object": {...}}                                    -> {"errors": [...]}
//
// "id" is copied to the answer. Namespace "admin" carries the label for admin access, no other does. "create" leaves
// out PrepareForCreate, so that fields behind disabled gates are validated instead of dropped.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
)

type question struct {
	ID     string          `json:"id,omitempty"`
	Op     string          `json:"op"`
	To     string          `json:"to,omitempty"`
	Object json.RawMessage `json:"object"`
}

type answer struct {
	ID     string          `json:"id,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
	Errors []string        `json:"errors,omitempty"`
	Fault  string          `json:"fault,omitempty"`
}

func strategies() map[string]rest.RESTCreateStrategy {
	namespaces := fake.NewSimpleClientset(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "admin", Labels: map[string]string{"resource.kubernetes.io/admin-access": "true"},
		}},
	).CoreV1().Namespaces()
	return map[string]rest.RESTCreateStrategy{
		"DeviceClass":           deviceclass.Strategy,
		"DeviceTaintRule":       devicetaintrule.Strategy,
		"ResourceClaim":         resourceclaim.NewStrategy(namespaces, nil),
		"ResourceClaimTemplate": resourceclaimtemplate.NewStrategy(namespaces),
		"ResourceSlice":         resourceslice.Strategy,
	}
}

func read(data []byte) (runtime.Object, schema.GroupVersionKind, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	gvk := kind.GroupVersionKind()
	obj, err := legacyscheme.Scheme.New(gvk)
	if err != nil {
		return nil, gvk, err
	}
	return obj, gvk, json.Unmarshal(data, obj)
}

func converted(obj runtime.Object, to string) (json.RawMessage, error) {
	version, err := schema.ParseGroupVersion(to)
	if err != nil {
		return nil, err
	}
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	out, err := legacyscheme.Scheme.UnsafeConvertToVersion(internal, version)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func created(obj runtime.Object, gvk schema.GroupVersionKind, strategy rest.RESTCreateStrategy) ([]string, error) {
	legacyscheme.Scheme.Default(obj)
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, err
	}
	ctx := genericapirequest.WithRequestInfo(context.Background(), &genericapirequest.RequestInfo{
		APIGroup: gvk.Group, APIVersion: gvk.Version,
	})
	texts := []string{}
	for _, err := range rest.ValidateCreate(ctx, internal, strategy) {
		texts = append(texts, err.Error())
	}
	return texts, nil
}

func answered(q question, all map[string]rest.RESTCreateStrategy) (answer, error) {
	obj, gvk, err := read(q.Object)
	if err != nil {
		return answer{}, err
	}
	result := answer{ID: q.ID}
	switch q.Op {
	case "convert":
		result.Object, err = converted(obj, q.To)
	case "default":
		legacyscheme.Scheme.Default(obj)
		result.Object, err = json.Marshal(obj)
	case "create":
		result.Errors, err = created(obj, gvk, all[gvk.Kind])
	default:
		err = fmt.Errorf("unknown op %q", q.Op)
	}
	return result, err
}

func main() {
	all := strategies()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var q question
		result, err := answer{}, json.Unmarshal(lines.Bytes(), &q)
		if err == nil {
			result, err = answered(q, all)
		}
		if err != nil {
			result = answer{ID: q.ID, Fault: err.Error()}
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
