package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var fresh = Fault{
	Name:   "fresh",
	Doc:    "A cluster that has just been made, and in which nothing happens.",
	Inject: nothing,
	Wait:   healthy,
	Heal:   nothing,
}

// nothing is for faults that leave everything as it is.
func nothing(context.Context, *cluster.Lab) error { return nil }

// healthy waits for a lab in which all is well.
func healthy(ctx context.Context, lab *cluster.Lab) error { return lab.WaitHealthy(ctx) }
