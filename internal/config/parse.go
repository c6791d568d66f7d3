package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktriage/ktriage/checks"
)

// maxSize bounds a file, and maxDepth how deep things lie in things.
const (
	maxSize  = 1 << 20
	maxDepth = 16
)

// Parse reads a file's content. Its error is of type Errors, and names all that
// is wrong. An empty file says nothing, and is fine.
func Parse(file string, b []byte) (*Config, error) {
	if len(b) > maxSize {
		return nil, Errors{{File: file, Text: fmt.Sprintf("it is over %d bytes", maxSize)}}
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &Config{File: file}, nil
	case err != nil:
		return nil, Errors{{File: file, Text: strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	p := &parser{file: file}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		p.fail(&more, "there is more than one document")
		return nil, p.errs
	}
	c := &Config{File: file}
	if len(doc.Content) == 1 && !(doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null") && p.plain(doc.Content[0], 0) {
		p.file0(c, doc.Content[0])
	}
	if len(p.errs) > 0 {
		slices.SortStableFunc(p.errs, func(a, b *Error) int { return a.Line - b.Line })
		return nil, p.errs
	}
	return c, nil
}

// Parser holds what goes wrong.
type parser struct {
	file string
	errs Errors
}

func (p *parser) fail(n *yaml.Node, format string, a ...any) {
	p.errs = append(p.errs, &Error{p.file, n.Line, n.Column, fmt.Sprintf(format, a...)})
}

// plain refuses what a configuration has no need of, and a hostile one would
// make much of.
func (p *parser) plain(n *yaml.Node, depth int) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		p.fail(n, "aliases are not read here; write it out")
		return false
	case depth > maxDepth:
		p.fail(n, "things lie too deep in things")
		return false
	}
	ok := true
	for _, c := range n.Content {
		ok = p.plain(c, depth+1) && ok
	}
	return ok
}

// A field reads the value of a key.
type field struct {
	key  string
	read func(*yaml.Node)
}

// fields reads a mapping. A key that is none of the fields', or comes twice, is
// an error.
func (p *parser) fields(n *yaml.Node, what string, fs ...field) {
	p.each(n, what, func(key, value *yaml.Node) {
		var names []string
		for _, f := range fs {
			if f.key == key.Value {
				f.read(value)
				return
			}
			names = append(names, f.key)
		}
		p.unknown(key, what, names)
	})
}

func (p *parser) unknown(key *yaml.Node, what string, names []string) {
	if near := Nearest(key.Value, names); near != "" {
		p.fail(key, "%s has no key %q; did you mean %q?", what, key.Value, near)
		return
	}
	slices.Sort(names)
	p.fail(key, "%s has no key %q; it has %s", what, key.Value, strings.Join(names, ", "))
}

// each goes through a mapping.
func (p *parser) each(n *yaml.Node, what string, read func(key, value *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return // a key with nothing behind it
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s must be keys with values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode:
			p.fail(k, "a key of %s is no word", what)
		case seen[k.Value]:
			p.fail(k, "%s has the key %q twice", what, k.Value)
		default:
			seen[k.Value] = true
			read(k, n.Content[i+1])
		}
	}
}

// items goes through a list.
func (p *parser) items(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "%s must be a list", what)
		return
	}
	for _, x := range n.Content {
		read(x)
	}
}

// word reads a single value, as it was written.
func (p *parser) word(n *yaml.Node, what string, into *string) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		p.fail(n, "%s needs a value", what)
		return
	}
	*into = n.Value
}

func (p *parser) flag(n *yaml.Node, what string) *bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Decode(&b) != nil || n.Tag != "!!bool" {
		p.fail(n, "%s must be true or false", what)
		return nil
	}
	return &b
}

func (p *parser) file0(c *Config, n *yaml.Node) {
	fs := append(p.part(&c.Part, true), field{"contexts", func(n *yaml.Node) {
		p.each(n, "contexts", func(key, value *yaml.Node) {
			x := Context{Name: key.Value, Line: key.Line}
			p.fields(value, "a context", p.part(&x.Part, false)...)
			c.Contexts = append(c.Contexts, x)
		})
	}})
	p.fields(n, "the configuration", fs...)
}

