package remediate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

type fakeActuator struct {
	did []string
	err error
}

func (f *fakeActuator) Do(_ context.Context, a Action) error {
	f.did = append(f.did, a.Target.Name)
	return f.err
}

func TestApplyStopsUnlessEverythingIsKnownToBeRight(t *testing.T) {
	guard := &checks.Check{ID: "guard"}
	clears := &checks.Check{ID: "clears"}
	step := func(m string) Step {
		return Step{Action: Action{Kind: "etcd.defragment", Target: collectors.Target{Component: collectors.Etcd, Name: m}}, Guards: []*checks.Check{guard}, Clears: []*checks.Check{clears}}
	}
	says := func(status map[checks.ID]checks.Status) Look {
		return func(_ context.Context, cs []*checks.Check) (fs []checks.Finding) {
			for _, c := range cs {
				fs = append(fs, checks.Finding{Check: c.ID, Status: status[c.ID]})
			}
			return fs
		}
	}
	two := []Step{step("m1"), step("m2")}
	for _, tc := range []struct {
		name      string
		look      Look
		steps     []Step
		fail      error
		done, did int
		err       string
	}{
		{"all ok", says(map[checks.ID]checks.Status{"guard": checks.OK, "clears": checks.OK}), two, nil, 2, 2, ""},
		{"an unknown guard", says(map[checks.ID]checks.Status{"clears": checks.OK}), two, nil, 0, 0, "not started: guard is unknown"},
		{"a guard out of scope", says(map[checks.ID]checks.Status{"guard": checks.OutOfScope}), two, nil, 0, 0, "not started: guard is outOfScope"},
		{"a silent guard", func(context.Context, []*checks.Check) []checks.Finding { return nil }, two, nil, 0, 0, "guard gave no verdict"},
		{"no guard", nil, []Step{{Action: Action{Kind: "x"}}}, nil, 0, 0, "it has no guard"},
		{"the action fails", says(map[checks.ID]checks.Status{"guard": checks.OK, "clears": checks.OK}), two, errors.New("no"), 0, 1, "step 1: no"},
		{"no effect", says(map[checks.ID]checks.Status{"guard": checks.OK, "clears": checks.Warning}), two, nil, 1, 1, "done, without its effect: clears is warning"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := &fakeActuator{err: tc.fail}
			done, err := Apply(context.Background(), Plan{tc.steps}, tc.look, a)
			if done != tc.done || len(a.did) != tc.did || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("done %d, did %v, err %v", done, a.did, err)
			}
		})
	}
}
