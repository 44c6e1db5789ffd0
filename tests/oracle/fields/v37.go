//go:build v37

package main

import (
	v1 "k8s.io/api/resource/v1"
	"k8s.io/api/resource/v1alpha3"
	"k8s.io/api/resource/v1beta1"
	"k8s.io/api/resource/v1beta2"
)

const release = "1.37"

func objects() []object {
	return []object{
		{"resource.k8s.io/v1", &v1.DeviceClass{}},
		{"resource.k8s.io/v1", &v1.DeviceTaintRule{}},
		{"resource.k8s.io/v1", &v1.ResourceClaim{}},
		{"resource.k8s.io/v1", &v1.ResourceClaimTemplate{}},
		{"resource.k8s.io/v1", &v1.ResourceSlice{}},
		{"resource.k8s.io/v1beta2", &v1beta2.DeviceClass{}},
		{"resource.k8s.io/v1beta2", &v1beta2.DeviceTaintRule{}},
		{"resource.k8s.io/v1beta2", &v1beta2.ResourceClaim{}},
		{"resource.k8s.io/v1beta2", &v1beta2.ResourceClaimTemplate{}},
		{"resource.k8s.io/v1beta2", &v1beta2.ResourceSlice{}},
		{"resource.k8s.io/v1beta1", &v1beta1.DeviceClass{}},
		{"resource.k8s.io/v1beta1", &v1beta1.ResourceClaim{}},
		{"resource.k8s.io/v1beta1", &v1beta1.ResourceClaimTemplate{}},
		{"resource.k8s.io/v1beta1", &v1beta1.ResourceSlice{}},
		{"resource.k8s.io/v1alpha3", &v1alpha3.DeviceTaintRule{}},
		{"resource.k8s.io/v1alpha3", &v1alpha3.ResourcePoolStatusRequest{}},
	}
}
