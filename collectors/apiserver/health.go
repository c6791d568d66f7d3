package apiserver

import (
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A Health is what a health endpoint says with ?verbose.
type Health struct {
	OK     bool
	Passed []string // names of the checks: "etcd", "poststarthook/rbac/bootstrap-roles"
	Failed []string
	Took   time.Duration // until the answer began
	From   string        // the URL that answered
}

// Only reports whether the check of that name is the only one that failed.
func (h Health) Only(name string) bool { return len(h.Failed) == 1 && h.Failed[0] == name }

// notHealth is how an answer is described that no API server gives.
const notHealth = "with something that is no health report"

// Limits of what is kept of a health report, which has some forty checks.
const (
	maxChecks    = 1000
	maxCheckName = 200
)

// ParseHealth reads the body of /readyz?verbose or /livez?verbose. The reasons
// of failures are withheld from it by the API server itself.
func ParseHealth(status int, body []byte) (Health, error) {
	h := Health{OK: status == 200}
	var verdict bool
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "[+]"):
			name, _, _ := strings.Cut(line[len("[+]"):], " ")
			h.Passed = keep(h.Passed, name)
		case strings.HasPrefix(line, "[-]"):
			name, _, _ := strings.Cut(line[len("[-]"):], " ")
			h.Failed = keep(h.Failed, name)
		case line == "ok", strings.HasSuffix(line, " check passed"):
			verdict = true
		case strings.HasSuffix(line, " check failed"):
			verdict, h.OK = true, false
		}
	}
	if len(h.Failed) > 0 {
		h.OK = false
	}
	if verdict || len(h.Passed)+len(h.Failed) > 0 {
		return h, nil
	}
	switch {
	case isStatus(body): // an API server's own error: "apiserver is shutting down"
		return Health{}, collectors.Gapf(collectors.ServerError, "answered %d: %s", status, excerpt(body))
	case status >= 500:
		return Health{}, collectors.Gapf(collectors.ServerError, "answered %d %s: %s", status, notHealth, excerpt(body))
	}
	return Health{}, collectors.Gapf(collectors.Malformed, "answered %d %s: %s", status, notHealth, excerpt(body))
}

func keep(names []string, name string) []string {
	if name == "" || len(names) == maxChecks {
		return names
	}
	return append(names, name[:min(len(name), maxCheckName)])
}

// isStatus tells an error of the API server's own from one of a proxy before it.
func isStatus(body []byte) bool {
	s := string(body[:min(len(body), 4096)])
	return strings.Contains(s, `"kind":`) && strings.Contains(s, `"Status"`)
}

// excerpt is the beginning of a body in one line.
func excerpt(body []byte) string {
	const most = 80
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(body[:min(len(body), 512)]), "?")), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if s == "" {
		return "an empty body"
	}
	return fmt.Sprintf("%q", s)
}

// readHealth reads the reply to a request for a health endpoint.
func readHealth(rs []collectors.Answered) (Health, error) {
	h, err := ParseHealth(rs[0].Status, rs[0].Body)
	if err != nil {
		return h, err
	}
	h.Took, h.From = rs[0].Elapsed, rs[0].From
	return h, nil
}

func askHealth(url string) []collectors.Request {
	return []collectors.Request{{Verb: collectors.Get, URL: url}}
}

const (
	readyz = "/readyz?verbose"
	livez  = "/livez?verbose"
)

// Readyz is what each instance that can be asked says of its readiness. That
// was learned on the way to the instance, so nothing is asked again.
var Readyz = &collectors.Fact[Health]{
	ID:      "apiserver.readyz",
	Doc:     "which readiness checks of each instance pass and fail",
	Needs:   []collectors.Any{Ways},
	Targets: targets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Health, error) {
		ways, _ := Ways.One(s)
		for _, w := range ways {
			if w.Target.Is(t) {
				return w.Health, asError(w.Gap)
			}
		}
		panic(fmt.Sprintf("there is no way to %s", t))
	},
}

// Livez is what each instance that can be asked says of its liveness.
var Livez = &collectors.Fact[Health]{
	ID:      "apiserver.livez",
	Doc:     "which liveness checks of each instance pass and fail",
	Needs:   []collectors.Any{Ways},
	Targets: targets,
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + livez)
	},
	Read: readHealth,
}

// asError avoids the nil *Gap in a non-nil error.
func asError(g *collectors.Gap) error {
	if g == nil {
		return nil
	}
	return g
}
