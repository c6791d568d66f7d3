package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
)

// What is below writes reports, on the flags of ktriage report alone. It changes
// nothing that the cluster works by.

// ErrConflict is of an object that another has changed since it was read.
var ErrConflict = errors.New("another has changed it meanwhile")

func configMaps(namespace string) string {
	return "/api/v1/namespaces/" + url.PathEscape(namespace) + "/configmaps"
}

// ConfigMap reads a ConfigMap; it is nil if there is none.
func (k *Kube) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	var m corev1.ConfigMap
	err := k.call(ctx, http.MethodGet, configMaps(namespace)+"/"+url.PathEscape(name), nil, &m)
	if isCode(err, http.StatusNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configmap %s/%s: %w", namespace, name, err)
	}
	return &m, nil
}

// PutConfigMap creates a ConfigMap, or replaces just the version that was read.
func (k *Kube) PutConfigMap(ctx context.Context, m *corev1.ConfigMap) error {
	method, path := http.MethodPost, configMaps(m.Namespace)
	if m.ResourceVersion != "" {
		method, path = http.MethodPut, path+"/"+url.PathEscape(m.Name)
	}
	err := k.call(ctx, method, path, m, nil)
	if isCode(err, http.StatusConflict) {
		err = ErrConflict
	}
	if err != nil {
		return fmt.Errorf("write configmap %s/%s: %w", m.Namespace, m.Name, err)
	}
	return nil
}

// LeaveEvent creates an Event.
func (k *Kube) LeaveEvent(ctx context.Context, e *corev1.Event) error {
	if err := k.call(ctx, http.MethodPost, "/api/v1/namespaces/"+url.PathEscape(e.Namespace)+"/events", e, nil); err != nil {
		return fmt.Errorf("leave an event: %w", err)
	}
	return nil
}

// Serves reports whether the API server has a resource.
func (k *Kube) Serves(ctx context.Context, group, version, resource string) (bool, error) {
	var l struct {
		Resources []struct {
			Name string `json:"name"`
		} `json:"resources"`
	}
	err := k.call(ctx, http.MethodGet, "/apis/"+group+"/"+version, nil, &l)
	if isCode(err, http.StatusNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask which resources %s/%s has: %w", group, version, err)
	}
	for _, r := range l.Resources {
		if r.Name == resource {
			return true, nil
		}
	}
	return false, nil
}

// Apply puts an object without a namespace in its place, by server-side apply,
// whatever was there under its name.
func (k *Kube) Apply(ctx context.Context, group, version, resource, name string, object any) error {
	path := fmt.Sprintf("/apis/%s/%s/%s/%s?fieldManager=ktriage&force=true", group, version, resource, url.PathEscape(name))
	if err := k.send(ctx, http.MethodPatch, path, "application/apply-patch+yaml", object, nil); err != nil { // JSON is YAML
		return fmt.Errorf("write %s.%s %s: %w", resource, group, name, err)
	}
	return nil
}
