package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestBackendAllowsWhatItIsAsked(t *testing.T) {
	for _, test := range []struct {
		body, want string
		code       int
	}{
		{`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1"}}`, `"response":{"allowed":true,"uid":"u-1"}`, http.StatusOK},
		{`not JSON`, "", http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		(&Backend{}).admit(w, httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader(test.body)))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: got %d %s, want %d with %s", test.body, w.Code, w.Body, test.code, test.want)
		}
	}
}

func TestHelpersSpeakToLabsOnly(t *testing.T) {
	for server, ok := range map[string]bool{"https://203.0.113.1:6443": false, "https://example.com": false, "https://10.77.0.11:6443": true} {
		err := private(server)
		if (err == nil) != ok {
			t.Errorf("%s: got %v", server, err)
		}
	}
}

func TestSumOfMetrics(t *testing.T) {
	m := parseMetrics([]byte("a{x=\"1\",y=\"2\"} 3\na{x=\"1\",y=\"3\"} 4\na{x=\"2\"} 5\nab 7\n"))
	for _, test := range []struct {
		labels []string
		want   float64
	}{{nil, 12}, {[]string{`x="1"`}, 7}, {[]string{`x="1"`, `y="3"`}, 4}, {[]string{`x="9"`}, 0}} {
		if got := m.Sum("a", test.labels...); got != test.want {
			t.Errorf("%v: got %v, want %v", test.labels, got, test.want)
		}
	}
}
