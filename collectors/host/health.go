package host

// An Endpoint is what a component, or the kubelet, says of its own health on
// loopback.
type Endpoint struct {
	Role   Role   `json:"role"`
	URL    string `json:"url"`
	Status int    `json:"status,omitempty"` // HTTP; 0: there was no answer
	Body   string `json:"body,omitempty"`   // cut
	// Failed is why there was no answer. Refused says that nobody listens, and
	// Silent that the connection was taken and nothing came.
	Failed  string `json:"failed,omitempty"`
	Refused bool   `json:"refused,omitempty"`
	Silent  bool   `json:"silent,omitempty"`
}

// Health is what they say.
var Health = fact[[]Endpoint]("host.health", "what the components of the control plane, and the kubelet, answer on loopback when they are asked for their health", HealthURL)

// Healthy reports whether it says so. Who forbids anonymous requests answers,
// which is all that can be known of it.
func (e Endpoint) Healthy() bool { return e.Status == 200 || e.Status == 401 || e.Status == 403 }
