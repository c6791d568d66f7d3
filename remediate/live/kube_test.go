package live

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/remediate"
)

// An api is a Kubernetes API that keeps objects by path and answers as a real
// one where it matters: versions, conflicts, preconditions, JSON patches of the
// kind that is sent.
type api struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	version int
	asked   []string
	fail    int // is answered to every change, if it is not 0
}

func newAPI(t *testing.T) (*api, *Kube) {
	t.Helper()
	a := &api{objects: map[string]map[string]any{}}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	k, err := NewKube(&rest.Config{Host: s.URL}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return a, k
}

func (a *api) put(path, body string) {
	var o map[string]any
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		panic(err)
	}
	a.version++
	o["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(a.version)
	a.objects[path] = o
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	o, ok := a.objects[r.URL.Path]
	version := func(o map[string]any) any { return o["metadata"].(map[string]any)["resourceVersion"] }
	if r.Method != http.MethodGet && a.fail != 0 {
		w.WriteHeader(a.fail)
		return
	}
	switch r.Method {
	case http.MethodPost:
		var in map[string]any
		json.Unmarshal(body, &in)
		name, _ := in["metadata"].(map[string]any)["name"].(string)
		path := r.URL.Path + "/" + name
		if _, there := a.objects[path]; there && name != "" {
			w.WriteHeader(http.StatusConflict)
			return
		}
		a.put(path, string(body))
		json.NewEncoder(w).Encode(a.objects[path])
		return
	case http.MethodGet:
	case http.MethodPut:
		var in map[string]any
		json.Unmarshal(body, &in)
		if version(in) != version(o) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		a.put(r.URL.Path, string(body))
		o = a.objects[r.URL.Path]
	case http.MethodPatch:
		var ops []struct {
			Op, Path string
			Value    any
		}
		json.Unmarshal(body, &ops)
		if r.Header.Get("Content-Type") != "application/json-patch+json" || ops[0].Path != "/metadata/resourceVersion" || ops[0].Value != version(o) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		if spec, ok := o["spec"].(map[string]any); ok { // a Lease
			for _, x := range ops[1:] {
				field := strings.TrimPrefix(x.Path, "/spec/")
				if x.Op == "test" && spec[field] != x.Value {
					w.WriteHeader(http.StatusUnprocessableEntity)
					return
				}
				spec[field] = x.Value
			}
			a.version++
			o["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(a.version)
			break
		}
		o["webhooks"].([]any)[1].(map[string]any)["failurePolicy"] = ops[2].Value
	case http.MethodDelete:
		var in struct {
			Preconditions struct{ UID, ResourceVersion string }
		}
		json.Unmarshal(body, &in)
		if in.Preconditions.UID != o["metadata"].(map[string]any)["uid"] || in.Preconditions.ResourceVersion != version(o) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		delete(a.objects, r.URL.Path)
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	json.NewEncoder(w).Encode(o)
}

func TestLeaseKeepsOthersOut(t *testing.T) {
	a, k := newAPI(t)
	ctx := t.Context()
	if by, err := k.Acquire(ctx, "me", time.Minute); by != "" || err != nil {
		t.Fatalf("the first: %q %v", by, err)
	}
	if by, err := k.Acquire(ctx, "you", time.Minute); by != "me" || err != nil {
		t.Errorf("the second: %q %v", by, err)
	}
	if err := k.Renew(ctx, "me"); err != nil {
		t.Error(err)
	}
	if err := k.Renew(ctx, "you"); err != errGone {
		t.Errorf("who does not hold it renewed it: %v", err)
	}
	if err := k.Release(ctx, "you"); err != errGone {
		t.Errorf("who does not hold it gave it back: %v", err)
	}
	if err := k.Release(ctx, "me"); err != nil {
		t.Error(err)
	}
	if by, err := k.Acquire(ctx, "you", 0); by != "" || err != nil {
		t.Errorf("after it was given back: %q %v", by, err)
	}
	if by, err := k.Acquire(ctx, "me", time.Minute); by != "" || err != nil {
		t.Errorf("after it ran out: %q %v", by, err)
	}
	a.fail = http.StatusForbidden
	if by, err := k.Acquire(ctx, "me", time.Minute); by != "me" || err != nil {
		t.Errorf("what is held is seen by who may only read: %q %v", by, err)
	}
	if err := k.Record(ctx, "Cured", strings.Repeat("x", 5000), false); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("got %v", err)
	}
}

const hooksPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/policy"

func TestHookIsOpenedAsItWasSaved(t *testing.T) {
	a, k := newAPI(t)
	const config = `{"kind":"ValidatingWebhookConfiguration","metadata":{"name":"policy","uid":"u","managedFields":[]},"webhooks":[{"name":"a","failurePolicy":"Fail"},{"name":"b","failurePolicy":"Fail"}]}`
	a.put(hooksPath, config)
	dir := t.TempDir()
	saved := filepath.Join(dir, "x.json")
	act := New(Config{Kube: k})
	x := remediate.Action{Kind: remediate.OpenHook, Target: collectors.Target{Component: collectors.Webhooks, Name: "validatingwebhookconfiguration/policy"},
		Args: map[string]string{remediate.ArgHook: "b", remediate.ArgSaved: saved}}
	a.fail = http.StatusConflict
	if _, err := act.Do(t.Context(), x); !isNotDone(err) {
		t.Errorf("a conflict: got %v", err)
	}
	a.fail = http.StatusInternalServerError
	if _, err := act.Do(t.Context(), x); err == nil || isNotDone(err) {
		t.Errorf("an error that says nothing of the change: got %v", err)
	}
	a.fail = 0
	out, err := act.Do(t.Context(), x)
	if err != nil || out["opened"] != "yes" {
		t.Fatalf("got %v, %v", out, err)
	}
	hooks := a.objects[hooksPath]["webhooks"].([]any)
	if hooks[0].(map[string]any)["failurePolicy"] != "Fail" || hooks[1].(map[string]any)["failurePolicy"] != "Ignore" {
		t.Errorf("got %v", hooks)
	}
	b, err := os.ReadFile(saved)
	if err != nil || strings.Contains(string(b), "resourceVersion") || strings.Contains(string(b), `"uid"`) || strings.Contains(string(b), "Ignore") {
		t.Errorf("what was saved cannot be put back: %s %v", b, err)
	}
	if out, err := act.Do(t.Context(), x); err != nil || out["opened"] != "it was already" {
		t.Errorf("again: got %v, %v", out, err)
	}
	x.Args[remediate.ArgHook] = "c"
	if _, err := act.Do(t.Context(), x); !isNotDone(err) {
		t.Errorf("a webhook that is not there: got %v", err)
	}
	x.Args[remediate.ArgHook], x.Args[remediate.ArgSaved] = "a", filepath.Join(dir, "no", "such", "folder", "x.json")
	if _, err := act.Do(t.Context(), x); !isNotDone(err) {
		t.Errorf("what cannot be saved was changed: %v", err)
	}
	if _, err := New(Config{}).Do(t.Context(), x); !isNotDone(err) {
		t.Errorf("without a kubeconfig: got %v", err)
	}
}

func isNotDone(err error) bool {
	_, ok := err.(*remediate.NotDone)
	return ok
}

func TestAPIServiceIsRemovedAsItWasSaved(t *testing.T) {
	a, k := newAPI(t)
	const path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.gone.io"
	a.put(path, `{"kind":"APIService","metadata":{"name":"v1.gone.io","uid":"u"},"spec":{"service":{"namespace":"guard","name":"gone"}},"status":{}}`)
	act := New(Config{Kube: k})
	x := remediate.Action{Kind: remediate.RemoveAPIService, Target: collectors.Target{Component: collectors.Webhooks, Name: "apiservice/v1.gone.io"},
		Args: map[string]string{remediate.ArgService: "guard/other", remediate.ArgSaved: filepath.Join(t.TempDir(), "x.json")}}
	if _, err := act.Do(t.Context(), x); !isNotDone(err) || a.objects[path] == nil {
		t.Errorf("one that calls another Service: got %v", err)
	}
	x.Args[remediate.ArgService] = "guard/gone"
	if out, err := act.Do(t.Context(), x); err != nil || out["removed"] != "yes" || a.objects[path] != nil {
		t.Errorf("got %v, %v", out, err)
	}
	if out, err := act.Do(t.Context(), x); err != nil || out["removed"] != "it was already" {
		t.Errorf("again: got %v, %v", out, err)
	}
}

// TestLeaseIsTakenFromItsHolderOnly holds what is written to a Lease, and that
// nothing is if another holds it by then.
func TestLeaseIsTakenFromItsHolderOnly(t *testing.T) {
	const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
	for _, tt := range []struct {
		seconds, holder string
		want            float64
	}{{"0", "", 1}, {"15", remediate.Nobody, 15}} {
		a, k := newAPI(t)
		act := New(Config{Kube: k})
		lease := func(holder string) {
			a.put(path, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-scheduler","namespace":"kube-system","uid":"u"},"spec":{"holderIdentity":"`+holder+`","leaseDurationSeconds":60,"renewTime":"2026-01-02T03:04:05.000000Z","leaseTransitions":3}}`)
		}
		saved := filepath.Join(t.TempDir(), "x.json")
		x := remediate.Action{Kind: remediate.HandOver, Target: collectors.Target{Component: collectors.Leases, Name: "kube-system/kube-scheduler"},
			Args: map[string]string{remediate.ArgHolder: "cp-1_a", remediate.ArgSeconds: tt.seconds, remediate.ArgSaved: saved}}
		lease("cp-2_b")
		if _, err := act.Do(t.Context(), x); !isNotDone(err) || !strings.Contains(err.Error(), "cp-2_b") {
			t.Errorf("another holds it: got %v", err)
		}
		lease("cp-1_a")
		for code, sure := range map[int]bool{http.StatusConflict: true, http.StatusForbidden: true, http.StatusBadGateway: false} {
			a.fail = code
			if _, err := act.Do(t.Context(), x); err == nil || isNotDone(err) != sure {
				t.Errorf("%d: got %v", code, err)
			}
		}
		a.fail = 0
		if out, err := act.Do(t.Context(), x); err != nil || out["taken"] != "from cp-1_a" {
			t.Fatalf("got %v, %v", out, err)
		}
		spec := a.objects[path]["spec"].(map[string]any)
		if spec["holderIdentity"] != tt.holder || spec["leaseDurationSeconds"] != tt.want || spec["leaseTransitions"] != 3.0 {
			t.Errorf("the lease is %v", spec)
		}
		if b, err := os.ReadFile(saved); err != nil || !strings.Contains(string(b), "cp-1_a") {
			t.Errorf("saved: %s %v", b, err)
		}
		if out, err := act.Do(t.Context(), x); err != nil || out["taken"] != "it was already" {
			t.Errorf("again: got %v, %v", out, err)
		}
		for _, args := range []map[string]string{{}, {remediate.ArgHolder: "", remediate.ArgSeconds: "0"}, {remediate.ArgHolder: "x", remediate.ArgSeconds: "-1"}} {
			x.Args = args
			if _, err := act.Do(t.Context(), x); !isNotDone(err) {
				t.Errorf("%v: got %v", args, err)
			}
		}
	}
}
