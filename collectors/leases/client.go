package leases

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Client is what a component's requests to the API server came to over the
// window, as the component counts them.
type Client struct {
	Total     float64
	NoAnswer  float64 // no HTTP answer at all: refused, timed out, broken off
	Server    float64 // 5xx
	TooMany   float64 // 429
	Unauth    float64 // 401
	Forbidden float64 // 403 to reads. Writes are refused with it for reasons of policy too: quota, pod security.
	Refused   float64 // 403 to writes
	Creations float64 // POST, whatever the answer
	Barred    float64 // POST answered 403, of Refused
	Codes     map[string]float64
}

func (e *Elected) client() *collectors.Fact[Client] {
	const family = "rest_client_requests_total"
	return own(e, "client", "what the requests of each "+string(e.Role)+" to the API server came to over the window, by HTTP status",
		func(w metrics.Window) (Client, error) {
			if !w.Has(family) {
				return Client{}, collectors.AbsentMetric(family)
			}
			if !w.OK() {
				// Since it started is no substitute: every start meets an API
				// server that does not know its rights yet.
				return Client{}, collectors.Gapf(collectors.Absent, "requests over the window cannot be counted: %s", w.Broken)
			}
			c := Client{Codes: map[string]float64{}}
			for _, code := range w.Last.Values(family, "code") {
				n, _ := w.Delta(family, metrics.Eq("code", code))
				if n <= 0 {
					continue
				}
				c.Total += n
				c.Codes[code] = n
				posts, _ := w.Delta(family, metrics.Eq("code", code), metrics.Eq("method", "POST"))
				c.Creations += posts
				switch {
				case code == "<error>":
					c.NoAnswer += n
				case code == "401":
					c.Unauth += n
				case code == "429":
					c.TooMany += n
				case code == "403":
					reads, _ := w.Delta(family, metrics.Eq("code", code), metrics.Eq("method", "GET"))
					c.Forbidden += reads
					c.Refused += n - reads
					c.Barred += posts
				case len(code) == 3 && code[0] == '5':
					c.Server += n
				}
			}
			return c, nil
		},
		metrics.Select{Name: family, By: []string{"code", "method"}})
}

func (e *Elected) throttle() *collectors.Fact[metrics.Latency] {
	const family = "rest_client_rate_limiter_duration_seconds"
	return own(e, "throttle", "how long the requests of each "+string(e.Role)+" waited for its own rate limiter",
		func(w metrics.Window) (metrics.Latency, error) {
			l, ok := w.Latency(family)
			if !ok {
				return l, collectors.AbsentMetric(family)
			}
			return l, nil
		},
		metrics.Select{Name: family})
}
