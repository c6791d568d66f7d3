package metrics

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Limits of what is read. A control plane's largest bodies are some 100 MB, its
// longest lines some kilobytes; what is beyond is not metrics, or not sane.
const (
	MaxBody = 1 << 30
	maxLine = 1 << 20
	// maxSeries bounds memory where the wanted labels of a broken or hostile
	// endpoint have endless values.
	maxSeries = 2_000_000
)

// Parse reads the text format and keeps what the selections want; without any
// it keeps everything. It returns an error, and no part of the body, where the
// body is no metrics, is broken off or is over the limits: half a scrape would
// pass for a quiet component.
func Parse(r io.Reader, want []Select) (*Set, error) {
	p := parser{
		in:   bufio.NewReaderSize(io.LimitReader(r, MaxBody+1), 1<<16),
		want: map[string]*keep{},
		all:  len(want) == 0,
		out:  map[string]map[string]*Series{},
		set:  &Set{series: map[string][]Series{}, types: map[string]string{}},
	}
	for _, s := range want {
		k := &keep{all: slices.Contains(s.By, All), by: s.By}
		for _, suffix := range [...]string{"", "_bucket", "_sum", "_count"} {
			p.want[s.Name+suffix] = k
		}
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	for name, series := range p.out {
		xs := make([]Series, 0, len(series))
		for _, x := range series {
			xs = append(xs, *x)
		}
		slices.SortFunc(xs, func(a, b Series) int { return slices.CompareFunc(a.Labels, b.Labels, compareLabels) })
		p.set.series[name] = xs
	}
	return p.set, nil
}

func compareLabels(a, b Label) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
}

type keep struct {
	all bool
	by  []string
}

type parser struct {
	in     *bufio.Reader
	want   map[string]*keep
	all    bool
	out    map[string]map[string]*Series
	set    *Set
	names  map[string]string // sample and label names, interned
	labels []Label
	key    []byte
	total  int
	line   int
	read   int64
	series int
}

var everything = &keep{all: true}

func (p *parser) run() error {
	p.names = map[string]string{}
	for {
		b, err := p.next()
		switch {
		case err == io.EOF:
			if p.total == 0 {
				return errors.New("the body holds no metrics")
			}
			return nil
		case err != nil:
			return err
		}
		b = bytes.TrimRight(b, "\r ")
		if len(b) == 0 {
			continue
		}
		if b[0] == '#' {
			p.comment(b)
			continue
		}
		if p.total == 0 && (b[0] == '<' || b[0] == '{') {
			what := map[byte]string{'<': "HTML or XML", '{': "JSON"}[b[0]]
			return fmt.Errorf("the body is %s, not metrics: %s", what, excerpt(b))
		}
		if err := p.sample(b); err != nil {
			return fmt.Errorf("line %d: %w: %s", p.line, err, excerpt(b))
		}
	}
}

// next returns the next line without its end. A last line that has no end was
// broken off.
func (p *parser) next() ([]byte, error) {
	b, err := p.in.ReadSlice('\n')
	p.line++
	p.read += int64(len(b))
	if err == bufio.ErrBufferFull {
		long := slices.Clone(b)
		for err == bufio.ErrBufferFull {
			b, err = p.in.ReadSlice('\n')
			p.read += int64(len(b))
			long = append(long, b...)
			if len(long) > maxLine {
				return nil, fmt.Errorf("line %d is over %d bytes", p.line, maxLine)
			}
		}
		b = long
	}
	switch {
	case p.read > MaxBody:
		return nil, fmt.Errorf("the body is over %d bytes", int64(MaxBody))
	case err == io.EOF && len(b) == 0:
		return nil, io.EOF
	case err == io.EOF && p.total == 0 && len(bytes.TrimSpace(b)) > 0 && (b[0] == '<' || b[0] == '{'):
		return b, nil // named as what it is by run
	case err == io.EOF:
		return nil, fmt.Errorf("the body breaks off in line %d: %s", p.line, excerpt(b))
	case err != nil:
		return nil, fmt.Errorf("the body breaks off after line %d: %w", p.line-1, err)
	}
	return b[:len(b)-1], nil
}

