package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/collectors/objects"
)

// maxObjects bounds the memory for objects.
const maxObjects = 500_000

// held is the objects of one kind.
type held struct {
	kind  objects.Kind
	items []*object
	index map[string]int // by namespace/name
}

// An object is one of Kubernetes', with what is known of it besides.
type object struct {
	objects.Object
	file string
	age  time.Duration // as a table gave it; negative if none did
	bare bool          // a table or a describe gave it: much of it is missing

	listed bool // a list gave it: what is not in the list was not there
	rank   int  // of the part of the evidence
}

func (o *object) setCreated(t time.Time) { o.SetCreationTimestamp(metav1.NewTime(t)) }

// add keeps an object. Of two accounts of one thing, the whole one counts, and
// of two whole ones the later in the order of the files.
func (e *Evidence) add(k objects.Kind, o *object) error {
	key := k.APIVersion + "/" + k.Name
	h := e.objects[key]
	if h == nil {
		h = &held{kind: k, index: map[string]int{}}
		e.objects[key] = h
	}
	name := o.GetNamespace() + "/" + o.GetName()
	if i, ok := h.index[name]; ok {
		if before := h.items[i]; (!o.bare || before.bare) && o.rank >= before.rank {
			o.age = max(o.age, before.age) // a table may tell what the object leaves out
			h.items[i] = o
		} else {
			before.age = max(before.age, o.age)
		}
		return nil
	}
	if len(h.items) == maxObjects {
		return fmt.Errorf("the evidence holds more than %d objects", maxObjects)
	}
	h.index[name] = len(h.items)
	h.items = append(h.items, o)
	return nil
}

func (e *Evidence) held(apiVersion, kind string) []*object {
	if h := e.objects[apiVersion+"/"+kind]; h != nil {
		return h.items
	}
	return nil
}

// readYAML reads documents of YAML, as kubectl get -o yaml writes them.
func (e *Evidence) readYAML(in *input, b []byte) error {
	read := 0
	var firstErr error
	for _, doc := range bytes.Split(append([]byte("\n"), b...), []byte("\n---")) {
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		j, err := yaml.YAMLToJSON(doc)
		if err == nil {
			err = e.readDocument(in, json.NewDecoder(bytes.NewReader(j)), &guard{})
		}
		if err != nil {
			firstErr = errors.Join(firstErr, err)
			continue
		}
		read++
	}
	if read == 0 && firstErr == nil {
		firstErr = errNotRecognised
	}
	if read > 0 && firstErr != nil {
		e.skip(in.name, "in part: "+firstErr.Error())
		return nil
	}
	return firstErr
}

// readJSON reads what begins like JSON: objects of Kubernetes or etcd's replies.
func (e *Evidence) readJSON(in *input) error {
	r := &guard{r: in.in}
	d := json.NewDecoder(r)
	for n := 0; ; n++ {
		err := e.readDocument(in, d, r)
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return nil
		case errors.Is(err, io.EOF):
			return errNotRecognised
		case err != nil:
			return err
		}
	}
}

// A guard ends a stream of which more is read than one value may have: the
// decoder keeps a value whole. Rest is told at the end of each value.
type guard struct {
	r    io.Reader
	read int
}

func (g *guard) Read(p []byte) (int, error) {
	if g.read > maxValue {
		return 0, fmt.Errorf("one value of it is over %d bytes", maxValue)
	}
	n, err := g.r.Read(p)
	g.read += n
	return n, err
}

func (g *guard) rest() { g.read = 0 }

// An envelope is the top level of a JSON document, without its items.
type envelope struct {
	APIVersion string
	Kind       string
	rest       map[string]json.RawMessage
	items      []json.RawMessage // of a list whose kind was not known yet
	size       int               // of those
	listed     bool              // it has items
}

// readDocument reads one JSON value. The items of a list are read one by one,
// and none of them counts if the list breaks off: a part of it would pass for
// all there is.
func (e *Evidence) readDocument(in *input, d *json.Decoder, g *guard) error {
	e.staged, e.list = nil, false
	if err := e.readValue(in, d, g); err != nil {
		e.staged = nil
		return err
	}
	return e.commit()
}

