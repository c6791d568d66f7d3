package remediate

import (
	"fmt"
	"strings"
	"time"
)

// Options are what an operator decides. They are part of a plan.
type Options struct {
	Members []string `json:"members,omitempty"` // the only ones that may be touched; all if empty
	Rule    string   `json:"rule,omitempty"`    // which members are worth it, in CEL
	To      string   `json:"to,omitempty"`      // who is to lead
	File    string   `json:"file,omitempty"`    // of a snapshot
	Objects []string `json:"objects,omitempty"` // the only ones that may be touched, as kind/name; all if empty
	SaveTo  string   `json:"saveTo,omitempty"`  // the folder where objects are saved before they are changed

	OlderThan  Duration `json:"olderThan,omitempty"`  // of Events
	Namespaces []string `json:"namespaces,omitempty"` // the only ones whose Events are meant; all if empty
	Reasons    []string `json:"reasons,omitempty"`    // the only ones for which Events are meant; all if empty
	Rate       int      `json:"rate,omitempty"`       // of deletions a second

	Keep       Duration `json:"keep,omitempty"` // how much history stays
	Aggressive bool     `json:"aggressive,omitempty"`
	// Seen are the last revisions that ktriage saw, by the clock of this machine.
	Seen []Sight `json:"seen,omitempty"`

	Window      string   `json:"window,omitempty"` // when a step may begin
	MinInterval Duration `json:"minInterval,omitempty"`
	MaxStall    Duration `json:"maxStall,omitempty"`
	Settle      Duration `json:"settle"`        // the least pause after a step that clients notice
	SettleLimit Duration `json:"settleTimeout"` // when waiting for the cluster to be whole is given up

	RequireSnapshot Duration  `json:"requireSnapshot,omitempty"` // the greatest age of the last snapshot
	SnapshotAt      time.Time `json:"snapshotAt,omitzero"`       // when the last that is known was made
	NoSnapshot      bool      `json:"noSnapshot,omitempty"`

	AllowSmall        bool `json:"allowSingleMember,omitempty"` // fewer than three voters
	AllowDown         bool `json:"allowDown,omitempty"`         // a voter is down, and the margin is there all the same
	WithoutKubernetes bool `json:"withoutKubernetes,omitempty"`
}

// The defaults.
const (
	// DefaultRule is from when on OpenShift defragments by itself (45% and
	// 100 MB, cluster-etcd-operator defragcontroller), and what gives a
	// database that is close to its quota room again.
	DefaultRule = "fragmentation >= 0.45 && size >= 100*MiB || usage >= 0.8 && free >= 16*MiB"
	// DefaultKeep is twice what API servers themselves keep at least.
	DefaultKeep = Duration(10 * time.Minute)
	// DefaultSettle is how long OpenShift waits after a defragmentation:
	// cluster-etcd-operator, minDefragWaitDuration.
	DefaultSettle = Duration(36 * time.Second)
	// DefaultSettleLimit is far above what a member needs to catch up.
	DefaultSettleLimit = Duration(5 * time.Minute)
	// DefaultMaxStall is how long a component may not renew its lease before
	// it gives up leading: client-go's renewDeadline.
	DefaultMaxStall = Duration(10 * time.Second)
	// DefaultValid is how long a plan may lie before it is applied.
	DefaultValid = Duration(time.Hour)
)

// Check refuses options that make no sense, before anything is asked.
func (o Options) Check() error {
	if _, err := ParseRule(o.Rule); o.Rule != "" && err != nil {
		return fmt.Errorf("--rule: %w", err)
	}
	if _, err := ParseWindow(o.Window); o.Window != "" && err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	for _, d := range []struct {
		flag string
		d    Duration
	}{
		{"--keep", o.Keep}, {"--min-interval", o.MinInterval}, {"--max-stall", o.MaxStall},
		{"--settle", o.Settle}, {"--require-snapshot", o.RequireSnapshot},
	} {
		if d.d < 0 {
			return fmt.Errorf("%s %s is negative", d.flag, d.d)
		}
	}
	switch {
	case o.SettleLimit <= 0:
		return fmt.Errorf("--settle-timeout must be above 0, got %s", o.SettleLimit)
	case o.Aggressive && o.Keep != 0 && o.Keep != DefaultKeep:
		return fmt.Errorf("--aggressive keeps no history: it cannot go with --keep %s", o.Keep)
	case !o.Aggressive && o.Keep != 0 && o.Keep < minKeep:
		return fmt.Errorf("--keep %s is less than %s, with which watches of the API server begin to fail; see --aggressive", o.Keep, minKeep)
	}
	switch {
	case o.OlderThan < 0 || o.OlderThan > 0 && o.OlderThan < minOlderThan:
		return fmt.Errorf("--older-than %s is less than %s: what happened since may still be looked at and counted up", o.OlderThan, minOlderThan)
	case o.Rate < 0 || o.Rate > maxRate:
		return fmt.Errorf("--rate %d is not between 1 and %d deletions a second", o.Rate, maxRate)
	}
	for _, names := range [][]string{o.Namespaces, o.Reasons} {
		for _, n := range names {
			if strings.TrimSpace(n) == "" || strings.ContainsAny(n, ", /\t\n'\"\\") {
				return fmt.Errorf("%q is not the name of a namespace or a reason", n)
			}
		}
	}
	for _, m := range o.Members {
		if strings.TrimSpace(m) == "" {
			return fmt.Errorf("--members names nobody")
		}
	}
	return nil
}

// minKeep is the interval in which API servers compact by default: what they
// themselves keep at least.
const minKeep = Duration(5 * time.Minute)
