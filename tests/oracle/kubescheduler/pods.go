package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// Status is what a plugin said.
type Status struct {
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

func statusOf(s *fwk.Status) Status {
	reasons := slices.Clone(s.Reasons())
	sort.Strings(reasons)
	return Status{Plugin: s.Plugin(), Code: s.Code().String(), Reasons: reasons}
}

// PodAnswer is the outcome of one scheduling attempt.
type PodAnswer struct {
	Pod            string            `json:"pod"`
	Outcome        string            `json:"outcome"` // fits, unschedulable, error, gated, ignored
	Reason         string            `json:"reason,omitempty"`
	Message        string            `json:"message,omitempty"`
	MessageBase    string            `json:"messageWithoutPostFilter,omitempty"`
	Gates          []Status          `json:"gates,omitempty"`
	PreFilter      *Status           `json:"preFilter,omitempty"`
	PreFilterNodes []string          `json:"preFilterNodes,omitempty"`
	PerNode        map[string]Status `json:"perNode,omitempty"`
	Feasible       []string          `json:"feasible"`
	Scores         map[string]int64  `json:"scores,omitempty"`
	Best           []string          `json:"best,omitempty"`
	Plugins        []string          `json:"plugins,omitempty"`
	PendingPlugins []string          `json:"pendingPlugins,omitempty"`
	Preemption     *Preemption       `json:"preemption,omitempty"`
	Writes         []string          `json:"writes,omitempty"` // what PostFilter wrote, apart from evictions
}

// Preemption is what the scheduler would evict for a pod.
type Preemption struct {
	Nominated  []string             `json:"nominated"` // one of these: ties are broken at random
	Candidates map[string]Candidate `json:"candidates"`
}

// Candidate is a node on which eviction would help.
type Candidate struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations,omitempty"`
}

// schedulePods gives every pending pod one attempt on the same cluster.
func schedulePods(c *Case) ([]PodAnswer, error) {
	r, err := newRig(c, false)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	answers := []PodAnswer{}
	for i := range c.Pods {
		pod := &c.Pods[i]
		if pod.Spec.NodeName != "" || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
			continue
		}
		answer, err := r.schedulePod(pod)
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", pod.Name, err)
		}
		answers = append(answers, *answer)
	}
	return answers, nil
}

var errStop = errors.New("fits")

// schedulePod runs the scheduler's own ScheduleOne with its ends replaced: where the pod comes from, and what follows a
// pod that fits or an attempt that failed. The nodes' statuses and the scores, which it doesn't hand out, come from
// running the same plugins again, and are compared with what it did hand out.
func (r *rig) schedulePod(given *v1.Pod) (*PodAnswer, error) {
	answer := &PodAnswer{Pod: given.Namespace + "/" + given.Name, Feasible: []string{}}
	profile := r.scheduler.Profiles[given.Spec.SchedulerName]
	if profile == nil || given.DeletionTimestamp != nil {
		answer.Outcome = "ignored"
		return answer, nil
	}
	pod, err := r.informers.Core().V1().Pods().Lister().Pods(given.Namespace).Get(given.Name)
	if err != nil {
		return nil, err
	}
	if answer.Gates = r.gates(profile, pod); len(answer.Gates) > 0 {
		answer.Outcome = "gated"
		// The API server, not the scheduler, writes this condition, and only for scheduling gates.
		for _, condition := range pod.Status.Conditions {
			if condition.Type == v1.PodScheduled {
				answer.Reason, answer.Message = condition.Reason, condition.Message
			}
		}
		return answer, nil
	}
	podInfo, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	attempt := r.attempt(&framework.QueuedPodInfo{PodInfo: podInfo})
	if err := r.explain(profile, pod, answer); err != nil {
		return nil, err
	}
	if attempt.err == nil {
		answer.Outcome = "fits"
		if nominated := pod.Status.NominatedNodeName; nominated != "" && slices.Contains(answer.Feasible, nominated) {
			// The scheduler tries this node first and, if it fits, looks no further.
			if attempt.result.SuggestedHost != nominated || attempt.result.FeasibleNodes != 1 {
				return nil, fmt.Errorf("the attempt chose %s, not the nominated %s", attempt.result.SuggestedHost, nominated)
			}
			answer.Scores, answer.Best = nil, []string{nominated}
			return answer, nil
		}
		if attempt.result.FeasibleNodes != len(answer.Feasible) || !slices.Contains(answer.Best, attempt.result.SuggestedHost) {
			return nil, fmt.Errorf("the attempt chose %s of %d, the plugins %v of %v",
				attempt.result.SuggestedHost, attempt.result.FeasibleNodes, answer.Best, answer.Feasible)
		}
		return answer, nil
	}
	answer.Outcome, answer.Reason = "error", v1.PodReasonSchedulerError
	if attempt.status.IsRejected() {
		answer.Outcome, answer.Reason = "unschedulable", v1.PodReasonUnschedulable
	}
	answer.Message = attempt.status.Message()
	if strings.Contains(answer.Message, "preemption: [") {
		return nil, errors.New("unstable: preemption failed on several nodes, and lists the errors in random order")
	}
	answer.MessageBase = attempt.base
	answer.Feasible, answer.Scores, answer.Best = []string{}, nil, nil
	var fitError *framework.FitError
	if errors.As(attempt.err, &fitError) {
		answer.Plugins = slices.Sorted(maps.Keys(fitError.Diagnosis.UnschedulablePlugins))
		answer.PendingPlugins = slices.Sorted(maps.Keys(fitError.Diagnosis.PendingPlugins))
		if err := r.compare(answer, fitError); err != nil {
			return nil, err
		}
		return answer, r.preemption(profile, pod, answer, fitError, attempt)
	}
	return answer, nil
}

