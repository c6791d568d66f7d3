package suite

// staticpodsRules tells of the rules of section 2.16, static pods, that have no
// check of their own.
var staticpodsRules = decisions{
	section: "2.16",
	rejected: []Rejected{
		{"static-pod-mirror-stale", "the API shows the mirror alone and both hashes on it are written at once; what really runs is known to the kubelet, which replaces a mirror that differs"},
	},
}
