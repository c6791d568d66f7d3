package suite

// certificatesRules tells of the rules of section 2.13, certificates, that have no
// check of their own.
var certificatesRules = decisions{
	section: "2.13",
}
