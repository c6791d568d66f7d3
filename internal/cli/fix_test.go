package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
)

// TestCuresOfSymptoms holds that a finding has its cure listed although another
// explains it, and says what to see to first.
func TestCuresOfSymptoms(t *testing.T) {
	at := func(name string) collectors.Target {
		return collectors.Target{Component: collectors.Etcd, Name: name}
	}
	rep := &report.Report{Status: checks.Critical, Problems: []report.Problem{
		{Check: "etcd-compaction-stalled", Target: at(""), Summary: "no compaction for 3h", Also: []report.Also{},
			Symptoms: []report.Symptom{{Check: "etcd-db-quota-usage", Target: at("cp-1"), Summary: "database fills 98% of its quota"}}},
		{Check: "webhook-backend-missing", Target: collectors.Target{Component: collectors.Webhooks, Name: "validatingwebhookconfiguration/guard"}, Summary: "nobody is there",
			Also: []report.Also{{Check: "webhook-backend-missing", Target: collectors.Target{Component: collectors.Webhooks, Name: "validatingwebhookconfiguration/other"}, Summary: "nor there"}}},
	}}
	var out bytes.Buffer
	writeCures(&out, "ktriage", rep)
	for _, want := range []string{
		"  ktriage fix etcd-compact\n",
		"  ktriage fix etcd-defrag\n",
		"    for etcd-db-quota-usage: etcd/cp-1: \"database fills 98% of its quota\"\n      which etcd-compaction-stalled brings about: see to that first\n",
		"  ktriage fix webhook-open\n",
		"validatingwebhookconfiguration/other: \"nor there\"",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &out)
		}
	}
}

// TestInterruptAtTheQuestion holds that an interrupt is an answer: no.
func TestInterruptAtTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		defer typed.Close()
		a := &app{Invocation: Invocation{Stdin: in, Stderr: io.Discard}}
		ctx, interrupt := context.WithCancel(t.Context())
		answer := make(chan bool, 1)
		go func() { answer <- a.agreed(ctx) }()
		synctest.Wait() // it waits for what is typed
		interrupt()
		if <-answer {
			t.Error("an interrupt is taken for yes")
		}
	})
}

func TestOnlyYesIsYes(t *testing.T) {
	for typed, want := range map[string]bool{"yes\n": true, " yes \n": true, "y\n": false, "YES\n": false, "\n": false, "": false, "yes please\n": false} {
		a := &app{Invocation: Invocation{Stdin: strings.NewReader(typed), Stderr: io.Discard}}
		if got := a.agreed(t.Context()); got != want {
			t.Errorf("typed %q: got %v", typed, got)
		}
	}
}

// TestCuresTakeNoTokenAsAFlag holds that no credential gets into the list of processes.
func TestCuresTakeNoTokenAsAFlag(t *testing.T) {
	for _, args := range [][]string{{"plan", "etcd-defrag"}, {"fix", "etcd-defrag"}, {"apply", "plan.json"}} {
		var out, errs bytes.Buffer
		code := Main(Invocation{Args: append([]string{"ktriage"}, append(args, "--token", "s3cret")...), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
		if code != ExitUsage || !strings.Contains(errs.String(), "keep it in a kubeconfig") || strings.Contains(errs.String(), "s3cret") {
			t.Errorf("%q: exit code %d: %s", args, code, &errs)
		}
	}
}
