package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// keeping starts a recording of a run, if a file is named; else rec is nil, and
// keep does nothing. The file appears when keep is called.
func (a *app) keeping(o *origin, f *sourceFlags, file string) (rec *capture.Recorder, keep func() error, err error) {
	if file == "" {
		return nil, func() error { return nil }, nil
	}
	rec, finish, abandon, err := recordTo(file)
	if err != nil {
		return nil, nil, fmt.Errorf("write recording: %w", err)
	}
	k := usually()
	k.apply(rec)
	started := a.Now()
	return rec, func() error {
		m := capture.Meta{Tool: version(), Source: o.name, StartedAt: started.UTC(), WindowSeconds: f.window.Seconds(), Cost: o.cost(),
			DurationSeconds: a.Now().Sub(started).Round(time.Millisecond).Seconds()}
		if o.meta != nil {
			m = *o.meta
		}
		if err := finish(m); err != nil {
			abandon()
			return fmt.Errorf("write recording %s: %w", file, err)
		}
		return nil
	}, nil
}

// A recording is a source that keeps what it answers.
type recording struct {
	collectors.Source
	rec *capture.Recorder
}

// Fetch answers as the source does. It reads the reply whole.
func (r recording) Fetch(ctx context.Context, q collectors.Request) (*collectors.Reply, error) {
	reply, err := r.Source.Fetch(ctx, q)
	if err != nil {
		r.rec.Record(q, 0, nil, nil, collectors.AsGap(err, collectors.Unreachable))
		return nil, err
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		gap := collectors.AsGap(err, collectors.Malformed)
		r.rec.Record(q, 0, nil, nil, gap)
		return nil, gap
	}
	kept := *reply
	kept.Body = nil
	r.rec.Record(q, 0, &kept, b, nil)
	reply.Body = io.NopCloser(bytes.NewReader(b))
	return reply, nil
}
