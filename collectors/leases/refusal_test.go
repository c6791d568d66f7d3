package leases

import (
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

func TestRefusalOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Refusal
	}{
		{nil, None},
		{collectors.Gapf(collectors.Unreachable, `"/metrics": Unauthorized`), None},
		{collectors.Gapf(collectors.ServerError, `HTTP 500: panic`), None},
		{collectors.Gapf(collectors.Forbidden, `User "system:serviceaccount:monitor:ktriage" cannot get path "/metrics"`), None},
		{collectors.Gapf(collectors.ServerError, `HTTP 500 Internal Server Error: Internal Server Error: "/metrics": Unauthorized`), Unknown},
		{collectors.Gapf(collectors.ServerError, `HTTP 500 Internal Server Error: Internal Server Error: "/metrics": subjectaccessreviews.authorization.k8s.io is forbidden: User "system:kube-scheduler" cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope`), Forbidden},
	} {
		if got := RefusalOf(test.err); got != test.want {
			t.Errorf("%v: got %d, want %d", test.err, got, test.want)
		}
	}
}
