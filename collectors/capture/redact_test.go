package capture

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

// aKey is a private key as PEM, and the parts of it that nobody may see.
func aKey(t testing.TB) (key string, secret []string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	p := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	lines := strings.Split(strings.TrimSpace(string(p)), "\n")
	return string(p), lines[1 : len(lines)-1]
}

// leaks reports whether a body holds any line of the key, as it is or in base64.
func leaks(body []byte, secret []string) bool {
	joined := inOneLine(body)
	for _, s := range secret {
		if bytes.Contains(body, []byte(s)) {
			return true
		}
		for before := range 3 {
			e := base64.StdEncoding.EncodeToString(append(make([]byte, before), s...))
			if bytes.Contains(joined, []byte(e[4:len(e)-4])) {
				return true
			}
		}
	}
	return false
}

func TestNoPrivateKeyIsWritten(t *testing.T) {
	key, secret := aKey(t)
	cert := "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n"
	inJSON := func(s string) string {
		b, err := json.Marshal(map[string]any{"kind": "List", "text": s, "more": 1})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	wrapped := func(s string) string {
		var out []string
		for len(s) > 64 {
			out, s = append(out, s[:64]), s[64:]
		}
		return strings.Join(append(out, s), "\n")
	}
	for name, body := range map[string]string{
		"as it is":                        key,
		"after certificates":              cert + key + cert,
		"two of them":                     key + cert + key,
		"with Windows' line ends":         strings.ReplaceAll(key, "\n", "\r\n"),
		"of another kind":                 strings.ReplaceAll(key, "PRIVATE KEY", "RSA PRIVATE KEY"),
		"with headers":                    strings.Replace(key, "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,AB\n\n", 1),
		"broken off":                      key[:len(key)-40],
		"without an end":                  key[:strings.Index(key, "-----END")] + "\"}",
		"in a string of JSON":             inJSON(cert + key),
		"as bytes in JSON":                inJSON(b64(key)),
		"as bytes after one":              inJSON(b64("x" + key)),
		"as bytes after two":              inJSON(b64("xx" + key)),
		"as bytes after certificates":     inJSON(b64(cert + key + cert)),
		"as bytes in lines":               inJSON(wrapped(b64(cert + key))),
		"as bytes in lines as they are":   "data:\n" + wrapped(b64(cert+key)) + "\n",
		"right after a word":              "caBundle" + b64(key),
		"in protobuf":                     "k8s\x00\n\x05\x0a" + string([]byte{0x12, 0xff, 0x01}) + key + "\x1a\x03abc",
		"as bytes that are broken off":    inJSON(b64(key)[:len(b64(key))-31]),
		"in an error that a server wrote": inJSON("cannot parse " + key),
	} {
		t.Run(name, func(t *testing.T) {
			if !leaks([]byte(body), secret[:1]) {
				t.Fatal("the test would not see it")
			}
			got := withoutKeys([]byte(body))
			if leaks(got, secret) {
				t.Errorf("a line of the key is left:\n%s", got)
			}
			if len(got) != len(body) {
				t.Errorf("%d bytes became %d", len(body), len(got))
			}
			if json.Valid([]byte(body)) && !json.Valid(got) {
				t.Errorf("no JSON any more: %s", got)
			}
			if strings.Contains(body, cert) && !strings.Contains(string(got), cert) {
				t.Errorf("a certificate is masked, too: %s", got)
			}
		})
	}
}

func TestWhatHoldsNoKeyIsLeftAsItIs(t *testing.T) {
	for _, s := range []string{"", "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n", `{"message":"no PRIVATE KEY here"}`, "-----BEGIN PUBLIC KEY-----\nTUlJQg==\n",
		base64.StdEncoding.EncodeToString([]byte("a private talk about PRIVATE KEYs, and not one of them"))} {
		if got := withoutKeys([]byte(s)); string(got) != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// A recording is what is sent on: neither bodies nor what is told of a gap hold a
// key.
func TestARecordingHoldsNoKey(t *testing.T) {
	key, secret := aKey(t)
	var archive bytes.Buffer
	rec := NewRecorder(&archive)
	q := collectors.Request{Verb: collectors.Get, URL: "kube:/x"}
	rec.Record(q, 0, &collectors.Reply{Status: 200}, []byte(`{"caBundle":"`+base64.StdEncoding.EncodeToString([]byte(key))+`"}`), nil)
	rec.Record(collectors.Request{Verb: collectors.Get, URL: "kube:/y"}, 0, nil, nil, collectors.Gapf(collectors.ServerError, "it says %s", key))
	if err := rec.Close(Meta{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(&archive)
	if err != nil {
		t.Fatal(err)
	}
	for k, rs := range r.records {
		for _, x := range rs {
			if leaks(x.body, secret) || x.Gap != nil && leaks([]byte(x.Gap.Detail), secret) {
				t.Errorf("%s holds a key", k)
			}
		}
	}
}

func FuzzWithoutKeys(f *testing.F) {
	key, _ := aKey(f)
	f.Add([]byte(key))
	f.Add([]byte(`{"a":"` + base64.StdEncoding.EncodeToString([]byte("x"+key)) + `"}`))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\\u002"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\\"))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got := withoutKeys(b)
		if !bytes.Equal(b, before) {
			t.Error("the body itself was changed")
		}
		if len(got) != len(b) {
			t.Errorf("%d bytes became %d", len(b), len(got))
		}
		if json.Valid(b) && !json.Valid(got) {
			t.Errorf("no JSON any more:\n%s\n%s", b, got)
		}
		if again := withoutKeys(got); !bytes.Equal(again, got) {
			t.Errorf("masked anew: %q, %q", got, again)
		}
	})
}
