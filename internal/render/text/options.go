package text

// Options of the text form.
type Options struct {
	Color   bool
	Width   int  // columns; 0 means 80
	Advice  bool // show findings of status info
	Verbose bool // show every finding, and all of the evidence
}
