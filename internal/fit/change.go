package fit

// A ChangeKind is a way to make a pod fit.
type ChangeKind string

const (
	LowerRequest  ChangeKind = "lower-request"
	AddLabel      ChangeKind = "add-node-label"
	Tolerate      ChangeKind = "tolerate-taint"
	RemoveTaint   ChangeKind = "remove-taint"
	Uncordon      ChangeKind = "uncordon"
	FreePort      ChangeKind = "free-host-port"
	CreateClaim   ChangeKind = "create-claim"
	CreateClass   ChangeKind = "create-class"
	CreateVolume  ChangeKind = "create-volume"
	DropSelector  ChangeKind = "drop-node-selector"
	RelaxAffinity ChangeKind = "relax-affinity"
	RelaxSpread   ChangeKind = "relax-spread"
	EvictPods     ChangeKind = "evict-pods"
	FreeVolume    ChangeKind = "free-volume"
	AddNode       ChangeKind = "add-node"
	// DropPort takes a host port off the pod, OwnSpread gives it a spread constraint of
	// its own, which is a wish, in place of the scheduler's default ones.
	DropPort  ChangeKind = "drop-host-port"
	OwnSpread ChangeKind = "own-spread"
	// MendNode gets a node in order that says that it is not.
	MendNode ChangeKind = "mend-node"
	// InstallDriver installs a CSI driver on a node, UpgradeNode a kubelet that declares
	// the features of Shape.
	InstallDriver ChangeKind = "install-driver"
	UpgradeNode   ChangeKind = "upgrade-node"
	// Detach takes volumes off a node that no pod uses there.
	Detach ChangeKind = "detach-volumes"
	// ResetClaim takes back the choice of a node for a claim, ReplaceClaim makes one
	// anew that is on its way out or another pod's.
	ResetClaim   ChangeKind = "reset-claim"
	ReplaceClaim ChangeKind = "replace-claim"
	// FreeDevices ends the use of devices: of resource claims that nobody uses, or of
	// pods, whose claims are given back.
	FreeDevices ChangeKind = "free-devices"
	RemoveGates ChangeKind = "remove-gates"
)

// Harm tells what a change does besides helping the pod.
type Harm string

const (
	// NoHarm: nobody else notices.
	NoHarm Harm = "none"
	// PodOnly: the pod itself gets less or asks less.
	PodOnly Harm = "pod"
	// Others: other pods may be placed otherwise from now on.
	Others Harm = "others"
	// Disrupts: running pods are stopped.
	Disrupts Harm = "disrupts"
)

// A Change is one way, of one or more edits, to make a pod fit. It has been proved
// on a changed copy of the cluster.
type Change struct {
	// Edits are what to do; more than one where no single edit does.
	Edits []Edit `json:"edits"`
	// Summary says it in one line.
	Summary string `json:"summary"`
	Harm    Harm   `json:"harm"`
	// Node is a node on which the pod then fits.
	Node string `json:"node,omitempty"`
	// Nodes counts on how many nodes the pod then fits.
	Nodes int `json:"nodes"`
	// Waits tells of what has to follow before the pod runs: a claim being bound.
	Waits string `json:"waits,omitempty"`
}

// An Edit is one thing to do to one object. Which of the fields are set depends
// on its kind.
type Edit struct {
	Kind ChangeKind `json:"kind"`
	// Object is what is changed, created or stopped.
	Object Ref `json:"object"`
	// Resource, From and To are of lowered requests of a container, in thousandths of
	// a core, bytes or pieces.
	Resource string `json:"resource,omitempty"`
	From     int64  `json:"from,omitempty"`
	To       int64  `json:"to,omitempty"`
	// Container is the container whose request is to be lowered, empty where it is
	// the pod's own.
	Container string `json:"container,omitempty"`
	// More are further requests of the same resource to be lowered.
	More []Cut `json:"more,omitempty"`
	// Labels are to be set, or to be dropped from the pod's node selector.
	Labels map[string]string `json:"labels,omitempty"`
	Taint  *Taint            `json:"taint,omitempty"`
	// Pods are to be moved or stopped; Breaks are the disruption budgets against it.
	Pods   []Ref `json:"pods,omitempty"`
	Breaks []Ref `json:"breaks,omitempty"`
	// Self: the scheduler does it by itself, by preemption.
	Self bool `json:"self,omitempty"`
	// Node is where a volume to be created has to be usable, empty for anywhere.
	Node string `json:"node,omitempty"`
	// Of and Index name the term or constraint to relax: of a node selector by its
	// key, of spread constraints with MaxSkew, the least that will do. Where that is
	// not set the term or constraint has to go.
	Of      string `json:"of,omitempty"`
	Index   int    `json:"index,omitempty"`
	MaxSkew int32  `json:"maxSkew,omitempty"`
	// MinDomains, TaintsPolicy and AffinityPolicy are what else of a spread constraint
	// may be changed.
	MinDomains     int32  `json:"minDomains,omitempty"`
	TaintsPolicy   string `json:"nodeTaintsPolicy,omitempty"`
	AffinityPolicy string `json:"nodeAffinityPolicy,omitempty"`
	// Expressions are the match expressions to be dropped of the term of a node
	// affinity; none where all of it has to go.
	Expressions []int `json:"expressions,omitempty"`
	// Terms are of other pods that run.
	Terms []PodTerm `json:"terms,omitempty"`
	// Port is one of the pod's.
	Port *Port `json:"port,omitempty"`
	// Claims are resource claims to be given back, Attachments VolumeAttachments to be
	// deleted.
	Claims      []Ref `json:"claims,omitempty"`
	Attachments []Ref `json:"attachments,omitempty"`
	// Shape is of a node to add.
	Shape *Shape `json:"shape,omitempty"`
	// Volume is of a claim, class or volume to create.
	Volume *VolumeRef `json:"volume,omitempty"`
}

// A Cut is a request that is to be lowered.
type Cut struct {
	Container string `json:"container,omitempty"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
}

// A PodTerm is a required anti-affinity term of a pod that runs, by its place.
type PodTerm struct {
	Pod   Ref `json:"pod"`
	Index int `json:"index"`
}

// A Shape is what a node must have.
type Shape struct {
	// Allocatable is the least it must have, in thousandths of a core, bytes or pieces.
	Allocatable map[string]int64  `json:"allocatable,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	// Features are those that its kubelet must declare, Drivers the CSI drivers that
	// must be installed on it.
	Features []string `json:"features,omitempty"`
	Drivers  []string `json:"drivers,omitempty"`
	// Like is a node whose devices it must have too.
	Like string `json:"like,omitempty"`
}
