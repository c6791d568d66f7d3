package suite

// webhooksRules tells of the rules of section 2.11, admission webhooks, that have no
// check of their own.
var webhooksRules = decisions{
	section: "2.11",
}
