package apiserver

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
)

// atFront is what the address of the kubeconfig answers.
var atFront = &collectors.Fact[Health]{
	ID:      "apiserver.front",
	Doc:     "what the kubeconfig's address answers to /readyz",
	Targets: collectors.Single(Front),
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: readHealth,
}

// direct is what each instance answers at its own address. From outside of the
// cluster's network that is often nothing, which says nothing about it.
var direct = &collectors.Fact[Health]{
	ID:    "apiserver.direct",
	Doc:   "what each API server answers to /readyz at its own address",
	Needs: []collectors.Any{Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, i := range f.Known {
			if !i.Own {
				out = append(out, i.target("apiserver://"+i.Address()))
			}
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: readHealth,
}

// forwarded is what those instances answer through port-forward that cannot be
// reached at their own address. It leads through the API server itself, so it
// is not tried if that does not answer.
var forwarded = &collectors.Fact[Health]{
	ID:    "apiserver.forwarded",
	Doc:   "what API servers that cannot be reached directly answer to /readyz by port-forward into their pods",
	Needs: []collectors.Any{Instances, atFront, direct},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		if _, gap := atFront.One(s); !OutcomeOf(gap).Reached() {
			return nil, nil
		}
		var out []collectors.Target
		for _, i := range f.Known {
			_, gap := direct.Of(s, i.target(""))
			if i.Own || i.Pod.Pod == "" || i.Pod.Phase != corev1.PodRunning || OutcomeOf(gap).Reached() {
				continue
			}
			out = append(out, i.target(i.Pod.PodURL("https", i.Pod.Flag("secure-port", "6443"))))
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: readHealth,
}

// A Way is how one instance is asked in this run, and what it said to /readyz.
type Way struct {
	Target collectors.Target // its Addr is the front part of the URLs to ask
	By     string            // "the kubeconfig's address", "its own address", "port-forward"
	Health Health
	Gap    *collectors.Gap // why there is no Health
}

// Ways are the instances that can be asked, each by one way. Where none can be
// told from the others, it is the one way through the kubeconfig's address,
// whose target has no name.
var Ways = &collectors.Fact[[]Way]{
	ID:      "apiserver.ways",
	Doc:     "which API servers can be asked from here, and by which way",
	Needs:   []collectors.Any{Instances, atFront, direct, forwarded},
	Targets: collectors.Single(Front),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) ([]Way, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		h, frontGap := atFront.One(s)
		var out []Way
		for _, i := range f.Known {
			if i.Own && (len(f.Known) == 1 || OutcomeOf(frontGap).Reached()) {
				out = append(out, Way{i.target(Front.Addr), "the kubeconfig's address", h, frontGap})
				continue
			}
			for _, w := range []struct {
				by   string
				fact *collectors.Fact[Health]
			}{{"its own address", direct}, {"port-forward", forwarded}} {
				as, _ := w.fact.Answers(s)
				for _, a := range as {
					if a.Target.Is(i.target("")) && OutcomeOf(a.Gap).Reached() {
						out = append(out, Way{a.Target, w.by, a.Value, a.Gap})
					}
				}
			}
		}
		if len(out) == 0 {
			out = []Way{{Front, "the kubeconfig's address", h, frontGap}}
		}
		return out, nil
	},
}

// targets are the instances that can be asked.
func targets(s *collectors.Snapshot) ([]collectors.Target, error) {
	ways, gap := Ways.One(s)
	if gap != nil {
		return nil, gap
	}
	var out []collectors.Target
	for _, w := range ways {
		out = append(out, w.Target)
	}
	return out, nil
}

// An Attempt is how the attempts to reach one instance, or the address in front
// of all, ended.
type Attempt struct {
	Instance Instance        // without a name for the address in front
	Outcome  Outcome         // at its own address
	Detail   string          // what came back, where it did not answer
	Took     float64         // seconds until the answer began; 0 without one
	By       string          // by what way it was reached in the end; empty if by none
	Gap      *collectors.Gap // of the attempt at its own address
}

// Attempts tells for the address in front, and for each instance, whether it
// was reached and if not, why not. The first is that of the address in front.
var Attempts = &collectors.Fact[[]Attempt]{
	ID:      "apiserver.attempts",
	Doc:     "how each attempt to reach an API server ended",
	Needs:   []collectors.Any{Instances, atFront, direct, forwarded, Ways},
	Targets: collectors.Single(Front),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) ([]Attempt, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		h, gap := atFront.One(s)
		out := []Attempt{attempt(Instance{}, h, gap)}
		ways, _ := Ways.One(s)
		for _, i := range f.Known {
			a := out[0]
			a.Instance = i
			if !i.Own {
				h, gap := direct.Of(s, i.target(""))
				a = attempt(i, h, gap)
			}
			for _, w := range ways {
				if w.Target.Name == i.Name {
					a.By = w.By
				}
			}
			out = append(out, a)
		}
		return out, nil
	},
}

func attempt(i Instance, h Health, gap *collectors.Gap) Attempt {
	a := Attempt{Instance: i, Outcome: OutcomeOf(gap), Took: h.Took.Seconds(), Gap: gap}
	if gap != nil {
		a.Detail = gap.Detail
	}
	return a
}
