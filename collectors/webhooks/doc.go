// Package webhooks declares the facts about what the API server calls while it
// serves a request: admission webhooks and conversion webhooks, and about the
// extension API servers behind APIServices.
package webhooks

import "github.com/ktriage/ktriage/collectors"

// All is the target of facts about the webhooks as a whole.
var All = collectors.Target{Component: collectors.Webhooks, Addr: "kube:"}

func list(path string) collectors.Request {
	return collectors.Request{Verb: collectors.List, URL: "kube:" + path}
}
