package suite

// hostRules tells of the rules of section 2.15, host, that have no
// check of their own.
var hostRules = decisions{
	section: "2.15",
}
