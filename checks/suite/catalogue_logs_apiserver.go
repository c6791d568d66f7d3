package suite

// logsAPIServerRules tells of the rules of section 3.2, API server's log, that have no
// check of their own.
var logsAPIServerRules = decisions{
	section: "3.2",
}
