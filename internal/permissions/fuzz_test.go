package permissions

import (
	"bytes"
	"context"
	"hash/fnv"
	"io"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/objects"
)

// broken answers some requests with a body of its own, and the rest as the model
// cluster does, so that what is asked on account of other answers is asked.
type broken struct {
	collectors.Source
	body   []byte
	status int
	which  uint32
}

// parts is into how many parts requests are divided, of which one gets the body.
const parts = 8

func (b broken) Fetch(ctx context.Context, q collectors.Request) (*collectors.Reply, error) {
	h := fnv.New32a()
	io.WriteString(h, q.Key())
	if h.Sum32()%parts != b.which%parts {
		return b.Source.Fetch(ctx, q)
	}
	return &collectors.Reply{At: at, Date: at, Status: b.status, From: q.URL, Media: objects.JSON, Body: io.NopCloser(bytes.NewReader(b.body))}, nil
}

// FuzzReplies holds that whatever a cluster answers, no reader of an answer and
// no check falls over it. It reaches every fact that asks something.
func FuzzReplies(f *testing.F) {
	for n, body := range []string{
		"", "null", "[]", "{}", `"x"`, "<html>", "\x00\xff", `{"data":null}`, `{"data":{"requestheader-allowed-names":"["}}`, `{"keys":null}`, `{"keys":[{"kid":""}]}`,
		`{"gitVersion":""}`, `{"major":"1","minor":"x+","gitVersion":"v1"}`, `{"kind":"List","items":[null,{}]}`, `{"kind":"PodList","items":[{"spec":{"containers":[{}]}}]}`,
		`{"metadata":{"uid":1}}`, `{"members":[{}]}`, `{"logs":[{"hits":[{}]}]}`, "[-]", "[-]x failed", "a{b=\"c\"} NaN\n# TYPE a histogram\na_bucket{le=\"+Inf\"} -1\n", "process_start_time_seconds -1e308\n",
		"-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n", `{"files":[{}],"unread":[""]}`, `{"status":{"allowed":false},"spec":{"resourceAttributes":{}}}`,
	} {
		f.Add([]byte(body), uint16(200), uint32(n))
		f.Add([]byte(body), uint16(200), uint32(n+3))
	}
	f.Add([]byte(`{"kind":"Status"}`), uint16(500), uint32(1))
	all := suite.All()
	facts := checks.Facts(all)
	f.Fuzz(func(t *testing.T, body []byte, status uint16, which uint32) {
		src := broken{capture.NewScript(at, time.Second, txtar.Parse(model)), body, int(status), which}
		c := collectors.Collect(context.Background(), src, at, time.Second, collectors.Options{}, facts...)
		for _, x := range checks.Run(c.Snapshot, all) {
			if x.Gap != nil && x.Gap.Reason == collectors.Bug {
				t.Errorf("%s %s of %q: %s", x.Check, x.Target, body, x.Gap.Detail)
			}
		}
	})
}
