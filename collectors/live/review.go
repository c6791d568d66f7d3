package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

const accessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// A question is a SelfSubjectAccessReview, as far as it is asked and answered.
type question struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Resource    *resourceAccess `json:"resourceAttributes,omitempty"`
		NonResource *pathAccess     `json:"nonResourceAttributes,omitempty"`
	} `json:"spec"`
}

type resourceAccess struct {
	Namespace   string `json:"namespace,omitempty"`
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Name        string `json:"name,omitempty"`
}

type pathAccess struct {
	Path string `json:"path"`
	Verb string `json:"verb"`
}

// review asks the API server whether the user of this run may do something:
// kube:/?verb=list&resource=pods&group=&subresource=&namespace=&name= or
// kube:/?verb=get&path=/metrics. It is the one request of ktriage's reading side
// that is a POST. The API server answers it and keeps nothing of it: there is no
// such object to list afterwards, and everybody may ask about himself.
func (s *Source) review(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	k, gap := s.kube()
	if gap != nil {
		return nil, &collectors.Gap{Reason: gap.Reason, Detail: a.way + ": " + gap.Detail, Remedy: gap.Remedy}
	}
	q, body := u.Query(), question{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}
	if path := q.Get("path"); path != "" {
		body.Spec.NonResource = &pathAccess{path, q.Get("verb")}
	} else {
		body.Spec.Resource = &resourceAccess{q.Get("namespace"), q.Get("verb"), q.Get("group"), q.Get("resource"), q.Get("subresource"), q.Get("name")}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	target := *k.base
	target.Path = strings.TrimSuffix(k.base.Path, "/") + accessReviews
	req, err := http.NewRequest(http.MethodPost, target.String(), bytes.NewReader(b))
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	who := fmt.Sprintf("%s at %s", accessReviews, k.addr)
	got, gap := s.exchange(ctx, who, k.breakerKey(), k.rt, req, a)
	if gap != nil {
		return nil, gap
	}
	reply, gap := judge(who, collectors.List, got)
	if gap != nil {
		return nil, gap
	}
	defer reply.Body.Close()
	full, err := io.ReadAll(io.LimitReader(reply.Body, maxMessage))
	if err != nil {
		return nil, collectors.AsGap(err, collectors.Unreachable)
	}
	reply.From, reply.Body = a.way, io.NopCloser(bytes.NewReader(full))
	return reply, nil
}
