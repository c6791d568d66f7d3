// Package permissions tells which rights in a cluster checks need. Nobody keeps
// a list: the facts of each check are collected from a model cluster, which has
// one of everything, and what they ask for there is what they need.
package permissions

import (
	"context"
	_ "embed"
	"slices"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/rights"
)

//go:embed model.txtar
var model []byte

// A User is something that reads facts: a check, the table of vitals.
type User struct {
	Name  string
	Facts []collectors.Any
}

// A Need is a right, and those who need it.
type Need struct {
	rights.Right
	By     []string
	Writes bool // it is for writing, which is asked for by a flag alone
}

// Of returns the rights that the users need, each once. A right for one
// namespace is left out where one for all of them is needed anyway; who needs the
// former is then among those who need the latter.
//
// Webhooks and extension API servers may be in any namespace, and rights about
// them are for all, unless the caller knows the namespaces and names them.
func Of(users []User, namespaces ...string) []Need {
	var facts []collectors.Any
	for _, u := range users {
		facts = append(facts, u.Facts...)
	}
	walk := NewWalk(facts)
	by := map[rights.Right][]string{}
	var all []rights.Right
	for _, u := range users {
		for _, r := range walk.Requests(u.Facts) {
			for _, right := range rights.Of(r) {
				for _, right := range anywhere(right, namespaces) {
					if !slices.Contains(by[right], u.Name) {
						by[right] = append(by[right], u.Name)
					}
					all = append(all, right)
				}
			}
		}
	}
	var out []Need
	for _, r := range rights.Reduce(all) {
		n := Need{Right: r}
		for o, names := range by {
			if r.Covers(o) {
				n.By = append(n.By, names...)
			}
		}
		slices.Sort(n.By)
		n.By = slices.Compact(n.By)
		out = append(out, n)
	}
	return out
}

// fixed are the namespaces that requests name whatever the cluster. Any other is
// the model's, and stands for one that only the cluster itself tells.
var fixed = []string{"kube-system", "default", "kube-node-lease", "kube-public"}

func anywhere(r rights.Right, namespaces []string) []rights.Right {
	if r.Namespace == "" || slices.Contains(fixed, r.Namespace) {
		return []rights.Right{r}
	}
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var out []rights.Right
	for _, ns := range namespaces {
		r.Namespace = ns
		out = append(out, r)
	}
	return out
}

// A Walk is a look at the model cluster.
type Walk struct{ snapshot *collectors.Snapshot }

// NewWalk collects the facts from the model cluster.
func NewWalk(facts []collectors.Any) Walk {
	src := capture.NewScript(at, time.Second, txtar.Parse(model))
	return Walk{collectors.Collect(context.Background(), src, at, time.Second, collectors.Options{}, facts...).Snapshot}
}

// Requests is what the facts, and those that they need, ask there.
func (w Walk) Requests(facts []collectors.Any) []collectors.Request {
	var out []collectors.Request
	seen := map[string]bool{}
	var visit func(collectors.Any)
	visit = func(f collectors.Any) {
		if seen[f.Name()] {
			return
		}
		seen[f.Name()] = true
		for _, n := range f.Requires() {
			visit(n)
		}
		out = append(out, f.Requests(w.snapshot)...)
	}
	for _, f := range facts {
		visit(f)
	}
	return out
}

// at is when the model cluster is looked at. Nothing in it depends on the time.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Snapshot is what the model cluster answered.
func (w Walk) Snapshot() *collectors.Snapshot { return w.snapshot }
