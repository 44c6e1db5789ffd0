// Command scheduler answers questions with the real code of the scheduler: CEL selectors and the structured allocator
// of k8s.io/dynamic-resource-allocation. One JSON object per line on stdin, one answer per line on stdout.
//
//	scheduler cel             rows {id, expression, driver, attributes, ...}   -> {id, scheduler, admission}
//	scheduler alloc           rows {id, nodes, slices, classes, claims, ...}   -> {id, results}
//	scheduler time-selector   {expression, slices, repeat}                     -> {seconds, cpuSeconds, devices, matches}
//	scheduler time-allocator  {nodes, slices, classes, claims, ..., repeat}    -> {seconds, cpuSeconds, outcomes, ...}
//
// What it can't do, because it lies outside of that package: merging DeviceTaintRules into slices, the scheduler's
// other plugins, claims in flight, extended resources, the ten seconds after which the scheduler gives up. Share IDs
// are random in reality and replaced by a constant. The implementation that NewAllocator picks follows from the
// features alone; a row's "impl" is reported back, not chosen.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
)

type handler func(line []byte) (any, error)

func main() {
	handlers := map[string]handler{
		"cel":            answerCEL,
		"alloc":          answerAllocation,
		"time-selector":  timeSelector,
		"time-allocator": timeAllocator,
	}
	if len(os.Args) != 2 || handlers[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: scheduler cel|alloc|time-selector|time-allocator < rows > answers")
		os.Exit(2)
	}
	if err := serve(handlers[os.Args[1]]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// serve flushes after every answer, so that a caller can ask one question after the other.
func serve(handle handler) error {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, readErr := input.ReadBytes('\n')
		if len(line) > 1 {
			answer, err := handle(line)
			if err != nil {
				answer = map[string]string{"fault": err.Error()}
			}
			encoded, err := json.Marshal(answer)
			if err != nil {
				return err
			}
			if _, err := output.Write(append(encoded, '\n')); err != nil {
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

// processorTime is what this process has used so far, all threads and the garbage collector included.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
