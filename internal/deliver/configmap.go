package deliver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/report"
)

const (
	reportKey = "report.json.gz"
	managed   = "app.kubernetes.io/managed-by"
	manager   = "ktriage"
	// maxMap bounds what is put into a ConfigMap; the API server's own bound is
	// 1 MiB, names and labels included.
	maxMap = 1000 << 10
	// maxText bounds the text in it, which is for people.
	maxText = 64 << 10
	// maxReport bounds what is unpacked of one.
	maxReport = 256 << 20
)

// ErrForeign is of a ConfigMap that ktriage has not made.
var ErrForeign = errors.New("it is there, and was not made by ktriage: it has no label " + managed + "=" + manager)

// Kept is the report that a ConfigMap holds, or nil if it holds none. One that
// ktriage has not made is ErrForeign.
func Kept(m *corev1.ConfigMap) (*report.Report, error) {
	if m == nil {
		return nil, nil
	}
	if m.Labels[managed] != manager {
		return nil, ErrForeign
	}
	packed, ok := m.BinaryData[reportKey]
	if !ok {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", reportKey, err)
	}
	return report.Read(io.LimitReader(z, maxReport))
}

// ConfigMap puts a report into a ConfigMap: the text for people, the JSON, packed,
// for programs. Before is what is there, and may be nil.
func ConfigMap(before *corev1.ConfigMap, namespace, name string, r *report.Report) (*corev1.ConfigMap, error) {
	var text, doc, packed bytes.Buffer
	if err := render.Render(&text, "text", r, render.Options{}); err != nil {
		return nil, err
	}
	if err := render.JSON(&doc, r); err != nil {
		return nil, err
	}
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(doc.Bytes()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	m := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{managed: manager}},
		Data: map[string]string{
			"status": r.Status.String(), "startedAt": r.StartedAt.UTC().Format(time.RFC3339), "report.txt": cut(text.String(), maxText),
		},
		BinaryData: map[string][]byte{reportKey: packed.Bytes()},
	}
	if before != nil { // what others have put there stays, and the version is that of our look
		m.ObjectMeta = *before.ObjectMeta.DeepCopy()
		m.ManagedFields = nil
	}
	if n := packed.Len() + len(m.Data["report.txt"]); n > maxMap {
		return nil, fmt.Errorf("the report takes %d bytes when packed, and a ConfigMap has room for %d", n, maxMap)
	}
	return m, nil
}

// Older reports whether what a ConfigMap holds is from before a report, so that
// it gives way. What cannot be read gives way too.
func Older(kept, r *report.Report) bool { return kept == nil || !kept.StartedAt.After(r.StartedAt) }
