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

// The two paths that review posts to, and no other.
const (
	accessReviews      = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	accessReviewsAbout = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
)

// A question is a SelfSubjectAccessReview or, with a user, a
// SubjectAccessReview, as far as it is asked and answered.
type question struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		User        string          `json:"user,omitempty"`
		Groups      []string        `json:"groups,omitempty"`
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
// kube:/?verb=get&path=/metrics. With as=USER, and in=GROUP for each of his
// groups, it asks whether somebody else may, for which a right is needed. It is
// the one request of ktriage's reading side that is a POST. The API server answers
// it and keeps nothing of it: there is no such object to list afterwards.
func (s *Source) review(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	k, gap := s.kube()
	if gap != nil {
		return nil, &collectors.Gap{Reason: gap.Reason, Detail: a.way + ": " + gap.Detail, Remedy: gap.Remedy}
	}
	q, body, path := u.Query(), question{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}, accessReviews
	if user := q.Get("as"); user != "" {
		body.Kind, path = "SubjectAccessReview", accessReviewsAbout
		body.Spec.User, body.Spec.Groups = user, q["in"]
	}
	if about := q.Get("path"); about != "" {
		body.Spec.NonResource = &pathAccess{about, q.Get("verb")}
	} else {
		body.Spec.Resource = &resourceAccess{q.Get("namespace"), q.Get("verb"), q.Get("group"), q.Get("resource"), q.Get("subresource"), q.Get("name")}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	target := *k.base
	target.Path = strings.TrimSuffix(k.base.Path, "/") + path
	req, err := http.NewRequest(http.MethodPost, target.String(), bytes.NewReader(b))
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	who := fmt.Sprintf("%s at %s", path, k.addr)
	got, gap := s.exchange(ctx, who, k.breakerKey(), k.rt, req, a)
	if gap != nil {
		return nil, gap
	}
	reply, gap := judge(who, collectors.List, got)
	switch {
	case gap != nil && gap.Reason == collectors.Forbidden && path == accessReviewsAbout:
		return nil, gap.With("grant create on subjectaccessreviews.authorization.k8s.io: kubectl create clusterrole ktriage-reviews --verb=create --resource=subjectaccessreviews.authorization.k8s.io")
	case gap != nil:
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
