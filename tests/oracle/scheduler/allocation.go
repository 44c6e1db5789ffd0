package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const (
	constantShareID = types.UID("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")
	cacheEntries    = 1000
)

type run struct {
	Name     string   `json:"name"`
	Features []string `json:"features"`
	Results  []struct {
		Node string `json:"node"`
	} `json:"results"`
}

type allocationRow struct {
	ID              string                       `json:"id"`
	Nodes           []*corev1.Node               `json:"nodes"`
	Slices          []*resourceapi.ResourceSlice `json:"slices"`
	Classes         classes                      `json:"classes"`
	Claims          []*resourceapi.ResourceClaim `json:"claims"`
	AllocatedClaims []*resourceapi.ResourceClaim `json:"allocatedClaims"`
	Expect          []run                        `json:"expect"`
	Features        []string                     `json:"features"`
	Repeat          int                          `json:"repeat"`
}

type allocationAnswer struct {
	Name                 string                         `json:"name"`
	Impl                 string                         `json:"impl"`
	Node                 string                         `json:"node"`
	Outcome              string                         `json:"outcome"`
	Allocations          []resourceapi.AllocationResult `json:"allocations,omitempty"`
	Error                string                         `json:"error,omitempty"`
	ErrorOnlyAffectsNode bool                           `json:"errorOnlyAffectsNode,omitempty"`
	NumAllocateOne       int64                          `json:"numAllocateOne"`
}

// classes is the lister of a row's DeviceClasses.
type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	// The generated listers name the singular.
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclass"}, name)
}

func answerAllocation(line []byte) (any, error) {
	var row allocationRow
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, err
	}
	nodes := make(map[string]*corev1.Node)
	for _, node := range row.Nodes {
		nodes[node.Name] = node
	}
	results := []allocationAnswer{}
	for _, run := range row.Expect {
		features, err := featuresOf(run.Features)
		if err != nil {
			return nil, err
		}
		for _, asked := range run.Results {
			node := nodes[asked.Node]
			if node == nil {
				return nil, fmt.Errorf("row %s has no node %q", row.ID, asked.Node)
			}
			answer, err := allocate(row, features, node)
			if err != nil {
				return nil, err
			}
			answer.Name = run.Name
			results = append(results, answer)
		}
	}
	return map[string]any{"id": row.ID, "results": results}, nil
}

func allocate(row allocationRow, features structured.Features, node *corev1.Node) (allocationAnswer, error) {
	answer := allocationAnswer{Node: node.Name}
	allocator, err := newAllocator(row, features)
	if err != nil {
		return answer, err
	}
	allocations, err := allocator.Allocate(context.Background(), node, row.Claims)
	answer.Impl = call(allocator, "Channel").String()
	answer.NumAllocateOne = call(allocator, "GetStats").FieldByName("NumAllocateOneInvocations").Int()
	switch {
	case err != nil:
		answer.Outcome, answer.Error = "error", err.Error()
		answer.ErrorOnlyAffectsNode = errors.Is(err, structured.ErrFailedAllocationOnNode)
	case allocations == nil:
		answer.Outcome = "unsatisfiable"
	default:
		answer.Outcome, answer.Allocations = "allocated", withConstantShareIDs(allocations)
	}
	return answer, nil
}

func newAllocator(row allocationRow, features structured.Features) (structured.Allocator, error) {
	cache := dracel.NewCache(cacheEntries, dracel.Features{
		EnableConsumableCapacity: features.ConsumableCapacity,
		EnableListTypeAttributes: features.ListTypeAttributes,
	})
	state := allocatedState(row.AllocatedClaims, features.ConsumableCapacity)
	return structured.NewAllocator(context.Background(), features, state, row.Classes, row.Slices, cache)
}

// allocatedState sorts the devices of allocated claims into dedicated and shared ones, as the scheduler's
// DynamicResources plugin does: devices with admin access do not count.
func allocatedState(claims []*resourceapi.ResourceClaim, consumableCapacity bool) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if result.AdminAccess != nil && *result.AdminAccess {
				continue
			}
			device := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			if !consumableCapacity || result.ShareID == nil {
				state.AllocatedDevices.Insert(device)
				continue
			}
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device, result.ShareID))
			if result.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device, result.ConsumedCapacity))
			}
		}
	}
	return state
}

func featuresOf(names []string) (structured.Features, error) {
	var features structured.Features
	fields := reflect.ValueOf(&features).Elem()
	for _, name := range names {
		field := fields.FieldByName(name)
		if !field.IsValid() {
			return features, fmt.Errorf("unknown feature %q", name)
		}
		field.SetBool(true)
	}
	return features, nil
}

// call reaches methods of the allocator that are exported but have internal types in their signature.
func call(allocator structured.Allocator, method string) reflect.Value {
	return reflect.ValueOf(allocator).MethodByName(method).Call(nil)[0]
}

func withConstantShareIDs(allocations []resourceapi.AllocationResult) []resourceapi.AllocationResult {
	for _, allocation := range allocations {
		for i := range allocation.Devices.Results {
			if allocation.Devices.Results[i].ShareID != nil {
				id := constantShareID
				allocation.Devices.Results[i].ShareID = &id
			}
		}
	}
	return allocations
}

// timeAllocator measures one scheduling attempt: a new allocator, then every node.
func timeAllocator(line []byte) (any, error) {
	var row allocationRow
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, err
	}
	features, err := featuresOf(row.Features)
	if err != nil {
		return nil, err
	}
	best, cpu, outcomes := time.Duration(1<<62), time.Duration(1<<62), map[string]int{}
	var steps int64
	for range max(1, row.Repeat) {
		clear(outcomes)
		began, spent := time.Now(), processorTime()
		allocator, err := newAllocator(row, features)
		if err != nil {
			return nil, err
		}
		for _, node := range row.Nodes {
			allocations, err := allocator.Allocate(context.Background(), node, row.Claims)
			switch {
			case err != nil:
				outcomes["error"]++
			case allocations == nil:
				outcomes["unsatisfiable"]++
			default:
				outcomes["allocated"]++
			}
		}
		best, cpu = min(best, time.Since(began)), min(cpu, processorTime()-spent)
		steps = call(allocator, "GetStats").FieldByName("NumAllocateOneInvocations").Int()
	}
	return map[string]any{
		"seconds": best.Seconds(), "cpuSeconds": cpu.Seconds(), "outcomes": outcomes, "steps": steps,
	}, nil
}
