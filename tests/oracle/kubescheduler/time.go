package main

import (
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Timed is how long the best of several attempts took, by the clock and in processor time of all threads.
type Timed struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	Outcome    string  `json:"outcome"`
	Message    string  `json:"message"`
}

// timePod makes attempts for the one pending pod of a stored case, "repeat" of them, on one scheduler that has the whole
// cluster in its snapshot. An attempt is what it is in schedulePod: PreFilter, Filter on all nodes, scores, PostFilter.
func timePod(line []byte) (any, error) {
	var asked struct {
		Case
		Repeat int `json:"repeat"`
	}
	// Large: it is decoded once, and not checked for unknown fields.
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	restore, err := setFeatureGates(asked.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer restore()
	r, err := newRig(&asked.Case, false)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	pod, err := r.pending(asked.Pods)
	if err != nil {
		return nil, err
	}
	var best *Timed
	for range max(1, asked.Repeat) {
		podInfo, err := framework.NewPodInfo(pod)
		if err != nil {
			return nil, err
		}
		cpu, began := cpuSeconds(), time.Now()
		a := r.attempt(&framework.QueuedPodInfo{PodInfo: podInfo})
		timed := Timed{Seconds: time.Since(began).Seconds(), CPUSeconds: cpuSeconds() - cpu, Outcome: "fits"}
		if a.err != nil {
			timed.Outcome, timed.Message = "error", a.status.Message()
			if a.status.IsRejected() {
				timed.Outcome = "unschedulable"
			}
		}
		if best == nil {
			best = &timed
		}
		if timed.Outcome != best.Outcome {
			return nil, fmt.Errorf("unstable: %s and %s", timed.Outcome, best.Outcome)
		}
		best.Seconds, best.CPUSeconds = min(best.Seconds, timed.Seconds), min(best.CPUSeconds, timed.CPUSeconds)
	}
	return best, nil
}

func (r *rig) pending(pods []v1.Pod) (*v1.Pod, error) {
	for i := range pods {
		if pods[i].Spec.NodeName == "" {
			return r.informers.Core().V1().Pods().Lister().Pods(pods[i].Namespace).Get(pods[i].Name)
		}
	}
	return nil, fmt.Errorf("no pod is pending")
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
