package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// target is an instance as a thing that is judged.
func target(i apiserver.Instance) collectors.Target {
	return collectors.Target{Component: collectors.APIServer, Name: i.Name, Node: i.Node}
}

// verb returns the form of a verb for a number of subjects.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// why says in brackets why a pod is not ready, as far as it tells.
func why(p cluster.Instance) string {
	switch {
	case p.Waiting != "" && p.LastExit != "":
		return " (" + p.Waiting + ", last " + p.LastExit + ")"
	case p.Waiting != "":
		return " (" + p.Waiting + ")"
	case p.LastExit != "":
		return " (last " + p.LastExit + ")"
	}
	return ""
}

// over says over what time a count was taken: "in 10s", or "since it started
// 3d 4h ago" where there is no window.
func over(window, uptime time.Duration) string {
	switch {
	case window > 0:
		return "in " + checks.Span(window)
	case uptime > 0:
		return "since it started " + checks.Span(uptime) + " ago"
	}
	return "since it started"
}
