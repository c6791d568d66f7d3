package certificates

import (
	"testing"
	"time"
)

func TestBundlesThatCannotBeRead(t *testing.T) {
	for in, want := range map[string]string{
		"":       "",
		"no PEM": "it is not PEM",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n":         "certificate 1 of it cannot be read",
		"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n": "it holds no certificate",
	} {
		b := ReadBundle([]byte(in))
		if b.Broken != want || b.Certs != 0 || b.Expired(time.Unix(1<<40, 0)) || b.Empty() != (in == "") {
			t.Errorf("%q: %+v", in, b)
		}
	}
}

func FuzzReadBundle(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if x := ReadBundle(b); x.Broken != "" && x.Certs > 0 {
			t.Errorf("%+v", x)
		}
	})
}
