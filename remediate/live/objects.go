package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/remediate"
)

// openHook sets failurePolicy of one webhook to Ignore, after it saved the
// configuration. The change takes place only on the object as it was saved.
func (k *Kube) openHook(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	kind, name, _ := strings.Cut(x.Target.Name, "/")
	path := "/apis/admissionregistration.k8s.io/v1/" + kind + "s/" + url.PathEscape(name)
	var o struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Webhooks []struct {
			Name          string `json:"name"`
			FailurePolicy string `json:"failurePolicy"`
		} `json:"webhooks"`
	}
	raw, err := k.fetch(ctx, path, &o)
	if err != nil {
		return nil, notDone("read %s: %w", x.Target.Name, err)
	}
	for i, w := range o.Webhooks {
		if w.Name != x.Args[remediate.ArgHook] {
			continue
		}
		if w.FailurePolicy == "Ignore" {
			return remediate.Outcome{"opened": "it was already"}, nil
		}
		if err := saveObject(x.Args[remediate.ArgSaved], raw); err != nil {
			return nil, notDone("save %s: %w", x.Target.Name, err)
		}
		at := fmt.Sprintf("/webhooks/%d/", i)
		patch := []map[string]string{
			{"op": "test", "path": "/metadata/resourceVersion", "value": o.Metadata.ResourceVersion},
			{"op": "test", "path": at + "name", "value": w.Name},
			{"op": "replace", "path": at + "failurePolicy", "value": "Ignore"},
		}
		err := k.call(ctx, http.MethodPatch, path, patch, nil)
		if err != nil {
			return nil, failed(err, "change", x.Target.Name)
		}
		return remediate.Outcome{"opened": remediate.Yes, remediate.OutWas: cmp.Or(w.FailurePolicy, "Fail"), "saved": x.Args[remediate.ArgSaved]}, nil
	}
	return nil, notDone("%s has no webhook %s any more", x.Target.Name, x.Args[remediate.ArgHook])
}

// removeAPIService deletes an APIService, after it saved it, and only the very
// one that it saved.
func (k *Kube) removeAPIService(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	_, name, _ := strings.Cut(x.Target.Name, "/")
	path := "/apis/apiregistration.k8s.io/v1/apiservices/" + url.PathEscape(name)
	var o struct {
		Metadata struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Spec struct {
			Service *struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"service"`
		} `json:"spec"`
	}
	raw, err := k.fetch(ctx, path, &o)
	switch {
	case isCode(err, http.StatusNotFound):
		return remediate.Outcome{"removed": "it was already"}, nil
	case err != nil:
		return nil, notDone("read %s: %w", x.Target.Name, err)
	case o.Spec.Service == nil || o.Spec.Service.Namespace+"/"+o.Spec.Service.Name != x.Args[remediate.ArgService]:
		return nil, notDone("%s is another: it does not call Service %s", x.Target.Name, x.Args[remediate.ArgService])
	}
	if err := saveObject(x.Args[remediate.ArgSaved], raw); err != nil {
		return nil, notDone("save %s: %w", x.Target.Name, err)
	}
	err = k.call(ctx, http.MethodDelete, path, map[string]any{
		"kind": "DeleteOptions", "apiVersion": "v1",
		"preconditions": map[string]string{"uid": o.Metadata.UID, "resourceVersion": o.Metadata.ResourceVersion},
	}, nil)
	if err != nil {
		return nil, failed(err, "delete", x.Target.Name)
	}
	return remediate.Outcome{"removed": "yes", "saved": x.Args[remediate.ArgSaved]}, nil
}

// handOver takes a lease from its holder: it frees it, as a holder does that
// leaves, or holds it for nobody. It changes only the lease as it saved it.
func (k *Kube) handOver(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	ns, name, ok := strings.Cut(x.Target.Name, "/")
	secs, err := strconv.Atoi(x.Args[remediate.ArgSeconds])
	if !ok || err != nil || secs < 0 || x.Args[remediate.ArgHolder] == "" {
		return nil, notDone("%q of %s for %q seconds is no lease to hand over", x.Args[remediate.ArgHolder], x.Target.Name, x.Args[remediate.ArgSeconds])
	}
	path := "/apis/coordination.k8s.io/v1/namespaces/" + url.PathEscape(ns) + "/leases/" + url.PathEscape(name)
	var l coordinationv1.Lease
	raw, err := k.fetch(ctx, path, &l)
	if err != nil {
		return nil, notDone("read %s: %w", x.Target.Name, err)
	}
	holder, to := "", ""
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	if secs > 0 {
		to = remediate.Nobody
	} else {
		secs = 1 // what client-go writes when a holder leaves
	}
	switch {
	case holder == to:
		return remediate.Outcome{"taken": "it was already"}, nil
	case holder != x.Args[remediate.ArgHolder]:
		return nil, notDone("%s is held by %q by now: nothing was taken", x.Target.Name, holder)
	}
	if err := saveObject(x.Args[remediate.ArgSaved], raw); err != nil {
		return nil, notDone("save %s: %w", x.Target.Name, err)
	}
	now := metav1.NewMicroTime(time.Now())
	type op struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	err = k.call(ctx, http.MethodPatch, path, []op{
		{"test", "/metadata/resourceVersion", l.ResourceVersion},
		{"test", "/spec/holderIdentity", holder},
		{"replace", "/spec/holderIdentity", to},
		{"add", "/spec/leaseDurationSeconds", secs},
		{"add", "/spec/renewTime", now},
	}, nil)
	if err != nil {
		return nil, failed(err, "change", x.Target.Name)
	}
	return remediate.Outcome{"taken": "from " + holder, "saved": x.Args[remediate.ArgSaved]}, nil
}

// fetch reads an object, and returns it as it came, too.
func (k *Kube) fetch(ctx context.Context, path string, into any) ([]byte, error) {
	var raw []byte
	if err := k.call(ctx, http.MethodGet, path, nil, &raw); err != nil {
		return nil, err
	}
	return raw, json.Unmarshal(raw, into)
}

// bare is an object without what the API server adds to it.
func bare(raw []byte) (map[string]any, error) {
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errors.New("it is no object")
	}
	if m, ok := o["metadata"].(map[string]any); ok {
		for _, k := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "selfLink"} {
			delete(m, k)
		}
	}
	delete(o, "status")
	return o, nil
}

// saveObject writes an object to a file of its own, in the form in which kubectl
// takes it back: without what the API server adds. One that is there from a run
// that was killed is kept: it is the original.
func saveObject(path string, raw []byte) error {
	if path == "" {
		return errors.New("no file to save it to")
	}
	o, err := bare(raw)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(o); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".saved-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}
