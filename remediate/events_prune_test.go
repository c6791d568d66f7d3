package remediate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
)

const theEvents = "list kube:/api/v1/events"

// eventsOf makes Events of a namespace, for a reason, that last occurred so long ago.
func eventsOf(n int, namespace, reason string, ago time.Duration) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`apiVersion: v1
kind: Event
metadata: {namespace: %s, name: %s-%d-%d, creationTimestamp: "2026-01-01T00:00:00Z"}
reason: %s
type: Warning
lastTimestamp: %q`, namespace, strings.ToLower(reason), i, ago, reason, checktest.Now.Add(-ago).Format(time.RFC3339)))
	}
	return strings.Join(out, "\n---\n")
}

func oldEvents() map[string]string {
	return map[string]string{
		theUID:    `{"metadata":{"uid":"u-1"}}`,
		theEvents: strings.Join([]string{eventsOf(1200, "default", "FailedMount", 2*time.Hour), eventsOf(3, "kube-system", "Killing", 90*time.Minute), eventsOf(40, "default", "Pulled", time.Minute)}, "\n---\n"),
	}
}

func TestEventsPrunePlan(t *testing.T) {
	in := func(ns, body string) map[string]string {
		out := oldEvents()
		out["list kube:/api/v1/namespaces/"+ns+"/events"] = body
		return out
	}
	with := func(name, body string) map[string]string {
		out := oldEvents()
		out[name] = body
		return out
	}
	for _, tt := range []struct {
		name   string
		o      Options
		change map[string]string
		want   []string
		notes  string
		err    string
	}{
		{"old ones of all namespaces", Options{}, oldEvents(), []string{
			"delete up to 500 old Events of namespace default", "delete up to 500 old Events of namespace default", "delete up to 200 old Events of namespace default", "delete up to 3 old Events of namespace kube-system",
		}, "1203 Events of 1243 last occurred before 2026-01-02T02:04:05Z", ""},
		{"the counts are shown", Options{}, oldEvents(), nil, "1200 in default for FailedMount (Warning), the oldest 2h old", ""},
		{"only for a reason", Options{Reasons: []string{"Killing"}}, oldEvents(), []string{"delete up to 3 old Events of namespace kube-system"}, "for Killing", ""},
		{"only older ones", Options{OlderThan: Duration(100 * time.Minute), Namespaces: []string{"kube-system"}}, in("kube-system", eventsOf(3, "kube-system", "Killing", 90*time.Minute)), []string{}, "0 Events of 3", ""},
		{"only of a namespace", Options{Namespaces: []string{"kube-system"}}, in("kube-system", eventsOf(3, "kube-system", "Killing", 90*time.Minute)), []string{"delete up to 3 old Events of namespace kube-system"}, "", ""},
		{"none at all", Options{}, with(theEvents, ""), []string{}, "0 Events of 0", ""},
		{"one without any time is left alone", Options{}, with(theEvents, "apiVersion: v1\nkind: Event\nmetadata: {namespace: default, name: x}"), []string{}, "0 Events of 1", ""},
		{"one that goes on by its series", Options{}, with(theEvents, "apiVersion: v1\nkind: Event\nmetadata: {namespace: default, name: x, creationTimestamp: \"2026-01-01T00:00:00Z\"}\nseries: {count: 9, lastObservedTime: \"2026-01-02T03:00:00.000000Z\"}"), []string{}, "0 Events of 1", ""},
		{"events that may not be listed", Options{}, with(theEvents, "gap: forbidden: may not list events"), nil, "", "may not list events"},
		{"NOSPACE is raised", Options{}, with(status1, status(1, map[string]string{"errors": `["memberID:1 alarm:NOSPACE "]`})), nil, "", "a deletion is a write"},
		{"an operator forbids it", Options{}, with(halt, "{}"), nil, "", "forbids cures"},
		{"the API server does not answer", Options{}, with(halt, "gap: timeout: no answer"), nil, "", "no answer"},
		{"outside of the window", Options{Window: "01:00-02:00"}, oldEvents(), nil, "", "the window is 01:00-02:00"},
		{"younger than may be", Options{OlderThan: Duration(time.Minute)}, oldEvents(), nil, "", "--older-than 1m0s is less than 10m0s"},
		{"too fast", Options{Rate: 100000}, oldEvents(), nil, "", "--rate 100000"},
		{"a namespace with a quote", Options{Namespaces: []string{`a"b`}}, oldEvents(), nil, "", "is not the name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := make3(t, &EventsPrune, tt.o, tt.change)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, s := range p.Steps {
				got = append(got, s.Describe())
			}
			if tt.want != nil && !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, tt.notes) {
				t.Errorf("the notes do not say %q:\n%s", tt.notes, notes)
			}
		})
	}
}

// TestEventsPruneStopsWhenAPIServersAreBusy holds the guards that are asked again
// before and after each step.
func TestEventsPruneStopsWhenAPIServersAreBusy(t *testing.T) {
	p, err := make3(t, &EventsPrune, Options{}, oldEvents())
	if err != nil {
		t.Fatal(err)
	}
	busy := oldEvents()
	const head = `process_start_time_seconds 1
apiserver_current_inflight_requests{request_kind="mutating"} 3
apiserver_flowcontrol_nominal_limit_seats{priority_level="global-default"} 49
apiserver_flowcontrol_current_limit_seats{priority_level="global-default"} 56
apiserver_flowcontrol_rejected_requests_total{flow_schema="global-default",priority_level="global-default",reason="queue-full"} `
	for look, n := range map[string]string{"first": "5", "last": "9"} {
		for _, at := range []string{"kube:/metrics"} {
			busy["scrape "+at+" #"+look] = head + n
		}
	}
	for _, ns := range []string{"default", "kube-system"} {
		busy["list kube:/api/v1/namespaces/"+ns+"/events"] = ""
	}
	g := newGate(p)
	for i, want := range []string{"", "", "1200 Events are left", "3 Events are left"} {
		guards, clears := g.of(i)
		judge := func(cs []*checks.Check, change map[string]string) error {
			return demand(cs, checks.Run(snapshotOver(t, 10*time.Second, change, checks.Facts(cs)...), cs))
		}
		if err := judge(guards, oldEvents()); err != nil {
			t.Errorf("step %d on a calm cluster: %v", i+1, err)
		}
		for _, cs := range [][]*checks.Check{guards, clears} {
			if err := judge(cs, busy); err == nil || !strings.Contains(err.Error(), "turned 4 requests of level global-default away") {
				t.Errorf("step %d on a busy one: %v", i+1, err)
			}
		}
		left := maps.Clone(oldEvents())
		for _, ns := range []string{"default", "kube-system"} {
			left["list kube:/api/v1/namespaces/"+ns+"/events"] = map[string]string{"default": eventsOf(1200, ns, "FailedMount", 2*time.Hour), "kube-system": eventsOf(3, ns, "Killing", 2*time.Hour)}[ns]
		}
		err := judge(clears, left)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("step %d with all left: %v, want %q", i+1, err, want)
		}
	}
}
