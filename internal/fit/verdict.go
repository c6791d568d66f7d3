package fit

// A State is what became of judging a pod.
type State string

const (
	// Fits: some node fits. A Pending pod that fits waits for the scheduler, or
	// fits only since a moment ago.
	Fits State = "fits"
	// Gated: the pod has scheduling gates; the scheduler does not try it.
	Gated State = "gated"
	// Unschedulable: no node fits.
	Unschedulable State = "unschedulable"
	// Failing: the scheduler meets an error while it tries the pod, such as a
	// malformed object, and tries again and again.
	Failing State = "failing"
	// NotKnown: it depends on objects that could not be read.
	NotKnown State = "not known"
)

// A Ref names an object.
type Ref struct {
	Kind      Kind   `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// A Verdict says where a pod fits, and for all other nodes everything that is in
// the way. Its slices are shared with other verdicts and must not be changed.
type Verdict struct {
	Pod   Ref   `json:"pod"`
	State State `json:"state"`
	// NumNodes is the number of nodes there are.
	NumNodes int `json:"numNodes"`
	// Gates are the scheduling gates, when the pod is gated. The rest of the
	// verdict is what would be without them.
	Gates []string `json:"gates,omitempty"`
	// Fits are the nodes on which nothing is in the way. When the pod is blocked it
	// is these that it could go to otherwise.
	Fits []string `json:"fits,omitempty"`
	// Blocked is what keeps the pod off every node, whatever the node: a claim that
	// does not exist. The scheduler says the first and does not look at nodes.
	Blocked []Failure `json:"blocked,omitempty"`
	// Held: the scheduler does not even try the pod until a claim that blocks it is
	// there, and writes no message.
	Held bool `json:"held,omitempty"`
	// Groups are the nodes that do not fit, those that fail the same constraints
	// together, nearest to fitting first.
	Groups []Group `json:"groups,omitempty"`
	// Reasons are the counts of the scheduler's own message.
	Reasons []Count `json:"reasons,omitempty"`
	// Unread are the kinds of objects that could not be read and on which the
	// verdict depends. On nodes that do not fit anyhow nothing depends on them.
	Unread []Unread `json:"unread,omitempty"`
	// NotModelled names what bears on this pod and is not modelled.
	NotModelled []string `json:"notModelled,omitempty"`
}

// A Group is nodes that fail the same constraints.
type Group struct {
	// Nodes are their names, nearest to fitting first.
	Nodes []string `json:"nodes"`
	// Failures are all the constraints that these nodes fail, in the order of
	// plugins. The numbers in them are those of the first node.
	Failures []Failure `json:"failures"`
}

// A Count is a reason of the scheduler and on how many nodes it is the first.
type Count struct {
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// Unread is a kind of objects that a verdict depends on and that could not be read.
type Unread struct {
	Kind Kind   `json:"kind"`
	Why  string `json:"why"`
	// Plugin is the filter that needs it.
	Plugin string `json:"plugin"`
}

// A Failure is a constraint that a pod fails. Of the pointers the one that fits
// the plugin is set.
type Failure struct {
	Plugin string `json:"plugin"`
	// Reason is what the scheduler says of it, to the letter: "Insufficient cpu".
	Reason string `json:"reason"`
	// Detail says it with its particulars, in words: "taint dedicated=gpu:NoSchedule is not tolerated".
	Detail string `json:"detail"`
	// Preemptible: the scheduler may cure it by evicting pods.
	Preemptible bool `json:"preemptible,omitempty"`

	Resource *Shortage  `json:"resource,omitempty"`
	Taint    *Taint     `json:"taint,omitempty"`
	Port     *Port      `json:"port,omitempty"`
	Term     *Term      `json:"term,omitempty"`
	Spread   *Spread    `json:"spread,omitempty"`
	Volume   *VolumeRef `json:"volume,omitempty"`
	Claim    *Ref       `json:"claim,omitempty"` // a ResourceClaim
}

// A Shortage is a resource of which a node has not enough: in thousandths of a core
// for cpu, in bytes, or in pieces.
type Shortage struct {
	Name        string `json:"name"`
	Requested   int64  `json:"requested"`
	Allocatable int64  `json:"allocatable"`
	Used        int64  `json:"used"`
	// Free is what is left, negative where more is asked of the node than it has.
	Free    int64 `json:"free"`
	ShortBy int64 `json:"shortBy"`
}

// A Taint is one that the pod does not tolerate.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// A Port is a port of the host that is taken.
type Port struct {
	HostIP   string `json:"hostIP"`
	Protocol string `json:"protocol"`
	Port     int32  `json:"port"`
	// Owners are the pods that have it.
	Owners []Ref `json:"owners,omitempty"`
}

// A Term is a demand on labels: of a node selector, a node affinity, or a pod
// affinity or anti-affinity.
type Term struct {
	// Of is "nodeSelector", "nodeAffinity", "addedAffinity", "podAffinity",
	// "podAntiAffinity" or "existingPodAntiAffinity".
	Of string `json:"of"`
	// Index counts terms from 0.
	Index int `json:"index"`
	// Expression is the demand in words: "disktype=ssd".
	Expression  string `json:"expression,omitempty"`
	TopologyKey string `json:"topologyKey,omitempty"`
	// TopologyValue is that of the node, empty where it has none.
	TopologyValue string `json:"topologyValue,omitempty"`
	// Pods are pods that match, or whose term it is, a few of them.
	Pods []Ref `json:"pods,omitempty"`
}

// A Spread is a topology spread constraint that would be broken.
type Spread struct {
	// Index counts the pod's constraints from 0.
	Index       int    `json:"index"`
	TopologyKey string `json:"topologyKey"`
	Selector    string `json:"selector"`
	// Value is the node's domain, empty where it has none.
	Value   string `json:"value,omitempty"`
	MaxSkew int32  `json:"maxSkew"`
	// Matching is how many matching pods the domain has, Least how many the domain
	// with the fewest has, and Skew what would be with the pod.
	Matching   int    `json:"matching"`
	Least      int    `json:"least"`
	LeastValue string `json:"leastValue,omitempty"`
	Skew       int    `json:"skew"`
	// MinDomains is set where there are fewer domains than it, which makes Least 0.
	MinDomains int32 `json:"minDomains,omitempty"`
	Domains    int   `json:"domains"`
	Default    bool  `json:"default,omitempty"` // a constraint of the scheduler's configuration
}

// A VolumeRef is the volume of the pod that is in the way.
type VolumeRef struct {
	// Name is that in the pod.
	Name   string `json:"name,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Volume string `json:"persistentVolume,omitempty"`
	Class  string `json:"storageClass,omitempty"`
	Driver string `json:"driver,omitempty"`
	// Limit and InUse are of volumes attached to the node.
	Limit int64 `json:"limit,omitempty"`
	InUse int64 `json:"inUse,omitempty"`
	// Requested is in bytes, and Capacity the most that one volume can have.
	Requested int64 `json:"requested,omitempty"`
	Capacity  int64 `json:"capacity,omitempty"`
	// Owners are pods that use the volume.
	Owners []Ref `json:"owners,omitempty"`
}
