package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ktriage/ktriage/internal/report"
)

// saved reads a report that was saved; - is standard input. What names it goes
// before an error.
func (a *app) saved(what, file string) (*report.Report, error) {
	in := io.Reader(a.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, usageError{hinted{fmt.Errorf("%s: %w", what, err), "make one with: " + a.name() + " doctor -o json > FILE.json"}}
		case err != nil:
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		defer f.Close()
		in = f
	}
	buf := bufio.NewReader(in)
	if head, _ := buf.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		return nil, usageError{hinted{fmt.Errorf("%s: %s is an archive, not a report", what, file), "judge it first: " + a.name() + " doctor --from " + file + " -o json > FILE.json"}}
	}
	r, err := report.Read(buf)
	if err != nil {
		return nil, usageError{hinted{fmt.Errorf("%s: %s: %w", what, file, err), "a report is what " + a.name() + " doctor -o json writes"}}
	}
	return r, nil
}
