package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

type celFeatures struct {
	ConsumableCapacity *bool `json:"consumableCapacity"`
	ListTypeAttributes bool  `json:"listTypeAttributes"`
}

func (f celFeatures) real() dracel.Features {
	return dracel.Features{
		EnableConsumableCapacity: f.ConsumableCapacity == nil || *f.ConsumableCapacity,
		EnableListTypeAttributes: f.ListTypeAttributes,
	}
}

type celRow struct {
	ID                       string                                                    `json:"id"`
	Env                      string                                                    `json:"env"`
	Expression               string                                                    `json:"expression"`
	Driver                   string                                                    `json:"driver"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Derived                  bool                                                      `json:"derived"`
	Features                 celFeatures                                               `json:"features"`
	CostLimit                *uint64                                                   `json:"costLimit"`
}

type celAnswer struct {
	CompileError     *string                      `json:"compile_error,omitempty"`
	CompileErrorType string                       `json:"compile_error_type,omitempty"`
	OutputType       string                       `json:"output_type,omitempty"`
	MaxCost          *uint64                      `json:"max_cost,omitempty"`
	Match            *bool                        `json:"match,omitempty"`
	Value            *resourceapi.DeviceAttribute `json:"value,omitempty"`
	RuntimeError     *string                      `json:"runtime_error,omitempty"`
	Cost             *uint64                      `json:"cost,omitempty"`
}

var environments = map[string]environment.Type{
	"scheduler": environment.StoredExpressions,
	"admission": environment.NewExpressions,
}

func answerCEL(line []byte) (any, error) {
	var row celRow
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, err
	}
	answer := map[string]any{"id": row.ID}
	for name, environmentType := range environments {
		if row.Env == "" || row.Env == name {
			answer[name] = evaluate(row, environmentType)
		}
	}
	return answer, nil
}

func evaluate(row celRow, environmentType environment.Type) celAnswer {
	options := dracel.Options{EnvType: &environmentType, CostLimit: row.CostLimit, DerivedAttribute: row.Derived}
	program := dracel.GetCompiler(row.Features.real()).CompileCELExpression(row.Expression, options)
	if program.Error != nil {
		return celAnswer{CompileError: &program.Error.Detail, CompileErrorType: string(program.Error.Type)}
	}
	answer := celAnswer{OutputType: program.OutputType.String(), MaxCost: &program.MaxCost}
	device := dracel.Device{
		Driver:                   row.Driver,
		AllowMultipleAllocations: row.AllowMultipleAllocations,
		Attributes:               row.Attributes,
		Capacity:                 row.Capacity,
	}
	var cost func() *uint64
	var err error
	if row.Derived {
		value, details, evalErr := program.EvaluateDerivedAttribute(context.Background(), device)
		answer.Value, err = value, evalErr
		if details != nil {
			cost = details.ActualCost
		}
	} else {
		match, details, evalErr := program.DeviceMatches(context.Background(), device)
		err = evalErr
		if err == nil {
			answer.Match = &match
		}
		if details != nil {
			cost = details.ActualCost
		}
	}
	if err != nil {
		text := err.Error()
		answer.RuntimeError = &text
	}
	if cost != nil {
		answer.Cost = cost()
	}
	return answer
}

type selectorTiming struct {
	Expression string                      `json:"expression"`
	Slices     []resourceapi.ResourceSlice `json:"slices"`
	Features   celFeatures                 `json:"features"`
	Repeat     int                         `json:"repeat"`
}

// timeSelector measures what the allocator does for a device that it meets for the first time: making the variables
// and evaluating. Compilation is measured apart.
func timeSelector(line []byte) (any, error) {
	var question selectorTiming
	if err := json.Unmarshal(line, &question); err != nil {
		return nil, err
	}
	compiler := dracel.GetCompiler(question.Features.real())
	began := time.Now()
	program := compiler.CompileCELExpression(question.Expression, dracel.Options{DisableCostEstimation: true})
	compiling := time.Since(began)
	if program.Error != nil {
		return nil, program.Error
	}
	best, cpu, devices, matches := time.Duration(1<<62), time.Duration(1<<62), 0, 0
	for range max(1, question.Repeat) {
		devices, matches = 0, 0
		began = time.Now()
		spent := processorTime()
		for _, slice := range question.Slices {
			for _, device := range slice.Spec.Devices {
				match, _, err := program.DeviceMatches(context.Background(), dracel.Device{
					Driver:                   slice.Spec.Driver,
					AllowMultipleAllocations: device.AllowMultipleAllocations,
					Attributes:               device.Attributes,
					Capacity:                 device.Capacity,
				})
				if err != nil {
					return nil, fmt.Errorf("device %s/%s: %w", slice.Spec.Pool.Name, device.Name, err)
				}
				devices++
				if match {
					matches++
				}
			}
		}
		best, cpu = min(best, time.Since(began)), min(cpu, processorTime()-spent)
	}
	return map[string]any{
		"seconds": best.Seconds(), "cpuSeconds": cpu.Seconds(), "compileSeconds": compiling.Seconds(),
		"devices": devices, "matches": matches,
	}, nil
}