// commit keeps the objects of a document that was read to its end.
func (e *Evidence) commit() error {
	for _, s := range e.staged {
		s.object.listed = e.list
		if err := e.add(s.kind, s.object); err != nil {
			return err
		}
	}
	e.staged = nil
	return nil
}

// A staged object is one of a document that may still turn out to be broken.
type staged struct {
	kind   objects.Kind
	object *object
}

func (e *Evidence) stage(k objects.Kind, o *object) error {
	if len(e.staged) == maxObjects {
		return fmt.Errorf("the list holds more than %d objects", maxObjects)
	}
	e.staged = append(e.staged, staged{k, o})
	return nil
}

func (e *Evidence) readValue(in *input, d *json.Decoder, g *guard) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('['):
		return e.readArray(in, d, g)
	case json.Delim('{'):
	default:
		return errNotRecognised
	}
	v := envelope{rest: map[string]json.RawMessage{}}
	read, size := 0, 0
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return brokenJSON(err)
		}
		name, _ := key.(string)
		if name == "items" {
			v.listed, e.list = true, true
			n, err := e.readItems(in, d, g, &v)
			if err != nil {
				return err
			}
			read += n
			continue
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return brokenJSON(err)
		}
		g.rest()
		if size += len(raw); size > maxText {
			return fmt.Errorf("it is over %d bytes", maxText)
		}
		switch name {
		case "kind":
			json.Unmarshal(raw, &v.Kind)
		case "apiVersion":
			json.Unmarshal(raw, &v.APIVersion)
		}
		v.rest[name] = raw
	}
	if _, err := d.Token(); err != nil {
		return brokenJSON(err)
	}
	for _, raw := range v.items {
		ok, err := e.readObject(in, raw, v.APIVersion, strings.TrimSuffix(v.Kind, "List"))
		if err != nil {
			return err
		}
		if ok {
			read++
		}
	}
	switch {
	case v.listed && v.Kind == "" && v.rest["metadata"] == nil && v.APIVersion != "":
		// kubectl writes kind and metadata after the items.
		return errors.New("it is a list that breaks off before its end")
	case read > 0, strings.HasSuffix(v.Kind, "List"):
		return nil
	case v.Kind != "" && v.APIVersion != "":
		whole, err := json.Marshal(v.rest)
		if err != nil {
			return err
		}
		if ok, err := e.readObject(in, whole, v.APIVersion, v.Kind); err != nil || ok {
			return err
		}
		return fmt.Errorf("it is a %s, of which nothing is asked", clip(v.Kind))
	}
	return e.readReply(in, v.rest)
}

// readItems reads the items of a list. Those that do not name their kind wait
// until the list has named its own.
func (e *Evidence) readItems(in *input, d *json.Decoder, g *guard, v *envelope) (read int, err error) {
	t, err := d.Token()
	if err != nil {
		return 0, brokenJSON(err)
	}
	if t == nil {
		return 0, nil
	}
	if t != json.Delim('[') {
		return 0, errNotRecognised
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return read, brokenJSON(err)
		}
		g.rest()
		var of struct{ Kind string }
		if json.Unmarshal(raw, &of) == nil && of.Kind == "" && v.Kind == "" {
			if v.size += len(raw); v.size > maxStored/4 {
				return read, fmt.Errorf("the list has over %d bytes before it names its kind", maxStored/4)
			}
			v.items = append(v.items, raw)
			continue
		}
		ok, err := e.readObject(in, raw, v.APIVersion, strings.TrimSuffix(v.Kind, "List"))
		if err != nil {
			return read, err
		}
		if ok {
			read++
		}
	}
	_, err = d.Token()
	return read, err
}

func brokenJSON(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("its JSON is broken: %w", err)
}

