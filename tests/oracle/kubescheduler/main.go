// Command kubescheduler asks the real kube-scheduler, in process, about clusters given as JSON. One JSON object per
// line on stdin, the same object with the answer added on stdout.
//
//	kubescheduler admit      a case as a user would write it -> the case as the API server would store it
//	kubescheduler schedule   a stored case -> the case with "expect", one answer per pending pod
//	kubescheduler gangs      a stored case -> the case with "expect", one answer per PodGroup
//	kubescheduler time-pod   a stored case with "repeat" -> how long an attempt for its pending pod takes
//	kubescheduler plugins    {"featureGates": {...}} -> the default profile's plugins, per extension point, in order
//
// What a case consists of stands in cluster.go, what an answer consists of in pods.go and gangs.go. What lies outside:
// everything that isn't the scheduler. The claims of a pod, its resourceClaimStatuses, its volumes and so on have to be in
// the case already.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// How often a question is put to a fresh scheduler.
func podRepeats(*Case) int { return 2 }

// With topology constraints, the scheduler reports any of the placements that it tried.
func gangRepeats(c *Case) int {
	if c.FeatureGates["TopologyAwareWorkloadScheduling"] {
		return 24
	}
	return 4
}

func main() {
	handlers := map[string]func(line []byte) (any, error){
		"admit": func(line []byte) (any, error) {
			c, err := decodeCase(line)
			if err != nil {
				return nil, err
			}
			return admit(c)
		},
		"schedule": func(line []byte) (any, error) { return answer(line, schedulePods, podRepeats) },
		"plugins":  listPlugins,
		"time-pod": timePod,
		"gangs":    func(line []byte) (any, error) { return answer(line, scheduleGangs, gangRepeats) },
	}
	if len(os.Args) != 2 || handlers[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: kubescheduler admit|schedule|gangs|time-pod|plugins < cases > answers")
		os.Exit(2)
	}
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	if err := serve(handlers[os.Args[1]]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// serve flushes after every answer, so that a caller can ask one question after the other.
func serve(handle func(line []byte) (any, error)) error {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, readErr := input.ReadBytes('\n')
		if len(line) > 1 {
			answer, err := handle(line)
			if err != nil {
				answer = map[string]string{"id": idOf(line), "fault": err.Error()}
			}
			encoder := json.NewEncoder(output)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(answer); err != nil {
				return err
			}
			if err := output.Flush(); err != nil {
				return err
			}
		}
		if readErr != nil {
			return nil
		}
	}
}

// answerOf is an answer that can take in what another run said: it merges ties that the scheduler breaks at random, and
// refuses what must not differ.
type answerOf[T any] interface {
	*T
	takeIn(other *T) error
}

// answer asks fresh schedulers and adds the agreed answers to the row.
func answer[T any, P answerOf[T]](line []byte, ask func(*Case) ([]T, error), times func(*Case) int) (any, error) {
	c, err := decodeCase(line)
	if err != nil {
		return nil, err
	}
	row := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, err
	}
	restore, err := setFeatureGates(c.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer restore()
	agreed, err := ask(c)
	if err != nil {
		return nil, err
	}
	for range times(c) - 1 {
		others, err := ask(c)
		if err != nil {
			return nil, err
		}
		if len(others) != len(agreed) {
			return nil, fmt.Errorf("unstable: %d and %d answers", len(agreed), len(others))
		}
		for i := range agreed {
			if err := P(&agreed[i]).takeIn(&others[i]); err != nil {
				return nil, err
			}
		}
	}
	row["expect"], err = json.Marshal(agreed)
	return row, err
}

// text is an answer for comparison.
func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func listPlugins(line []byte) (any, error) {
	c, err := decodeCase(line)
	if err != nil {
		return nil, err
	}
	restore, err := setFeatureGates(c.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer restore()
	r, err := newRig(c, false)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	names := map[string][]string{}
	points := reflect.ValueOf(r.scheduler.Profiles[v1.DefaultSchedulerName].ListPlugins()).Elem()
	for i := range points.NumField() {
		for _, plugin := range points.Field(i).Interface().(config.PluginSet).Enabled {
			point := points.Type().Field(i).Name
			names[point] = append(names[point], plugin.Name)
		}
	}
	return names, nil
}

func idOf(line []byte) string {
	var row struct{ ID string }
	_ = json.Unmarshal(line, &row)
	return row.ID
}
