package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/faults"
)

func fault(ctx context.Context, args []string) error {
	if len(args) == 0 {
		for _, f := range slices.Concat(faults.All(), faults.Shapes()) {
			want := f.Want.Check + " " + f.Want.Target
			if f.Healthy() {
				want = "nothing"
			}
			fmt.Printf("%s\n\t%s\n\twant %s\n", f.Name, f.Doc, want)
		}
		return nil
	}
	f, err := faults.Find(args[0])
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	lab, err := cluster.Open(cluster.DefaultDir())
	if err != nil {
		return err
	}
	start := time.Now()
	if err := faults.Inject(ctx, lab, f); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s has its effect after %s\n", f.Name, time.Since(start).Round(100*time.Millisecond))
	return nil
}

func heal(ctx context.Context, _ []string) error {
	lab, err := cluster.Open(cluster.DefaultDir())
	if err != nil {
		return err
	}
	start := time.Now()
	if err := faults.Heal(ctx, lab); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "healthy after %s\n", time.Since(start).Round(100*time.Millisecond))
	return nil
}