// readObject keeps an object if it is of a kind that ktriage reads. The kind is
// the object's own or, where it does not say, its list's.
func (e *Evidence) readObject(in *input, raw []byte, apiVersion, kind string) (bool, error) {
	var of metav1.TypeMeta
	if err := json.Unmarshal(raw, &of); err != nil {
		return false, fmt.Errorf("an item is no object: %w", err)
	}
	if of.Kind != "" {
		apiVersion, kind = of.APIVersion, of.Kind
	}
	if kind == "" {
		apiVersion, kind = kindByShape(raw)
	}
	if kind == "Endpoints" && apiVersion == "v1" {
		return e.readEndpoints(in, raw)
	}
	k, ok := objects.Of(apiVersion, kind)
	if !ok {
		return false, nil
	}
	o := k.New()
	if err := json.Unmarshal(raw, o); err != nil {
		return false, fmt.Errorf("an item is no %s: %w", kind, err)
	}
	if o.GetName() == "" {
		return false, fmt.Errorf("a %s has no name", kind)
	}
	if e.stored += int64(len(raw)); e.stored > maxStored {
		return false, fmt.Errorf("the objects have over %d bytes", int64(maxStored))
	}
	e.sawTimes(raw)
	objects.Strip(o)
	return true, e.stage(k, &object{Object: o, file: in.name, age: -1, rank: in.rank})
}

// kindByShape tells the kind of an object that does not name it, as Go programs
// write the items of a list, by fields that only this kind has.
func kindByShape(raw []byte) (apiVersion, kind string) {
	var v struct {
		Metadata       *struct{}
		InvolvedObject *struct{}
		Reason         *string
		Spec           struct {
			Containers           []struct{}
			HolderIdentity       *string
			LeaseDurationSeconds *int
		}
		Status struct{ NodeInfo *struct{} }
	}
	if json.Unmarshal(raw, &v) != nil || v.Metadata == nil {
		return "", ""
	}
	switch {
	case v.InvolvedObject != nil && v.Reason != nil:
		return "v1", "Event"
	case v.Spec.Containers != nil:
		return "v1", "Pod"
	case v.Status.NodeInfo != nil:
		return "v1", "Node"
	case v.Spec.HolderIdentity != nil || v.Spec.LeaseDurationSeconds != nil:
		return "coordination.k8s.io/v1", "Lease"
	}
	return "", ""
}

// times are the fields of objects by which it is known when they were read:
// none of them lies in the future.
var times = map[string]bool{
	"creationTimestamp": true, "lastTransitionTime": true, "lastTimestamp": true, "firstTimestamp": true, "eventTime": true, "renewTime": true,
	"acquireTime": true, "startedAt": true, "finishedAt": true, "startTime": true, "lastHeartbeatTime": true, "lastUpdateTime": true,
	"lastProbeTime": true, "time": true, "lastScheduleTime": true, "lastObservedTime": true,
}

// sawTimes takes note of the times in an object.
func (e *Evidence) sawTimes(raw []byte) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		e.walk("", v)
	}
}

func (e *Evidence) walk(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			e.walk(k, x)
		}
	case []any:
		for _, x := range v {
			e.walk(key, x)
		}
	case string:
		if times[key] {
			if at, err := time.Parse(time.RFC3339, v); err == nil {
				e.saw(at)
			}
		}
	}
}

// readEndpoints keeps the Endpoints of the Service kubernetes as the slice that
// mirrors it.
func (e *Evidence) readEndpoints(in *input, raw []byte) (bool, error) {
	//lint:ignore SA1019 old clusters have nothing else
	var ep corev1.Endpoints
	if err := json.Unmarshal(raw, &ep); err != nil {
		return false, fmt.Errorf("an item is no Endpoints: %w", err)
	}
	if ep.Namespace != "default" || ep.Name != "kubernetes" {
		return true, nil
	}
	k, _ := objects.Of("discovery.k8s.io/v1", "EndpointSlice")
	for n, s := range ep.Subsets {
		slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
			Namespace: ep.Namespace, Name: fmt.Sprintf("%s-%d", ep.Name, n), Labels: map[string]string{discoveryv1.LabelServiceName: ep.Name},
		}}
		for _, a := range s.Addresses {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{a.IP}})
		}
		for _, p := range s.Ports {
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port})
		}
		if err := e.stage(k, &object{Object: slice, file: in.name, age: -1, rank: in.rank}); err != nil {
			return false, err
		}
	}
	return true, nil
}
