package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/remediate"
)

// An eventAPI serves the Events of one namespace, page by page, and heeds
// preconditions.
type eventAPI struct {
	mu      sync.Mutex
	names   []string
	objects map[string]string // by name; %d is the version
	version map[string]int
	answer  func(a *eventAPI, r *http.Request) int // 0: as usual
	deleted int
}

func (a *eventAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil {
		if code := a.answer(a, r); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	const path = "/api/v1/namespaces/default/events"
	name := strings.TrimPrefix(r.URL.Path, path+"/")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == path:
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		from, _ := slices.BinarySearch(a.names, r.URL.Query().Get("continue"))
		var items []string
		next := ""
		for _, n := range a.names[from:] {
			if len(items) == limit {
				next = n
				break
			}
			items = append(items, fmt.Sprintf(a.objects[n], a.version[n]))
		}
		fmt.Fprintf(w, `{"kind":"EventList","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
	case r.Method == http.MethodDelete:
		var in struct {
			Preconditions struct{ UID, ResourceVersion string }
		}
		json.NewDecoder(r.Body).Decode(&in)
		switch i, there := slices.BinarySearch(a.names, name); {
		case !there:
			w.WriteHeader(http.StatusNotFound)
		case in.Preconditions.UID != "u-"+name || in.Preconditions.ResourceVersion != strconv.Itoa(a.version[name]):
			w.WriteHeader(http.StatusConflict)
		default:
			a.names = slices.Delete(a.names, i, i+1)
			a.deleted++
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (a *eventAPI) add(n int, prefix, last string) {
	for i := range n {
		name := fmt.Sprintf("%s-%04d", prefix, i)
		a.names = append(a.names, name)
		a.version[name] = 7
		a.objects[name] = fmt.Sprintf(`{"metadata":{"namespace":"default","name":%q,"uid":"u-%[1]s","resourceVersion":"%%d","creationTimestamp":"2026-01-01T00:00:00Z"},"reason":"Tested","lastTimestamp":%q,"involvedObject":{"kind":"Pod","name":"x"}}`, name, last)
	}
	slices.Sort(a.names)
}

func TestOnlyOldEventsAreDeleted(t *testing.T) {
	a := &eventAPI{objects: map[string]string{}, version: map[string]int{}}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	k, err := NewKube(&rest.Config{Host: s.URL}, "test")
	if err != nil {
		t.Fatal(err)
	}
	act := New(Config{Kube: k})
	dir := t.TempDir()
	saved := filepath.Join(dir, "events-pruned-x.json")
	x := remediate.Action{Kind: remediate.PruneEvents, Target: collectors.Target{Component: collectors.APIServer, Name: "events/default"}, Args: map[string]string{
		remediate.ArgNamespace: "default", remediate.ArgBefore: "2026-01-02T00:00:00Z", remediate.ArgLimit: "300", remediate.ArgRate: "500", remediate.ArgSaved: saved,
	}}
	with := func(key, value string) remediate.Action {
		y := x
		y.Args = map[string]string{}
		for k, v := range x.Args {
			y.Args[k] = v
		}
		y.Args[key] = value
		return y
	}

	a.add(400, "old", "2026-01-01T10:00:00Z")
	a.add(300, "new", "2026-01-02T10:00:00Z")
	for _, bad := range []remediate.Action{
		with(remediate.ArgBefore, "yesterday"), with(remediate.ArgLimit, "-1"), with(remediate.ArgRate, "0"), with(remediate.ArgNamespace, ""),
		with(remediate.ArgSaved, ""), with(remediate.ArgSaved, filepath.Join(dir, "authorized_keys")), with(remediate.ArgSaved, filepath.Join(dir, "none", "events-pruned-x.json")),
	} {
		if _, err := act.Do(t.Context(), bad); !isNotDone(err) || a.deleted > 0 {
			t.Errorf("%v: got %v, %d deleted", bad.Args, err, a.deleted)
		}
	}

	// One occurs again between the list and its turn, one goes by itself.
	a.answer = func(a *eventAPI, r *http.Request) int {
		if r.Method == http.MethodDelete {
			a.version["old-0005"] = 8
			a.names = slices.DeleteFunc(a.names, func(n string) bool { return n == "old-0007" })
		}
		return 0
	}
	out, err := act.Do(t.Context(), x)
	if err != nil || out["deleted"] != "300" || out["changed since"] != "1" || out["gone before"] != "1" {
		t.Fatalf("got %v, %v", out, err)
	}
	if !slices.Contains(a.names, "old-0005") || len(a.names) != 399 {
		t.Errorf("%d are left", len(a.names))
	}
	b, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) < 300 || !strings.Contains(lines[0], `"kind":"Event"`) || strings.Contains(lines[0], "resourceVersion") || strings.Contains(lines[0], "uid") {
		t.Errorf("%d were saved: %s", len(lines), lines[0])
	}
	if st, _ := os.Stat(saved); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}

	// For another reason: none.
	a.answer = nil
	if out, err := act.Do(t.Context(), with(remediate.ArgReasons, "Other,Another")); err != nil || out["deleted"] != "0" {
		t.Errorf("got %v, %v", out, err)
	}
	// The rest, though the list runs out of history once.
	once := false
	a.answer = func(a *eventAPI, r *http.Request) int {
		if r.URL.Query().Get("continue") != "" && !once {
			once = true
			return http.StatusGone
		}
		return 0
	}
	if out, err := act.Do(t.Context(), x); err != nil || out["deleted"] != "99" || !once {
		t.Errorf("got %v, %v", out, err)
	}
	if len(a.names) != 300 || a.names[0] != "new-0000" {
		t.Errorf("%d are left, from %s on", len(a.names), a.names[0])
	}

	// It stops when it is told to do less, and says how far it came.
	for code, sure := range map[int]bool{http.StatusTooManyRequests: true, http.StatusForbidden: true, http.StatusInternalServerError: false} {
		a.add(20, fmt.Sprintf("more%d", code), "2026-01-01T10:00:00Z")
		a.answer = func(a *eventAPI, r *http.Request) int {
			if r.Method == http.MethodDelete {
				return code
			}
			return 0
		}
		if _, err := act.Do(t.Context(), x); err == nil || isNotDone(err) != sure {
			t.Errorf("%d at the first: got %v", code, err)
		}
		before := a.deleted
		a.answer = func(a *eventAPI, r *http.Request) int {
			if r.Method == http.MethodDelete && a.deleted >= before+10 {
				return code
			}
			return 0
		}
		if out, err := act.Do(t.Context(), x); err == nil || isNotDone(err) || out["deleted"] != "10" || !strings.Contains(err.Error(), "10 were deleted") {
			t.Errorf("%d in the middle: got %v, %v", code, out, err)
		}
	}
	a.answer = func(*eventAPI, *http.Request) int { return http.StatusForbidden }
	if _, err := act.Do(t.Context(), x); !isNotDone(err) {
		t.Errorf("a list that is refused: got %v", err)
	}
}
