package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// What people paste into a ticket: commands with their prompts, each followed by
// what it printed, and blocks between fences of Markdown.
var (
	promptLine = regexp.MustCompile(`^\s*(?:\[?[\w.@:~/ -]{0,60}\]?\s?[$#>%]\s+)(?:sudo\s+|[A-Z_]+=\S+\s+|docker exec \S+ |crictl exec \S+ |kubectl [^|]*exec [^|]*-- )*(?:kubectl|oc|etcdctl|etcdutl|curl|crictl|journalctl|kubeadm|iostat|fio|dmesg|cat|grep|zgrep|tail|head)\b`)
	fenceLine  = regexp.MustCompile("^\\s*(?:```|~~~)")
	outputLine = regexp.MustCompile(`^(?:stdout|output):\s*$`)
)

func separates(line string) bool {
	return promptLine.MatchString(line) || fenceLine.MatchString(line) || outputLine.MatchString(line)
}

// pasted reports whether a text is several outputs with commands between them. A
// log or a body that has such a line far down is what it is.
func pasted(head []byte, what shape) bool {
	switch what {
	case yamlText, metricsText, logText, empty, binaryFile:
		for _, line := range lines(string(head)) {
			return separates(line)
		}
		return false
	}
	for _, line := range lines(string(head)) {
		if separates(line) {
			return true
		}
	}
	return false
}

// readPasted reads each output by itself. Prose between them is no evidence, and
// nothing is said of it.
func (e *Evidence) readPasted(in *input) error {
	b, err := in.text()
	if err != nil {
		return err
	}
	var chunks []string
	var chunk strings.Builder
	end := func() {
		if strings.TrimSpace(chunk.String()) != "" {
			chunks = append(chunks, chunk.String())
		}
		chunk.Reset()
	}
	for line := range strings.Lines(string(b)) {
		if separates(strings.TrimRight(line, "\r\n")) {
			end()
			continue
		}
		chunk.WriteString(line)
	}
	end()
	read := 0
	var why error
	for _, c := range chunks {
		x := &input{name: in.name, modified: in.modified, in: bufio.NewReaderSize(strings.NewReader(c), headSize), again: inMemory([]byte(c)), rank: in.rank}
		if read > 0 {
			x.name = fmt.Sprintf("%s#%d", in.name, read+1)
		}
		head := []byte(c[:min(len(c), headSize)])
		what := recognise(head)
		if what == unrecognised || pasted(head, what) {
			continue
		}
		if err := e.interpret(x, bytes.Clone(head)); err != nil {
			if why == nil && !errors.Is(err, errNotRecognised) {
				why = err
			}
			continue
		}
		read++
	}
	switch {
	case read == 0 && why != nil:
		return why
	case read == 0:
		return errNotRecognised
	case why != nil:
		e.skip(in.name, "in part: "+why.Error())
	}
	return nil
}
