package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/google/go-cmp/cmp"
)

func pods(t testing.TB) Kind {
	k, ok := Of("v1", "Pod")
	if !ok {
		t.Fatal("no kind Pod")
	}
	return k
}

func names(k Kind, media, body string) (string, error) {
	var out []string
	p, err := Decode(k, media, strings.NewReader(body), func(o Object) error {
		out = append(out, o.GetNamespace()+"/"+o.GetName())
		return nil
	})
	return strings.Join(out, " ") + " then " + p.Continue, err
}

// protobuf makes a list as the API server sends it.
func protobuf(t testing.TB, kind string, l interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	raw, err := l.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return "k8s\x00" + string(b)
}

func podList() *corev1.PodList {
	return &corev1.PodList{
		ListMeta: metav1.ListMeta{Continue: "next"},
		Items: []corev1.Pod{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "s3cr3t"}}}}}},
			{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "y"}},
		},
	}
}

func TestProtobufAndJSONReadAlike(t *testing.T) {
	j, err := json.Marshal(struct {
		Kind string `json:"kind"`
		*corev1.PodList
	}{"PodList", podList()})
	if err != nil {
		t.Fatal(err)
	}
	for media, body := range map[string]string{Protobuf: protobuf(t, "PodList", podList()), JSON: string(j)} {
		if got, err := names(pods(t), media, body); err != nil || got != "a/x a/y then next" {
			t.Errorf("%s: got %q, %v", media, got, err)
		}
	}
}

func TestBrokenListsAreErrors(t *testing.T) {
	whole := protobuf(t, "PodList", podList())
	for _, tc := range []struct{ name, media, body, want string }{
		{"nothing", JSON, "", "read list: unexpected EOF"},
		{"HTML", JSON, "<html>", "read list: invalid character '<'"},
		{"an array", JSON, "[]", "read list: want {, got ["},
		{"a Status", JSON, `{"kind":"Status","status":"Failure"}`, `the body is a "Status", not a PodList`},
		{"another kind", JSON, `{"kind":"SecretList","items":[]}`, `the body is a "SecretList", not a PodList`},
		{"no items", JSON, `{"kind":"PodList"}`, "the list has no items field"},
		{"items that are none", JSON, `{"kind":"PodList","items":{}}`, "read items: want an array"},
		{"broken off", JSON, `{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"meta`, "read item 1: unexpected EOF"},
		{"broken off after items", JSON, `{"kind":"PodList","items":[]`, "read list: unexpected EOF"},
		{"an item of another shape", JSON, `{"kind":"PodList","items":[{"metadata":[]}]}`, "read item 0: json: cannot unmarshal"},
		{"protobuf that is none", Protobuf, "hello", "not protobuf of the Kubernetes API"},
		{"protobuf broken off", Protobuf, whole[:len(whole)-7], "read "},
		{"protobuf of another kind", Protobuf, protobuf(t, "SecretList", &corev1.SecretList{}), "the body is a SecretList, not a PodList"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := names(pods(t), tc.media, tc.body); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestAnEmptyListIsNoError(t *testing.T) {
	for _, body := range []string{`{"kind":"PodList","items":null}`, `{"items":[],"metadata":{"continue":""}}`} {
		if got, err := names(pods(t), JSON, body); err != nil || got != " then " {
			t.Errorf("%s: got %q, %v", body, got, err)
		}
	}
}

func TestWhoGetsObjectsCanStop(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	_, err := Decode(pods(t), Protobuf, strings.NewReader(protobuf(t, "PodList", podList())), func(Object) error {
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("got %v after %d objects", err, n)
	}
}

func TestStrip(t *testing.T) {
	full := func(mod func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "kube-system", Name: "p",
				Annotations:   map[string]string{"kubernetes.io/config.source": "file", corev1.LastAppliedConfigAnnotation: "{}", "vault.hashicorp.com/token": "s3cr3t"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{}}},
			},
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Env: []corev1.EnvVar{{Value: "s3cr3t"}}, Args: []string{"s3cr3t"}}},
				Containers: []corev1.Container{{
					Command: []string{"run", "--flag", "--auth-token=s3cr3t", "--token-auth-file=/f"}, Env: []corev1.EnvVar{{Value: "s3cr3t"}},
					LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{HTTPHeaders: []corev1.HTTPHeader{{Value: "s3cr3t"}}}}},
					Lifecycle:     &corev1.Lifecycle{},
				}},
				EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Env: []corev1.EnvVar{{Value: "s3cr3t"}}, Command: []string{"s3cr3t"}}}},
			},
		}
		mod(p)
		return p
	}
	for _, tc := range []struct {
		name    string
		mod     func(*corev1.Pod)
		command []string
	}{
		{"a workload", func(*corev1.Pod) {}, nil},
		{"a mirror of a static pod", func(p *corev1.Pod) { p.Annotations[corev1.MirrorPodAnnotationKey] = "x" }, []string{"run", "--flag", "--auth-token=…", "--token-auth-file=/f"}},
		{"a workload that claims to be one", func(p *corev1.Pod) { p.Namespace, p.Annotations[corev1.MirrorPodAnnotationKey] = "shop", "x" }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := full(tc.mod)
			Strip(p)
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "s3cr3t") || strings.Contains(string(b), "last-applied") || strings.Contains(string(b), "fieldsV1") {
				t.Errorf("kept too much: %s", b)
			}
			if diff := cmp.Diff(tc.command, p.Spec.Containers[0].Command); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			if p.Annotations["kubernetes.io/config.source"] != "file" {
				t.Error("an annotation of Kubernetes' own is gone")
			}
		})
	}
}

func TestEncodeReadsAgain(t *testing.T) {
	e := NewEncoder(pods(t))
	for i := range 3 {
		if err := e.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := names(pods(t), JSON, string(e.Bytes("7"))); err != nil || got != "n/0 n/1 n/2 then 7" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestForPath(t *testing.T) {
	for _, tc := range []struct{ path, want string }{
		{"/api/v1/pods", "Pod"},
		{"/api/v1/namespaces/kube-system/pods?labelSelector=a", "Pod"},
		{"/apis/coordination.k8s.io/v1/leases", "Lease"},
		{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "EndpointSlice"},
		{"/api/v1/namespaces", "Namespace"},
		{"/api/v1/secrets", ""}, // never
		{"/api/v1/pods/x", ""},
		{"/metrics", ""},
		{"", ""},
	} {
		if k, ok := ForPath(tc.path); k.Name != tc.want || ok != (tc.want != "") {
			t.Errorf("ForPath(%q) = %q, %v", tc.path, k.Name, ok)
		}
	}
	for _, k := range kinds {
		if got, ok := ForPath(k.Path()); !ok || got.Name != k.Name {
			t.Errorf("%s is not found by its own path", k.Name)
		}
		if k.Name == "Secret" {
			t.Error("a Secret can be read")
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(false, []byte(`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`))
	f.Add(true, []byte(protobuf(f, "PodList", podList())))
	f.Fuzz(func(t *testing.T, proto bool, b []byte) {
		media := JSON
		if proto {
			media = Protobuf
		}
		_, _ = Decode(pods(t), media, bytes.NewReader(b), func(o Object) error {
			o.GetName()
			return nil
		})
	})
}

func BenchmarkDecode(b *testing.B) {
	l := &corev1.PodList{}
	for i := range 500 {
		l.Items = append(l.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprint("pod-", i), Labels: map[string]string{"app": "x"}}, Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "c", Image: "i"}}}})
	}
	body := protobuf(b, "PodList", l)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(pods(b), Protobuf, strings.NewReader(body), func(Object) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
