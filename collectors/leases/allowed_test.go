package leases

import (
	"strings"
	"testing"
)

func TestDenied(t *testing.T) {
	for _, c := range []struct {
		body, words, why string
		fails            bool
	}{
		{body: `{"spec":{"user":"system:kube-scheduler","resourceAttributes":{"verb":"create","resource":"pods","subresource":"binding"}},"status":{"allowed":true}}`},
		{body: `{"spec":{"user":"system:kube-scheduler","resourceAttributes":{"verb":"create","resource":"pods","subresource":"binding"}},"status":{"allowed":false}}`, words: "create pods/binding"},
		{body: `{"spec":{"user":"system:serviceaccount:kube-system:replicaset-controller","resourceAttributes":{"verb":"create","resource":"pods"}},"status":{"allowed":false,"evaluationError":"clusterrole \"x\"\nnot found"}}`, words: "create pods as replicaset-controller", why: `clusterrole "x" not found`},
		{body: ``, fails: true},
		{body: `<html>`, fails: true},
		{body: `{}`, fails: true},
		{body: `{"status":{"allowed":true}}`, fails: true},
		{body: `{"spec":{"resourceAttributes":null},"status":{"allowed":false}}`, fails: true},
	} {
		words, account, why, err := denied([]byte(c.body))
		if acts := strings.HasSuffix(words, " as "+account); words != c.words || acts == (account == "") && words != "" || why != c.why || (err != nil) != c.fails {
			t.Errorf("%s: got %q, %q, %v", c.body, words, why, err)
		}
	}
}

func FuzzDenied(f *testing.F) {
	f.Add([]byte(`{"spec":{"user":"u","resourceAttributes":{"verb":"create","resource":"pods"}},"status":{"allowed":false,"evaluationError":"x"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		words, _, why, err := denied(body)
		if err != nil && words != "" || len(words) > maxWords+3 || len(why) > 2*maxWords+3 {
			t.Errorf("%q: %q, %q, %v", body, words, why, err)
		}
	})
}
