package inventory

import (
	"slices"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

func answer(status int, body string) []collectors.Answered {
	return []collectors.Answered{{Reply: collectors.Reply{Status: status, From: "kube:/x"}, Body: []byte(body)}}
}

func TestWhatIsNoTrustIsAGap(t *testing.T) {
	for _, body := range []string{"", "null", "<html>", `{"data":[]}`, `{"data":{"requestheader-allowed-names":"["}}`, `{"data":{"requestheader-allowed-names":"{}"}}`} {
		got, err := Trusted.Read(answer(200, body))
		if err == nil && body != "null" {
			t.Errorf("%q is taken for %+v", body, got)
		}
	}
	if _, err := Trusted.Read(answer(503, "{}")); err == nil {
		t.Error("an error is taken for an answer")
	}
	got, err := Trusted.Read(answer(200, `{"data":{"client-ca-file":"no PEM","requestheader-allowed-names":"[\"front\"]"}}`))
	if err != nil || !slices.Equal(got.Names, []string{"front"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatHoldsNoKeysIsAGap(t *testing.T) {
	for _, body := range []string{"", "null", "{}", "<html>", `{"keys":{}}`, `{"keys":[]}`} {
		if got, err := SigningKeys.Read(answer(200, body)); err == nil {
			t.Errorf("%q is taken for %v", body, got)
		}
	}
	got, err := SigningKeys.Read(answer(200, `{"keys":[{"kid":"b"},{"kid":"a"},{"kid":"b"}]}`))
	if err != nil || !slices.Equal(got, Keys{"a", "b"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func FuzzTrusted(f *testing.F) {
	f.Add(`{"data":{"client-ca-file":"-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n","requestheader-allowed-names":"[\"x\"]"}}`)
	f.Add("null")
	f.Fuzz(func(t *testing.T, body string) {
		got, err := Trusted.Read(answer(200, body))
		if err != nil && got.Names != nil && len(got.Names) > 0 {
			t.Errorf("%q: an error, and names: %v", body, got.Names)
		}
	})
}

func FuzzSigningKeys(f *testing.F) {
	f.Add(`{"keys":[{"kid":"a"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		got, err := SigningKeys.Read(answer(200, body))
		if err == nil && (len(got) == 0 || len(got) > maxKeys || !slices.IsSorted(got)) {
			t.Errorf("%q: %v", body, got)
		}
	})
}

func FuzzFiles(f *testing.F) {
	f.Add(`{"files":[{"path":"/etc/kubernetes/pki/ca.crt","cert":{"subject":"CN=x"}}],"unread":["y"]}`)
	f.Fuzz(func(_ *testing.T, body string) { Files.Read(answer(200, body)) })
}
