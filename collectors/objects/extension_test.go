package objects

import (
	"fmt"
	"strings"
	"testing"
)

func TestCustomResourceDefinitionsAreReadAsJSONOnly(t *testing.T) {
	k, ok := ForPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
	if !ok || k.Accept() != JSON {
		t.Fatalf("%v, accepts %q", ok, k.Accept())
	}
	body := `{"kind":"CustomResourceDefinitionList","items":[{"metadata":{"name":"xs.a.b"},"spec":{"group":"a.b","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}],
		"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h/p?token=x","caBundle":"QQ=="}}}}}]}`
	var got string
	if _, err := Decode(k, JSON, strings.NewReader(body), func(o Object) error {
		c := o.(*CustomResourceDefinition)
		got = fmt.Sprint(c.Name, c.Spec.Versions, c.Spec.Conversion.Strategy, " ", *c.Spec.Conversion.Webhook.ClientConfig.URL)
		return nil
	}); err != nil || got != "xs.a.b[{v1 true true}]Webhook https://h/p" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Decode(k, Protobuf, strings.NewReader("k8s\x00"), func(Object) error { return nil }); err == nil {
		t.Error("protobuf was read")
	}
}

func TestOtherKindsAreAskedForAsProtobuf(t *testing.T) {
	if got := pods(t).Accept(); got != Protobuf+", "+JSON {
		t.Error(got)
	}
}
