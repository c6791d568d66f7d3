package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestWhatIsReplacedAndWhatIsNot(t *testing.T) {
	const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl"
	for _, c := range []struct{ in, want string }{
		{"Authorization: Bearer " + jwt + " x", "Authorization: Bearer redacted-token-1 x"},
		{"Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer redacted-token-1"},
		{"token " + jwt + " and again " + jwt, "token redacted-token-1 and again redacted-token-1"},
		{"oc login --token=sha256~abcdefghijklmnopqrstuvwxyz0123", "oc login --token=redacted-token-1"},
		{"kubeadm join --token abcdef.0123456789abcdef", "kubeadm join --token redacted-token-1"},
		{"TOKEN=abcdef.0123456789abcdef", "TOKEN=redacted-token-1"},
		{"API_KEY=hunter22", "API_KEY=redacted-password-1"},
		{"key AKIAABCDEFGHIJKLMNOP", "key redacted-token-1"},
		{"https://joe:hunter2@proxy:3128/", "https://joe:redacted-password-1@proxy:3128/"},
		{`{"password":"hunter22","secretName":"db"}`, `{"password":"redacted-password-1","secretName":"db"}`},
		{`"env: DB_PASSWORD=hunter22 x"`, `"env: DB_PASSWORD=redacted-password-1 x"`},
		{`User "jane.doe@example.com" cannot list; again jane.doe@example.com, joe@example.com`, `User "user-1@redacted.invalid" cannot list; again user-1@redacted.invalid, user-2@redacted.invalid`},
		{`"a\njane@example.com\u0026joe@example.com"`, `"a\nuser-1@redacted.invalid\u0026user-2@redacted.invalid"`},
		// An event's name, an image by its digest, a way to a pod, a unit of systemd.
		{"web-abcdef.17f3c2b1a9e0d4c5", "="}, {"registry.k8s.io/etcd@sha256:0123", "="}, {"pod+https://cp-1.example.com@kube-system/etcd-cp-1:2381/", "="}, {"getty@tty1.service", "="},
		{`secret "db" not found; failed to get secret: secrets "db" not found`, "="}, {`{"secret":{"secretName":"db"}}`, "="},
		{"10.0.0.1 and 203.0.113.7", "="},
	} {
		want := c.want
		if want == "=" {
			want = c.in
		}
		r := New(false)
		if got := r.String(c.in); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, want)
		}
		if got := r.String(want); got != want {
			t.Errorf("what was replaced is replaced again: %s", got)
		}
	}
}

func TestPublicAddressesOnRequest(t *testing.T) {
	for in, want := range map[string]string{
		"8.8.8.8, 8.8.4.4 and 8.8.8.8:53.":                      "240.0.0.1, 240.0.0.2 and 240.0.0.1:53.",
		"https://8.8.8.8:6443/x":                                "https://240.0.0.1:6443/x",
		"10.0.0.1 192.168.1.1 127.0.0.1 100.64.0.1 0.0.0.0":     "=",
		"169.254.169.254 224.0.0.1 fe80::1 fd00::1 ::1":         "=",
		"[2a00:1450:4001::8]:443 at 10:00:28":                   "[2001:db8::0:1]:443 at 10:00:28",
		"1.3.6.1.4.1.311 v1.30.0.1 5.15.0-91 aa:bb:cc:dd:ee:ff": "=",
	} {
		if want == "=" {
			want = in
		}
		if got := New(true).String(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestTheManifestHoldsNoValue(t *testing.T) {
	r := New(true)
	r.String("jane@example.com jane@example.com 8.8.8.8 password=hunter22")
	b, err := json.Marshal(r.Counts())
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"kind":"e-mail address","values":1,"places":2},{"kind":"password","values":1,"places":1},{"kind":"public IP address","values":1,"places":1}]`; string(b) != want {
		t.Errorf("%s", b)
	}
}

// FuzzBytes holds that JSON stays JSON, that nothing is replaced twice, and that
// what is replaced is gone.
func FuzzBytes(f *testing.F) {
	for _, s := range []string{`"a\u0026b@c.de"`, `"\\\\x@y.zz"`, "password=abcd", "https://a:b@c/", "8.8.8.8", "Bearer abcdefghijklmnopqrst", "::", "eyJabcdefgh.eyJabcdefgh.",
		"pA\u017f\u017fwd=000\x00", "TOKEN=abcdef.0123456789abcdef", "API\u212aEY=abcd", "AKIAABCDEFGHIJKLMNOP", "secret-access-key=abcd", "ACCESS_TOKEN=abcd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := New(true)
		once := r.String(s)
		if twice := r.String(once); len(twice) > len(once)+64*len(s) {
			t.Errorf("%q grows: %q", once, twice)
		}
		j, err := json.Marshal(map[string]string{"x": s})
		if err != nil {
			t.Skip()
		}
		out := New(true).Bytes(j)
		var v map[string]string
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatalf("%s is JSON no more: %s: %v", j, out, err)
		}
		if strings.Contains(once, "\x00") != strings.Contains(s, "\x00") {
			t.Errorf("%q", once)
		}
		for i, rule := range append(slices.Clone(always), addresses...) {
			for _, b := range []string{s, strings.ToUpper(s)} {
				if rule.find.MatchString(b) && !rule.hinted(&text{b: []byte(b)}) {
					t.Errorf("the hints of rule %d do not find %q", i, b)
				}
			}
		}
	})
}
