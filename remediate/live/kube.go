package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// A Kube is a Kubernetes API to which a run tells what it does.
type Kube struct {
	client *http.Client
	base   *url.URL
	agent  string
}

// NewKube makes a Kube. It dials nobody.
func NewKube(c *rest.Config, agent string) (*Kube, error) {
	c = rest.CopyConfig(c)
	c.Timeout = brief
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, err
	}
	return &Kube{client, base, agent}, nil
}

const (
	kubeSystem = "kube-system"
	leasesPath = "/apis/coordination.k8s.io/v1/namespaces/" + kubeSystem + "/leases"
	eventsPath = "/api/v1/namespaces/" + kubeSystem + "/events"
)

// A refusal is an answer of the API server that is no success.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("the API server answered %d: %s", r.code, r.text)
}

// maxObject bounds an answer: single small objects, or a page of Events.
const maxObject = 16 << 20

// call makes one request, once. In and out are objects, or nil.
func (k *Kube) call(ctx context.Context, method, path string, in, out any) error {
	media := "application/json"
	if method == http.MethodPatch {
		media = "application/json-patch+json"
	}
	return k.send(ctx, method, path, media, in, out)
}

// send is call with a body of the named media type.
func (k *Kube) send(ctx context.Context, method, path, media string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	u := *k.base
	path, u.RawQuery, _ = strings.Cut(path, "?")
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", k.agent)
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", media)
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxObject))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		var st metav1.Status
		if json.Unmarshal(b, &st) != nil || st.Message == "" {
			st.Message = http.StatusText(resp.StatusCode)
		}
		return &refusal{resp.StatusCode, st.Message}
	}
	switch out := out.(type) {
	case nil:
		return nil
	case *[]byte:
		*out = b
		return nil
	}
	return json.Unmarshal(b, out)
}

// isRefused reports whether the API server said no, so that nothing was done.
// After a 5xx, or no answer at all, nobody knows.
func isRefused(err error) bool {
	var no *refusal
	return errors.As(err, &no) && no.code < 500
}

// failed is the error of a write to an object, which says whether it may have
// been done all the same.
func failed(err error, verb, name string) error {
	if isRefused(err) {
		return notDone("%s %s: %w", verb, name, err)
	}
	return fmt.Errorf("%s %s: %w", verb, name, err)
}

func isCode(err error, code int) bool {
	r, ok := err.(*refusal) // call returns it as it is
	return ok && r.code == code
}

// quicker is who holds a lease that was taken between our look and our hand.
const quicker = "another that was quicker"

// Acquire takes the Lease of runs, or tells who has it.
func (k *Kube) Acquire(ctx context.Context, holder string, ttl time.Duration) (heldBy string, err error) {
	now, secs := metav1.NewMicroTime(time.Now()), int32(ttl/time.Second)
	spec := coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &secs, AcquireTime: &now, RenewTime: &now}
	var l coordinationv1.Lease
	err = k.call(ctx, http.MethodGet, leasesPath+"/"+LeaseName, nil, &l)
	if isCode(err, http.StatusNotFound) {
		l = coordinationv1.Lease{
			TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{Name: LeaseName, Namespace: kubeSystem}, Spec: spec,
		}
		err = k.call(ctx, http.MethodPost, leasesPath, &l, nil)
		if isCode(err, http.StatusConflict) {
			return quicker, nil
		}
		return "", err
	}
	if err != nil {
		return "", err
	}
	if s := l.Spec; s.HolderIdentity != nil && *s.HolderIdentity != "" && s.RenewTime != nil && s.LeaseDurationSeconds != nil &&
		time.Since(s.RenewTime.Time) < time.Duration(*s.LeaseDurationSeconds)*time.Second {
		return *s.HolderIdentity, nil
	}
	l.Spec = spec
	err = k.call(ctx, http.MethodPut, leasesPath+"/"+LeaseName, &l, nil) // its version is that of our look
	if isCode(err, http.StatusConflict) {
		return quicker, nil
	}
	return "", err
}

// Renew renews the Lease, if it is still ours.
func (k *Kube) Renew(ctx context.Context, holder string) error {
	return k.change(ctx, holder, func(l *coordinationv1.Lease) {
		now := metav1.NewMicroTime(time.Now())
		l.Spec.RenewTime = &now
	})
}

// Release gives the Lease back, if it is still ours.
func (k *Kube) Release(ctx context.Context, holder string) error {
	return k.change(ctx, holder, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
}

func (k *Kube) change(ctx context.Context, holder string, f func(*coordinationv1.Lease)) error {
	var l coordinationv1.Lease
	if err := k.call(ctx, http.MethodGet, leasesPath+"/"+LeaseName, nil, &l); err != nil {
		return err
	}
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity != holder {
		return errGone
	}
	f(&l)
	return k.call(ctx, http.MethodPut, leasesPath+"/"+LeaseName, &l, nil)
}

// maxMessage bounds an Event's message. The API server's own bound is 1024.
const maxMessage = 1000

// Record leaves an Event in kube-system about a run: who did what.
func (k *Kube) Record(ctx context.Context, reason, message string, trouble bool) error {
	now := metav1.NewTime(time.Now())
	kind := corev1.EventTypeNormal
	if trouble {
		kind = corev1.EventTypeWarning
	}
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	err := k.call(ctx, http.MethodPost, eventsPath, &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "ktriage-", Namespace: kubeSystem},
		InvolvedObject: corev1.ObjectReference{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: kubeSystem, Name: LeaseName},
		Reason:         reason, Message: message, Type: kind, FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: "ktriage"},
	}, nil)
	if err != nil {
		return fmt.Errorf("leave an event: %w", err)
	}
	return nil
}
