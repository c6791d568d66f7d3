package apiserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const flagzWarning = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n"

func TestReadFlagz(t *testing.T) {
	want := map[string]string{"etcd-compaction-interval": "5m0s", "etcd-servers": "[https://127.0.0.1:2379]", "feature-gates": "", "max-requests-inflight": "400"}
	for _, sign := range []string{":", ": ", "=", " "} { // the API server draws one by lot
		body := flagzWarning
		for _, f := range []string{"etcd-compaction-interval", "etcd-servers", "feature-gates", "max-requests-inflight"} {
			body += f + sign + want[f] + "\n"
		}
		for version, title := range map[string]string{"1.32": "\nkube-apiserver flags\n", "1.37": "\nkube-apiserver flagz\n"} {
			t.Run(version+" with "+sign, func(t *testing.T) {
				if diff := cmp.Diff(want, readFlagz(title+body)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
	for name, body := range map[string]string{
		"nothing":      "",
		"a login page": "<html><body>flags</body></html>",
		"not found":    "404 page not found\n",
		"an error":     `{"kind":"Status","message":"unknown flags"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := readFlagz(body); len(got) != 0 {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzReadFlagz(f *testing.F) {
	f.Add("\nkube-apiserver flagz\n" + flagzWarning + "max-requests-inflight=400\n")
	f.Add("a flags\nb\nc=\n")
	f.Fuzz(func(t *testing.T, body string) {
		for name := range readFlagz(body) {
			if name == "" {
				t.Error("a flag without a name")
			}
		}
	})
}
