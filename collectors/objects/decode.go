package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Media types of lists.
const (
	Protobuf = "application/vnd.kubernetes.protobuf"
	JSON     = "application/json"
)

// MaxPage bounds one page of a list. A page is asked for with a limit of 500
// objects, each of which etcd holds to 1.5 MiB; an API server that ignores the
// limit may send more.
const MaxPage = 1 << 30

// protobufMagic opens every protobuf body of the Kubernetes API.
var protobufMagic = []byte("k8s\x00")

// A Page is one page of a list, as it was read.
type Page struct {
	Continue string // token of the next page; empty on the last
}

// Decode reads a page and gives each object, stripped of what no verdict
// needs, to each. Objects of a JSON page are read one at a time.
func Decode(k Kind, media string, body io.Reader, each func(Object) error) (Page, error) {
	if strings.HasPrefix(media, Protobuf) {
		return decodeProtobuf(k, body, each)
	}
	return decodeJSON(k, body, each)
}

func decodeProtobuf(k Kind, body io.Reader, each func(Object) error) (Page, error) {
	if k.list == nil {
		return Page{}, fmt.Errorf("%ss cannot be read as protobuf", k.Name)
	}
	b, err := io.ReadAll(io.LimitReader(body, MaxPage+1))
	switch {
	case err != nil:
		return Page{}, fmt.Errorf("the list breaks off: %w", err)
	case len(b) > MaxPage:
		return Page{}, fmt.Errorf("the page is over %d bytes", MaxPage)
	}
	rest, ok := bytes.CutPrefix(b, protobufMagic)
	if !ok {
		return Page{}, errors.New("the body is not protobuf of the Kubernetes API")
	}
	var u runtime.Unknown
	if err := u.Unmarshal(rest); err != nil {
		return Page{}, fmt.Errorf("read envelope: %w", err)
	}
	if !k.isList(u.Kind) {
		return Page{}, fmt.Errorf("the body is a %s, not a %sList", u.Kind, k.Name)
	}
	items, token, err := k.list(u.Raw)
	if err != nil {
		return Page{}, fmt.Errorf("read %sList: %w", k.Name, err)
	}
	for _, o := range items {
		Strip(o)
		if err := each(o); err != nil {
			return Page{}, err
		}
	}
	return Page{token}, nil
}

// decodeJSON walks a list's top level and decodes its items one by one.
func decodeJSON(k Kind, body io.Reader, each func(Object) error) (Page, error) {
	var page Page
	d := json.NewDecoder(io.LimitReader(body, MaxPage))
	if err := open(d, '{'); err != nil {
		return page, fmt.Errorf("read list: %w", err)
	}
	seen := false
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return page, fmt.Errorf("read list: %w", err)
		}
		switch t {
		case "kind":
			var name string
			if err := d.Decode(&name); err != nil {
				return page, fmt.Errorf("read list: %w", err)
			}
			if !k.isList(name) && name != "List" {
				return page, fmt.Errorf("the body is a %q, not a %sList", name, k.Name)
			}
		case "metadata":
			var m struct{ Continue string }
			if err := d.Decode(&m); err != nil {
				return page, fmt.Errorf("read list metadata: %w", err)
			}
			page.Continue = m.Continue
		case "items":
			seen = true
			if err := decodeItems(k, d, each); err != nil {
				return page, err
			}
		default:
			var skip json.RawMessage
			if err := d.Decode(&skip); err != nil {
				return page, fmt.Errorf("read list: %w", err)
			}
		}
	}
	if err := open(d, '}'); err != nil {
		return page, fmt.Errorf("read list: %w", err)
	}
	if !seen {
		return page, errors.New("the list has no items field")
	}
	return page, nil
}

func decodeItems(k Kind, d *json.Decoder, each func(Object) error) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("read items: %w", err)
	}
	if t == nil {
		return nil // "items": null is how Go writes an empty list
	}
	if t != json.Delim('[') {
		return fmt.Errorf("read items: want an array, got %v", t)
	}
	for i := 0; d.More(); i++ {
		o := k.New()
		if err := d.Decode(o); err != nil {
			return fmt.Errorf("read item %d: %w", i, err)
		}
		Strip(o)
		if err := each(o); err != nil {
			return err
		}
	}
	return open(d, ']')
}

// open reads one delimiter.
func open(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case t != want:
		return fmt.Errorf("want %v, got %v", want, t)
	}
	return nil
}

// An Encoder writes objects as a JSON list that Decode reads.
type Encoder struct {
	kind Kind
	buf  bytes.Buffer
	n    int
}

// NewEncoder starts a list of objects of the kind.
func NewEncoder(k Kind) *Encoder {
	e := &Encoder{kind: k}
	fmt.Fprintf(&e.buf, `{"kind":%q,"apiVersion":%q,"items":[`, k.Name+"List", k.APIVersion)
	return e
}

// Add writes one object.
func (e *Encoder) Add(o Object) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write %s: %w", e.kind.Name, err)
	}
	if e.n++; e.n > 1 {
		e.buf.WriteByte(',')
	}
	e.buf.WriteByte('\n')
	e.buf.Write(b)
	return nil
}

// Bytes ends the list, with the token of the page after it, and returns it.
func (e *Encoder) Bytes(token string) []byte {
	e.buf.WriteString("\n]")
	if token != "" {
		fmt.Fprintf(&e.buf, `,"metadata":{"continue":%q}`, token)
	}
	e.buf.WriteString("}\n")
	return e.buf.Bytes()
}
