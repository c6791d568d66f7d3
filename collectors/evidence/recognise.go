package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
)

// A shape is what a file looks like from its beginning.
type shape int

const (
	unrecognised shape = iota
	empty
	binaryFile
	metricsText
	jsonText
	yamlText
	etcdTable  // of etcdctl -w table
	etcdSimple // of etcdctl endpoint status -w simple
	etcdFields // of etcdctl -w fields
	etcdLines  // of etcdctl member list, endpoint health and alarm list
	levels     // of the API server's dump_priority_levels
	fioText
	iostatText
	kubeTable  // of kubectl get
	healthText // of /readyz?verbose and the like
	described  // of kubectl describe
	certTable  // of kubeadm certs check-expiration
	logText
)

// headSize is how much of a file is looked at to tell what it is.
const headSize = 32 << 10

var (
	metricLine = regexp.MustCompile(`^[a-z][a-z0-9]*_[a-zA-Z0-9_:]*(\{.*\})?\s+[-+]?([0-9.]+([eE][-+]?[0-9]+)?|NaN|Inf)(\s+-?[0-9]+)?$`)
	simpleLine = regexp.MustCompile(`^\S+:\d+/?, [0-9a-f]{1,16}, [^,]+, [^,]+, (true|false), `)
	healthLine = regexp.MustCompile(`^\[[-+]\][\w/.-]+ (ok|failed|excluded)`)
	kubeHeader = regexp.MustCompile(`^(NAMESPACE +)?(NAME|LAST SEEN) {2,}[A-Z]`)
	yamlTop    = regexp.MustCompile(`(?m)^(apiVersion|kind): *["']?[A-Za-z]`)
)

// recognise tells what a file is by its first lines.
func recognise(head []byte) shape {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	text := strings.TrimSpace(string(head))
	switch {
	case text == "":
		return empty
	case bytes.Count(head, []byte{0}) > len(head)/100:
		return binaryFile // a few NULs are left by a disk that filled up in the middle of a log
	}
	if strings.HasPrefix(text, levelsHead) {
		return levels
	}
	if fioHead.MatchString(text) {
		return fioText
	}
	var first string
	for n, line := range lines(text) {
		if first == "" {
			first = line
		}
		switch {
		case n == 200:
			return unrecognised
		case strings.HasPrefix(line, "# HELP ") || strings.HasPrefix(line, "# TYPE "), metricLine.MatchString(line):
			return metricsText
		case n == 0 && fieldLine.MatchString(line):
			return etcdFields
		case memberSimple.MatchString(line), alarmSimple.MatchString(line), healthSimple.MatchString(line) && strings.Contains(line, ":"):
			return etcdLines
		case iostatHead.MatchString(line):
			return iostatText
		case checkPerf.MatchString(line):
			return logText
		case looksLikeLog(line):
			return logText
		case n == 0 && (line[0] == '{' || line[0] == '['):
			if strings.HasPrefix(line, "[+]") || strings.HasPrefix(line, "[-]") {
				return healthText
			}
			if !strings.HasPrefix(line, "[check-expiration]") && !strings.HasPrefix(line, "[renew]") {
				return jsonText
			}
		case strings.HasPrefix(line, "+--"):
			return etcdTable
		case simpleLine.MatchString(line):
			return etcdSimple
		case healthLine.MatchString(line):
			return healthText
		case strings.HasPrefix(line, "CERTIFICATE ") && strings.Contains(line, "EXPIRES"):
			return certTable
		case describedEvent.MatchString(line), n == 0 && describedName.MatchString(text):
			return described
		case n == 0 && kubeHeader.MatchString(line):
			return kubeTable
		case n == 0 && yamlTop.MatchString(text):
			return yamlText
		}
	}
	return unrecognised
}

// lines yields the lines of a text that are not empty, numbered.
func lines(text string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n\t "); line == "" {
				continue
			}
			if !yield(n, line) {
				return
			}
			n++
		}
	}
}

// interpret reads an input that is packed no more, by what its head looks like.
func (e *Evidence) interpret(in *input, head []byte) error {
	what := recognise(head)
	if pasted(head, what) {
		return e.readPasted(in)
	}
	switch what {
	case metricsText:
		return e.readMetrics(in)
	case logText, certTable: // the table's lines have signatures too
		return e.readLog(in)
	case empty:
		return errors.New("it is empty")
	case binaryFile:
		return errors.New("it is not text")
	case unrecognised:
		return errNotRecognised
	case jsonText:
		return e.readJSON(in)
	}
	b, err := in.text()
	if err != nil {
		return err
	}
	switch what {
	case yamlText:
		return e.readYAML(in, b)
	case etcdTable:
		return e.readEtcdTable(in, string(b))
	case etcdSimple:
		return e.readEtcdSimple(in, string(b))
	case etcdFields:
		return e.readEtcdFields(in, string(b))
	case etcdLines:
		return e.readEtcdLines(in, string(b))
	case levels:
		return e.readLevels(in, string(b))
	case fioText:
		return e.readFio(in, string(b))
	case iostatText:
		return e.readIostat(in, string(b))
	case kubeTable:
		return e.readKubeTable(in, string(b))
	case healthText:
		return e.readHealth(in, b)
	case described:
		return e.readDescribe(in, string(b))
	}
	return errNotRecognised
}

var errNotRecognised = errors.New("its content is none that ktriage knows")

// scanLines reads lines of any length in bounded memory: of one that is over
// the limit, the beginning.
func scanLines(r io.Reader, each func([]byte)) error {
	const most = 64 << 10
	in := bufio.NewReaderSize(r, most)
	for {
		line, err := in.ReadSlice('\n')
		each(bytes.TrimRight(line, "\r\n"))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