func (r *rig) gates(profile framework.Framework, pod *v1.Pod) []Status {
	var gates []Status
	for _, plugin := range profile.PreEnqueuePlugins() {
		if s := plugin.PreEnqueue(r.ctx, pod); !s.IsSuccess() {
			s.SetPlugin(plugin.Name())
			gates = append(gates, statusOf(s))
		}
	}
	return gates
}

type attempt struct {
	result     scheduler.ScheduleResult
	err        error
	base       string // the error's text before PostFilter added to it
	status     *fwk.Status
	nominating *fwk.NominatingInfo
	evicted    []string
	writes     []string
}

// attempt is a scheduling cycle of the real scheduler, up to the moment at which it would reserve a node.
func (r *rig) attempt(podInfo *framework.QueuedPodInfo) *attempt {
	a := &attempt{}
	schedulePod, handleFailure := r.scheduler.SchedulePod, r.scheduler.FailureHandler
	defer func() { r.scheduler.SchedulePod, r.scheduler.FailureHandler = schedulePod, handleFailure }()
	r.scheduler.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return podInfo, nil }
	r.scheduler.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, podInfo *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		a.result, a.err = schedulePod(ctx, profile, state, podInfo)
		if a.err == nil {
			return a.result, errStop
		}
		a.base = a.err.Error()
		return a.result, a.err
	}
	r.scheduler.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, _ time.Time) {
		a.status, a.nominating = status, nominating
	}
	r.recorded()
	r.scheduler.ScheduleOne(r.ctx)
	for _, action := range r.recorded() {
		if isEviction(action) {
			a.evicted = append(a.evicted, action.GetNamespace()+"/"+action.(interface{ GetName() string }).GetName())
		} else if !(action.GetVerb() == "patch" && action.GetResource().Resource == "pods") {
			a.writes = append(a.writes, describe(action))
		}
	}
	sort.Strings(a.evicted)
	sort.Strings(a.writes)
	return a
}

