//go:build v30

package main

import "k8s.io/api/resource/v1alpha2"

const release = "1.30"

func objects() []object {
	return []object{
		{"resource.k8s.io/v1alpha2", &v1alpha2.PodSchedulingContext{}},
		{"resource.k8s.io/v1alpha2", &v1alpha2.ResourceClaim{}},
		{"resource.k8s.io/v1alpha2", &v1alpha2.ResourceClaimParameters{}},
		{"resource.k8s.io/v1alpha2", &v1alpha2.ResourceClaimTemplate{}},
		{"resource.k8s.io/v1alpha2", &v1alpha2.ResourceClass{}},
		{"resource.k8s.io/v1alpha2", &v1alpha2.ResourceClassParameters{}},
		{"resource.k8s.io/v1alpha2", &v1alpha2.ResourceSlice{}},
	}
}