func (p *parser) comment(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte("# TYPE "))
	if !ok {
		return
	}
	name, typ, ok := bytes.Cut(rest, []byte(" "))
	if !ok || !p.all && p.want[string(name)] == nil || !validName(name) {
		return
	}
	switch t := string(typ); t {
	case "counter", "gauge", "histogram", "summary", "untyped":
		p.set.types[string(name)] = t
	}
}

func (p *parser) sample(b []byte) error {
	end := bytes.IndexAny(b, "{ \t")
	if end <= 0 || !validName(b[:end]) {
		return errors.New("not a sample")
	}
	p.total++
	name := b[:end]
	k := everything
	if !p.all {
		if k = p.want[string(name)]; k == nil {
			return nil
		}
	}
	rest := bytes.TrimLeft(b[end:], " \t")
	if len(rest) == 0 {
		return errors.New("no value")
	}
	p.labels = p.labels[:0]
	if rest[0] == '{' {
		var err error
		if rest, err = p.readLabels(rest[1:], k); err != nil {
			return err
		}
	}
	field := bytes.TrimLeft(rest, " \t")
	if i := bytes.IndexAny(field, " \t"); i >= 0 {
		field = field[:i] // a timestamp follows
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(field), len(field)), 64)
	if err != nil || len(field) == 0 {
		return errors.New("no value")
	}
	return p.add(name, v)
}

// readLabels reads up to the closing brace, keeps the wanted labels in
// p.labels and returns what follows the brace.
func (p *parser) readLabels(b []byte, k *keep) ([]byte, error) {
	for {
		b = bytes.TrimLeft(b, " \t,")
		if len(b) > 0 && b[0] == '}' {
			return b[1:], nil
		}
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 {
			return nil, errors.New("broken labels")
		}
		name := bytes.TrimRight(b[:eq], " \t")
		b = bytes.TrimLeft(b[eq+1:], " \t")
		if len(b) == 0 || b[0] != '"' || !validName(name) {
			return nil, errors.New("broken labels")
		}
		b = b[1:]
		end, escaped := 0, false
		for end < len(b) && b[end] != '"' {
			if b[end] == '\\' {
				escaped = true
				end++
			}
			end++
		}
		if end >= len(b) {
			return nil, errors.New("broken labels")
		}
		if k.all || string(name) == "le" || string(name) == "quantile" || slices.Contains(k.by, unsafe.String(unsafe.SliceData(name), len(name))) {
			value := b[:end]
			if escaped {
				value = unescape(value)
			}
			// The bytes of value are only borrowed: add copies what it keeps.
			p.labels = append(p.labels, Label{p.intern(name), unsafe.String(unsafe.SliceData(value), len(value))})
		}
		b = b[end+1:]
	}
}

func (p *parser) add(name []byte, v float64) error {
	slices.SortFunc(p.labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	p.key = p.key[:0]
	for _, l := range p.labels {
		p.key = append(append(append(append(p.key, l.Name...), 0), l.Value...), 0)
	}
	family := p.out[string(name)]
	if family == nil {
		family = map[string]*Series{}
		p.out[p.intern(name)] = family
	}
	if s := family[string(p.key)]; s != nil {
		s.Value += v
		return nil
	}
	if p.series++; p.series > maxSeries {
		return fmt.Errorf("more than %d series are wanted of it", maxSeries)
	}
	s := &Series{Value: v}
	if len(p.labels) > 0 {
		s.Labels = make([]Label, len(p.labels))
	}
	for i, l := range p.labels {
		s.Labels[i] = Label{l.Name, strings.Clone(l.Value)}
	}
	family[string(p.key)] = s
	return nil
}

func (p *parser) intern(b []byte) string {
	if s, ok := p.names[string(b)]; ok {
		return s
	}
	s := string(b)
	p.names[s] = s
	return s
}

func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'n':
			out = append(out, '\n')
		case '\\', '"':
			out = append(out, b[i])
		default:
			out = append(out, '\\', b[i])
		}
	}
	return out
}

func validName(b []byte) bool {
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':', i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return len(b) > 0
}

func excerpt(b []byte) string {
	const most = 60
	s := string(b)
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
