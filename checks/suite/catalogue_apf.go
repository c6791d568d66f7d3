package suite

// apfRules tells of the rules of section 2.2, API Priority and Fairness, that have no
// check of their own.
var apfRules = decisions{
	section: "2.2",
}
