package objects

import (
	"bytes"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestOfSomeKindsOnlyMetadataIsRead(t *testing.T) {
	k, ok := ForPath("/api/v1/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt")
	if !ok || !strings.Contains(k.Accept(), "as=PartialObjectMetadataList") {
		t.Fatalf("%v, accepts %q", ok, k.Accept())
	}
	list := metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}}}
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: bareList}, Raw: raw}
	body, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for media, body := range map[string][]byte{
		Protobuf + as: append(bytes.Clone(protobufMagic), body...),
		JSON + as:     []byte(`{"kind":"PartialObjectMetadataList","items":[{"metadata":{"namespace":"a","name":"b"}}]}`),
		JSON:          []byte(`{"kind":"ConfigMapList","items":[{"metadata":{"namespace":"a","name":"b"},"data":{"x":"secret"}}]}`),
	} {
		e := NewEncoder(k)
		if _, err := Decode(k, media, bytes.NewReader(body), e.Add); err != nil {
			t.Fatal(media, err)
		}
		if got := string(e.Bytes("")); !strings.Contains(got, `"name":"b"`) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", media, got)
		}
	}
}
