package capture

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/redact"
)

// FormatVersion is of the archive's layout. A reader refuses a later one.
const FormatVersion = 1

// metaName is the file of the archive that describes the run. It is the last,
// since it tells how long the run took: an archive without it was broken off.
const metaName = "ktriage.json"

// Meta is what a recording says of the run that made it.
type Meta struct {
	FormatVersion   int             `json:"formatVersion"`
	Tool            string          `json:"tool"` // version of ktriage
	Source          string          `json:"source"`
	StartedAt       time.Time       `json:"startedAt"`
	DurationSeconds float64         `json:"durationSeconds"`
	WindowSeconds   float64         `json:"windowSeconds"`
	Cost            collectors.Cost `json:"cost"`
	Node            bool            `json:"node,omitempty"` // it is of one node, seen from within; nothing was asked of the API

	// Redacted lists what was replaced by something that stands for it; nil in
	// recordings of before this was done. Left counts the replies that are not
	// there because the recording had reached its size.
	Redacted *Redacted `json:"redacted,omitempty"`
	Left     int       `json:"left,omitempty"`
}

// Redacted is what is not in a recording although it was in the replies.
type Redacted struct {
	Replaced []redact.Count `json:"replaced"`
	Never    []string       `json:"never"` // what is not asked for, or taken out before anything is kept
}

// never lists what no recording holds: see objects.Strip.
func never() []string {
	return []string{
		"Secrets: they are not asked for",
		"containers' environment, and the arguments of those that are not the control plane's",
		"annotations that are not Kubernetes' own, and the last applied configuration",
		"managed fields, probes' headers, lifecycle hooks",
		"queries in webhooks' URLs, certificate requests, and the names of images on nodes",
	}
}

// A header describes one record of the archive. Its body, if it has one, is
// the file of the same number.
type header struct {
	Verb   collectors.Verb   `json:"verb"`
	URL    string            `json:"url"`
	Or     []string          `json:"or,omitempty"`
	Sample collectors.Sample `json:"sample,omitempty"`
	Page   int               `json:"page,omitempty"`

	At        time.Time        `json:"at,omitzero"`
	Date      time.Time        `json:"date,omitzero"`
	ElapsedNS int64            `json:"elapsedNanoseconds,omitempty"`
	Status    int              `json:"status,omitempty"`
	From      string           `json:"from,omitempty"`
	Media     string           `json:"media,omitempty"`
	Cert      *collectors.Cert `json:"cert,omitempty"`
	Gap       *collectors.Gap  `json:"gap,omitempty"`

	// Families are those that were wanted of a Scrape. Recordings of before
	// this was kept do not say.
	Families []string `json:"families,omitempty"`
}

func (h header) key() string {
	return collectors.Request{Verb: h.Verb, URL: h.URL, Or: h.Or, Sample: h.Sample}.Key()
}