// explain runs PreFilter, Filter on every node, and scoring.
func (r *rig) explain(profile framework.Framework, pod *v1.Pod, answer *PodAnswer) error {
	state := framework.NewCycleState()
	nodes, err := r.snapshot.List()
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		return nil
	}
	result, status, plugins := profile.RunPreFilterPlugins(r.ctx, state, pod)
	if !status.IsSuccess() {
		said := statusOf(status)
		answer.PreFilter = &said
		return nil
	}
	if !result.AllNodes() {
		answer.PreFilterNodes = slices.Sorted(maps.Keys(result.NodeNames))
	}
	answer.PerNode = map[string]Status{}
	var feasible []fwk.NodeInfo
	for _, node := range nodes {
		name := node.Node().Name
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			answer.PerNode[name] = Status{Code: fwk.UnschedulableAndUnresolvable.String(),
				Reasons: []string{fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", slices.Sorted(maps.Keys(plugins)))}}
			continue
		}
		status := profile.RunFilterPluginsWithNominatedPods(r.ctx, state, pod, node)
		if !status.IsSuccess() {
			answer.PerNode[name] = statusOf(status)
			continue
		}
		feasible = append(feasible, node)
		answer.Feasible = append(answer.Feasible, name)
	}
	sort.Strings(answer.Feasible)
	if len(feasible) < 2 {
		answer.Best = answer.Feasible
		return nil
	}
	if status := profile.RunPreScorePlugins(r.ctx, state, pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	scores, status := profile.RunScorePlugins(r.ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	answer.Scores = map[string]int64{}
	best := scores[0].TotalScore
	for _, score := range scores {
		answer.Scores[score.Name] = score.TotalScore
		best = max(best, score.TotalScore)
	}
	for _, name := range answer.Feasible {
		if answer.Scores[name] == best {
			answer.Best = append(answer.Best, name)
		}
	}
	return nil
}

// compare makes sure that the second run of the plugins said what the attempt said. Of nodes that PreFilter excluded the
// attempt's words are taken over: it filters a nominated node all the same, and names the plugin that refused that one
// among those that excluded the others.
func (r *rig) compare(answer *PodAnswer, fitError *framework.FitError) error {
	if answer.PreFilter != nil {
		if got := fitError.Diagnosis.NodeToStatus.AbsentNodesStatus(); got.Message() == "" || got.Plugin() != answer.PreFilter.Plugin {
			return fmt.Errorf("PreFilter: the attempt said %v, the plugins %v", got, answer.PreFilter)
		}
		return nil
	}
	for name, said := range answer.PerNode {
		got := statusOf(fitError.Diagnosis.NodeToStatus.Get(name))
		if said.Plugin == "" {
			answer.PerNode[name] = got
			continue
		}
		if fmt.Sprint(got) != fmt.Sprint(said) {
			return fmt.Errorf("node %s: the attempt said %v, the plugins %v", name, got, said)
		}
	}
	return nil
}

// preemption adds all candidates to what the attempt did.
func (r *rig) preemption(profile framework.Framework, pod *v1.Pod, answer *PodAnswer, fitError *framework.FitError, a *attempt) error {
	answer.Writes = a.writes
	if a.nominating == nil || a.nominating.NominatedNodeName == "" {
		if len(a.evicted) > 0 {
			return fmt.Errorf("evictions without a nominated node: %v", a.evicted)
		}
		return nil
	}
	var plugin *defaultpreemption.DefaultPreemption
	for _, candidate := range profile.PreEnqueuePlugins() {
		if found, ok := candidate.(*defaultpreemption.DefaultPreemption); ok {
			plugin = found
		}
	}
	if plugin == nil {
		return errors.New("no DefaultPreemption")
	}
	evaluator := plugin.Evaluator
	nodes, err := fitError.Diagnosis.NodeToStatus.NodesForStatusCode(r.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return err
	}
	pdbs, err := evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return err
	}
	state := framework.NewCycleState()
	profile.RunPreFilterPlugins(r.ctx, state, pod)
	candidates, _, err := evaluator.DryRunPreemption(r.ctx, state, pod, nodes, pdbs, 0, int32(len(nodes)))
	if err != nil {
		return err
	}
	answer.Preemption = &Preemption{Candidates: map[string]Candidate{}}
	evicted := []string{} // of the nominated node's victims those that aren't being deleted already
	for _, candidate := range candidates {
		c := Candidate{PDBViolations: candidate.Victims().NumPDBViolations}
		for _, victim := range candidate.Victims().Pods {
			name := victim.Namespace + "/" + victim.Name
			c.Victims = append(c.Victims, name)
			if victim.DeletionTimestamp == nil && candidate.Name() == a.nominating.NominatedNodeName {
				evicted = append(evicted, name)
			}
		}
		sort.Strings(c.Victims)
		answer.Preemption.Candidates[candidate.Name()] = c
	}
	nominated := map[string]bool{a.nominating.NominatedNodeName: true}
	for range 30 {
		nominated[evaluator.SelectCandidate(r.ctx, candidates).Name()] = true
	}
	answer.Preemption.Nominated = slices.Sorted(maps.Keys(nominated))
	if sort.Strings(evicted); fmt.Sprint(evicted) != fmt.Sprint(a.evicted) {
		return fmt.Errorf("the attempt evicted %v, the dry run %v", a.evicted, evicted)
	}
	return nil
}

// takeIn takes over which of several equally good nodes the other run nominated.
func (a *PodAnswer) takeIn(b *PodAnswer) error {
	if a.Preemption != nil && b.Preemption != nil {
		a.Preemption.Nominated = union(a.Preemption.Nominated, b.Preemption.Nominated)
		b.Preemption.Nominated = a.Preemption.Nominated
		if len(a.Preemption.Nominated) > 1 {
			b.Message = a.Message
		}
	}
	if text(a) != text(b) {
		return fmt.Errorf("unstable: %s\nand: %s", text(a), text(b))
	}
	return nil
}

func union(a, b []string) []string {
	both := append(slices.Clone(a), b...)
	sort.Strings(both)
	return slices.Compact(both)
}
