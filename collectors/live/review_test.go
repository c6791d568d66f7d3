package live

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

func TestReviewAsksAboutOneRight(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"verb=list&resource=pods", `{"resourceAttributes":{"verb":"list","resource":"pods"}}`},
		{"verb=create&resource=pods&subresource=portforward&namespace=kube-system", `{"resourceAttributes":{"namespace":"kube-system","verb":"create","resource":"pods","subresource":"portforward"}}`},
		{"verb=get&group=apps&resource=deployments&name=a", `{"resourceAttributes":{"verb":"get","group":"apps","resource":"deployments","name":"a"}}`},
		{"verb=get&path=/metrics", `{"nonResourceAttributes":{"path":"/metrics","verb":"get"}}`},
		{"verb=get&path=/metrics%22%7D%7D", `{"nonResourceAttributes":{"path":"/metrics\"}}","verb":"get"}}`},
	} {
		t.Run(tt.query, func(t *testing.T) {
			s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
				var q struct {
					APIVersion, Kind string
					Spec             json.RawMessage
				}
				if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.APIVersion != "authorization.k8s.io/v1" || q.Kind != "SelfSubjectAccessReview" {
					t.Errorf("got %+v, %v", q, err)
				}
				if r.Method != http.MethodPost || r.URL.Path != accessReviews || r.URL.RawQuery != "" {
					t.Errorf("got %s %s", r.Method, r.URL)
				}
				if string(q.Spec) != tt.want {
					t.Errorf("got  %s\nwant %s", q.Spec, tt.want)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				io.WriteString(w, `{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`)
			})
			reply, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Review, URL: "kube:/?" + tt.query})
			if gap != nil || !strings.Contains(body, `"allowed":true`) || reply.From != "kube:/?"+tt.query {
				t.Errorf("got %+v, %q, %v", reply, body, gap)
			}
		})
	}
}

func TestReviewOfSomebodyElse(t *testing.T) {
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		want := `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"system:kube-scheduler","groups":["system:authenticated","x"],"resourceAttributes":{"verb":"create","resource":"pods","subresource":"binding"}}}`
		if r.Method != http.MethodPost || r.URL.Path != accessReviewsAbout || string(b) != want {
			t.Errorf("got %s %s\n%s\nwant %s", r.Method, r.URL, b, want)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(403)
		io.WriteString(w, statusJSON(403, "you may not"))
	})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Review, URL: "kube:/?as=system:kube-scheduler&in=system:authenticated&in=x&verb=create&resource=pods&subresource=binding"})
	wantGap(t, gap, collectors.Forbidden)
	if gap != nil && !strings.Contains(gap.Remedy, "create on subjectaccessreviews") {
		t.Errorf("the remedy is %q", gap.Remedy)
	}
}

// Whatever a request says, only reviews are posted: the rest of its URL is no
// part of where it goes.
func TestReviewsAreAllThatIsPosted(t *testing.T) {
	for _, u := range []string{"kube:/api/v1/namespaces/kube-system/pods?verb=list&resource=pods", "kube:/api/v1/pods?as=a&verb=delete&resource=pods", "kube:/../../api/v1/nodes?path=/x&verb=get", "kube:/?as=../../../api/v1/nodes"} {
		s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.URL.Path != accessReviews && r.URL.Path != accessReviewsAbout {
				t.Errorf("%s: posted to %s", u, r.URL.Path)
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"status":{"allowed":false}}`)
		})
		fetch(t, s, collectors.Request{Verb: collectors.Review, URL: u})
	}
}

func TestReviewThatIsNotAnswered(t *testing.T) {
	for _, tt := range []struct {
		name   string
		code   int
		body   string
		reason collectors.Reason
	}{
		{"who may not even ask", 403, statusJSON(403, "you may not"), collectors.Forbidden},
		{"whom nobody knows", 401, statusJSON(401, "who?"), collectors.Unauthorized},
		{"a server that fails", 500, statusJSON(500, "etcdserver: no leader"), collectors.ServerError},
		{"what has no such API", 404, statusJSON(404, "not found"), collectors.Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.code)
				io.WriteString(w, tt.body)
			})
			_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Review, URL: "kube:/?verb=list&resource=pods"})
			wantGap(t, gap, tt.reason)
		})
	}
	t.Run("no kubeconfig", func(t *testing.T) {
		_, _, gap := fetch(t, newSource(t, Config{}), collectors.Request{Verb: collectors.Review, URL: "kube:/?verb=list&resource=pods"})
		if gap == nil {
			t.Error("got an answer")
		}
	})
}

func TestReviewThatDoesNotEndIsCutOff(t *testing.T) {
	s, _ := newKubeSource(t, endless)
	_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Review, URL: "kube:/?verb=list&resource=pods"})
	if gap == nil && len(body) > maxMessage {
		t.Errorf("kept %d bytes", len(body))
	}
}
