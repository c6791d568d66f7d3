// Package faults breaks a lab, one way a file, and mends it again.
package faults

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/ktriage/ktriage/lab/cluster"
)

// Fault is a way to break a control plane and what ktriage should say of it.
type Fault struct {
	Name string
	// Doc tells what is broken and what that does, in a sentence or two.
	Doc string
	// Want is the problem that must come first in ktriage's report. Without one
	// this is a shape of a healthy cluster, and nothing may be found.
	Want Problem
	// Or lists what may come first instead, where two are as true and it is a
	// matter of timing which is seen.
	Or []Problem
	// Also lists the checks that may be problems of their own beside it. What
	// is neither it nor one of these is a wrong diagnosis.
	Also []string
	// Scars says that even when healed the cluster shows what happened: leases
	// that changed hands, processes that started a moment ago. A test that wants
	// a clean cluster next makes a new one.
	Scars bool
	// Lab sets what the fault needs a lab to be, if not every one will do. Then it
	// has a lab of its own.
	Lab func(*cluster.Options)
	// Slow says that the effect needs many minutes to show.
	Slow bool

	// Inject breaks the lab.
	Inject func(context.Context, *cluster.Lab) error
	// Wait returns when the effect is there: a state, never a time.
	Wait func(context.Context, *cluster.Lab) error
	// Heal undoes Inject, also one that went only half way. That the lab is
	// healthy again is waited for by Heal of this package.
	Heal func(context.Context, *cluster.Lab) error
}

// Problem is one of ktriage's: a check and, if it matters which, a target.
type Problem struct {
	Check  string `json:"check"`
	Target string `json:"target,omitempty"`
}

// Inject breaks lab with f and waits for the effect. A lab has one fault at a
// time: what follows from two is nobody's to predict.
func Inject(ctx context.Context, lab *cluster.Lab, f Fault) error {
	if name := lab.Fault(); name != "" {
		return fmt.Errorf("fault %s is in place: heal it first", name)
	}
	status, err := lab.Supervisor.Status(ctx)
	if err != nil {
		return err
	}
	if !status.Ready {
		return fmt.Errorf("the lab is not up yet: %s", status.Phase)
	}
	if !f.Fits(lab.Options) {
		return fmt.Errorf("%s needs a lab of its own: run up -for %s", f.Name, f.Name)
	}
	if err := lab.SetFault(f.Name); err != nil {
		return err
	}
	if err := f.Inject(ctx, lab); err != nil {
		return fmt.Errorf("inject %s: %w", f.Name, err)
	}
	if err := f.Wait(ctx, lab); err != nil {
		return fmt.Errorf("inject %s: %w", f.Name, err)
	}
	return nil
}

// Fits says whether a lab with these options is what f needs.
func (f Fault) Fits(o cluster.Options) bool {
	return reflect.DeepEqual(o, f.Options(o))
}

// Options are those of a lab for f, made from o.
func (f Fault) Options(o cluster.Options) cluster.Options {
	if f.Lab != nil {
		f.Lab(&o)
	}
	return o
}

// Healthy says whether f is a shape of a healthy cluster.
func (f Fault) Healthy() bool { return f.Want == (Problem{}) }

// Heal undoes the lab's fault, if it has one, and waits until all is well.
func Heal(ctx context.Context, lab *cluster.Lab) error {
	if name := lab.Fault(); name != "" {
		f, err := Find(name)
		if err != nil {
			return err
		}
		if err := f.Heal(ctx, lab); err != nil {
			return fmt.Errorf("heal %s: %w", name, err)
		}
		if err := lab.SetFault(""); err != nil {
			return err
		}
	}
	if err := lab.WaitHealthy(ctx); err != nil {
		return err
	}
	// Restarts that the fault caused would be blamed on the next one.
	return lab.Forget(ctx)
}

// Find returns the fault of that name.
func Find(name string) (Fault, error) {
	for _, f := range slices.Concat(All(), Shapes()) {
		if f.Name == name {
			return f, nil
		}
	}
	return Fault{}, fmt.Errorf("no fault %q", name)
}
