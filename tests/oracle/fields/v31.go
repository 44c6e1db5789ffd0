//go:build v31

package main

import "k8s.io/api/resource/v1alpha3"

const release = "1.31"

func objects() []object {
	return []object{
		{"resource.k8s.io/v1alpha3", &v1alpha3.DeviceClass{}},
		{"resource.k8s.io/v1alpha3", &v1alpha3.PodSchedulingContext{}},
		{"resource.k8s.io/v1alpha3", &v1alpha3.ResourceClaim{}},
		{"resource.k8s.io/v1alpha3", &v1alpha3.ResourceClaimTemplate{}},
		{"resource.k8s.io/v1alpha3", &v1alpha3.ResourceSlice{}},
	}
}