// part are the fields that stand at the top, and below a context.
func (p *parser) part(out *Part, top bool) []field {
	var fs, etcd []field
	for _, s := range settings {
		if s.flag == "context" && !top {
			continue
		}
		if short, ok := strings.CutPrefix(s.flag, "etcd-"); ok {
			etcd = append(etcd, field{short, func(n *yaml.Node) { p.setting(out, s, n) }})
			continue
		}
		fs = append(fs, field{s.flag, func(n *yaml.Node) { p.setting(out, s, n) }})
	}
	return append(fs,
		field{"etcd", func(n *yaml.Node) { p.fields(n, "etcd", etcd...) }},
		field{"checks", func(n *yaml.Node) {
			p.each(n, "checks", func(key, value *yaml.Node) { out.Checks = append(out.Checks, p.check(key, value)) })
		}},
		field{"suppressions", func(n *yaml.Node) {
			p.items(n, "suppressions", func(n *yaml.Node) { out.Suppressions = append(out.Suppressions, p.suppression(n)) })
		}},
	)
}

func (p *parser) setting(out *Part, s known, n *yaml.Node) {
	v := ""
	if s.kind == list && n.Kind == yaml.SequenceNode {
		var all []string
		p.items(n, s.flag, func(n *yaml.Node) {
			w := ""
			p.word(n, s.flag, &w)
			if strings.Contains(w, ",") {
				p.fail(n, "%s: %q has a comma; each stands in a line of its own", s.flag, w)
			}
			all = append(all, w)
		})
		v = strings.Join(all, ",")
	} else if p.word(n, s.flag, &v); v == "" {
		return
	}
	if err := Valid(s.flag, v); err != nil {
		p.fail(n, "%s: %v", s.flag, err)
		return
	}
	if s.kind == path {
		v = absolute(p.file, v)
	}
	out.Settings = append(out.Settings, Setting{s.flag, v, n.Line})
}

func (p *parser) check(key, value *yaml.Node) Check {
	c := Check{ID: key.Value, Line: key.Line}
	p.fields(value, "a check",
		field{"enabled", func(n *yaml.Node) { c.Enabled = p.flag(n, "enabled") }},
		field{"thresholds", func(n *yaml.Node) {
			p.each(n, "thresholds", func(key, value *yaml.Node) {
				t := Threshold{Name: key.Value, Line: key.Line}
				p.word(value, "threshold "+key.Value, &t.Value)
				c.Thresholds = append(c.Thresholds, t)
			})
		}},
	)
	return c
}

func (p *parser) suppression(n *yaml.Node) Suppression {
	s := Suppression{Line: n.Line}
	expires := ""
	p.fields(n, "a suppression",
		field{"check", func(n *yaml.Node) { p.word(n, "check", &s.Check) }},
		field{"target", func(n *yaml.Node) { p.word(n, "target", &s.Target) }},
		field{"reason", func(n *yaml.Node) { p.word(n, "reason", &s.Reason) }},
		field{"expires", func(n *yaml.Node) {
			if p.word(n, "expires", &expires); expires == "" {
				return
			}
			t, err := parseExpiry(expires)
			if err != nil {
				p.fail(n, "expires: %v", err)
			}
			s.Expires = t
		}},
		field{"at-most", func(n *yaml.Node) {
			if p.word(n, "at-most", &s.AtMost); s.AtMost == "" {
				return
			}
			if all := []string{checks.Warning.String(), checks.Unknown.String(), checks.Critical.String()}; !slices.Contains(all, s.AtMost) {
				p.fail(n, "at-most: %q is none of %s", s.AtMost, strings.Join(all, ", "))
			}
		}},
	)
	if n.Kind != yaml.MappingNode {
		return s
	}
	if s.Check == "" {
		p.fail(n, `a suppression needs the check that it is about: check: ID, or "*" with a target`)
	}
	if strings.Trim(s.Check, "*") == "" && strings.Trim(s.Target, "*") == "" && s.Check != "" {
		p.fail(n, "a suppression of everything would hide everything; name a check or a target")
	}
	if strings.TrimSpace(s.Reason) == "" {
		p.fail(n, "a suppression needs a reason: who reads the report must know why")
	}
	if expires == "" {
		p.fail(n, "a suppression needs expires: a day such as 2026-12-31, or never")
	}
	s.From = fmt.Sprintf("%s:%d", p.file, s.Line)
	return s
}
